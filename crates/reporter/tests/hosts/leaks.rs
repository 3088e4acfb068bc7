//! Descriptors and threads are gone once their reporter has ended.

use fake_herdr::FakeHerdr;
use herdr_proto::ReportState;

use crate::processes::{alone, until};
use crate::support::{AMPLE, builder, flushed};

/// The descriptors of this process.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn two_hundred_reporters_leave_no_descriptor_behind() {
    alone("leaks::two_hundred_reporters_leave_no_descriptor_behind", || {
        let herdr = FakeHerdr::start().unwrap();
        let cycle = || {
            let pane = builder(&herdr).start();
            drop(pane.turn());
            drop(pane);
        };
        cycle();
        let before = (descriptors(), threads());
        for _ in 0..200 {
            cycle();
        }
        let back = until(AMPLE, || descriptors() <= before.0 && threads() <= before.1);
        assert!(back, "{before:?} became {:?}", (descriptors(), threads()));
    });
}

#[test]
fn two_hundred_servers_leave_no_descriptor_behind() {
    alone("leaks::two_hundred_servers_leave_no_descriptor_behind", || {
        let herdr = FakeHerdr::start().unwrap();
        let pane = builder(&herdr).start();
        pane.set_state(ReportState::Working);
        flushed(&pane);
        let held = |log: &[fake_herdr::Exchange]| {
            log.iter().any(|exchange| exchange.request.contains("events.subscribe"))
        };
        assert!(herdr.wait_for_log(AMPLE, held));
        let before = (descriptors(), threads());
        for n in 0..200 {
            pane.set_title(format!("title {n}"));
            herdr.restart();
        }
        let shown = |pane: &fake_herdr::Observation| {
            pane.agent_status == "working" && pane.title.as_deref() == Some("title 199")
        };
        herdr.wait_until(AMPLE, shown).unwrap();
        // The held stream counts as one of the descriptors before.
        let back = until(AMPLE, || descriptors() <= before.0 && threads() <= before.1);
        assert!(back, "{before:?} became {:?}", (descriptors(), threads()));
    });
}

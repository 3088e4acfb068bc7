//! Forked copies of the host's process.

use std::io::{Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use fake_herdr::FakeHerdr;
use fork::Fork;
use herdr_reporter::sidecar::LeaseFile;
use herdr_reporter::{Ended, Endpoint, Flushed, OffReason, PaneId, Status};

use crate::processes::alone;
use crate::support::{AMPLE, assert_clean, config, seen, start};

#[test]
fn f51_a_forked_copy_is_inert_at_once_and_holds_nothing() {
    alone("forks::f51_a_forked_copy_is_inert_at_once_and_holds_nothing", || {
        let herdr = FakeHerdr::start().unwrap();
        let pane = start(&herdr);
        let turn = pane.turn();
        let shown = seen(&herdr, &pane);
        let (mut said, mut says) = std::io::pipe().unwrap();
        let (mut waits, lets_go) = std::io::pipe().unwrap();
        let copy = match fork::fork().unwrap() {
            Fork::Parent(copy) => copy,
            Fork::Child => {
                drop(lets_go);
                let inert = catch_unwind(AssertUnwindSafe(move || {
                    let forked = Status::Off(OffReason::Forked);
                    assert!(!pane.is_active());
                    assert_eq!(pane.status(), forked);
                    pane.set_title("the copy's");
                    drop((turn, pane.turn()));
                    assert_eq!(pane.flush(AMPLE), Flushed::NotReporting(forked));
                    let flushed = pollster::block_on(pane.flush_async(AMPLE));
                    assert_eq!(flushed, Flushed::NotReporting(forked));
                    assert_eq!(pane.receipts().iter().next(), None);
                    assert_eq!(pane.diagnostics().iter().next(), None);
                    assert_eq!(pane.close(AMPLE), Ended::NothingToRelease);
                }));
                let _ = says.write_all(&[u8::from(inert.is_ok())]);
                let _ = waits.read(&mut [0]);
                std::process::exit(0);
            }
        };
        drop((says, waits));
        let mut inert = [0];
        said.read_exact(&mut inert).unwrap();
        assert_eq!(inert, [1], "what the copy did");
        assert_eq!(seen(&herdr, &pane), shown);
        drop(turn);
        assert_eq!(pane.close(AMPLE), Ended::Released);
        assert_clean(&herdr);
        let endpoint = Endpoint::new(herdr.socket_path(), PaneId::parse("w1:p1").unwrap());
        let lease = LeaseFile::of_pane(&config(herdr.socket_path()), &endpoint);
        assert!(lease.try_take().unwrap().is_some(), "the copy, which lives, does not keep it");
        drop(lets_go);
        fork::waitpid(copy).unwrap();
    });
}

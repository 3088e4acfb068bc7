//! Requests that are sent a second time because their answer is late.

use fake_herdr::{Exchange, FakeHerdr, Fault};
use herdr_proto::ReportState;
use herdr_reporter::{Ended, Reporter};

use crate::support::{AMPLE, assert_clean, builder, config, methods, requests, seen, status};

fn start(herdr: &FakeHerdr, hedge: bool) -> Reporter {
    let mut config = config(herdr.socket_path());
    config.hedge = hedge;
    builder(herdr).config(config).start()
}

#[test]
fn the_copy_of_a_report_without_an_answer_is_shown() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr, true);
    pane.set_state(ReportState::Idle);
    assert_eq!(status(&herdr, &pane), "idle");
    // The held stream is opened between the reports and has no copies. It must not get the fault.
    let is_held = |exchange: &Exchange| exchange.request.contains("events.subscribe");
    assert!(herdr.wait_for_log(AMPLE, |log| log.iter().any(is_held)));
    let copies = pane.counters().copies;
    herdr.fault_times(Fault::NeverAnswers, 1);
    pane.set_state(ReportState::Working);
    assert_eq!(status(&herdr, &pane), "working");
    assert!(pane.counters().copies > copies);
}

#[test]
fn a_report_that_is_found_after_the_end_brings_nothing_back() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr, true);
    pane.set_state(ReportState::Idle);
    seen(&herdr, &pane);
    herdr.fault_times(Fault::LooksLate, 1);
    pane.set_state(ReportState::Working).set_title("work");
    seen(&herdr, &pane);
    assert_eq!(pane.close(AMPLE), Ended::Released);
    let connections = usize::try_from(herdr.connections()).unwrap();
    assert!(herdr.wait_for_log(AMPLE, |log| log.len() == connections), "{:?}", herdr.log());
    assert_clean(&herdr);
}

#[test]
fn copies_can_be_switched_off() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr, false);
    herdr.fault(Fault::LooksLate);
    pane.set_state(ReportState::Working);
    assert_eq!(status(&herdr, &pane), "working");
    assert_eq!(pane.counters().copies, 0);
    let requests = requests(&herdr);
    let reports = methods(&requests).into_iter().filter(|method| *method == "pane.report_agent");
    assert_eq!(reports.count(), 1);
}

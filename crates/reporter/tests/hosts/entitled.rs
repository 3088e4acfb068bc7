//! Which reporters may have the pane's lease, and when.

use std::os::unix::fs::symlink;

use fake_herdr::FakeHerdr;
use herdr_reporter::{Endpoint, Flushed, Handle, PaneId, ReportState, Reporter, Status};

use crate::processes::{runtime, until};
use crate::support::{AMPLE, builder, config, flushed};
use crate::whose::{Shell, lease};

fn is(pane: &Handle, wanted: impl Fn(Status) -> bool) {
    assert!(until(AMPLE, || wanted(pane.status())), "{:?}", pane.status());
}

fn is_deferred(pane: &Handle) {
    is(pane, |status| matches!(status, Status::Deferred { .. }));
}

#[test]
fn f01_a_process_that_is_proven_foreign_keeps_no_other_process_off() {
    let (herdr, elsewhere) = (FakeHerdr::start().unwrap(), runtime());
    let shell = Shell::start(Some(&herdr));
    shell.is_behind(&herdr);
    let stranger = builder(&herdr).start();
    stranger.set_state(ReportState::Working);
    is(&stranger, |status| status == Status::ForeignPane);

    // With another path to the same socket, it does not count as a successor in this process.
    let path = elsewhere.path().join("s");
    symlink(herdr.socket_path(), &path).unwrap();
    let endpoint = Endpoint::new(path, PaneId::parse("w1:p1").unwrap());
    let own = Reporter::builder("own").endpoint(endpoint).config(config(herdr.socket_path()));
    let own = own.process(shell.pid()).start();
    own.set_state(ReportState::Blocked);
    flushed(&own);
    assert_eq!(herdr.observe("w1:p1").unwrap().agent.as_deref(), Some("own"));
    assert_eq!(stranger.flush(AMPLE), Flushed::NotReporting(Status::ForeignPane));
}

#[test]
fn f10_another_server_at_the_path_is_first_asked_for_the_panes_processes() {
    let (herdr, other) = (FakeHerdr::start().unwrap(), FakeHerdr::start().unwrap());
    let pane = builder(&herdr).start();
    let turn = pane.turn();
    flushed(&pane);
    assert!(lease(&herdr).try_take().unwrap().is_none());

    // The old server keeps running, so the held stream does not end.
    let shell = Shell::start(Some(&herdr));
    shell.is_behind(&other);
    std::fs::rename(other.socket_path(), herdr.socket_path()).unwrap();
    pane.set_title("for the first server");
    is(&pane, |status| status == Status::ForeignPane);
    drop(turn);
    assert_eq!(pane.flush(AMPLE), Flushed::NotReporting(Status::ForeignPane));
    assert!(lease(&herdr).try_take().unwrap().is_some(), "the lease is given up");
    let wrote = |exchange: &&fake_herdr::Exchange| exchange.request.contains("pane.re");
    assert_eq!(other.log().iter().filter(wrote).count(), 0);
}

#[test]
fn f29_a_deferred_reporter_names_the_owner_and_says_that_nothing_was_delivered() {
    let herdr = FakeHerdr::start().unwrap();
    let held = lease(&herdr).try_take().unwrap();
    let pane = builder(&herdr).start();
    pane.set_state(ReportState::Working);
    let deferred = Status::Deferred { to: Some(std::process::id()) };
    assert_eq!(pane.flush(AMPLE), Flushed::NotReporting(deferred));
    assert_eq!((pane.status(), pane.is_active()), (deferred, true));
    drop(held);
    is(&pane, |status| status == Status::Reporting);
}

#[test]
fn f03_a_deferred_reporter_takes_over_without_an_event() {
    let herdr = FakeHerdr::start().unwrap();
    let held = lease(&herdr).try_take().unwrap();
    let pane = builder(&herdr).start();
    pane.set_state(ReportState::Working);
    is_deferred(&pane);
    drop(held);
    herdr.wait_until(AMPLE, |pane| pane.agent_status == "working").unwrap();
}

#[test]
fn f04_a_change_right_after_a_refused_try_is_sent() {
    let herdr = FakeHerdr::start().unwrap();
    let held = lease(&herdr).try_take().unwrap();
    let pane = builder(&herdr).start();
    pane.set_state(ReportState::Working);
    is_deferred(&pane);
    pane.set_state(ReportState::Blocked);
    drop(held);
    herdr.wait_until(AMPLE, |pane| pane.agent_status == "blocked").unwrap();
}

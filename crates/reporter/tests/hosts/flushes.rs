//! What a flush waits for.

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use fake_herdr::FakeHerdr;
use herdr_reporter::sidecar::holds_lease;
use herdr_reporter::{Flushed, ReportState, Status};

use crate::support::{AMPLE, BUDGET, builder, config, requests, seen, start, start_at};

#[test]
fn a_flush_ends_when_everything_before_it_is_on_the_pane() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let _turn = pane.turn();
    for n in 0..100 {
        pane.set_title(format!("title {n}")).set_token("n", n.to_string());
    }
    let seen = seen(&herdr, &pane);
    assert_eq!((seen.title.as_deref(), seen.tokens["n"].as_str()), (Some("title 99"), "99"));
}

#[test]
fn a_flush_waits_even_while_a_caller_waits_for_the_lease() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    assert_eq!(holds_lease(&pane, AMPLE), Some(true));
    for state in [ReportState::Working, ReportState::Blocked, ReportState::Working] {
        pane.set_state(state);
        assert_eq!(seen(&herdr, &pane).agent_status, state.as_str());
    }
}

#[test]
fn a_flush_with_nothing_to_send_makes_no_request() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    assert_eq!(pane.flush(AMPLE), Flushed::Delivered);
    pane.set_title("no claim, no title");
    assert_eq!(pane.flush(AMPLE), Flushed::Delivered);
    assert_eq!(herdr.connections(), 0);
}

#[test]
fn an_idle_does_not_settle_before_a_flush_answers() {
    let herdr = FakeHerdr::start().unwrap();
    let mut config = config(herdr.socket_path());
    config.settle = Duration::from_secs(3600);
    let pane = builder(&herdr).config(config).start();
    let turn = pane.turn();
    assert_eq!(seen(&herdr, &pane).agent_status, "working");
    drop(turn);
    assert_eq!(seen(&herdr, &pane).agent_status, "idle");
}

#[test]
fn flushes_of_many_threads_are_all_answered() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let _turn = pane.turn();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let pane = pane.handle();
            scope.spawn(move || {
                for n in 0..5 {
                    pane.set_token(format!("t{thread}"), n.to_string());
                    assert_eq!(pane.flush(AMPLE), Flushed::Delivered);
                }
            });
        }
    });
    let seen = herdr.observe(herdr.pane_id()).unwrap();
    assert_eq!(seen.tokens.values().collect::<Vec<_>>(), ["4"; 8]);
}

#[test]
fn a_flush_gives_up_in_time_and_the_engine_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("herdr.sock");
    let silent = UnixListener::bind(&path).unwrap();
    let pane = start_at(&path);
    let _turn = pane.turn();
    let begun = Instant::now();
    assert_eq!(pane.flush(Duration::from_millis(50)), Flushed::TimedOut);
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(pane.flush(Duration::ZERO), Flushed::TimedOut);

    drop(silent);
    let herdr = FakeHerdr::builder().socket_path(&path).start().unwrap();
    assert_eq!(pane.flush(AMPLE), Flushed::Delivered);
    assert_eq!(herdr.observe(herdr.pane_id()).unwrap().agent_status, "working");
}

#[test]
fn nothing_is_flushed_after_the_end() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let handle = pane.handle();
    pane.close(BUDGET);
    handle.set_title("late");
    assert_eq!(handle.flush(AMPLE), Flushed::NotReporting(Status::Ended));
    assert!(requests(&herdr).is_empty());
}

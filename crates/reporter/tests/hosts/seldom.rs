//! Calls that hosts rarely make. None of them may hang, loop, panic or use more and more memory.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use fake_herdr::FakeHerdr;
use herdr_proto::ReportState;
use herdr_reporter::sidecar::Activity;
use herdr_reporter::{AgentEvent, Config, Ended, Flushed, Reporter, SessionStarted};

use crate::processes::memory;
use crate::support::{AMPLE, builder, config};

#[test]
fn the_hosts_iterator_may_use_the_reporter() {
    let (done, waits) = channel();
    std::thread::spawn(move || {
        let herdr = FakeHerdr::start().unwrap();
        let pane = builder(&herdr).start();
        let handle = pane.handle();
        pane.record_all((0..3).map(|_| {
            assert!(handle.is_active());
            AgentEvent::agent_started()
        }));
        done.send(()).unwrap();
    });
    assert!(waits.recv_timeout(AMPLE).is_ok(), "a deadlock");
}

#[test]
fn any_time_may_be_asked_for() {
    let herdr = FakeHerdr::start().unwrap();
    let mut config = config(herdr.socket_path());
    config.settle = Duration::MAX;
    let pane = builder(&herdr).config(config).start();
    let mut receipts = pane.receipts();
    let turn = pane.turn();
    assert_eq!(pane.flush(Duration::MAX), Flushed::Delivered);
    drop(turn);
    pane.set_title("an idle that never settles");
    assert_eq!(pane.flush(Duration::MAX), Flushed::Delivered);
    drop(pane.turn());
    assert_eq!(pane.close(Duration::MAX), Ended::Released);
    while receipts.recv_timeout(Duration::MAX).is_some() {}
}

#[test]
fn a_feed_that_begins_with_the_end_ends() {
    let herdr = FakeHerdr::start().unwrap();
    for _ in 0..300 {
        let pane = builder(&herdr).start();
        let handle = pane.handle();
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let mut feeds = Vec::new();
                while handle.is_active() {
                    feeds.push(handle.receipts());
                }
                feeds
            });
            pane.close(AMPLE);
            for mut feed in reader.join().unwrap() {
                let begun = Instant::now();
                while feed.recv_timeout(AMPLE).is_some() {}
                assert!(begun.elapsed() < AMPLE, "it never ends");
            }
        });
    }
}

#[test]
fn feeds_that_are_gone_cost_nothing() {
    let pane = Reporter::builder("host").environment(|_| None).start();
    let before = memory();
    for _ in 0..300_000 {
        drop(pane.diagnostics());
    }
    let more = memory().saturating_sub(before) >> 20;
    assert!(more < 16, "{more} MiB more");
}

#[test]
fn a_turn_that_ends_does_not_take_one_that_begins_with_it() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = builder(&herdr).start();
    let barrier = Barrier::new(2);
    for round in 0..1000 {
        let ending = pane.turn();
        let (barrier, handle) = (&barrier, pane.handle());
        let begun = std::thread::scope(|scope| {
            scope.spawn(move || {
                barrier.wait();
                drop(ending);
            });
            barrier.wait();
            handle.turn()
        });
        pane.flush(AMPLE);
        assert_eq!(herdr.observe("w1:p1").unwrap().agent_status, "working", "round {round}");
        drop(begun);
    }
}

#[test]
fn tokens_that_go_make_room_for_those_that_come() {
    let text = || Some("v".to_owned());
    let mut activity = Activity::default();
    let full = (0..32).map(|n| (format!("k{n:02}"), text()));
    activity.apply(AgentEvent::tokens_changed(full)).unwrap();
    let swap = BTreeMap::from([("a".to_owned(), text()), ("k31".to_owned(), None)]);
    activity.apply(AgentEvent::tokens_changed(swap)).unwrap();
}

#[test]
fn a_blank_model_of_a_session_takes_the_model_off() {
    let mut activity = Activity::default();
    for model in ["m", " "] {
        let mut session = SessionStarted::new("a");
        session.model = Some(model.into());
        activity.apply(AgentEvent::SessionStarted(session)).unwrap();
    }
    assert!(activity.snapshot(&Config::default()).unwrap().tokens.is_empty());
}

#[test]
fn a_session_of_which_nothing_can_be_sent_is_none() {
    let mut activity = Activity::default();
    activity.apply(AgentEvent::SessionStarted(SessionStarted::new(""))).unwrap();
    assert_eq!(activity.snapshot(&Config::default()).unwrap().session, None);
}

#[test]
fn the_length_of_all_ids_is_bounded() {
    let mut activity = Activity::default();
    let event = AgentEvent::agent_started().of_agent(Some("x".repeat(1 << 20).into()));
    assert!(activity.apply(event).is_err());
    assert_eq!(activity.state(), None);
}

#[test]
fn the_first_turn_ends_an_initial_block() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = builder(&herdr).initial(ReportState::Blocked).start();
    pane.flush(AMPLE);
    assert_eq!(herdr.observe("w1:p1").unwrap().agent_status, "blocked");
    let _turn = pane.turn();
    pane.flush(AMPLE);
    assert_eq!(herdr.observe("w1:p1").unwrap().agent_status, "working");
}

//! However a reporter ends, the release is the last request.

use std::panic::resume_unwind;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use fake_herdr::FakeHerdr;
use herdr_proto::ReportState;
use herdr_reporter::{Ended, Handle, Prompt};

use crate::support::{
    AMPLE, BUDGET, assert_clean, methods, requests, seen, settled, start, started,
};

fn decorate(pane: &Handle) {
    pane.set_state(ReportState::Working).set_title("T").set_token("branch", "main");
}

#[test]
fn b15_a_one_shot_host_is_released_every_time() {
    let herdr = FakeHerdr::start().unwrap();
    for run in 0..200 {
        let before = requests(&herdr).len();
        {
            let pane = start(&herdr);
            pane.set_title("one shot");
            let _turn = pane.turn();
        }
        assert_clean(&herdr);
        let sent = &requests(&herdr)[before..];
        let last = methods(sent).last().copied();
        assert!(sent.is_empty() || last == Some("pane.release_agent"), "run {run}: {last:?}");
    }
}

#[test]
fn b01_a_host_that_restarts_shows_every_time() {
    let herdr = FakeHerdr::start().unwrap();
    for _ in 0..20 {
        let pane = start(&herdr);
        decorate(&pane);
        let seen = seen(&herdr, &pane);
        assert_eq!((seen.agent_status.as_str(), seen.title.as_deref()), ("working", Some("T")));
        drop(pane);
        assert_clean(&herdr);
    }
}

#[test]
fn each_way_to_end_releases() {
    let herdr = FakeHerdr::start().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let decorated = || {
        let pane = start(&herdr);
        decorate(&pane);
        assert_eq!(seen(&herdr, &pane).tokens["branch"], "main");
        pane
    };
    drop(decorated());
    assert_clean(&herdr);

    assert_eq!(decorated().close(BUDGET), Ended::Released);
    assert_clean(&herdr);

    assert_eq!(runtime.block_on(decorated().close_async(BUDGET)), Ended::Released);
    assert_clean(&herdr);

    decorated().detach();
    herdr.wait_until(AMPLE, |pane| pane.agent.is_none() && pane.tokens.is_empty()).unwrap();
    assert_clean(&herdr);

    let pane = decorated();
    let unwound = std::thread::spawn(move || {
        let _pane = pane;
        resume_unwind(Box::new("a bug of the host"));
    });
    assert!(unwound.join().is_err());
    assert_clean(&herdr);

    let count = |method| methods(&requests(&herdr)).iter().filter(|m| **m == method).count();
    assert_eq!(count("pane.release_agent"), 5, "once each");
}

#[test]
fn a_cancelled_close_still_releases() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    decorate(&pane);
    seen(&herdr, &pane);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let close = pane.close_async(BUDGET);
        // The close may have ended already. If not, it is dropped here.
        let _ = tokio::time::timeout(Duration::ZERO, close).await;
    });
    herdr.wait_until(AMPLE, |pane| pane.agent.is_none()).unwrap();
    assert_clean(&herdr);
}

#[test]
fn nothing_is_released_that_was_never_claimed() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    pane.set_title("claims nothing");
    assert_eq!(pane.close(BUDGET), Ended::NothingToRelease);
    assert_eq!(herdr.connections(), 0);
}

#[test]
fn a_server_that_went_away_does_not_hold_the_host_up() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    decorate(&pane);
    seen(&herdr, &pane);
    drop(herdr);
    let begun = Instant::now();
    assert_ne!(pane.close(BUDGET), Ended::Released);
    assert!(begun.elapsed() < BUDGET * 4, "{:?}", begun.elapsed());
}

#[test]
fn another_owner_of_the_row_is_left_alone() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    decorate(&pane);
    seen(&herdr, &pane);
    let theirs = concat!(
        r#"{"id":"x","method":"pane.report_agent","params":{"pane_id":"w1:p1","#,
        r#""source":"custom:x","agent":"x","state":"idle"}}"#
    );
    let now = herdr.now();
    herdr.with_model(|model| model.request(now, theirs.as_bytes()));
    assert_eq!(pane.close(BUDGET), Ended::Released);
    let seen = herdr.observe(herdr.pane_id()).unwrap();
    assert_eq!(seen.agent.as_deref(), Some("x"));
    assert_eq!((seen.title, seen.tokens.len()), (None, 0));
}

fn report(handle: &Handle, thread: usize) {
    for n in 0..20 {
        match (thread + n) % 4 {
            0 => drop(handle.record(if n % 2 == 0 { started() } else { settled() })),
            1 => drop(handle.set_title(format!("{thread} {n}"))),
            2 => drop(handle.set_token(format!("t{thread}"), n.to_string())),
            _ => drop(handle.prompt(Prompt::approval("x"))),
        }
    }
}

#[test]
fn b09_no_request_follows_the_release_even_if_threads_still_report() {
    const REPORTERS: usize = 8;
    let herdr = FakeHerdr::start().unwrap();
    let barrier = Barrier::new(REPORTERS + 1);
    for round in 0..200 {
        let before = requests(&herdr).len();
        let pane = start(&herdr);
        let last = pane.handle();
        let ended = std::thread::scope(|scope| {
            for thread in 0..REPORTERS {
                let (handle, barrier) = (pane.handle(), &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    report(&handle, thread);
                });
            }
            barrier.wait();
            if round % 2 == 0 {
                // The reporter is closed at any time during the reports, also after a first answer.
                pane.flush(Duration::from_millis(1));
            }
            pane.close(Duration::from_secs(5))
        });
        let sent = &requests(&herdr)[before..];
        assert!(
            sent.is_empty() || methods(sent).last() == Some(&"pane.release_agent"),
            "round {round}: {:?}",
            methods(sent)
        );
        assert_ne!(ended, Ended::NotReleased, "round {round}");
        assert_clean(&herdr);
        let counters = last.counters();
        assert!(counters.add_up(), "{counters:?}");
        assert_eq!(counters.pending, 0, "{counters:?}");
    }
}

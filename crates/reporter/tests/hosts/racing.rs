//! Reporters of one pane in one process that start and stop at the same time.

use std::sync::{Arc, Barrier, Mutex};

use fake_herdr::FakeHerdr;
use herdr_reporter::{Ended, Outcome, Part, Prompt};

use crate::support::{AMPLE, assert_clean, builder, requests, seen, start};

const REPORTERS: usize = 4;

#[test]
fn b17_reporters_that_start_and_stop_together_leave_nothing() {
    let herdr = FakeHerdr::start().unwrap();
    let barrier = Barrier::new(REPORTERS);
    for round in 0..30 {
        std::thread::scope(|scope| {
            for thread in 0..REPORTERS {
                let (herdr, barrier) = (&herdr, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let pane = builder(herdr).start();
                    let turn = pane.turn();
                    pane.set_title(format!("{thread}")).set_token("t", thread.to_string());
                    if (thread + round) % 2 == 0 {
                        // The other reporters take over before, during and after its claim.
                        pane.flush(std::time::Duration::from_millis(1));
                    }
                    drop(turn);
                    assert_ne!(pane.close(AMPLE), Ended::NotReleased);
                });
            }
        });
        assert_clean(&herdr);
    }
    let pane = start(&herdr);
    let _turn = pane.turn();
    assert_eq!(seen(&herdr, &pane).agent_status, "working", "the next one has the pane");
}

#[test]
fn b17_a_chain_of_reloads_is_never_seen() {
    let herdr = FakeHerdr::start().unwrap();
    let mut current = builder(&herdr).initial(herdr_proto::ReportState::Working).start();
    seen(&herdr, &current);
    for _ in 0..40 {
        // Each reporter starts before the previous one has ended, so some of them never report.
        let next = builder(&herdr).initial(herdr_proto::ReportState::Working).start();
        drop(std::mem::replace(&mut current, next));
    }
    assert_eq!(seen(&herdr, &current).agent_status, "working");
    let requests = requests(&herdr);
    let methods = crate::support::methods(&requests);
    assert!(!methods.contains(&"pane.release_agent"), "{methods:?}");
    let states = crate::support::states(&requests);
    assert!(states.iter().all(|state| *state == "working"), "{states:?}");
    assert_eq!(current.close(AMPLE), Ended::Released);
    assert_clean(&herdr);
}

#[test]
fn every_offer_of_racing_producers_gets_one_receipt() {
    const PARTS: [Part; 3] = [Part::State, Part::Presentation, Part::Tokens];
    let herdr = FakeHerdr::start().unwrap();
    for _ in 0..20 {
        let pane = start(&herdr);
        let (mut receipts, last) = (pane.receipts(), pane.handle());
        let received = Arc::new(Mutex::new(Vec::new()));
        let reading = std::thread::spawn({
            let received = received.clone();
            move || {
                for receipt in receipts.iter() {
                    received.lock().unwrap().push(receipt);
                }
                assert_eq!(receipts.missed(), 0);
            }
        });
        std::thread::scope(|scope| {
            for thread in 0..REPORTERS {
                let handle = pane.handle();
                scope.spawn(move || {
                    for n in 0..20 {
                        let turn = handle.turn();
                        handle.set_title(format!("{thread} {n}"));
                        handle.set_token(format!("t{thread}"), n.to_string());
                        drop(turn.prompt(Prompt::approval("x")));
                    }
                });
            }
        });
        pane.flush(AMPLE);
        assert_eq!(pane.close(AMPLE), Ended::Released);
        reading.join().unwrap();
        let (received, counters) = (received.lock().unwrap(), last.counters());
        let of = |outcome| {
            let of_parts = received.iter().filter(|receipt| PARTS.contains(&receipt.of));
            of_parts.filter(|receipt| receipt.outcome == outcome).count() as u64
        };
        assert!(counters.add_up() && counters.pending == 0, "{counters:?}");
        assert_eq!(
            [Outcome::Applied, Outcome::Superseded, Outcome::Failed].map(of),
            [counters.applied, counters.superseded, counters.dropped],
        );
        assert_eq!(of(Outcome::Sent) + of(Outcome::Unverified), counters.unverified);
        assert_eq!([Outcome::Ignored, Outcome::Hidden].map(of), [0, 0]);
        let outcomes = [
            Outcome::Applied,
            Outcome::Superseded,
            Outcome::Sent,
            Outcome::Unverified,
            Outcome::Failed,
        ];
        let sum: u64 = outcomes.map(of).iter().sum();
        assert_eq!(sum, counters.offered, "{counters:?}");
    }
}

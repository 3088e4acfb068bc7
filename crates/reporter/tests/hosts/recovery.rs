//! A server that goes away and comes back, while the host says nothing.

use std::time::Duration;

use fake_herdr::{FakeHerdr, Fault, Observation};
use herdr_reporter::{DiagnosticKind, Ended, Flushed, Handle, OpenPrompt, Prompt, Reporter, Turn};

use crate::support::{AMPLE, assert_clean, requests, seen, start, states};

/// After a handoff everything is back within this time (failure B75).
const BACK_WITHIN: Duration = Duration::from_secs(3);

const HANDOFFS: usize = 3;

fn decorate(pane: &Handle) {
    pane.set_session("s").set_title("T").set_token("branch", "main").set_usage(34_000);
}

/// A pane that shows a state, a title, a label and a token.
fn blocked(herdr: &FakeHerdr) -> (Reporter, Turn, OpenPrompt) {
    let pane = start(herdr);
    decorate(&pane);
    let turn = pane.turn();
    let ask = turn.prompt(Prompt::approval("Deploy?"));
    assert!(is_all_there(&seen(herdr, &pane)));
    (pane, turn, ask)
}

fn is_all_there(pane: &Observation) -> bool {
    pane.agent_status == "blocked"
        && pane.title.as_deref() == Some("T")
        && pane.state_labels.get("blocked").is_some_and(|label| label == "Deploy?")
        && pane.tokens.len() == 2
}

#[test]
fn b75_everything_is_back_after_a_handoff() {
    let herdr = FakeHerdr::start().unwrap();
    let (pane, _turn, _ask) = blocked(&herdr);
    let mut diagnostics = pane.diagnostics();
    for _ in 0..HANDOFFS {
        // The held stream is opened after an answer, at some time.
        assert!(herdr.wait_for_log(AMPLE, |log| {
            log.iter().any(|exchange| exchange.request.contains("events.subscribe"))
        }));
        herdr.live_handoff();
        herdr.wait_until(BACK_WITHIN, is_all_there).unwrap();
    }
    // A request that the old server received and did not answer may be reported once.
    let raised: Vec<_> = std::iter::from_fn(|| diagnostics.try_recv()).collect();
    let passing = raised.iter().all(|diagnostic| diagnostic.kind == DiagnosticKind::ConnectFailed);
    assert!(passing && raised.len() <= HANDOFFS, "{raised:?}");
    let seqs: Vec<u64> =
        requests(&herdr).iter().filter_map(|request| request["params"]["seq"].as_u64()).collect();
    assert!(seqs.is_sorted(), "{seqs:?}");
}

#[test]
fn b43_everything_is_back_after_a_restart() {
    let herdr = FakeHerdr::start().unwrap();
    let (_pane, _turn, _ask) = blocked(&herdr);
    herdr.restart();
    herdr.wait_until(BACK_WITHIN, is_all_there).unwrap();
}

#[test]
fn b11_after_an_outage_only_the_newest_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("herdr.sock");
    let herdr = FakeHerdr::builder().socket_path(&path).start().unwrap();
    let pane = start(&herdr);
    decorate(&pane);
    let turn = pane.turn();
    seen(&herdr, &pane);
    drop(herdr);
    for n in 0..20 {
        let _ask = turn.prompt(Prompt::approval("old"));
        pane.set_title(format!("old {n}"));
    }
    pane.set_title("T");
    let _ask = turn.prompt(Prompt::approval("Deploy?"));
    // When the flush times out, the engine has taken all changes.
    assert_eq!(pane.flush(Duration::from_millis(100)), Flushed::TimedOut);
    let herdr = FakeHerdr::builder().socket_path(&path).start().unwrap();
    herdr.wait_until(AMPLE, is_all_there).unwrap();
    let requests = requests(&herdr);
    assert_eq!(states(&requests), ["blocked"]);
    let old = requests.iter().filter(|request| request.to_string().contains("old"));
    assert_eq!(old.count(), 0);
}

#[test]
fn events_during_a_handoff_are_not_lost() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    decorate(&pane);
    for round in 0..10 {
        let turn = pane.turn();
        let title = format!("round {round}");
        pane.set_title(&*title);
        herdr.live_handoff();
        let ask = turn.prompt(Prompt::approval("x"));
        herdr
            .wait_until(AMPLE, |pane| {
                pane.agent_status == "blocked" && pane.title.as_deref() == Some(&*title)
            })
            .unwrap();
        drop((ask, turn));
    }
    herdr.wait_until(AMPLE, |pane| pane.agent_status == "idle").unwrap();
}

#[test]
fn another_server_at_the_path_is_noticed_though_the_old_one_lives() {
    let herdr = FakeHerdr::start().unwrap();
    let (_pane, _turn, _ask) = blocked(&herdr);
    let beside = herdr.socket_path().with_file_name("beside");
    let other = FakeHerdr::builder().socket_path(&beside).start().unwrap();
    std::fs::rename(&beside, herdr.socket_path()).unwrap();
    other.wait_until(AMPLE, is_all_there).unwrap();
}

#[test]
fn a_server_that_thaws_shows_the_newest_and_nothing_of_what_was_held_back() {
    let herdr = FakeHerdr::start().unwrap();
    let pane = start(&herdr);
    let mut diagnostics = pane.diagnostics();
    decorate(&pane);
    let turn = pane.turn();
    seen(&herdr, &pane);
    herdr.fault(Fault::Frozen);
    let old = turn.prompt(Prompt::approval("old"));
    pane.set_title("old");
    let raised = diagnostics.recv_timeout(AMPLE).expect("it says so");
    assert_eq!(raised.kind, DiagnosticKind::Timeout);
    drop(old);
    pane.set_title("T");
    let _ask = turn.prompt(Prompt::approval("Deploy?"));
    herdr.clear_faults();
    assert!(is_all_there(&seen(&herdr, &pane)));
    assert_eq!(diagnostics.try_recv(), None, "reported once");
    drop(turn);
    assert_eq!(pane.close(AMPLE), Ended::Released);
    assert_clean(&herdr);
}

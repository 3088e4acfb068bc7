//! The life of a claim, from the first report to the release.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use e2e::stage::{AGENT, PATIENCE, Stage, pace, shows};
use herdr_proto::{AgentStatus, ReportState};
use herdr_reporter::{AgentEvent, Ended, MAIN_AGENT, Outcome, Part, Prompt, SessionStarted};
use serde_json::json;

e2e::bodies! {
    shared:
        b10_a_release_leaves_the_row_of_another_alone,
        b15_a_library_host_that_ends_at_once_leaves_nothing,
        b15_a_sidecar_that_ends_at_once_leaves_nothing,
        b17_a_reload_neither_releases_nor_flickers,
        b17_reporters_that_start_and_stop_together_leave_nothing,
        b18_a_reload_in_mid_turn_stays_working,
        b23_a_block_ends_with_its_guard_on_every_path,
        b25_short_pauses_are_not_idle,
        b25_an_end_within_the_pause_releases_at_once,
        b28_a_compacted_session_changes_nothing_but_the_session,
        b10_a_reload_under_another_label_leaves_one_row,
        b13_what_a_killed_host_left_is_replaced;
    // Another body on the same server could move the focus.
    own:
        b30_done_is_idle_and_is_not_sent_again;
}

fn b10_a_release_leaves_the_row_of_another_alone(stage: &Stage) {
    let host = stage.reporter();
    host.set_title("ours");
    let turn = host.turn();
    stage.wait_for("working");
    stage.flushed(&host);
    stage.report_as("custom:other", "other", "blocked", None);
    host.close(PATIENCE);
    let pane = stage.seen();
    assert_eq!((pane.agent.as_deref(), pane.title), (Some("other"), None));
    assert_eq!(pane.agent_status, AgentStatus::BLOCKED);
    drop(turn);
    assert_eq!(
        stage.seen().agent.as_deref(),
        Some("other"),
        "a turn that ends after the close changes nothing"
    );
}

fn b15_a_library_host_that_ends_at_once_leaves_nothing(stage: &Stage) {
    for _ in 0..50 {
        let host = stage.reporter();
        host.set_session("one").set_title("print hi");
        drop(host.turn());
        let start = Instant::now();
        drop(host);
        // The drop gives itself half a second.
        assert!(start.elapsed() < Duration::from_secs(5));
        // A busy server may apply the release a moment after it was written.
        stage.wait_for_nothing();
    }
}

fn b15_a_sidecar_that_ends_at_once_leaves_nothing(stage: &Stage) {
    for _ in 0..10 {
        let mut host = stage.sidecar(&[]);
        host.tell(r#"{"event":"session_started","session_id":"one","title":"print hi"}"#);
        host.tell(r#"{"event":"agent_started"}"#);
        assert_eq!(host.finish(), Some(0));
        // A busy server may apply the release a moment after it was written.
        stage.wait_for_nothing();
    }
}

fn b17_a_reload_neither_releases_nor_flickers(stage: &Stage) {
    let first = stage.reporter();
    let turn = first.turn();
    first.set_title("before the reload");
    stage.wait(|pane| shows(pane, "working") && pane.title.is_some());
    stage.flushed(&first);
    let mut watch = stage.watch();
    let changes = stage.state_changes();
    let second = stage.builder(AGENT, |_| {}).initial(ReportState::Working).start();
    second.set_title("after the reload");
    drop(turn);
    drop(first);
    stage.wait(|pane| pane.title.as_deref() == Some("after the reload"));
    let pane = stage.flushed(&second);
    assert!(shows(&pane, "working"), "{pane:?}");
    assert_eq!(stage.state_changes(), changes, "the state was the same all the time");
    let ask = second.prompt(Prompt::approval("still there?"));
    let seen = watch.until(&AgentStatus::BLOCKED);
    assert!(
        seen.iter().all(|s| [AgentStatus::WORKING, AgentStatus::BLOCKED].contains(s)),
        "{seen:?}"
    );
    drop(ask);
    if let Some(requests) = stage.requests() {
        assert!(requests.iter().all(|line| line["method"] != "pane.release_agent"), "no release");
    }
    assert_eq!(second.close(PATIENCE), Ended::Released);
    stage.wait_for_nothing();
}

fn b17_reporters_that_start_and_stop_together_leave_nothing(stage: &Stage) {
    for _ in 0..5 {
        std::thread::scope(|scope| {
            for number in 0..4 {
                scope.spawn(move || {
                    let host = stage.builder(AGENT, |_| {}).start();
                    let turn = host.turn();
                    host.set_title(format!("host {number}"));
                    host.flush(Duration::from_millis(number));
                    drop(turn);
                    host.close(PATIENCE);
                });
            }
        });
        stage.wait_for_nothing();
    }
    let host = stage.reporter();
    let _turn = host.turn();
    stage.wait_for("working");
}

fn b18_a_reload_in_mid_turn_stays_working(stage: &Stage) {
    let mut watch = stage.watch();
    let host = stage.builder(AGENT, |_| {}).initial(ReportState::Working).start();
    stage.wait_for("working");
    host.record(AgentEvent::agent_settled()).unwrap();
    let seen = watch.until(&AgentStatus::IDLE);
    assert_eq!(seen.first(), Some(&AgentStatus::WORKING), "{seen:?}");
    assert_eq!(seen.len(), 2, "{seen:?}");
}

fn b23_a_block_ends_with_its_guard_on_every_path(stage: &Stage) {
    let host = stage.reporter();
    let turn = host.turn();
    let one = turn.prompt(Prompt::approval("one"));
    let two = turn.prompt(Prompt::question("two"));
    stage.wait_for("blocked");
    drop(one);
    stage.flushed(&host);
    assert!(shows(&stage.seen(), "blocked"), "the other one still waits");
    drop(two);
    stage.wait_for("working");

    let open = turn.prompt(Prompt::approval("panic"));
    stage.wait_for("blocked");
    let caught = catch_unwind(AssertUnwindSafe(move || {
        let _open = open;
        std::panic::resume_unwind(Box::new("the host's own"));
    }));
    assert!(caught.is_err());
    stage.wait_for("working");

    let closed = || AgentEvent::prompt_closed("x");
    let opened =
        AgentEvent::prompt_opened("x", Prompt::approval("twice")).of_agent(Some(MAIN_AGENT.into()));
    host.record(opened.clone()).unwrap();
    stage.wait_for("blocked");
    host.record(closed()).unwrap();
    host.record(closed()).unwrap();
    stage.wait_for("working");

    host.record(opened).unwrap();
    let left_open = turn.prompt(Prompt::approval("left open"));
    stage.wait_for("blocked");
    drop(turn);
    stage.wait_for("idle");
    drop(left_open);
    assert!(shows(&stage.flushed(&host), "idle"));
}

fn b25_short_pauses_are_not_idle(stage: &Stage) {
    let host = stage.reporter_with(|config| config.settle = Duration::from_secs(2));
    let mut watch = stage.watch();
    let mut turn = Some(host.turn());
    stage.wait_for("working");
    let changes = stage.state_changes();
    // Each pause is 50 ms, a fortieth of `settle`.
    pace(20, Duration::from_secs(1), |_| match turn.take() {
        Some(working) => drop(working),
        None => turn = Some(host.turn()),
    });
    let turn = turn.unwrap_or_else(|| host.turn());
    stage.flushed(&host);
    assert_eq!(stage.state_changes(), changes, "no idle in between");
    drop(turn);
    let seen = watch.until(&AgentStatus::IDLE);
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_eq!(seen[0], AgentStatus::WORKING);
}

fn b25_an_end_within_the_pause_releases_at_once(stage: &Stage) {
    let host = stage.reporter_with(|config| config.settle = Duration::from_secs(60));
    let turn = host.turn();
    stage.wait_for("working");
    drop(turn);
    assert_eq!(host.close(PATIENCE), Ended::Released);
    stage.wait_for_nothing();
}

fn b28_a_compacted_session_changes_nothing_but_the_session(stage: &Stage) {
    let host = stage.reporter_with(|config| config.session_token = true);
    let turn = host.turn();
    host.set_title("stays");
    stage.wait_for("working");
    stage.flushed(&host);
    let changes = stage.state_changes();
    // With any other reason, turns and prompts of the agent would end.
    for number in 0..50 {
        let mut session = SessionStarted::new(format!("session-{number}"));
        session.reason = Some("compact".into());
        host.record(AgentEvent::SessionStarted(session)).unwrap();
    }
    let pane =
        stage.wait(|pane| pane.tokens.get("session").map(String::as_str) == Some("session-49"));
    assert_eq!(pane.title.as_deref(), Some("stays"));
    stage.flushed(&host);
    assert_eq!(stage.state_changes(), changes, "the state stays working");
    let ask = turn.prompt(Prompt::approval("and now?"));
    stage.wait_for("blocked");
    drop(ask);
    stage.wait_for("working");
}

fn b30_done_is_idle_and_is_not_sent_again(stage: &Stage) {
    let host = stage.reporter();
    let mut receipts = host.receipts();
    drop(host.turn());
    stage.flushed(&host);
    // The pane has never had the focus, so Herdr shows its idle as done.
    let pane = stage.wait_for("idle");
    let turn = host.turn();
    stage.wait_for("working");
    drop(turn);
    stage.wait(|pane| pane.agent_status == AgentStatus::DONE);
    stage.flushed(&host);
    let changes = stage.state_changes();
    let before = stage.requests();
    host.set_title("looked at again");
    stage.flushed(&host);
    assert_eq!(stage.state_changes(), changes, "{pane:?}");
    if let (Some(before), Some(after)) = (before, stage.requests()) {
        let new = &after[before.len()..];
        assert!(new.iter().all(|line| line["method"] != json!("pane.report_agent")), "{new:?}");
    }
    host.close(PATIENCE);
    let states: Vec<_> = receipts.iter().filter(|receipt| receipt.of == Part::State).collect();
    let wrong = states.iter().find(|receipt| {
        !matches!(receipt.outcome, Outcome::Applied | Outcome::Superseded | Outcome::Unverified)
    });
    assert_eq!(wrong, None, "{states:?}");
    assert!(states.iter().any(|receipt| receipt.outcome == Outcome::Applied), "{states:?}");
}

fn b10_a_reload_under_another_label_leaves_one_row(stage: &Stage) {
    let first = stage.builder("otherhost", |_| {}).start();
    let turn = first.turn();
    first.set_title("first").set_token("branch", "main");
    stage.wait(|pane| {
        pane.agent.as_deref() == Some("otherhost") && pane.tokens.contains_key("branch")
    });
    stage.flushed(&first);
    let second = stage.reporter();
    let turn2 = second.turn();
    stage.wait_for("working");
    drop((turn, first));
    let pane = stage.flushed(&second);
    assert!(shows(&pane, "working"), "{pane:?}");
    drop(turn2);
    assert_eq!(second.close(PATIENCE), Ended::Released);
    stage.wait_for_nothing();
}

fn b13_what_a_killed_host_left_is_replaced(stage: &Stage) {
    let mut host = stage.sidecar(&[]);
    host.tell(r#"{"event":"agent_started"}"#);
    host.tell(r#"{"event":"title_changed","title":"left behind"}"#);
    host.tell(r#"{"event":"labels_changed","labels":{"working":"left too"}}"#);
    host.tell(r#"{"event":"tokens_changed","tokens":{"branch":"main"}}"#);
    stage.wait(|pane| {
        pane.title.is_some()
            && pane.state_labels.contains_key("working")
            && pane.tokens.contains_key("branch")
    });
    host.kill();
    let mut host = stage.sidecar(&[]);
    host.tell(r#"{"event":"session_started","session_id":"x"}"#);
    stage.wait(|pane| {
        shows(pane, "idle")
            && pane.title.is_none()
            && pane.state_labels.is_empty()
            && pane.tokens.is_empty()
    });
    assert_eq!(host.finish(), Some(0));
    stage.wait_for_nothing();
}

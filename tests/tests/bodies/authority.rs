//! Other programs that write to the same pane.

use std::time::Duration;

use e2e::stage::{AGENT, PATIENCE, SOURCE, Stage, shows, until};
use herdr_proto::AgentStatus;
use herdr_reporter::{DiagnosticKind, Prompt};
use serde_json::json;

e2e::bodies! {
    shared:
        a_lost_row_is_back_within_five_seconds,
        a_writer_that_keeps_coming_back_is_left_alone;
}

fn a_lost_row_is_back_within_five_seconds(stage: &Stage) {
    let host = stage.reporter();
    let _turn = host.turn();
    host.set_title("mine");
    stage.wait_for("working");
    stage.flushed(&host);
    // The row may be back before a look can see that it was lost, so events are watched.
    let mut watch = stage.watch();
    let clear = json!({ "pane_id": stage.pane(), "seq": super::micros() });
    stage.call("pane.clear_agent_authority", &clear);
    watch.until(&AgentStatus::UNKNOWN);
    stage.wait_within(Duration::from_secs(6), |pane| {
        shows(pane, "working") && pane.title.as_deref() == Some("mine")
    });
    assert_eq!(stage.diagnostics(&host).kinds(), [], "a single repair causes no diagnostic");

    // Now under our own source and label, as a second host without a lease would do it.
    let release = json!({
        "pane_id": stage.pane(), "source": SOURCE, "agent": AGENT, "seq": super::micros() + 60_000_000,
    });
    stage.call("pane.release_agent", &release);
    watch.until(&AgentStatus::UNKNOWN);
    stage.wait_within(Duration::from_secs(6), |pane| shows(pane, "working"));
}

fn a_writer_that_keeps_coming_back_is_left_alone(stage: &Stage) {
    let host = stage.reporter();
    let mut diagnostics = stage.diagnostics(&host);
    let turn = host.turn();
    stage.wait_for("working");
    stage.flushed(&host);
    // The other writer takes the pane back again and again, until the host yields.
    let yielded = until(PATIENCE + PATIENCE, || {
        if shows(&stage.seen(), "working") {
            stage.report_as("custom:other", "other", "idle", None);
        }
        diagnostics.try_next()
    });
    assert_eq!(yielded.map(|diagnostic| diagnostic.kind), Some(DiagnosticKind::Ignored));
    let theirs = || stage.seen().agent.as_deref() == Some("other");
    let back = until(Duration::from_secs(5), || (!theirs()).then_some(()));
    assert_eq!(back, None, "the row stays with the other writer");
    let ask = turn.prompt(Prompt::approval("Run it?"));
    stage.wait_for("blocked");
    drop(ask);
    stage.wait_for("working");
    // After this flush no read-back is left that would take the row from the other writer.
    stage.flushed(&host);
    stage.report_as("custom:other", "other", "working", None);
    host.close(PATIENCE);
    let pane = stage.seen();
    assert_eq!(pane.agent.as_deref(), Some("other"), "the close does not release the other row");
    assert_eq!(pane.agent_status, AgentStatus::WORKING);
}

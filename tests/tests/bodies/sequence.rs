//! Sequence numbers: a report must not be lost because of what was sent before it.

use std::time::Duration;

use e2e::stage::{AGENT, PATIENCE, SOURCE, Stage, shows};
use fake_herdr::Fault;
use herdr_proto::StateKey;
use herdr_reporter::{DiagnosticKind, Ended, Flushed, Prompt, Reporter};
use serde_json::{Value, json};

use super::micros;

/// In the unit of sequence numbers.
const HOUR: u64 = 3_600_000_000;

e2e::bodies! {
    shared:
        b01_a_restarted_host_shows_again,
        b01_a_killed_host_shows_again,
        b03_a_clock_that_was_set_back_is_overcome,
        b03_the_largest_mark_causes_one_diagnostic,
        b04_nanoseconds_under_the_same_source_are_overcome,
        b03_a_mark_raised_in_mid_run_is_overcome,
        b04_a_title_above_a_raised_mark_shows,
        b04_a_title_above_a_mark_raised_in_mid_run_shows;
    own:
        b06_every_report_has_a_larger_number_than_the_one_before,
        b07_reports_never_overtake_each_other;
}

fn run_once(stage: &Stage) {
    let host = stage.reporter();
    let turn = host.turn();
    stage.wait_for("working");
    drop(turn);
    assert_eq!(host.close(PATIENCE), Ended::Released);
    assert_eq!(stage.seen().agent, None);
}

fn b01_a_restarted_host_shows_again(stage: &Stage) {
    for _ in 0..20 {
        run_once(stage);
    }
}

fn b01_a_killed_host_shows_again(stage: &Stage) {
    for _ in 0..2 {
        let mut host = stage.sidecar(&[]);
        host.tell(r#"{"event":"agent_started"}"#);
        host.tell(r#"{"event":"title_changed","title":"first run"}"#);
        stage.wait(|pane| pane.title.as_deref() == Some("first run"));
        host.kill();
        // The killed host released nothing, so its row may still be there.
        let mut host = stage.sidecar(&[]);
        host.tell(r#"{"event":"prompt_opened","prompt_id":"p","kind":"approval","label":"ok?"}"#);
        stage.wait_for("blocked");
        assert_eq!(host.finish(), Some(0));
        stage.wait(|pane| pane.agent.is_none() && pane.state_labels.is_empty());
    }
}

fn shows_despite_a_mark(stage: &Stage, mark: u64) {
    stage.report_as(SOURCE, AGENT, "idle", Some(mark));
    let host = stage.reporter();
    let turn = host.turn();
    stage.wait_for("working");
    let ask = turn.prompt(Prompt::approval("Run it?"));
    stage.wait_for("blocked");
    drop((ask, turn));
    stage.wait_for("idle");
    assert_eq!(stage.diagnostics(&host).kinds(), []);
    host.close(PATIENCE);
    stage.wait_for_nothing();
}

fn b03_a_clock_that_was_set_back_is_overcome(stage: &Stage) {
    shows_despite_a_mark(stage, micros() + HOUR);
}

fn b04_nanoseconds_under_the_same_source_are_overcome(stage: &Stage) {
    shows_despite_a_mark(stage, micros() * 1_000);
}

fn b03_the_largest_mark_causes_one_diagnostic(stage: &Stage) {
    stage.report_as(SOURCE, AGENT, "idle", Some(u64::MAX));
    let host = stage.reporter();
    let mut diagnostics = stage.diagnostics(&host);
    let turn = host.turn();
    let first = diagnostics.wait().expect("there is a diagnostic");
    assert_eq!(first.kind, DiagnosticKind::Ignored);
    assert_eq!(host.flush(PATIENCE), Flushed::Delivered);
    let before = stage.requests();
    for _ in 0..20 {
        drop(turn.tool("grep"));
        drop(turn.prompt(Prompt::approval("again?")));
        assert_eq!(host.flush(PATIENCE), Flushed::Delivered);
    }
    assert_eq!(diagnostics.try_next(), None, "there is one diagnostic");
    if let (Some(before), Some(after)) = (before, stage.requests()) {
        let reports =
            |log: &[Value]| log.iter().filter(|line| line["method"] == "pane.report_agent").count();
        assert_eq!(reports(&after), reports(&before), "no number gets through, so none is tried");
    }
}

fn drive(stage: &Stage, host: &Reporter) {
    host.set_session("one").set_title("A title").set_model("m-1", Some(200_000)).set_usage(34_000);
    host.set_label(StateKey::Working, "busy").set_token("branch", "main");
    let turn = host.turn();
    stage.flushed(host);
    let tool = turn.tool("grep");
    stage.flushed(host);
    drop(tool);
    let ask = turn.prompt(Prompt::question("Which one?"));
    stage.flushed(host);
    drop(ask);
    stage.flushed(host);
    host.clear_title().clear_token("branch").set_session("two");
    stage.flushed(host);
    drop(turn);
    stage.flushed(host);
    host.release();
    stage.flushed(host);
    stage.wait_for_nothing();
    host.set_state(herdr_proto::ReportState::Blocked);
    stage.flushed(host);
    stage.wait_for("blocked");
}

fn b06_every_report_has_a_larger_number_than_the_one_before(stage: &Stage) {
    let host = stage.reporter();
    drive(stage, &host);
    assert_eq!(host.close(PATIENCE), Ended::Released);
    stage.wait_for_nothing();
    let Some(requests) = stage.requests() else { return };
    let writes = ["pane.report_agent", "pane.report_metadata", "pane.release_agent"];
    let reports = requests.iter().filter(|line| writes.iter().any(|m| line["method"] == **m));
    let numbers: Vec<u64> = reports
        .map(|line| line["params"]["seq"].as_u64().unwrap_or_else(|| panic!("no seq: {line}")))
        .collect();
    assert!(numbers.len() > 10, "{numbers:?}");
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    let units = 1_000_000_000_000_000..1 << 53;
    assert!(numbers.iter().all(|number| units.contains(number)), "{numbers:?}");
}

fn b07_reports_never_overtake_each_other(stage: &Stage) {
    if let Some(fake) = stage.as_fake() {
        fake.fault_times(Fault::AnswersLate(Duration::from_millis(300)), 2);
    }
    let host = stage.reporter_with(|config| config.settle = Duration::ZERO);
    drop(host.turn());
    host.set_session("one");
    let turn = host.turn();
    drop(turn);
    host.set_title("the end");
    let pane = stage.flushed(&host);
    assert!(pane.agent_status.same_as(&"idle".into()), "{pane:?}");
    assert_eq!(pane.title.as_deref(), Some("the end"));
    if let Some(requests) = stage.requests() {
        let last = requests.iter().rfind(|line| line["method"] == "pane.report_agent").unwrap();
        assert_eq!(last["params"]["state"], json!("idle"));
        // Each request has its own connection, which is closed before the next one opens, so
        // the server accepts them in the order of their numbers.
        let log = stage.as_fake().unwrap().log();
        let mut numbers: Vec<(u64, u64)> = Vec::new();
        for exchange in &log {
            let line: Value = serde_json::from_str(&exchange.request).unwrap();
            if let Some(seq) = line["params"]["seq"].as_u64() {
                numbers.push((exchange.connection, seq));
            }
        }
        assert!(numbers.is_sorted(), "{numbers:?}");
        assert!(numbers.is_sorted_by_key(|(_, seq)| *seq), "{numbers:?}");
    }
}

/// Title and tokens have a mark of their own, apart from that of the state.
fn raise_metadata_mark(stage: &Stage) {
    let report = json!({
        "pane_id": stage.pane(), "source": SOURCE, "title": "earlier", "seq": micros() + HOUR,
        "tokens": { "branch": "earlier" },
    });
    stage.call("pane.report_metadata", &report);
}

fn b03_a_mark_raised_in_mid_run_is_overcome(stage: &Stage) {
    let host = stage.reporter();
    let turn = host.turn();
    stage.wait_for("working");
    stage.flushed(&host);
    stage.report_as(SOURCE, AGENT, "idle", Some(micros() + HOUR));
    let ask = turn.prompt(Prompt::approval("Run it?"));
    stage.wait_within(Duration::from_secs(2), |pane| shows(pane, "blocked"));
    stage.report_as(SOURCE, AGENT, "idle", Some(micros() + 2 * HOUR));
    stage.wait_within(Duration::from_secs(6), |pane| shows(pane, "blocked"));
    drop((ask, turn));
    stage.wait_for("idle");
    host.close(PATIENCE);
    stage.wait_for_nothing();
}

fn shows_now(stage: &Stage) {
    stage.wait_within(Duration::from_secs(6), |pane| {
        let branch = pane.tokens.get("branch").map(String::as_str);
        pane.title.as_deref() == Some("now") && branch == Some("main")
    });
}

fn b04_a_title_above_a_raised_mark_shows(stage: &Stage) {
    raise_metadata_mark(stage);
    let host = stage.reporter();
    host.set_title("now").set_token("branch", "main");
    let _turn = host.turn();
    shows_now(stage);
    host.close(PATIENCE);
    stage.wait_for_nothing();
}

fn b04_a_title_above_a_mark_raised_in_mid_run_shows(stage: &Stage) {
    let host = stage.reporter();
    let _turn = host.turn();
    host.set_title("first");
    stage.flushed(&host);
    raise_metadata_mark(stage);
    host.set_title("now").set_token("branch", "main");
    shows_now(stage);
    host.close(PATIENCE);
    stage.wait_for_nothing();
}

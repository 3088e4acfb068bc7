//! Servers that are busy, stop, come back, or have another version.

use std::time::{Duration, Instant};

use e2e::stage::{AGENT, PATIENCE, SOURCE, Stage, pace, shows, skipped, until};
use fake_herdr::{FakeHerdr, Fault};
use herdr_proto::{AgentLabel, PaneInfo, ReportAgent, ReportState, Seq, SourceId, StateKey};
use herdr_reporter::{DiagnosticKind, Ended, Flushed, Prompt, Reporter};

e2e::bodies! {
    shared:
        b57_a_report_never_waits_for_the_servers_next_look,
        b71_a_flood_of_titles_is_a_trickle;
    own:
        b63_a_server_that_comes_back_shows_everything_again,
        b63_restarts_in_a_row_show_everything_again,
        b75_a_handoff_loses_nothing,
        b75_handoffs_in_a_row_lose_nothing,
        b76_a_host_outlives_its_server,
        b76_a_sidecar_outlives_its_server,
        b75_a_handoff_while_blocked,
        b75_a_handoff_while_done,
        b75_a_handoff_right_before_the_end,
        b75_a_handoff_after_the_release;
}

/// The longest time until everything shows again on a server that is back.
const BACK_WITHIN: Duration = Duration::from_secs(3);

fn b57_a_report_never_waits_for_the_servers_next_look(stage: &Stage) {
    let agent = AgentLabel::parse(AGENT).unwrap();
    let source = SourceId::parse(SOURCE).unwrap();
    let report = |number: usize| {
        let shown = [ReportState::Working, ReportState::Blocked][number % 2];
        let mut report =
            ReportAgent::new(stage.pane().clone(), source.clone(), agent.clone(), shown);
        report.seq = Some(Seq::new(super::micros()));
        let start = Instant::now();
        stage.ask(&report).unwrap();
        start.elapsed()
    };
    // Each line that the server does not find at its first look costs 100 ms. On a busy
    // machine that may happen to some reports, or to all of them for a while.
    let mut medians = Vec::new();
    let in_time = until(PATIENCE, || {
        let mut took: Vec<Duration> = (0..40).map(report).collect();
        took.sort();
        medians.push(took[20]);
        (took[20] < Duration::from_millis(90)).then_some(())
    });
    assert!(in_time.is_some(), "the medians are {medians:?}");
    stage.wait_for("blocked");
}

fn b71_a_flood_of_titles_is_a_trickle(stage: &Stage) {
    let host = stage.reporter();
    let _turn = host.turn();
    stage.wait_for("working");
    stage.flushed(&host);
    let before = host.counters();
    let start = Instant::now();
    pace(1000, Duration::from_secs(1), |number| {
        host.set_title(format!("title {number}"));
    });
    let pane = stage.flushed(&host);
    let took = start.elapsed();
    assert_eq!(pane.title.as_deref(), Some("title 999"));
    let sent = host.counters().delivered - before.delivered;
    // One in 100 ms; the first is sent at once, and the last is always sent.
    let most = took.as_millis() / 100 + 2;
    assert!(u128::from(sent) <= most, "{sent} in {took:?}");
    let counters = host.counters();
    assert_eq!(counters.offered, counters.delivered + counters.superseded, "{counters:?}");
    let before = stage.requests();
    for _ in 0..1000 {
        host.set_title("title 999");
    }
    stage.flushed(&host);
    if let (Some(before), Some(after)) = (before, stage.requests()) {
        let new = &after[before.len()..];
        assert!(new.iter().all(|line| line["method"] != "pane.report_metadata"), "{new:?}");
    }
}

/// Shows something in every part of the pane.
fn show_everything(stage: &Stage, host: &Reporter) {
    host.set_title("survives").set_label(StateKey::Working, "busy");
    host.set_token("branch", "main");
    stage.flushed(host);
    assert!(everything(&stage.seen()));
}

fn everything(pane: &PaneInfo) -> bool {
    shows(pane, "working")
        && pane.title.as_deref() == Some("survives")
        && pane.state_labels.get("working").map(String::as_str) == Some("busy")
        && pane.tokens.get("branch").map(String::as_str) == Some("main")
}

/// Sequence numbers rise over all reports so far, also from one server to the next.
fn numbers_rise(stage: &Stage) {
    let Some(requests) = stage.requests() else { return };
    let numbers: Vec<u64> =
        requests.iter().filter_map(|line| line["params"]["seq"].as_u64()).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
}

fn b63_a_server_that_comes_back_shows_everything_again(stage: &Stage) {
    restarted(stage, 1);
}

fn b63_restarts_in_a_row_show_everything_again(stage: &Stage) {
    restarted(stage, 3);
}

fn restarted(stage: &Stage, times: usize) {
    let host = stage.reporter();
    let _turn = host.turn();
    show_everything(stage, &host);
    for _ in 0..times {
        stage.restart();
        stage.restore();
        stage.wait(everything);
    }
    numbers_rise(stage);
    assert_eq!(host.close(PATIENCE), Ended::Released);
    stage.wait_for_nothing();
}

fn b75_a_handoff_loses_nothing(stage: &Stage) {
    after_handoffs(stage, 1);
}

fn b75_handoffs_in_a_row_lose_nothing(stage: &Stage) {
    after_handoffs(stage, 3);
}

fn after_handoffs(stage: &Stage, times: usize) {
    let host = stage.reporter();
    let turn = host.turn();
    show_everything(stage, &host);
    let mut longest = Duration::ZERO;
    for _ in 0..times {
        let Some(gap) = handed_off(stage) else { return };
        longest = longest.max(gap);
        stage.wait_within(BACK_WITHIN, everything);
    }
    numbers_rise(stage);
    the_gap_was_not_reported(stage, &host, longest);
    drop(turn);
    stage.wait_for("idle");
    assert_eq!(host.close(PATIENCE), Ended::Released);
    stage.wait_for_nothing();
}

/// How long the handoff took; `None`, with a message, if the server cannot hand off.
fn handed_off(stage: &Stage) -> Option<Duration> {
    let gap = stage.hand_off();
    if gap.is_none() {
        skipped("b75", "this server hands nothing over");
    }
    gap
}

/// A handoff causes no diagnostic. On a busy machine the gap may be so long that the
/// reporter rightly says that the server does not answer.
fn the_gap_was_not_reported(stage: &Stage, host: &Reporter, gap: Duration) {
    let silence = [DiagnosticKind::ConnectFailed, DiagnosticKind::Timeout];
    let long = gap > Duration::from_millis(800);
    let mut kinds = stage.diagnostics(host).kinds();
    kinds.retain(|kind| !(long && silence.contains(kind)));
    assert_eq!(kinds, [], "after a gap of {gap:?}");
}

fn b76_a_host_outlives_its_server(stage: &Stage) {
    let host = stage.reporter();
    let turn = host.turn();
    show_everything(stage, &host);
    stage.stop();
    let start = Instant::now();
    for number in 0..1000 {
        host.set_title(format!("title {number}"));
    }
    drop(turn);
    assert!(start.elapsed() < Duration::from_secs(1), "host calls do not wait");
    let mut diagnostics = stage.diagnostics(&host);
    let first = diagnostics.wait().map(|diagnostic| diagnostic.kind);
    assert_eq!(first, Some(DiagnosticKind::ConnectFailed));
    assert_eq!(host.flush(Duration::from_millis(200)), Flushed::TimedOut);
    assert_eq!(diagnostics.try_next(), None, "there is one diagnostic");
    let start = Instant::now();
    let ended = host.close(Duration::from_millis(500));
    assert_eq!(ended, Ended::NotReleased);
    assert!(start.elapsed() < Duration::from_secs(5));
}

fn b76_a_sidecar_outlives_its_server(stage: &Stage) {
    let mut host = stage.sidecar(&[]);
    host.tell(r#"{"event":"agent_started"}"#);
    stage.wait_for("working");
    stage.stop();
    host.tell(r#"{"event":"title_changed","title":"unseen"}"#);
    assert_eq!(host.finish(), Some(0));
}

/// Only the fake can claim an unusual version.
#[test]
fn b77_the_version_of_a_server_decides_nothing() {
    for protocol in [0, 9, 22, 99] {
        let herdr = FakeHerdr::builder().protocol(protocol).start().unwrap();
        assert_works(&format!("protocol {protocol}"), &herdr);
    }
    let herdr = FakeHerdr::builder().fault(Fault::Unknown).start().unwrap();
    assert_works("fields of the future", &herdr);
}

/// Without one method a server loses what that method is for, and nothing else.
#[test]
fn b77_a_refused_method_turns_off_one_thing() {
    let methods = ["ping", "pane.process_info", "pane.get", "pane.list", "events.subscribe"];
    let codes =
        ["invalid_request", "not_implemented", "unsupported", "unknown_method", "internal_error"];
    for method in methods {
        for code in codes {
            let fault = Fault::Refuses { method: method.to_owned(), code: code.to_owned() };
            let herdr = FakeHerdr::builder().fault(fault).start().unwrap();
            assert_works(&format!("{method} refused with {code}"), &herdr);
        }
    }
}

fn assert_works(what: &str, herdr: &FakeHerdr) {
    let folder = tempfile::tempdir().unwrap();
    let mut config = herdr_reporter::Config::default();
    config.runtime_folder = Some(folder.path().join("leases"));
    let variables = herdr.env();
    let lookup = |name: &str| {
        variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.into())
    };
    let host = Reporter::builder(AGENT).config(config).environment(lookup).start();
    host.set_title("works");
    let _turn = host.turn();
    let seen = herdr.wait_until(PATIENCE, |pane| {
        pane.agent_status == "working" && pane.title.as_deref() == Some("works")
    });
    seen.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(host.flush(PATIENCE), Flushed::Delivered, "{what}");
}

fn b75_a_handoff_while_blocked(stage: &Stage) {
    let host = stage.reporter();
    let turn = host.turn();
    let ask = turn.prompt(Prompt::approval("Run it?"));
    stage.wait_for("blocked");
    stage.flushed(&host);
    if handed_off(stage).is_none() {
        return;
    }
    stage.wait_within(BACK_WITHIN, |pane| {
        shows(pane, "blocked")
            && pane.state_labels.get("blocked").map(String::as_str) == Some("Run it?")
    });
    drop(ask);
    stage.wait(|pane| shows(pane, "working") && pane.state_labels.is_empty());
}

fn b75_a_handoff_while_done(stage: &Stage) {
    let host = stage.reporter();
    drop(host.turn());
    host.set_title("finished");
    stage.wait_for("idle");
    stage.flushed(&host);
    let Some(gap) = handed_off(stage) else { return };
    stage.wait_within(BACK_WITHIN, |pane| {
        shows(pane, "idle") && pane.title.as_deref() == Some("finished")
    });
    the_gap_was_not_reported(stage, &host, gap);
}

fn b75_a_handoff_right_before_the_end(stage: &Stage) {
    let host = stage.reporter();
    let turn = host.turn();
    host.set_title("short");
    stage.wait_for("working");
    stage.flushed(&host);
    if handed_off(stage).is_none() {
        return;
    }
    drop(turn);
    host.close(PATIENCE);
    stage.wait_for_nothing();
    let back = until(Duration::from_secs(3), || stage.look().and_then(|pane| pane.agent));
    assert_eq!(back, None);
}

fn b75_a_handoff_after_the_release(stage: &Stage) {
    let host = stage.reporter();
    let turn = host.turn();
    stage.wait_for("working");
    drop(turn);
    host.release();
    stage.flushed(&host);
    stage.wait_for_nothing();
    if handed_off(stage).is_none() {
        return;
    }
    let back = until(Duration::from_secs(2), || stage.look().and_then(|pane| pane.agent));
    assert_eq!(back, None);
    let _turn = host.turn();
    stage.wait_for("working");
}

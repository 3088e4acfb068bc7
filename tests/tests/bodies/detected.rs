//! Panes in which the server has detected a known agent.

use std::time::Duration;

use e2e::replay::{SocketTarget, Target as _};
use e2e::stage::{PATIENCE, Stage, skipped, until};
use herdr_proto::{AgentLabel, AgentStatus, PaneInfo, ProcessInfoGet};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::micros;

e2e::bodies! {
    shared:
        a_clear_gives_the_row_back_to_the_detected_agent,
        a_release_takes_the_detected_agent_along,
        a_release_of_its_own_label_keeps_the_detected_agent,
        an_exit_ends_a_claim_of_the_same_label,
        an_exit_below_a_custom_label_is_an_event_and_changes_nothing,
        a_title_and_labels_over_a_detected_agent,
        two_agents_one_after_the_other,
        a_prompt_is_typed_into_the_detected_agent;
}

const SOURCE: &str = "custom:over";

/// A detected agent: a program with an agent's name in the foreground of the pane. It does
/// nothing.
pub(super) struct Agent<'a> {
    stage: &'a Stage,
    name: &'static str,
    pid: Pid,
}

impl<'a> Agent<'a> {
    /// `None`, with a message, if no program can run in the pane.
    pub(super) fn start(stage: &'a Stage, name: &'static str) -> Option<Self> {
        Self::start_as(stage, name, "cat", "", "")
    }

    /// As [`start`](Self::start), for a copy of another program, with environment variables
    /// and with a file of the stage's folder as its argument.
    pub(super) fn start_as(
        stage: &'a Stage,
        name: &'static str,
        program: &str,
        variables: &str,
        argument: &str,
    ) -> Option<Self> {
        if !stage.has_shell() {
            skipped(name, "no process is behind the pane");
            return None;
        }
        let path = std::env::var_os("PATH").unwrap();
        let files = std::env::split_paths(&path).map(|folder| folder.join(program));
        let copy = stage.folder().join(name);
        std::fs::copy(files.into_iter().find(|file| file.exists()).unwrap(), &copy).unwrap();
        let argument = Some(argument).filter(|it| !it.is_empty());
        let argument = argument.map(|file| stage.folder().join(file).display().to_string());
        let text = format!("{variables} {} {}\n", copy.display(), argument.unwrap_or_default());
        stage.call("pane.send_text", &json!({ "pane_id": stage.pane(), "text": text }));
        let agent = Self { stage, name, pid: until(PATIENCE, || running(stage, name))? };
        stage.wait(|pane| agent.is_shown(pane));
        Some(agent)
    }

    /// Whether the pane shows this agent and its state is known. The name of the program may
    /// differ from the agent's label.
    pub(super) fn is_shown(&self, pane: &PaneInfo) -> bool {
        let label = AgentLabel::normalize(self.name);
        pane.agent.as_deref() == label.as_ref().map(AgentLabel::as_str) && at_rest(pane)
    }

    pub(super) fn end(self) {
        // Ctrl-C may be ignored here if the tests themselves run in the background.
        self.signal(Signal::TERM);
    }

    pub(super) fn kill(self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
        let ended = || running(self.stage, self.name).is_none().then_some(());
        assert!(until(PATIENCE, ended).is_some(), "it has ended");
    }
}

fn running(stage: &Stage, name: &str) -> Option<Pid> {
    let info = stage.read(&ProcessInfoGet::new(stage.pane().clone()))?.process_info;
    let process = info.foreground_processes.into_iter().find(|process| process.name == name)?;
    Pid::from_raw(process.pid.try_into().ok()?)
}

/// `done` is also at rest: it is the idle of a pane that the user has not looked at.
fn at_rest(pane: &PaneInfo) -> bool {
    pane.agent_status.same_as(&AgentStatus::IDLE)
}

pub(super) fn no_agent(pane: &PaneInfo) -> bool {
    pane.agent.is_none() && pane.agent_status == AgentStatus::UNKNOWN
}

fn claim(stage: &Stage, label: &str, doing: &str) {
    stage.report_as(SOURCE, label, doing, Some(micros()));
    let shown = |pane: &PaneInfo| {
        pane.agent.as_deref() == Some(label) && pane.agent_status.as_str() == doing
    };
    assert!(shown(&stage.seen()), "{:?}", stage.seen());
}

fn release(stage: &Stage, label: &str) {
    let release =
        json!({ "pane_id": stage.pane(), "source": SOURCE, "agent": label, "seq": micros() });
    stage.call("pane.release_agent", &release);
}

/// Checks for two seconds that the pane stays as it is.
fn stays(stage: &Stage, satisfied: impl Fn(&PaneInfo) -> bool) {
    let other =
        until(Duration::from_secs(2), || Some(stage.seen()).filter(|pane| !satisfied(pane)));
    assert!(other.is_none(), "{other:?}");
}

fn a_clear_gives_the_row_back_to_the_detected_agent(stage: &Stage) {
    let Some(claude) = Agent::start(stage, "claude") else { return };
    claim(stage, "overlay", "working");
    let clear = json!({ "pane_id": stage.pane(), "source": SOURCE, "seq": micros() });
    stage.call("pane.clear_agent_authority", &clear);
    assert!(claude.is_shown(&stage.seen()), "at once: {:?}", stage.seen());
    claude.end();
    stage.wait(no_agent);
}

fn a_release_takes_the_detected_agent_along(stage: &Stage) {
    let Some(claude) = Agent::start(stage, "claude") else { return };
    claim(stage, "overlay", "blocked");
    release(stage, "overlay");
    assert!(no_agent(&stage.seen()), "{:?}", stage.seen());
    stays(stage, no_agent);
    claim(stage, "overlay", "working");
    release(stage, "overlay");
    assert!(no_agent(&stage.seen()));
    claude.end();
    // An agent that starts before the next look of the detector would pass for the old one.
    stays(stage, |pane| pane.agent.is_none());
    let Some(again) = Agent::start(stage, "claude") else { return };
    again.end();
    stage.wait(no_agent);
}

fn a_release_of_its_own_label_keeps_the_detected_agent(stage: &Stage) {
    let Some(claude) = Agent::start(stage, "claude") else { return };
    claim(stage, "claude", "working");
    release(stage, "claude");
    assert!(claude.is_shown(&stage.seen()), "{:?}", stage.seen());
    // The detector treats the agent as if it had just started.
    stage.wait(|pane| {
        pane.agent.as_deref() == Some("claude") && pane.agent_status == AgentStatus::UNKNOWN
    });
    stage.wait(|pane| claude.is_shown(pane));
    claude.end();
    stage.wait(no_agent);
}

fn an_exit_ends_a_claim_of_the_same_label(stage: &Stage) {
    let Some(claude) = Agent::start(stage, "claude") else { return };
    claim(stage, "claude", "working");
    claude.end();
    stage.wait(no_agent);
    stage.report_as(SOURCE, "claude", "working", Some(micros()));
    assert!(no_agent(&stage.seen()), "it has just exited: {:?}", stage.seen());
    claim(stage, "overlay", "working");
    release(stage, "overlay");
}

fn an_exit_below_a_custom_label_is_an_event_and_changes_nothing(stage: &Stage) {
    let Some(claude) = Agent::start(stage, "claude") else { return };
    claim(stage, "overlay", "working");
    let mut events = SocketTarget::new(stage.socket());
    let subscriptions = json!([{ "type": "pane.agent_detected" }]);
    let subscribe = json!({
        "id": "s", "method": "events.subscribe", "params": { "subscriptions": subscriptions },
    });
    events.open("s", format!("{subscribe}\n").as_bytes()).unwrap();
    claude.end();
    let exited = until(PATIENCE, || {
        events.wait(Duration::from_millis(100)).unwrap();
        let (lines, _) = events.take("s");
        let lines = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut data = lines.map(|mut event| event["data"].take());
        data.find(|data| data["pane_id"] == stage.pane().as_str() && data["released"] == true)
    });
    let exited = exited.expect("there is an event for the exit");
    assert_eq!((&exited["agent"], &exited["final_status"]), (&"overlay".into(), &"working".into()));
    let ours = |pane: &PaneInfo| pane.agent.as_deref() == Some("overlay");
    stays(stage, ours);
    release(stage, "overlay");
    stage.wait(no_agent);
}

fn a_title_and_labels_over_a_detected_agent(stage: &Stage) {
    let Some(claude) = Agent::start(stage, "claude") else { return };
    let metadata = json!({
        "pane_id": stage.pane(), "source": SOURCE, "agent": "claude", "seq": micros(),
        "title": "Fix it", "state_labels": { "idle": "ready" }, "tokens": { "model": "m" },
    });
    stage.call("pane.report_metadata", &metadata);
    let decorated = |pane: &PaneInfo| {
        pane.title.as_deref() == Some("Fix it")
            && pane.state_labels.get("idle").is_some_and(|label| label == "ready")
            && pane.tokens.contains_key("model")
    };
    assert!(decorated(&stage.seen()) && claude.is_shown(&stage.seen()));
    claim(stage, "overlay", "working");
    let hidden = stage.seen();
    assert!(hidden.title.is_none() && hidden.tokens.contains_key("model"), "{hidden:?}");
    let clear = json!({ "pane_id": stage.pane(), "source": SOURCE, "seq": micros() });
    stage.call("pane.clear_agent_authority", &clear);
    assert!(decorated(&stage.seen()), "it is back with the agent");
    claude.end();
    stage.wait(no_agent);
    let left = stage.seen();
    assert!(left.title.is_none() && left.state_labels.is_empty(), "{left:?}");
    assert!(left.tokens.contains_key("model"), "tokens stay: {left:?}");
}

fn two_agents_one_after_the_other(stage: &Stage) {
    for name in ["claude", "codex", "claude"] {
        let Some(agent) = Agent::start(stage, name) else { return };
        let other = if name == "claude" { "codex" } else { "claude" };
        stage.report_as(SOURCE, other, "working", Some(micros()));
        assert!(agent.is_shown(&stage.seen()), "a label that is not its own is ignored");
        agent.end();
        stage.wait(no_agent);
    }
}

fn a_prompt_is_typed_into_the_detected_agent(stage: &Stage) {
    let Some(claude) = Agent::start(stage, "claude") else { return };
    let prompt = json!({ "target": stage.pane(), "text": "say cheese" });
    stage.call("agent.prompt", &prompt);
    // The terminal echoes the text, and the program repeats it after Enter.
    let read = json!({ "pane_id": stage.pane(), "source": "visible" });
    let said = until(PATIENCE, || {
        let seen = stage.call("pane.read", &read);
        let text = seen["read"]["text"].as_str().unwrap_or_default();
        (text.matches("say cheese").count() == 2).then_some(())
    });
    assert!(said.is_some(), "{}", stage.call("pane.read", &read));
    claim(stage, "claude", "blocked");
    let refused = stage.try_call("agent.prompt", &prompt).unwrap_err();
    assert_eq!(refused.0, "agent_blocked");
    claude.end();
    stage.wait(no_agent);
    let refused = stage.try_call("agent.prompt", &prompt).unwrap_err();
    assert_eq!(refused.0, "agent_not_found");
}

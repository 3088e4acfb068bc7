//! What a read-back says about a state (protocol §5.8).

use std::time::Duration;

use herdr_proto::{PaneInfo, ReportState};
use herdr_reporter::machine::{Answer, Input, Now, PaneCall, PaneMachine};
use herdr_reporter::sidecar::Activity;
use herdr_reporter::{AgentEvent, Config, Part, Reason};
use serde_json::{Value, json};

use crate::one_shots::claim;
use crate::world::{EPOCH, PANE};

/// Why the state does not show, on a pane that shows the same whatever is reported.
fn judged(label: &str, state: ReportState, shown: &Value) -> Option<Reason> {
    let mut pane = json!({"pane_id": PANE});
    pane.as_object_mut().unwrap().extend(shown.as_object().unwrap().clone());
    let pane: PaneInfo = serde_json::from_value(pane).unwrap();

    let (config, mut activity) = (Config::default(), Activity::default());
    let mut machine = PaneMachine::new(claim(label));
    activity.apply(AgentEvent::state_set(state, None)).unwrap();
    let mut input = Input::Wanted(activity.snapshot(&config).map(Box::new));
    for n in 0..100 {
        let elapsed = Duration::from_millis(200 * n);
        let step = machine.step(Now::new(elapsed, EPOCH + 200_000 * n), input);
        if let Some(receipt) = step.receipts.into_iter().find(|receipt| receipt.of == Part::State) {
            return receipt.reason;
        }
        input = match step.request.map(|request| request.call) {
            Some(PaneCall::Get(_)) => Input::Answered(Ok(Answer::Pane(pane.clone()))),
            Some(_) => Input::Answered(Ok(Answer::Ack)),
            None => Input::Timer,
        };
    }
    panic!("no receipt of the state")
}

#[test]
fn a_state_is_judged_by_what_the_pane_shows() {
    let session = json!({"source": "herdr:claude", "agent": "claude"});
    let (working, idle) = (ReportState::Working, ReportState::Idle);
    for (label, state, shown, expected) in [
        ("host", working, json!({"agent": "host", "agent_status": "working"}), None),
        ("host", idle, json!({"agent": "host", "agent_status": "done"}), None),
        ("host", working, json!({"agent": "host", "agent_status": "dreaming"}), None),
        (
            "host",
            working,
            json!({"agent": "host", "agent_status": "idle"}),
            Some(Reason::StaleSequence),
        ),
        ("host", working, json!({"agent_status": "unknown"}), Some(Reason::StaleSequence)),
        ("host", working, json!({"agent": "x", "agent_status": "idle"}), Some(Reason::OtherWriter)),
        (
            "host",
            working,
            json!({"agent_session": session}),
            Some(Reason::ForeignSession("herdr:claude".into())),
        ),
        (
            "pi",
            working,
            json!({"agent": "codex", "agent_status": "idle"}),
            Some(Reason::LabelConflict),
        ),
        (
            "pi",
            working,
            json!({"agent": "pi", "agent_status": "blocked"}),
            Some(Reason::ScreenPrompt),
        ),
        ("pi", working, json!({}), Some(Reason::AgentExited)),
    ] {
        assert_eq!(judged(label, state, &shown), expected, "{label} {shown}");
    }
}

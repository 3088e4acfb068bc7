//! One-shots lead to the same pane, whether it has an owner or not.

use std::time::Duration;

use fake_herdr::{Model, Observation};
use herdr_reporter::AgentEvent;
use herdr_reporter::machine::Input;
use proptest::prelude::*;
use serde_json::json;

use crate::events::{blocked, labels, session, state, title, token};
use crate::one_shots::report_once;
use crate::properties::cases;
use crate::world::{AGENT, EPOCH, PANE, SECOND, SOURCE, World};

const STEP: Duration = Duration::from_secs(2);

/// What one command says, except for what `docs/sidecar.md` names as different: a label for a state
/// that has a reason, the same label for idle and done, titles and tokens before a state, another
/// session.
fn command() -> impl Strategy<Value = AgentEvent> {
    let text = prop::sample::select(vec!["", "a", "b"]);
    let key = prop::sample::select(vec!["branch", "model", "ctx"]);
    let of = prop::sample::select(vec!["idle", "working", "done", "unknown"]);
    let shown = |text: &'static str| Some(text).filter(|text| !text.is_empty());
    prop_oneof![
        prop::sample::select(vec!["idle", "working", "blocked"]).prop_map(state),
        text.clone().prop_map(blocked),
        text.clone().prop_map(title),
        (key, text.clone()).prop_map(move |(key, text)| token(key, shown(text))),
        (of, text).prop_map(move |(of, text)| {
            let text = if of == "done" && text == "a" { "c" } else { text };
            let text = if of == "done" && text == "b" { "d" } else { text };
            labels(&[(of, shown(text))])
        }),
        Just(session("s")),
    ]
}

fn seen(pane: Observation) -> (Option<String>, String, Option<String>, String, String) {
    let show = |map: std::collections::BTreeMap<String, String>| format!("{map:?}");
    (pane.agent, pane.agent_status, pane.title, show(pane.state_labels), show(pane.tokens))
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn one_shots_show_the_same_with_and_without_an_owner(
        first in prop::sample::select(vec!["idle", "working"]),
        commands in prop::collection::vec(command(), 0..12),
        muted in any::<bool>(),
        gives_back in any::<bool>(),
    ) {
        let mut owner = World::new();
        let mut model = Model::new();
        if muted {
            // The sequence mark is that of an earlier run whose clock was ahead.
            let left = json!({"pane_id": PANE, "source": SOURCE, "agent": AGENT, "state": "idle",
                "seq": EPOCH + 3_600_000_000});
            owner.foreign_call("pane.report_agent", &left);
            let line = json!({"id": "f", "method": "pane.report_agent", "params": left});
            model.request(Duration::ZERO, format!("{line}\n").as_bytes());
        }
        let release = gives_back.then_some(AgentEvent::Release);
        let commands = std::iter::once(state(first)).chain(commands).chain(release);
        for (n, event) in (1..).zip(commands) {
            let at = STEP * n;
            owner.serve_for(at.saturating_sub(owner.elapsed));
            owner.record(event.clone());
            owner.step(Input::Flush);
            owner.serve_for(SECOND);
            report_once(&mut model, at, vec![event.clone()]);
            let straight = model.observe(at + SECOND, PANE).unwrap();
            if event == AgentEvent::Release {
                // Without an owner, it is not known which other tokens were set.
                prop_assert_eq!((straight.agent, straight.title), (None, None));
                break;
            }
            prop_assert_eq!(seen(owner.pane()), seen(straight), "{:?}", event);
        }
    }
}

//! What a read-back says of the last report (protocol §5.8).

use std::collections::BTreeMap;

use herdr_proto::{
    AgentLabel, AgentStatus, PaneInfo, PresentationText, SourceId, StateKey, TokenKey,
    canonical_label,
};

use super::io;
use super::slot::StateRecord;
use crate::activity::Presentation;
use crate::receipt::{Outcome, Reason};

/// What became of a part, seen from the pane.
pub(super) type Verdict = (Outcome, Option<Reason>);

const APPLIED: Verdict = (Outcome::Applied, None);

/// Judges the state that was last delivered.
///
/// `pane.get` does not name the holder, so a claim of another source under the
/// same label and in the same state passes as ours; the guarded fields tell.
pub(super) fn state(
    pane: &PaneInfo,
    source: &SourceId,
    label: &AgentLabel,
    record: &StateRecord,
) -> Verdict {
    let shown = pane.agent.as_deref();
    if shown == Some(label.as_str()) && pane.agent_status.same_as(&record.state.status()) {
        return APPLIED;
    }
    let session = pane.agent_session.as_ref();
    if let Some(session) =
        session.filter(|s| s.source != source.as_str() || s.agent != *label.as_str())
    {
        return ignored(Reason::ForeignSession(io::shown(&session.source)));
    }
    match shown {
        // A state of a later server: it is our row, and nothing can be said
        // about the rest.
        Some(shown) if shown == label.as_str() && !is_known(&pane.agent_status) => {
            (Outcome::Unverified, None)
        }
        Some(shown) if shown == label.as_str() => {
            if label.is_known() && pane.agent_status == AgentStatus::BLOCKED {
                (Outcome::Hidden, Some(Reason::ScreenPrompt))
            } else {
                ignored(Reason::StaleSequence)
            }
        }
        Some(shown) if label.is_known() && canonical_label(shown).is_some() => {
            ignored(Reason::LabelConflict)
        }
        Some(_) => ignored(Reason::OtherWriter),
        None if label.is_known() => ignored(Reason::AgentExited),
        None => ignored(Reason::StaleSequence),
    }
}

/// Judges title, name and labels; `holds` is whether the state is ours.
pub(super) fn presentation(pane: &PaneInfo, sent: &Presentation, holds: bool) -> Verdict {
    if sent.is_empty() {
        return APPLIED;
    }
    let labels: BTreeMap<&str, &str> =
        sent.labels.iter().map(|(state, text)| (state.as_str(), text.as_str())).collect();
    let shows =
        |shown: &Option<String>, sent: Option<&str>| sent.is_none() || shown.as_deref() == sent;
    let all = shows(&pane.title, sent.title.as_ref().map(AsRef::as_ref))
        && shows(&pane.display_agent, sent.display_agent.as_ref().map(AsRef::as_ref))
        && (labels.is_empty()
            || labels.iter().all(|(state, text)| {
                pane.state_labels.get(*state).map(String::as_str) == Some(*text)
            }));
    match (all, holds) {
        (true, _) => APPLIED,
        (false, false) => (Outcome::Hidden, Some(Reason::NotHolder)),
        (false, true) => ignored(Reason::OtherWriter),
    }
}

/// Judges the tokens: whether one that is to show does not.
pub(super) fn tokens(differ: bool) -> Verdict {
    if differ { ignored(Reason::OtherWriter) } else { APPLIED }
}

/// Whether the pane shows a token.
pub(super) fn shows_token(pane: &PaneInfo, key: &TokenKey, text: &PresentationText) -> bool {
    pane.tokens.get(key.as_str()).map(String::as_str) == Some(text.as_str())
}

fn is_known(status: &AgentStatus) -> bool {
    StateKey::ALL.iter().any(|known| known.as_str() == status.as_str())
}

fn ignored(reason: Reason) -> Verdict {
    (Outcome::Ignored, Some(reason))
}

#[cfg(test)]
mod tests {
    use herdr_proto::ReportState;
    use serde_json::{Value, json};

    use super::*;

    fn judge(label: &str, state_sent: ReportState, pane: &Value) -> Verdict {
        let mut whole = json!({"pane_id": "w1:p1"});
        whole.as_object_mut().unwrap().extend(pane.as_object().unwrap().clone());
        let pane: PaneInfo = serde_json::from_value(whole).unwrap();
        let record = StateRecord { state: state_sent, reason: None, resend: 0 };
        let source = SourceId::parse("custom:host").unwrap();
        state(&pane, &source, &AgentLabel::parse(label).unwrap(), &record)
    }

    #[test]
    fn a_state_is_judged_by_what_the_pane_shows() {
        let session = json!({"source": "herdr:claude", "agent": "claude"});
        let working = ReportState::Working;
        for (label, sent, pane, expected) in [
            ("host", working, json!({"agent": "host", "agent_status": "working"}), None),
            ("host", ReportState::Idle, json!({"agent": "host", "agent_status": "done"}), None),
            (
                "host",
                working,
                json!({"agent": "host", "agent_status": "idle"}),
                Some(Reason::StaleSequence),
            ),
            ("host", working, json!({"agent_status": "unknown"}), Some(Reason::StaleSequence)),
            (
                "host",
                working,
                json!({"agent": "x", "agent_status": "idle"}),
                Some(Reason::OtherWriter),
            ),
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
            ("host", working, json!({"agent": "host", "agent_status": "dreaming"}), None),
        ] {
            assert_eq!(judge(label, sent, &pane).1, expected, "{label} {pane}");
        }
    }
}

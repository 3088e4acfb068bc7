//! What a read-back says about the last report (protocol §5.8).

use herdr_proto::{
    AgentLabel, AgentStatus, PaneInfo, PresentationText, SourceId, StateKey, TokenKey,
    canonical_label,
};

use super::io;
use super::slot::StateRecord;
use crate::activity::Presentation;
use crate::receipt::{Outcome, Reason};

pub(super) type Verdict = (Outcome, Option<Reason>);

pub(super) const APPLIED: Verdict = (Outcome::Applied, None);

/// Judges the state that was last delivered.
///
/// `pane.get` does not name the source that holds the row, so a claim of another source with the
/// same label and state passes as ours. The guarded presentation tells the two apart.
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
        // The row is ours, but this version does not know the status, so nothing can be said about
        // the state.
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

pub(super) fn presentation(pane: &PaneInfo, sent: &Presentation, row_is_ours: bool) -> Verdict {
    if sent.is_empty() {
        return APPLIED;
    }
    let shows = |shown: Option<&String>, sent: Option<&PresentationText>| {
        sent.is_none_or(|sent| shown.is_some_and(|shown| shown == sent.as_str()))
    };
    let shows_label = |(state, text): (&StateKey, &PresentationText)| {
        shows(pane.state_labels.get(state.as_str()), Some(text))
    };
    let all = shows(pane.title.as_ref(), sent.title.as_ref())
        && shows(pane.display_agent.as_ref(), sent.display_agent.as_ref())
        && sent.labels.iter().all(shows_label);
    match (all, row_is_ours) {
        (true, _) => APPLIED,
        (false, false) => (Outcome::Hidden, Some(Reason::NotHolder)),
        (false, true) => ignored(Reason::OtherWriter),
    }
}

pub(super) fn shows_token(pane: &PaneInfo, key: &TokenKey, text: &PresentationText) -> bool {
    pane.tokens.get(key.as_str()).map(String::as_str) == Some(text.as_str())
}

fn is_known(status: &AgentStatus) -> bool {
    StateKey::ALL.iter().any(|known| known.as_str() == status.as_str())
}

pub(super) fn ignored(reason: Reason) -> Verdict {
    (Outcome::Ignored, Some(reason))
}

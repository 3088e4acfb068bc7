//! The check of what the pane already shows, and whether a report would show instead.

use herdr_proto::{AgentLabel, PaneInfo, SourceId, canonical_label};
use herdr_reporter::Reason;

use super::check::Check;
use crate::text::shown;

#[derive(Debug)]
pub(super) struct Others {
    pub(super) check: Check,
    pub(super) block: bool,
    /// Whether a report would disturb an agent or a session.
    pub(super) taken: bool,
}

/// Examines what the pane shows. A row may belong to the `reporter` that holds the lease.
pub(super) fn others(
    pane: &PaneInfo,
    source: &SourceId,
    label: &AgentLabel,
    reporter: bool,
) -> Others {
    const NAME: &str = "others";
    let ours = label.as_str();
    let blocked = |finding: String, reason: &Reason| Others {
        check: Check::wrong(NAME, finding).remedy(reason.remedy()),
        block: true,
        taken: true,
    };
    let foreign = pane.agent_session.as_ref();
    let foreign = foreign.filter(|found| found.source != source.as_str() || found.agent != ours);
    if let Some(session) = foreign {
        let finding = format!(
            "a session of source {} for {} has the pane, and every other source's state is ignored",
            shown(&session.source),
            shown(&session.agent)
        );
        return blocked(finding, &Reason::ForeignSession(String::new()));
    }
    let Some(agent) = pane.agent.as_deref() else {
        let check = Check::fine(NAME, format!("no agent is shown{}", leavings(pane)));
        return Others { check, block: false, taken: false };
    };
    let status = shown(pane.agent_status.as_str());
    let status = status.trim_matches('"');
    let it = format!("{} is shown, {status}{}", shown(agent), leavings(pane));
    let check = if agent == ours {
        Check::fine(NAME, format!("{it}; it has this agent's name"))
    } else if canonical_label(agent).is_some() && label.is_known() {
        let finding = format!("{it}; Herdr takes no other agent that it knows, such as {ours}");
        return blocked(finding, &Reason::LabelConflict);
    } else if canonical_label(agent).is_some() {
        let finding = format!("{it}; a report of {} takes its place", shown(ours));
        Check::open(NAME, finding).remedy("report titles and tokens only, to leave Herdr the state")
    } else if reporter {
        Check::fine(NAME, format!("{it}; the row of the reporter that has the pane"))
    } else {
        let finding = format!("{it}; another reporter's, and who reports last is shown");
        // A reporter that was killed leaves its row, and `release` without a name takes off
        // only a row of our own name.
        let name = shown(agent);
        Check::open(NAME, finding).remedy(format!(
            "{}; if that has ended, `release --agent {name}` takes its row off",
            Reason::OtherWriter.remedy()
        ))
    };
    Others { check, block: false, taken: true }
}

fn leavings(pane: &PaneInfo) -> String {
    let mut parts = Vec::new();
    if pane.title.is_some() {
        parts.push("a title".to_owned());
    }
    if !pane.state_labels.is_empty() {
        parts.push("a text for a state".to_owned());
    }
    if !pane.tokens.is_empty() {
        let names: Vec<_> = pane.tokens.keys().map(String::as_str).collect();
        parts.push(format!("the tokens {}", shown(&names.join(" "))));
    }
    if parts.is_empty() { String::new() } else { format!(" (with {})", parts.join(", ")) }
}

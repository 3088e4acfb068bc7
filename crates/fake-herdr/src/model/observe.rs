//! What readers and tests see of the model.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::Model;
use super::sources::SessionKind;
use super::subscription::Row;

/// The fields of `pane.get` that reports can change. An absent field is not set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Observation {
    /// The label of the agent that the row shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// `idle`, `working`, `blocked`, `done` or `unknown`.
    pub agent_status: String,
    /// The newest title whose guards hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The newest display name whose guards hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_agent: Option<String>,
    /// For each status, the newest text whose guards hold.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub state_labels: BTreeMap<String, String>,
    /// All tokens of the pane; guards do not hide them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tokens: BTreeMap<String, String>,
    /// The session that owns the pane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
}

/// A session as `pane.get` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AgentSession {
    /// The source that reported the session.
    pub source: String,
    /// The label of the session's agent.
    pub agent: String,
    /// `id` or `path`.
    pub kind: &'static str,
    /// The id or the path.
    pub value: String,
}

impl Model {
    /// What a reader of this pane sees at `now`; `None` if there is no such pane. Any
    /// spelling of the id will do.
    pub fn observe(&self, now: Duration, pane: &str) -> Option<Observation> {
        if self.next_expiry().is_some_and(|due| due <= now) {
            let mut later = self.clone();
            later.pass(now);
            return later.observe(now, pane);
        }
        self.seen(self.find_pane(pane).ok()?)
    }

    /// What a reader of a pane sees now.
    pub(super) fn seen(&self, pane: u64) -> Option<Observation> {
        let terminal = self.terminal(pane)?;
        let shown = terminal.effective();
        Some(Observation {
            agent: shown.label,
            agent_status: self.status(pane).as_str().to_owned(),
            title: shown.presentation.title,
            display_agent: shown.presentation.display_agent,
            state_labels: shown.presentation.state_labels,
            tokens: terminal.metadata.tokens.values(),
            agent_session: terminal.session().map(|session| AgentSession {
                source: session.source,
                agent: session.label,
                kind: match session.reference.kind {
                    SessionKind::Id => "id",
                    SessionKind::Path => "path",
                },
                value: session.reference.value,
            }),
        })
    }

    /// The data of an agent status event for a pane.
    pub(super) fn row(&self, pane: u64) -> Option<Row> {
        let place = self.place_of(pane)?;
        let shown = self.terminal(pane)?.effective();
        Some(Row {
            pane_id: self.pane_id(pane)?,
            workspace_id: self.workspace_id(place.workspace),
            agent: shown.label,
            agent_status: self.status(pane),
            title: shown.presentation.title,
            display_agent: shown.presentation.display_agent,
            state_labels: shown.presentation.state_labels,
        })
    }

    /// The source and label of the claim on a pane. `pane.get` does not show them. A
    /// full-lifecycle claim without its process is held, but has no effect.
    pub fn authority(&self, pane: &str) -> Option<(String, String)> {
        let claim = self.terminal(self.find_pane(pane).ok()?)?.claim.as_ref()?;
        Some((claim.source.clone(), claim.label.clone()))
    }

    /// The highest sequence number that a source has used on a pane in its state,
    /// session, release and clear requests.
    pub fn mark(&self, pane: &str, source: &str) -> Option<u64> {
        self.terminal(self.find_pane(pane).ok()?)?.mark(source)
    }

    /// The highest sequence number that a source has used in its metadata reports,
    /// which are numbered separately.
    pub fn metadata_mark(&self, pane: &str, source: &str) -> Option<u64> {
        self.terminal(self.find_pane(pane).ok()?)?.metadata.mark(source)
    }

    /// The current ids of all panes, workspace by workspace.
    pub fn pane_ids(&self) -> Vec<String> {
        self.all_panes().into_iter().filter_map(|pane| self.pane_id(pane)).collect()
    }

    /// The current ids of a pane's workspace, of its tab and of the pane.
    #[cfg(unix)]
    pub(crate) fn address_of(&self, pane: &str) -> Option<(String, String, String)> {
        let pane = self.find_pane(pane).ok()?;
        let place = self.place_of(pane)?;
        Some((self.workspace_id(place.workspace), self.tab_id(place), self.pane_id(pane)?))
    }

    /// For every pane its key, which neither a move nor a handoff changes, its id, its
    /// folder and whether a real terminal is attached.
    #[cfg(feature = "pty")]
    pub(crate) fn pane_entries(&self) -> Vec<(u64, String, String, bool)> {
        let entries = self.panes.iter();
        entries
            .filter_map(|(key, pane)| {
                Some((*key, self.pane_id(*key)?, pane.cwd.clone(), pane.attached))
            })
            .collect()
    }

    /// The number of the newest event.
    pub fn last_event(&self) -> u64 {
        self.events.last()
    }
}

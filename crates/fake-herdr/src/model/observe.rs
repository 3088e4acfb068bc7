//! Reading the model from a test.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::Model;
use super::sources::SessionKind;
use super::subscription::Row;

/// The fields of `pane.get` that reports can change. Absent fields are not set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Observation {
    /// The label of the agent in the row.
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
    /// The newest label of each state whose guards hold.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub state_labels: BTreeMap<String, String>,
    /// All tokens of the pane. Guards do not hide them.
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
    /// The source that reported it.
    pub source: String,
    /// The agent's label.
    pub agent: String,
    /// `id` or `path`.
    pub kind: &'static str,
    /// The id or the path.
    pub value: String,
}

impl Model {
    /// What a reader of this pane sees at `now`. The id may have any spelling. `None` if the
    /// pane does not exist.
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

    /// The part of a pane that status events contain.
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

    /// The source and the label of the claim on a pane. `pane.get` does not tell them, and a
    /// full-lifecycle claim without its process exists but is not shown.
    pub fn authority(&self, pane: &str) -> Option<(String, String)> {
        let claim = self.terminal(self.find_pane(pane).ok()?)?.claim()?;
        Some((claim.source.clone(), claim.label.clone()))
    }

    /// The sequence mark of a source on a pane for reports, sessions, releases and clears.
    pub fn mark(&self, pane: &str, source: &str) -> Option<u64> {
        self.terminal(self.find_pane(pane).ok()?)?.mark(source)
    }

    /// The sequence mark of a source for its metadata reports.
    pub fn metadata_mark(&self, pane: &str, source: &str) -> Option<u64> {
        self.terminal(self.find_pane(pane).ok()?)?.metadata.mark(source)
    }

    /// The present ids of all panes, workspace by workspace.
    pub fn pane_ids(&self) -> Vec<String> {
        self.all_panes().into_iter().filter_map(|pane| self.pane_id(pane)).collect()
    }

    /// The present ids of a pane's workspace, tab and itself.
    #[cfg(unix)]
    pub(crate) fn address_of(&self, pane: &str) -> Option<(String, String, String)> {
        let pane = self.find_pane(pane).ok()?;
        let place = self.place_of(pane)?;
        Some((self.workspace_id(place.workspace), self.tab_id(place), self.pane_id(pane)?))
    }

    /// All panes by a key that does not change with moves and handoffs, each with its id, its
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

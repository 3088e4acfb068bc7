//! Looking at the model from outside, as tests do.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Model;
use super::state::Status;
use super::terminal::Effective;
use super::view::{AgentInfo, PaneInfo, ScrollView, SessionView};

/// What `pane.get` says of the fields that reports can change. Absent means not
/// set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Observation {
    /// The label of the agent that the row shows.
    pub agent: Option<String>,
    /// `idle`, `working`, `blocked`, `done` or `unknown`.
    pub agent_status: String,
    /// The newest title whose guards hold.
    pub title: Option<String>,
    /// The newest display name whose guards hold.
    pub display_agent: Option<String>,
    /// The newest text of each status whose guards hold.
    pub state_labels: BTreeMap<String, String>,
    /// All tokens of the pane; guards do not hide them.
    pub tokens: BTreeMap<String, String>,
    /// The session that owns the pane.
    pub agent_session: Option<AgentSession>,
}

/// A session as `pane.get` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentSession {
    /// Who reported it.
    pub source: String,
    /// For which agent.
    pub agent: String,
    /// `id` or `path`.
    pub kind: &'static str,
    /// The id or the path.
    pub value: String,
}

impl Model {
    /// What a reader of this pane sees at `now`, by any spelling of its id;
    /// `None` if there is no such pane.
    pub fn observe(&self, now: Duration, pane: &str) -> Option<Observation> {
        let pane = self.find_pane(pane).ok()?;
        let info = self.pane_info(pane, now.max(self.now))?;
        let kinds = |kind| match kind {
            super::sources::SessionKind::Id => "id",
            super::sources::SessionKind::Path => "path",
        };
        Some(Observation {
            agent: info.agent,
            agent_status: info.agent_status.as_str().to_owned(),
            title: info.title,
            display_agent: info.display_agent,
            state_labels: info.state_labels,
            tokens: info.tokens,
            agent_session: info.agent_session.map(|session| AgentSession {
                source: session.source,
                agent: session.agent,
                kind: kinds(session.kind),
                value: session.value,
            }),
        })
    }

    /// Who holds the claim on a pane, as source and label. `pane.get` never
    /// says it, and a full-lifecycle claim without its process is held but not
    /// shown.
    pub fn authority(&self, pane: &str) -> Option<(String, String)> {
        let claim = self.panes.get(&self.find_pane(pane).ok()?)?.terminal.claim()?;
        Some((claim.source.clone(), claim.label.clone()))
    }

    /// The highest sequence number that a source has used up on a pane with its
    /// state, session, release and clear requests.
    pub fn mark(&self, pane: &str, source: &str) -> Option<u64> {
        self.panes.get(&self.find_pane(pane).ok()?)?.terminal.mark(source)
    }

    /// The same for its metadata reports, which are numbered apart.
    pub fn metadata_mark(&self, pane: &str, source: &str) -> Option<u64> {
        self.panes.get(&self.find_pane(pane).ok()?)?.terminal.metadata.mark(source)
    }

    /// The present ids of all panes, workspace by workspace.
    pub fn pane_ids(&self) -> Vec<String> {
        (0..self.workspaces.len())
            .flat_map(|workspace| self.panes_of(workspace))
            .filter_map(|pane| self.pane_id(pane))
            .collect()
    }

    /// The present ids of a pane's workspace, its tab and itself.
    #[cfg(unix)]
    pub(crate) fn address_of(&self, pane: &str) -> Option<(String, String, String)> {
        let pane = self.find_pane(pane).ok()?;
        let place = self.place_of(pane)?;
        Some((self.workspace_id(place.workspace), self.tab_id(place), self.pane_id(pane)?))
    }

    /// Every pane by a key that neither a move nor a handoff changes, with its
    /// id, its folder and whether a real terminal is attached.
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

    /// When something will go by its time to live, if nothing else happens.
    pub fn next_expiry(&self) -> Option<Duration> {
        let panes = self.panes.values().filter_map(|pane| pane.terminal.metadata.next_expiry());
        let workspaces = self.workspaces.iter().filter_map(|entry| entry.tokens.next_expiry());
        let exited = self.panes.values().filter_map(|pane| pane.terminal.clears_at);
        panes.chain(workspaces).chain(exited).chain(self.next_idle_clear()).min()
    }

    pub(super) fn effective(&self, pane: u64, now: Duration) -> Option<Effective> {
        let terminal = &self.panes.get(&pane)?.terminal;
        Some(Effective {
            label: terminal.label().map(str::to_owned),
            state: terminal.state(),
            presentation: terminal.presentation(now),
        })
    }

    pub(super) fn status(&self, pane: u64) -> Status {
        self.panes
            .get(&pane)
            .map_or(Status::Unknown, |pane| Status::of(pane.terminal.state(), pane.seen))
    }

    pub(super) fn pane_info(&self, pane: u64, now: Duration) -> Option<PaneInfo> {
        let place = self.place_of(pane)?;
        let entry = self.panes.get(&pane)?;
        let shown = self.effective(pane, now)?;
        Some(PaneInfo {
            pane_id: self.pane_id(pane)?,
            terminal_id: terminal_id(entry.terminal_id),
            workspace_id: self.workspace_id(place.workspace),
            tab_id: self.tab_id(place),
            focused: self.focused_pane() == Some(pane),
            cwd: entry.cwd.clone(),
            foreground_cwd: entry.cwd.clone(),
            label: entry.label.clone(),
            agent: shown.label,
            title: shown.presentation.title,
            display_agent: shown.presentation.display_agent,
            agent_status: Status::of(shown.state, entry.seen),
            state_labels: shown.presentation.state_labels,
            tokens: entry.terminal.metadata.tokens.values(now),
            agent_session: entry.terminal.session().map(|session| SessionView {
                source: session.source,
                agent: session.label,
                kind: session.reference.kind,
                value: session.reference.value,
            }),
            scroll: ScrollView {
                offset_from_bottom: 0,
                max_offset_from_bottom: 0,
                viewport_rows: super::layout::Layout::area().height,
            },
            revision: entry.revision,
        })
    }

    /// The agent of a pane; `None` if it shows none.
    pub(super) fn agent_info(&self, pane: u64, now: Duration) -> Option<AgentInfo> {
        let info = self.pane_info(pane, now)?;
        let entry = self.panes.get(&pane)?;
        Some(AgentInfo {
            terminal_id: info.terminal_id,
            agent: info.agent?,
            title: info.title,
            display_agent: info.display_agent,
            agent_status: info.agent_status,
            state_labels: info.state_labels,
            tokens: info.tokens,
            agent_session: info.agent_session,
            screen_detection_skipped: entry.terminal.screen_reading_off().then_some(true),
            workspace_id: info.workspace_id,
            tab_id: info.tab_id,
            pane_id: info.pane_id,
            focused: info.focused,
            state_change_seq: entry.terminal.state_change_seq,
            cwd: info.cwd,
            foreground_cwd: info.foreground_cwd,
            revision: info.revision,
        })
    }
}

fn terminal_id(number: u64) -> String {
    format!("term_{:014x}", 0x0066_1745_83d9_a211_u64.wrapping_add(number.wrapping_mul(0x12b41)))
}

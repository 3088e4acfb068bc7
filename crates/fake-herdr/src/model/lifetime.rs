//! What happens to panes without a report: the end of a pane, a live handoff, a
//! restart, processes that come and go.

use std::time::Duration;

use super::Model;
use super::events::{Event, EventRing};
use super::failure::Failure;
use super::screen::Screen;
use super::state::{State, Status};
use super::subscription::status_fields;
use super::terminal::Terminal;
use super::topology::Closed;
use super::view::{PaneProcess, WorkspaceView};

impl Model {
    /// Closes a pane as `pane.close` does; `false` if there is none.
    pub fn close_pane(&mut self, now: Duration, pane: &str) -> bool {
        self.advance(now);
        let closed = self.close(pane).is_ok();
        self.tell_focus();
        closed
    }

    /// Ends the program of a pane, as a shell that was told to exit does;
    /// `false` if there is no such pane.
    pub fn exit_pane(&mut self, now: Duration, pane: &str) -> bool {
        self.advance(now);
        let ended = self.find_pane(pane).map(|pane| self.exit(pane)).is_ok();
        self.tell_focus();
        ended
    }

    /// The server hands its panes to a new process (protocol 7.6). On 0.8.2
    /// custom claims, metadata, tokens, marks, events and the old ids of moved
    /// panes are lost; pane ids and official sessions stay.
    pub fn live_handoff(&mut self, now: Duration) {
        self.advance(now);
        self.begin_generation(self.profile.keeps_claims);
    }

    /// The server stops and another one opens the saved panes: pane ids and
    /// official sessions come back, everything else is new.
    pub fn restart(&mut self, now: Duration) {
        self.advance(now);
        self.begin_generation(false);
        self.stopping = false;
        for pane in self.panes.values_mut() {
            pane.screen = Screen::default();
            pane.attached = false;
            pane.typed.clear();
            pane.shell_pid = None;
            pane.foreground.clear();
        }
    }

    /// The detector sees the process of a known agent in a pane, with the state
    /// that its screen shows (`idle`, `working`, `blocked`, `unknown`), and at
    /// `blocked` its prompt.
    ///
    /// `false` if the pane, the agent or the state is not known.
    pub fn agent_appears(&mut self, now: Duration, pane: &str, agent: &str, state: &str) -> bool {
        self.advance(now);
        let state = match state {
            "idle" => State::Idle,
            "working" => State::Working,
            "blocked" => State::Blocked,
            "unknown" => State::Unknown,
            _ => return false,
        };
        let (Ok(pane), Some(agent)) = (self.find_pane(pane), herdr_proto::canonical_label(agent))
        else {
            return false;
        };
        self.change(pane, |terminal| {
            terminal.agent_seen(agent, state, state == State::Blocked);
            false
        });
        true
    }

    /// The process of the known agent in a pane ends; `false` if none was seen.
    pub fn agent_exits(&mut self, now: Duration, pane: &str) -> bool {
        self.advance(now);
        let Ok(pane) = self.find_pane(pane) else {
            return false;
        };
        let Some(agent) = self.panes.get(&pane).and_then(|pane| pane.terminal.detected()) else {
            return false;
        };
        self.agent_gone(pane, agent);
        self.clear_later(pane);
        true
    }

    fn agent_gone(&mut self, pane: u64, agent: &'static str) {
        self.change(pane, |terminal| {
            let shown = terminal.label().is_some();
            terminal.agent_exited(agent);
            shown
        });
    }

    /// Shows a text on a pane's screen; `false` if there is no such pane.
    pub fn set_screen(&mut self, pane: &str, text: &str) -> bool {
        let pane = self.find_pane(pane).ok().and_then(|pane| self.panes.get_mut(&pane));
        pane.map(|pane| pane.screen.show(text)).is_some()
    }

    /// A real terminal is behind a pane from now on: what is typed is kept for
    /// [`Model::take_typed`] and no shell is played. `false` if there is no such
    /// pane.
    pub fn attach_terminal(&mut self, pane: &str) -> bool {
        let pane = self.find_pane(pane).ok().and_then(|pane| self.panes.get_mut(&pane));
        pane.map(|pane| pane.attached = true).is_some()
    }

    /// Whether a real terminal is behind a pane.
    pub fn has_terminal(&self, pane: &str) -> bool {
        let pane = self.find_pane(pane).ok().and_then(|pane| self.panes.get(&pane));
        pane.is_some_and(|pane| pane.attached)
    }

    /// Takes the bytes that were typed into a pane with a real terminal.
    pub fn take_typed(&mut self, pane: &str) -> Vec<u8> {
        let pane = self.find_pane(pane).ok().and_then(|pane| self.panes.get_mut(&pane));
        pane.map(|pane| std::mem::take(&mut pane.typed)).unwrap_or_default()
    }

    /// Says which real processes are behind a pane, so that
    /// `pane.process_info` names them; `false` if there is no such pane.
    pub fn set_processes(
        &mut self,
        pane: &str,
        shell_pid: Option<u32>,
        foreground: Vec<PaneProcess>,
    ) -> bool {
        let pane = self.find_pane(pane).ok().and_then(|pane| self.panes.get_mut(&pane));
        pane.map(|pane| {
            pane.shell_pid = shell_pid;
            pane.foreground = foreground;
        })
        .is_some()
    }

    /// Runs one rule on a pane's terminal and tells the readers what changed
    /// visibly. The rule says whether the agent was released.
    pub(super) fn change(&mut self, pane: u64, rule: impl FnOnce(&mut Terminal) -> bool) {
        let (Some(before), Some(place)) = (self.effective(pane, self.now), self.place_of(pane))
        else {
            return;
        };
        let shown_before = self.status(pane);
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        // A process that has shown no state yet has finished nothing.
        let new_process = entry.terminal.is_new_process();
        let released = rule(&mut entry.terminal);
        let Some(after) = self.effective(pane, self.now).filter(|after| *after != before) else {
            return;
        };
        // TUIOS knows of no looking: done is what follows work.
        let tuios = self.profile.tuios;
        let looked_at = !tuios && self.is_looked_at(place);
        if let Some(entry) = self.panes.get_mut(&pane) {
            // Work or a question that ends is news, and so is the end of an
            // unknown state of the same agent; a first idle is none.
            let finished = match before.state {
                State::Working | State::Blocked => true,
                State::Unknown => {
                    let same = before.label.is_some() && before.label == after.label;
                    same && !tuios && !new_process
                }
                State::Idle => false,
            };
            if after.state != State::Idle {
                entry.seen = true;
            } else if finished {
                entry.seen = looked_at;
            }
        }
        self.count_state_change(pane, before.state);
        // The events of a release still name the agent that is gone.
        let agent = if released { before.label.clone() } else { after.label.clone() };
        if before.label != after.label || released {
            self.emit_detected(pane, released, agent.clone());
        }
        if shown_before != self.status(pane) || before.presentation != after.presentation {
            self.emit_status(pane, agent);
        }
    }

    pub(super) fn close(&mut self, id: &str) -> Result<(), Failure> {
        let pane = self.find_pane(id)?;
        let pane_id = self.pane_id(pane);
        let workspace_id = self.place_of(pane).map(|place| self.workspace_id(place.workspace));
        self.events.push(Event::new(
            "pane_closed",
            serde_json::json!({ "pane_id": pane_id, "workspace_id": workspace_id }),
        ));
        let workspace = self.remove(pane);
        self.emit_workspace_closed(workspace);
        Ok(())
    }

    pub(super) fn exit(&mut self, pane: u64) {
        let agent = self.panes.get(&pane).and_then(|pane| {
            pane.terminal
                .label()
                .and_then(herdr_proto::canonical_label)
                .or(pane.terminal.detected())
        });
        if let Some(agent) = agent {
            self.agent_gone(pane, agent);
        }
        let workspace_id = self.place_of(pane).map(|place| self.workspace_id(place.workspace));
        self.events.push(Event::new(
            "pane_exited",
            serde_json::json!({ "pane_id": self.pane_id(pane), "workspace_id": workspace_id }),
        ));
        self.remove(pane);
    }

    /// A pane goes; the panes beside it get its room. The workspace as it was
    /// before, if it went with it.
    fn remove(&mut self, pane: u64) -> Option<WorkspaceView> {
        let place = self.place_of(pane)?;
        let workspace = self.workspace_view(place.workspace);
        let closed = self.take_away(pane);
        if closed.tab.is_none() {
            self.emit_layout(place);
        }
        workspace.filter(|_| closed.workspace.is_some())
    }

    /// Takes a pane away for good without a word.
    pub(super) fn take_away(&mut self, pane: u64) -> Closed {
        let closed = self.detach(pane);
        self.panes.remove(&pane);
        self.aliases.retain(|_, alias| *alias != pane);
        closed
    }

    /// Another process serves the same panes from here on.
    fn begin_generation(&mut self, keep_claims: bool) {
        for pane in self.panes.keys().copied().collect::<Vec<_>>() {
            let terminal_id = self.new_terminal_id();
            if let Some(entry) = self.panes.get_mut(&pane) {
                entry.terminal = entry.terminal.survivor(keep_claims);
                entry.terminal_id = terminal_id;
                entry.revision = 0;
                entry.seen = true;
            }
        }
        for workspace in &mut self.workspaces {
            workspace.tokens = super::tokens::Tokens::default();
            workspace.token_marks.clear();
        }
        self.aliases.clear();
        self.events = EventRing::default();
        self.state_changes = 0;
        self.generation += 1;
    }

    fn emit_detected(&mut self, pane: u64, released: bool, agent: Option<String>) {
        let (Some(pane_id), Some(place)) = (self.pane_id(pane), self.place_of(pane)) else {
            return;
        };
        let mut data = serde_json::json!({
            "pane_id": pane_id,
            "workspace_id": self.workspace_id(place.workspace),
        });
        if let Some(agent) = agent {
            data["agent"] = agent.into();
        }
        if released {
            data["released"] = true.into();
            data["final_status"] = self.status(pane).as_str().into();
        }
        self.events.push(Event::new("pane_agent_detected", data));
    }

    pub(super) fn emit_status(&mut self, pane: u64, agent: Option<String>) {
        if let Some(mut info) = self.pane_info(pane, self.now) {
            info.agent = agent;
            let data = serde_json::Value::Object(status_fields(&info));
            self.events.push(Event::new("pane_agent_status_changed", data));
        }
    }

    /// An event that carries the whole pane.
    pub(super) fn emit_pane(&mut self, pane: u64, kind: &'static str) {
        if let Some(info) = self.pane_info(pane, self.now) {
            self.events.push(Event::new(kind, serde_json::json!({ "pane": info })));
        }
    }

    /// The most urgent status of some panes.
    pub(super) fn roll_up(&self, panes: impl Iterator<Item = u64>) -> Status {
        panes.fold(Status::Unknown, |status, pane| status.more_urgent(self.status(pane)))
    }
}

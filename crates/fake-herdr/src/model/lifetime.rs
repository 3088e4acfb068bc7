//! Changes of panes that no request asks for: time passes, programs begin and end,
//! panes close, another process serves them. Also the events about a change.

use std::time::Duration;

use serde_json::json;

use super::Model;
use super::detector::{Detector, Foreground};
use super::dispatch::{Outcome, ok};
use super::events::EventRing;
use super::screen::Screen;
use super::state::{State, Status, parse_word};
use super::subscription::Row;
use super::terminal::{Change, Effective, Terminal};
use super::tokens::Tokens;
use super::topology::Closed;

/// The visible changes that a rule made on a pane.
struct Update {
    before: Effective,
    status_before: Status,
    /// The agent that the events name, even if it has just gone.
    agent: Option<String>,
    released: bool,
    renamed: bool,
}

impl Model {
    /// Closes a pane as `pane.close` does; `false` if there is no such pane.
    pub fn close_pane(&mut self, now: Duration, pane: &str) -> bool {
        self.pass(now);
        let closed = self.close(pane).is_ok();
        self.finish_turn();
        closed
    }

    /// Ends the program of a pane, as when its shell exits; `false` if there is no
    /// such pane.
    pub fn exit_pane(&mut self, now: Duration, pane: &str) -> bool {
        self.pass(now);
        let ended = self.find_pane(pane).map(|pane| self.exit(pane)).is_ok();
        self.finish_turn();
        ended
    }

    /// The server hands its panes to a new process (protocol 7.6). On 0.8.2
    /// custom claims, metadata, tokens, marks, events and the old ids of moved
    /// panes are lost; pane ids, official sessions and programs stay.
    pub fn live_handoff(&mut self, now: Duration) {
        self.pass(now);
        self.begin_generation(self.profile.keeps_claims);
    }

    /// The server stops, and a new one opens the saved panes. Pane ids and official
    /// sessions stay; everything else starts anew.
    pub fn restart(&mut self, now: Duration) {
        self.pass(now);
        self.begin_generation(false);
        self.stopping = false;
        for pane in self.panes.values_mut() {
            pane.screen = Screen::default();
            pane.attached = false;
            pane.typed.clear();
            pane.enters.clear();
            pane.foreground = Foreground::default();
        }
    }

    /// Starts the program of a known agent in the foreground of a pane. Its screen
    /// shows this state (`idle`, `working`, `blocked`, `unknown`) and, if it is
    /// blocked, a prompt. If the program runs already, only its screen changes.
    ///
    /// The detector notices the program about 0.2 s later. It reads the screen of a
    /// new program no earlier than 3.3 s after that.
    ///
    /// `false` if the pane, the agent or the state is not known.
    pub fn agent_begins(&mut self, now: Duration, pane: &str, agent: &str, state: &str) -> bool {
        let (Some(agent), Some(state)) = (herdr_proto::canonical_label(agent), parse_word(state))
        else {
            return false;
        };
        self.set_foreground(now, pane, Some(agent), state).is_some()
    }

    /// Ends the program in the foreground of a pane, so that its shell is back. The
    /// detector notices it about 0.2 s later. `false` if there is no such pane.
    pub fn agent_ends(&mut self, now: Duration, pane: &str) -> bool {
        self.set_foreground(now, pane, None, State::Unknown).is_some()
    }

    /// Does the same as [`Model::agent_begins`] and lets the detector see the program
    /// and its screen at once.
    pub fn agent_appears(&mut self, now: Duration, pane: &str, agent: &str, state: &str) -> bool {
        let begun = self.agent_begins(now, pane, agent, state);
        if let Some(pane) = self.find_pane(pane).ok().filter(|_| begun) {
            self.look(pane);
            if let Some(entry) = self.panes.get_mut(&pane) {
                entry.detector.skip_startup();
            }
            self.look(pane);
        }
        begun
    }

    /// Does the same as [`Model::agent_ends`] and lets the detector see it at once.
    /// The row is then idle without an agent until the next look, 0.3 s later,
    /// clears it. `false` if the detector had not seen an agent.
    pub fn agent_exits(&mut self, now: Duration, pane: &str) -> bool {
        self.pass(now);
        let known = self.find_pane(pane).ok().filter(|pane| {
            self.panes.get(pane).is_some_and(|pane| pane.detector.agent().is_some())
        });
        let Some(known) = known.filter(|_| self.agent_ends(now, pane)) else {
            return false;
        };
        self.look(known);
        true
    }

    fn set_foreground(
        &mut self,
        now: Duration,
        pane: &str,
        agent: Option<&'static str>,
        state: State,
    ) -> Option<()> {
        self.pass(now);
        let entry = self.find_pane(pane).ok().and_then(|pane| self.panes.get_mut(&pane))?;
        entry.foreground.simulate(agent, state);
        entry.detector.notice(self.now);
        Some(())
    }

    /// Lets the detector look at a pane.
    fn look(&mut self, pane: u64) {
        let now = self.now;
        let Some(entry) = self.panes.get_mut(&pane) else { return };
        for detection in entry.detector.look(now, &entry.foreground) {
            self.change(pane, |terminal| terminal.apply_detection(detection));
        }
    }

    /// When the model will next change without a request: a time to live ends, a
    /// detector looks or a prompt gets its Enter. `None` if nothing is due.
    pub fn next_expiry(&self) -> Option<Duration> {
        let panes = self.panes.values().flat_map(|pane| {
            let metadata = pane.terminal.metadata.next_expiry().into_iter();
            metadata.chain(pane.detector.next()).chain(pane.enters.iter().copied())
        });
        let workspaces = self.workspaces.iter().filter_map(|entry| entry.tokens.next_expiry());
        panes.chain(workspaces).min()
    }

    /// When the next typed prompt gets its Enter.
    #[cfg(unix)]
    pub(crate) fn next_enter(&self) -> Option<Duration> {
        self.panes.values().flat_map(|pane| pane.enters.iter().copied()).min()
    }

    /// Lets time pass: everything that is due by `now` happens in its order.
    pub fn pass(&mut self, now: Duration) {
        while let Some(due) = self.next_expiry().filter(|due| *due <= now) {
            self.now = self.now.max(due);
            for pane in self.panes.keys().copied().collect::<Vec<_>>() {
                self.expire(pane, due);
                let Some(entry) = self.panes.get_mut(&pane) else { continue };
                let enters = entry.enters.extract_if(.., |at| *at <= due).count();
                let looks = entry.detector.next().is_some_and(|at| at <= due);
                self.type_into(pane, "\r".repeat(enters).as_bytes());
                if looks {
                    self.look(pane);
                }
            }
            for workspace in 0..self.workspaces.len() {
                if self.workspaces[workspace].tokens.expire(due) {
                    self.emit_workspace_tokens(workspace);
                }
            }
            self.finish_turn();
        }
        self.now = self.now.max(now);
    }

    fn expire(&mut self, pane: u64, due: Duration) {
        let Some(entry) = self.panes.get_mut(&pane) else { return };
        let before = entry.terminal.presentation();
        let tokens = entry.terminal.metadata.expire(due);
        if before != entry.terminal.presentation() {
            let agent = entry.terminal.label().map(str::to_owned);
            self.emit_status(pane, agent);
        }
        if tokens {
            self.emit_tokens(pane);
        }
    }

    /// Runs a rule on a pane's terminal and emits the events about its visible
    /// changes; `false` if there were none.
    pub(super) fn change(&mut self, pane: u64, rule: impl FnOnce(&mut Terminal) -> Change) -> bool {
        let Some(update) = self.apply(pane, rule) else { return false };
        self.emit_update(pane, update);
        true
    }

    fn apply(&mut self, pane: u64, rule: impl FnOnce(&mut Terminal) -> Change) -> Option<Update> {
        let looked_at = self.place_of(pane).map(|place| self.is_looked_at(place))?;
        let status_before = self.status(pane);
        let now = self.now;
        let entry = self.panes.get_mut(&pane)?;
        let before = entry.terminal.effective();
        let name = entry.terminal.name().map(str::to_owned);
        let released = match rule(&mut entry.terminal) {
            Change::Ignored => return None,
            change => change == Change::Released,
        };
        let first_idle = entry.terminal.finish_acquiring();
        entry.detector.pause(now, entry.terminal.screen_reading_off());
        let renamed = name.as_deref() != entry.terminal.name();
        let after = entry.terminal.effective();
        if after == before && !released && !renamed {
            return None;
        }
        if after.state != before.state {
            self.state_changes += 1;
            entry.terminal.state_change_seq = self.state_changes;
        }
        // A pane that the user does not look at becomes unseen when work, a question
        // or an unknown state of the same agent ends in idle. The first idle of a
        // process does not count.
        let finished = match before.state {
            State::Working | State::Blocked => true,
            State::Unknown => before.label.is_some() && before.label == after.label,
            State::Idle => false,
        };
        if after.state != State::Idle {
            entry.seen = true;
        } else if finished && !first_idle {
            entry.seen = looked_at;
        }
        let agent = if released { before.label.clone() } else { after.label };
        Some(Update { before, status_before, agent, released, renamed })
    }

    fn emit_update(&mut self, pane: u64, update: Update) {
        let Update { before, status_before, agent, released, renamed } = update;
        let (Some(pane_id), Some(place)) = (self.pane_id(pane), self.place_of(pane)) else {
            return;
        };
        if renamed {
            self.emit("pane_updated", json!({ "pane": self.pane_view(pane) }));
        }
        let status = self.status(pane);
        if before.label != agent || released {
            let mut data = json!({
                "pane_id": pane_id,
                "workspace_id": self.workspace_id(place.workspace),
            });
            if let Some(agent) = &agent {
                data["agent"] = agent.as_str().into();
            }
            if released {
                data["released"] = true.into();
                data["final_status"] = json!(status);
            }
            self.emit("pane_agent_detected", data);
        }
        let shown = self.terminal(pane).map(Terminal::presentation);
        if status_before != status || shown != Some(before.presentation) {
            self.emit_status(pane, agent);
        }
    }

    fn emit_status(&mut self, pane: u64, agent: Option<String>) {
        if let Some(row) = self.row(pane) {
            self.emit("pane_agent_status_changed", Row { agent, ..row }.data());
        }
    }

    pub(super) fn status(&self, pane: u64) -> Status {
        self.panes
            .get(&pane)
            .map_or(Status::Unknown, |pane| Status::of(pane.terminal.state(), pane.seen))
    }

    pub(super) fn close(&mut self, id: &str) -> Outcome {
        let pane = self.find_pane(id)?;
        let Some(place) = self.place_of(pane) else { return ok() };
        let workspace = self.workspace_view(place.workspace);
        let data =
            json!({ "pane_id": self.pane_id(pane), "workspace_id": workspace["workspace_id"] });
        let closed = self.remove_pane(pane);
        self.emit("pane_closed", data);
        if closed.workspace.is_some() {
            self.emit_workspace_closed(&workspace);
        } else if closed.tab.is_none() {
            self.emit_layout(place);
        }
        ok()
    }

    /// Removes a pane whose program has ended. If an agent ran in it, an event about
    /// the agent's end comes first.
    pub(super) fn exit(&mut self, pane: u64) {
        let agent = self.terminal(pane).and_then(|terminal| {
            terminal.label().and_then(herdr_proto::canonical_label).or(terminal.detected)
        });
        if let Some(agent) = agent {
            let update = self.apply(pane, |terminal| terminal.agent_exited(agent));
            if let Some(update) = update.filter(|update| update.released) {
                self.emit_update(pane, update);
            }
        }
        let Some(place) = self.place_of(pane) else { return };
        let workspace_id = self.workspace_id(place.workspace);
        self.emit(
            "pane_exited",
            json!({ "pane_id": self.pane_id(pane), "workspace_id": workspace_id }),
        );
        if self.remove_pane(pane).tab.is_none() {
            self.emit_layout(place);
        }
    }

    /// Removes a pane for good without an event. Its neighbours get its area.
    pub(super) fn remove_pane(&mut self, pane: u64) -> Closed {
        let closed = self.detach(pane, false);
        self.panes.remove(&pane);
        self.aliases.retain(|_, alias| *alias != pane);
        closed
    }

    /// Makes the changes that panes see when another process takes them over.
    fn begin_generation(&mut self, keep_claims: bool) {
        let now = self.now;
        for pane in self.panes.keys().copied().collect::<Vec<_>>() {
            let terminal_id = self.new_terminal_id();
            if let Some(entry) = self.panes.get_mut(&pane) {
                entry.terminal = entry.terminal.after_handoff(keep_claims);
                entry.terminal_id = terminal_id;
                entry.detector = Detector::default();
                entry.detector.notice(now);
                entry.revision = 0;
                entry.seen = true;
            }
        }
        for workspace in &mut self.workspaces {
            workspace.tokens = Tokens::default();
            workspace.token_marks.clear();
        }
        self.aliases.clear();
        self.events = EventRing::default();
        self.state_changes = 0;
        self.generation += 1;
    }
}

//! Changes of panes that are not requested: time passes, programs start and end, panes close,
//! another server process takes over. Also the events about changes.

use std::time::Duration;

use serde_json::json;

use super::Model;
use super::detector::{Detector, Foreground};
use super::dispatch::{Outcome, ok};
use super::events::EventRing;
use super::screen::Screen;
use super::state::{State, Status};
use super::subscription::Row;
use super::terminal::{Change, Effective, Terminal};
use super::tokens::Tokens;
use super::topology::Closed;

/// The visible change of a pane.
struct Update {
    before: Effective,
    status_before: Status,
    /// The agent in the events. An agent that has ended is still named.
    agent: Option<String>,
    released: bool,
    renamed: bool,
}

impl Model {
    /// Closes a pane as `pane.close` does. Returns false if it does not exist.
    pub fn close_pane(&mut self, now: Duration, pane: &str) -> bool {
        self.pass(now);
        let closed = self.close(pane).is_ok();
        self.settle_view();
        closed
    }

    /// Ends the program of a pane, as `exit` does in a shell. Returns false if the pane does
    /// not exist.
    pub fn exit_pane(&mut self, now: Duration, pane: &str) -> bool {
        self.pass(now);
        let ended = self.find_pane(pane).map(|pane| self.exit(pane)).is_ok();
        self.settle_view();
        ended
    }

    /// Hands the panes over to a new server process (protocol 7.6). On 0.8.2 custom claims,
    /// metadata, tokens, marks, events and the old ids of moved panes are lost. Pane ids,
    /// official sessions and programs stay.
    pub fn live_handoff(&mut self, now: Duration) {
        self.pass(now);
        self.begin_generation(self.profile.keeps_claims);
    }

    /// Stops the server and starts another one on the saved panes. Pane ids and official
    /// sessions stay; everything else is new.
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

    /// Starts the program of a known agent in the foreground of a pane. Its screen shows this
    /// state (`idle`, `working`, `blocked`, `unknown`), and a prompt if it is `blocked`. If the
    /// agent already runs there, its screen changes.
    ///
    /// The detector notices the program about 0.2 s later, and reads the screen of a new one
    /// after another 3.3 s.
    ///
    /// Returns false if the pane, the agent or the state is not known.
    pub fn agent_begins(&mut self, now: Duration, pane: &str, agent: &str, state: &str) -> bool {
        let (Some(agent), Some(state)) = (herdr_proto::canonical_label(agent), State::parse(state))
        else {
            return false;
        };
        self.runs(now, pane, Some(agent), state).is_some()
    }

    /// Ends the program in the foreground of a pane, so that the shell is in the foreground
    /// again. The detector notices it about 0.2 s later. Returns false if the pane does not
    /// exist.
    pub fn agent_ends(&mut self, now: Duration, pane: &str) -> bool {
        self.runs(now, pane, None, State::Unknown).is_some()
    }

    /// As [`Model::agent_begins`], after the detector has seen everything.
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

    /// As [`Model::agent_ends`], after the detector has seen it. An idle without an agent is
    /// left, which the next look clears 0.3 s later. Returns false if no agent was detected.
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

    fn runs(
        &mut self,
        now: Duration,
        pane: &str,
        agent: Option<&'static str>,
        state: State,
    ) -> Option<()> {
        self.pass(now);
        let entry = self.find_pane(pane).ok().and_then(|pane| self.panes.get_mut(&pane))?;
        entry.foreground.play(agent, state);
        entry.detector.notice(self.now);
        Some(())
    }

    /// Lets the detector look at a pane.
    fn look(&mut self, pane: u64) {
        let now = self.now;
        let Some(entry) = self.panes.get_mut(&pane) else { return };
        for sighting in entry.detector.look(now, &entry.foreground) {
            self.change(pane, |terminal| terminal.see(sighting));
        }
    }

    /// When something happens without a request: a ttl ends, a detector looks, a prompt gets
    /// its Enter.
    pub fn next_expiry(&self) -> Option<Duration> {
        let panes = self.panes.values().flat_map(|pane| {
            let told = pane.terminal.metadata.next_expiry().into_iter();
            told.chain(pane.detector.next()).chain(pane.enters.iter().copied())
        });
        let workspaces = self.workspaces.iter().filter_map(|entry| entry.tokens.next_expiry());
        panes.chain(workspaces).min()
    }

    /// When a typed prompt gets its Enter.
    #[cfg(unix)]
    pub(crate) fn next_enter(&self) -> Option<Duration> {
        self.panes.values().flat_map(|pane| pane.enters.iter().copied()).min()
    }

    /// Lets time pass. Everything that is due happens in its order.
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
                    self.tell_workspace_tokens(workspace);
                }
            }
            self.settle_view();
        }
        self.now = self.now.max(now);
    }

    fn expire(&mut self, pane: u64, due: Duration) {
        let Some(entry) = self.panes.get_mut(&pane) else { return };
        let before = entry.terminal.presentation();
        let tokens = entry.terminal.metadata.expire(due);
        if before != entry.terminal.presentation() {
            let agent = entry.terminal.label().map(str::to_owned);
            self.tell_status(pane, agent);
        }
        if tokens {
            self.tell_tokens(pane);
        }
    }

    /// Applies a rule to a pane's terminal and emits events about visible changes. Returns
    /// false if nothing changed.
    pub(super) fn change(&mut self, pane: u64, rule: impl FnOnce(&mut Terminal) -> Change) -> bool {
        let Some(update) = self.apply(pane, rule) else { return false };
        self.tell_update(pane, update);
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
        // The end of work or of a question marks the pane as not seen, and so does the end of
        // an unknown state of the same agent. The first idle of a process does not.
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

    fn tell_update(&mut self, pane: u64, update: Update) {
        let Update { before, status_before, agent, released, renamed } = update;
        let (Some(pane_id), Some(place)) = (self.pane_id(pane), self.place_of(pane)) else {
            return;
        };
        if renamed {
            self.tell("pane_updated", json!({ "pane": self.pane_view(pane) }));
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
            self.tell("pane_agent_detected", data);
        }
        let shown = self.terminal(pane).map(Terminal::presentation);
        if status_before != status || shown != Some(before.presentation) {
            self.tell_status(pane, agent);
        }
    }

    fn tell_status(&mut self, pane: u64, agent: Option<String>) {
        if let Some(row) = self.row(pane) {
            self.tell("pane_agent_status_changed", Row { agent, ..row }.data());
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
        let told =
            json!({ "pane_id": self.pane_id(pane), "workspace_id": workspace["workspace_id"] });
        let closed = self.take_away(pane);
        self.tell("pane_closed", told);
        if closed.workspace.is_some() {
            self.tell_workspace_closed(&workspace);
        } else if closed.tab.is_none() {
            self.tell_layout(place);
        }
        ok()
    }

    /// The program of a pane has ended, and the pane closes. There is a separate event only for
    /// the end of an agent.
    pub(super) fn exit(&mut self, pane: u64) {
        let agent = self.terminal(pane).and_then(|terminal| {
            terminal.label().and_then(herdr_proto::canonical_label).or(terminal.detected)
        });
        if let Some(agent) = agent {
            let update = self.apply(pane, |terminal| terminal.agent_exited(agent));
            if let Some(update) = update.filter(|update| update.released) {
                self.tell_update(pane, update);
            }
        }
        let Some(place) = self.place_of(pane) else { return };
        let workspace_id = self.workspace_id(place.workspace);
        self.tell(
            "pane_exited",
            json!({ "pane_id": self.pane_id(pane), "workspace_id": workspace_id }),
        );
        if self.take_away(pane).tab.is_none() {
            self.tell_layout(place);
        }
    }

    /// Removes a pane without any event. The panes beside it get its area.
    pub(super) fn take_away(&mut self, pane: u64) -> Closed {
        let closed = self.detach(pane, false);
        self.panes.remove(&pane);
        self.aliases.retain(|_, alias| *alias != pane);
        closed
    }

    /// Lets another server process continue with the same panes.
    fn begin_generation(&mut self, keep_claims: bool) {
        let now = self.now;
        for pane in self.panes.keys().copied().collect::<Vec<_>>() {
            let terminal_id = self.new_terminal_id();
            if let Some(entry) = self.panes.get_mut(&pane) {
                entry.terminal = entry.terminal.survivor(keep_claims);
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

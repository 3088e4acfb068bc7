//! Servers from 0.9.2 on clear a claim with a label that Herdr does not know
//! once the pane's shell has been idle for a while (protocol 3).

use std::time::Duration;

use super::Model;

/// Between the one and two seconds that the real server takes.
const IDLE_BEFORE_CLEAR: Duration = Duration::from_millis(1500);

/// TUIOS clears any label.
const IDLE_BEFORE_CLEAR_ON_TUIOS: Duration = Duration::from_secs(2);

impl Model {
    /// Says that the shell of a pane waits at its prompt, or that a program
    /// runs in it again (which is what a new pane counts as: the agent that
    /// reports is that program). `false` if there is no such pane.
    pub fn set_shell_idle(&mut self, now: Duration, pane: &str, idle: bool) -> bool {
        self.advance(now);
        let now = self.now;
        let pane = self.find_pane(pane).ok().and_then(|pane| self.panes.get_mut(&pane));
        pane.map(|pane| pane.idle_since = idle.then_some(now)).is_some()
    }

    /// A report on an idle pane starts the wait again.
    pub(super) fn note_claim(&mut self, pane: u64) {
        let now = self.now;
        if let Some(since) = self.panes.get_mut(&pane).and_then(|pane| pane.idle_since.as_mut()) {
            *since = now;
        }
    }

    pub(super) fn next_idle_clear(&self) -> Option<Duration> {
        self.panes.keys().filter_map(|pane| self.idle_clear_of(*pane)).min()
    }

    pub(super) fn clear_idle_shells(&mut self, due: Duration) {
        let over: Vec<u64> = self
            .panes
            .keys()
            .copied()
            .filter(|pane| self.idle_clear_of(*pane).is_some_and(|at| at <= due))
            .collect();
        for pane in over {
            self.change(pane, |terminal| {
                terminal.claim = None;
                true
            });
        }
    }

    fn idle_clear_of(&self, pane: u64) -> Option<Duration> {
        let entry = self.panes.get(&pane).filter(|_| self.profile.clears_idle_shells)?;
        let claim = entry.terminal.claim()?;
        let wait = match self.profile.tuios {
            true => IDLE_BEFORE_CLEAR_ON_TUIOS,
            false if herdr_proto::canonical_label(&claim.label).is_some() => return None,
            false => IDLE_BEFORE_CLEAR,
        };
        Some(entry.idle_since?.saturating_add(wait))
    }
}

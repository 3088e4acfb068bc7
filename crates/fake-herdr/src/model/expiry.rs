//! What goes by time alone: times to live, and what an ended process leaves.

use std::time::Duration;

use super::Model;
use super::state::State;

/// After the end of an agent's process its pane shows an idle agent without a
/// label, until the detector's next look (0.8.2: 300 ms) finds nothing.
const CLEARED_AFTER: Duration = Duration::from_millis(300);

impl Model {
    /// Brings the model to `now`: what has a time to live and is over goes, in
    /// the order in which it ran out.
    pub(super) fn advance(&mut self, now: Duration) {
        while let Some(due) = self.next_expiry().filter(|due| *due <= now) {
            self.now = self.now.max(due);
            let panes: Vec<u64> = self.panes.keys().copied().collect();
            for pane in panes {
                self.expire(pane, due);
            }
            for workspace in 0..self.workspaces.len() {
                if self.workspaces[workspace].tokens.expire(due) {
                    self.emit_workspace(workspace, "workspace_metadata_updated");
                }
            }
            self.clear_idle_shells(due);
            self.clear_exited(due);
        }
        self.now = self.now.max(now);
    }

    fn expire(&mut self, pane: u64, due: Duration) {
        // An instant earlier, when what goes now was still shown.
        let before = self.effective(pane, due.saturating_sub(Duration::from_nanos(1)));
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let tokens = entry.terminal.metadata.expire(due);
        if tokens {
            entry.revision += 1;
        }
        if before.map(|before| before.presentation)
            != self.effective(pane, due).map(|after| after.presentation)
        {
            let agent = self.panes.get(&pane).and_then(|pane| pane.terminal.label());
            self.emit_status(pane, agent.map(str::to_owned));
        }
        if tokens {
            self.emit_pane(pane, "pane_updated");
        }
    }

    /// The detector looks at a pane once more after its agent has gone.
    pub(super) fn clear_later(&mut self, pane: u64) {
        let at = self.now.saturating_add(CLEARED_AFTER);
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.terminal.clears_at = Some(at);
        }
    }

    fn clear_exited(&mut self, due: Duration) {
        for pane in self.panes.keys().copied().collect::<Vec<_>>() {
            let Some(entry) = self.panes.get_mut(&pane) else { continue };
            if entry.terminal.clears_at.take_if(|at| *at <= due).is_some() {
                self.change(pane, |terminal| {
                    terminal.screen = State::Unknown;
                    false
                });
            }
        }
    }
}

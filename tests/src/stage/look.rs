//! Reading what the pane shows, now or eventually.

use std::time::Duration;

use herdr_proto::{AgentGet, Call, PaneGet, PaneInfo, PaneList};
use herdr_reporter::{Flushed, Handle};

use super::poll::until_on_time;
use super::{AGENT, PATIENCE, Stage, Watch, until};

impl Stage {
    /// Makes a request that changes nothing, and repeats it if necessary: a server that is
    /// being replaced does not answer. `None` if it is refused.
    ///
    /// # Panics
    ///
    /// If there is no answer.
    pub fn read<C: Call>(&self, call: &C) -> Option<C::Reply> {
        let mut last = None;
        let answer = until(PATIENCE, || match self.ask(call) {
            Ok(reply) => Some(Some(reply)),
            Err(error) if error.rejection().is_some() => Some(None),
            Err(error) => {
                last = Some(error);
                None
            }
        });
        answer.unwrap_or_else(|| panic!("{}: {last:?}", C::METHOD))
    }

    /// The pane as a reader sees it now; `None` if it does not exist.
    pub fn look(&self) -> Option<PaneInfo> {
        self.read(&PaneGet::new(self.pane().clone())).map(|reply| reply.pane)
    }

    /// All panes of the server.
    ///
    /// # Panics
    ///
    /// If there is no answer.
    pub fn panes(&self) -> Vec<PaneInfo> {
        self.read(&PaneList::default()).expect("the panes").panes
    }

    /// The pane, which has to exist.
    ///
    /// # Panics
    ///
    /// If it does not exist.
    pub fn seen(&self) -> PaneInfo {
        self.look().expect("the pane exists")
    }

    /// Waits until `satisfied` is true for the pane.
    ///
    /// # Panics
    ///
    /// If it is not true within [`PATIENCE`]. The message has the last observation.
    #[track_caller]
    pub fn wait(&self, satisfied: impl Fn(&PaneInfo) -> bool) -> PaneInfo {
        self.wait_within(PATIENCE, satisfied)
    }

    /// As [`wait`](Self::wait), within a promised bound. The bound is for a responsive server
    /// on a machine that is not busy, so delays of these two do not count.
    ///
    /// # Panics
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_within(&self, bound: Duration, satisfied: impl Fn(&PaneInfo) -> bool) -> PaneInfo {
        let look = || self.ask(&PaneGet::new(self.pane.clone())).map(|reply| reply.pane);
        until_on_time(bound, || look().map(|pane| Some(pane).filter(|pane| satisfied(pane))))
            .unwrap_or_else(|| panic!("after {bound:?} the pane shows {:#?}", look()))
    }

    /// As [`wait_within`](Self::wait_within), for a pane whose id may have changed.
    ///
    /// # Panics
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_anywhere_within(
        &self,
        bound: Duration,
        satisfied: impl Fn(&PaneInfo) -> bool,
    ) -> PaneInfo {
        let look = || self.ask(&PaneList::default()).map(|reply| reply.panes);
        until_on_time(bound, || look().map(|panes| panes.into_iter().find(&satisfied)))
            .unwrap_or_else(|| panic!("after {bound:?} the panes show {:#?}", look()))
    }

    /// Waits until the row is [`AGENT`]'s with this state. Done counts as idle.
    ///
    /// # Panics
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_for(&self, state: &str) -> PaneInfo {
        self.wait(|pane| shows(pane, state))
    }

    /// Waits until the pane shows nothing of [`AGENT`].
    ///
    /// # Panics
    ///
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_for_nothing(&self) -> PaneInfo {
        self.wait(|pane| {
            pane.agent.is_none()
                && pane.title.is_none()
                && pane.display_agent.is_none()
                && pane.state_labels.is_empty()
                && pane.tokens.is_empty()
        })
    }

    /// Delivers the pending reports of a reporter, and returns the pane after that.
    ///
    /// # Panics
    ///
    /// If they are not delivered.
    #[track_caller]
    pub fn flushed(&self, reporter: &Handle) -> PaneInfo {
        assert_eq!(reporter.flush(PATIENCE), Flushed::Delivered);
        self.seen()
    }

    /// The number that rises whenever the effective state of this pane changes, even if no
    /// reader saw it.
    ///
    /// # Panics
    ///
    /// If the pane has no agent.
    pub fn state_changes(&self) -> u64 {
        let reply = self.read(&AgentGet::of(&self.pane)).expect("the pane has an agent");
        reply.agent.state_change_seq
    }

    /// The states of the pane from now on.
    pub fn watch(&self) -> Watch {
        self.server.watch(&self.pane)
    }
}

/// Whether the row is [`AGENT`]'s with this state. Done counts as idle.
pub fn shows(pane: &PaneInfo, state: &str) -> bool {
    pane.agent.as_deref() == Some(AGENT) && pane.agent_status.same_as(&state.into())
}

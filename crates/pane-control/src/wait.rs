use std::time::Duration;

use herdr_proto::{AgentInfo, AgentStatus};
use tokio::time::Instant;

use crate::control::PaneControl;
use crate::error::{Error, ErrorKind};
use crate::target::Target;

/// The interval between two looks. A wait ends within this time when its pane closes.
const LOOK: Duration = Duration::from_millis(250);

/// What is waited for, and how long.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WaitOptions {
    /// The statuses that end the wait. `done`, an idle that no person has seen, counts as idle.
    pub until: Vec<AgentStatus>,
    /// Counts only a status whose `state_change_seq` is above this, so that a wait right after
    /// a prompt does not end with the idle before it. Absent means any status.
    pub after: Option<u64>,
    /// How long to wait at most. A wait without a deadline is not possible.
    pub deadline: Duration,
}

impl WaitOptions {
    /// Waits for one of these statuses, for at most `deadline`.
    pub fn new(until: impl Into<Vec<AgentStatus>>, deadline: Duration) -> Self {
        Self { until: until.into(), after: None, deadline }
    }

    /// Sets [`after`](Self::after).
    #[must_use]
    pub fn after(mut self, state_change_seq: u64) -> Self {
        self.after = Some(state_change_seq);
        self
    }

    fn met_by(&self, agent: &AgentInfo) -> bool {
        let status = &agent.agent_status;
        let same = |wanted: &AgentStatus| {
            wanted == status || (*wanted == AgentStatus::IDLE && *status == AgentStatus::DONE)
        };
        self.after.is_none_or(|after| agent.state_change_seq > after) && self.until.iter().any(same)
    }
}

impl PaneControl {
    /// Waits until an agent has one of some statuses. A pane that moves does
    /// not end the wait.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Timeout`] at the deadline, [`ErrorKind::PaneGone`] within a
    /// second after the pane closed, [`ErrorKind::NoAgent`] if there never was
    /// an agent, [`ErrorKind::AgentNotRunning`] if it went away, and the kinds
    /// of a server that does not answer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn wait(&self, target: &Target, options: &WaitOptions) -> Result<AgentInfo, Error> {
        let waited = tokio::time::timeout(options.deadline, self.wait_on(target, options)).await;
        waited.unwrap_or_else(|_| {
            let detail = format!("no wanted status within {:?}", options.deadline);
            Err(Error::new(ErrorKind::Timeout, detail))
        })
    }

    async fn wait_on(&self, target: &Target, options: &WaitOptions) -> Result<AgentInfo, Error> {
        let mut target = target.clone();
        let mut seen = false;
        loop {
            let next = Instant::now() + LOOK;
            let found = self.find(&target).await?;
            // The agent is looked up by the present id each time, because the id changes with a
            // move.
            match self.agent(&found.id()).await? {
                Some(agent) if options.met_by(&agent) => return Ok(agent),
                Some(_) => seen = true,
                None => self.without_agent(&found.target, seen).await?,
            }
            target = found.target;
            tokio::time::sleep_until(next).await;
        }
    }

    /// There is no agent under the pane's id: the pane has just moved, or it has no agent.
    async fn without_agent(&self, target: &Target, seen: bool) -> Result<(), Error> {
        let again = self.find(target).await?;
        if again.info.agent.is_some() {
            return Ok(());
        }
        let (kind, detail) = if seen {
            (ErrorKind::AgentNotRunning, "the agent went away during the wait")
        } else {
            (ErrorKind::NoAgent, "the pane has no agent to wait for")
        };
        Err(Error::new(kind, detail))
    }
}

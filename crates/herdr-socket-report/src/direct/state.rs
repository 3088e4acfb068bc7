//! States and releases: numbered by the clock and read back.

use std::time::{SystemTime, UNIX_EPOCH};

use herdr_proto::{
    PaneInfo, PresentationText, ReleaseAgent, ReportAgent, ReportState, Seq, SessionId, SourceId,
    TokenKey,
};
use herdr_reporter::machine::judge_state;
use herdr_reporter::{Outcome, Reason};

use super::{Direct, Problem};

/// What a report of the state says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Why.
    pub(crate) reason: Option<PresentationText>,
    /// The session that began.
    pub(crate) session: Option<SessionId>,
}

/// The clocks to try, one after the other. A mark of another unit or of a clock
/// that went ahead mutes the lower ones (failures B03, B04).
const CLIMB: [fn() -> Seq; 3] = [micros, micros, nanos];

impl Direct {
    /// Reports the state and makes sure that it shows, getting above a mark
    /// that mutes us if it can.
    pub(crate) async fn state(&self, state: ReportState, said: &Said) -> Result<PaneInfo, Problem> {
        let mut muted = self.state_as(&self.source, state, said).await;
        if let Err(Problem::NotApplied(Reason::StaleSequence)) = muted
            && self.fresh_source
            && let Ok(fresh) = SourceId::parse(format!("{}.2", self.source))
        {
            muted = self.state_as(&fresh, state, said).await;
        }
        muted
    }

    async fn state_as(
        &self,
        source: &SourceId,
        state: ReportState,
        said: &Said,
    ) -> Result<PaneInfo, Problem> {
        let mut report =
            ReportAgent::new(self.pane.clone(), source.clone(), self.agent.clone(), state);
        report.message.clone_from(&said.reason);
        report.agent_session_id.clone_from(&said.session);
        let mut because = Reason::StaleSequence;
        for clock in CLIMB {
            report.seq = Some(clock());
            self.call(&report).await?;
            let pane = self.look().await?;
            match judge_state(&pane, source, &self.agent, state) {
                (Outcome::Applied, _) => return Ok(pane),
                (_, Some(reason @ (Reason::ForeignSession(_) | Reason::ScreenPrompt))) => {
                    return Err(Problem::NotApplied(reason));
                }
                (_, reason) => because = reason.unwrap_or(because),
            }
        }
        Err(Problem::NotApplied(because))
    }

    /// Gives the row back, with title and labels and the tokens that events
    /// make. Other tokens have no owner that could be asked; they stay until
    /// their time is over.
    pub(crate) async fn release(&self) -> Result<(), Problem> {
        self.clear_presentation().await?;
        let made = ["model", "ctx", "session"];
        let shown = self.look().await?;
        let off = made.into_iter().filter(|key| shown.tokens.contains_key(*key));
        let off = off.filter_map(|key| Some((TokenKey::parse(key).ok()?, None)));
        self.tokens(&off.collect()).await?;
        self.give_back().await?;
        // Herdr says ok to a release of a row that somebody else has (C2, C3).
        match shown.agent {
            Some(other) if other != self.agent.as_str() => Err(Problem::NotOurs(other)),
            _ => Ok(()),
        }
    }

    /// Gives the row back, and nothing else.
    pub(crate) async fn give_back(&self) -> Result<(), Problem> {
        let mut release =
            ReleaseAgent::new(self.pane.clone(), self.source.clone(), self.agent.clone());
        for clock in CLIMB {
            release.seq = Some(clock());
            self.call(&release).await?;
            if self.look().await?.agent.as_deref() != Some(self.agent.as_str()) {
                return Ok(());
            }
        }
        Err(Problem::NotApplied(Reason::StaleSequence))
    }
}

fn micros() -> Seq {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Seq::new(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

fn nanos() -> Seq {
    Seq::new(micros().get().saturating_mul(1000))
}

//! Whether this reporter says the state, or Herdr, which detects some agents by itself.
//!
//! If the user has not set the label, our claim must not hide an agent that Herdr detects. So the
//! server is asked what it detects below our claim, and if it detects an agent, the state is left
//! to Herdr. If the host says a state and Herdr shows no agent, this reporter claims the row.

use std::time::Duration;

use herdr_proto::{AgentLabel, Explanation, PaneInfo};

use super::request::EndBy;
use super::{Claim, PaneMachine};

/// How long Herdr may take to show an agent after the host has said a state.
const SHOWS_WITHIN: Duration = Duration::from_secs(3);
/// How long after a claim the server is first asked what it detects below it. The interval doubles
/// up to [`ASK_INTERVAL_MAX`]: an agent may start long after its wrapper.
const ASK_INTERVAL_FIRST: Duration = Duration::from_secs(1);
const ASK_INTERVAL_MAX: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Detected {
    /// The agent whose row shows the state; Herdr may not show it yet. `None` if this reporter says
    /// the state.
    pub(super) left_to: Option<AgentLabel>,
    /// Since when the host has said a state and Herdr has shown no agent.
    pub(super) no_agent_since: Option<Duration>,
    below: Below,
    /// When the server is asked again, and the interval after that.
    ask_at: Option<Duration>,
    ask_interval: Duration,
    explain_unsupported: bool,
    /// The server ends a claim only by a release.
    pub(super) clear_unsupported: bool,
    /// The pane has a session at the last read-back.
    pub(super) session_stored: bool,
}

/// Whether Herdr detects an agent below our claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    Unknown,
    NoAgent,
    Agent,
}

impl Detected {
    pub(super) fn new(claim: &Claim) -> Self {
        let leaves_state = claim.config.leave_state && claim.once.is_none();
        Self {
            left_to: leaves_state.then(|| claim.agent.clone()),
            no_agent_since: None,
            below: Below::Unknown,
            ask_at: None,
            ask_interval: ASK_INTERVAL_FIRST,
            explain_unsupported: false,
            clear_unsupported: false,
            session_stored: false,
        }
    }

    pub(super) fn reset_for_new_claim(&mut self) {
        self.below = Below::Unknown;
        self.ask_at = None;
        self.ask_interval = ASK_INTERVAL_FIRST;
        self.explain_unsupported = false;
        self.clear_unsupported = false;
    }

    /// A claim was made or renewed, so what is below it has to be asked again.
    pub(super) fn claimed(&mut self, now: Duration, own_label: bool) {
        self.below = Below::Unknown;
        if !own_label && self.ask_at.is_none() {
            self.ask_at = Some(now + self.ask_interval);
        }
    }

    /// The server does not support the question, so it is not asked again.
    pub(super) fn explain_unsupported(&mut self) {
        self.explain_unsupported = true;
        self.below = Below::NoAgent;
        self.ask_at = None;
    }

    /// The claim is about to end, so what is below it has to be asked again.
    pub(super) fn claim_ends(&mut self) {
        if !self.explain_unsupported {
            self.below = Below::Unknown;
        }
    }

    /// How the claim has to end for a detected agent to keep its row (protocol §5.4).
    pub(super) fn end_by(&self) -> EndBy {
        if self.below == Below::Agent && !self.session_stored && !self.clear_unsupported {
            EndBy::Clear
        } else {
            EndBy::Release
        }
    }
}

impl PaneMachine {
    /// Whether this machine reports the state; otherwise it is left to Herdr.
    pub(super) fn reports_state(&self) -> bool {
        self.detected.left_to.is_none()
    }

    /// Whether the server has to be asked what is below the claim before the claim ends. A release
    /// of a label that Herdr knows does no harm to a detected agent (protocol §5.4).
    pub(super) fn must_explain_before_end(&self) -> bool {
        self.state.may_be_on_server()
            && !self.active_claim().agent.is_known()
            && self.detected.below == Below::Unknown
    }

    pub(super) fn next_explain_at(&self) -> Option<Duration> {
        self.detected
            .ask_at
            .filter(|_| self.wants_pane && self.reports_state() && self.state.may_be_on_server())
    }

    pub(super) fn explained(&mut self, now: Duration, explanation: Option<&Explanation>) {
        let claimed = self.active_claim().agent.clone();
        // For a label that Herdr knows, it explains the screen, whichever agent runs there.
        let detects = |it: &&Explanation| !claimed.is_known() || it.fits_the_screen();
        let agent = explanation.filter(detects).and_then(|it| it.agent.as_deref());
        let agent = agent.and_then(AgentLabel::normalize).filter(AgentLabel::is_known);
        self.detected.below = if agent.is_some() { Below::Agent } else { Below::NoAgent };
        let Some(at) = self.next_explain_at() else { return };
        self.detected.ask_interval = (self.detected.ask_interval * 2).min(ASK_INTERVAL_MAX);
        self.detected.ask_at = Some(at.max(now) + self.detected.ask_interval);
        let Some(agent) = agent.filter(|_| self.one_shot.is_none()) else { return };
        self.detected.ask_at = None;
        self.leave_state_to(Some(agent));
        self.read_backs.schedule(now);
    }

    /// Takes in a read-back while the state is left to Herdr.
    pub(super) fn check_herdrs_agent(&mut self, now: Duration, pane: &PaneInfo) {
        if self.state.may_be_on_server() {
            // The row that is shown is still our own.
            return;
        }
        match pane.agent.as_deref().map(AgentLabel::normalize) {
            Some(shown) => {
                self.detected.no_agent_since = None;
                let shown = shown.filter(AgentLabel::is_known);
                if shown.is_some() && shown != self.detected.left_to {
                    self.leave_state_to(shown);
                }
            }
            None if self.state.wanted.is_some() => {
                let since = *self.detected.no_agent_since.get_or_insert(now);
                let until = since + SHOWS_WITHIN;
                if now < until {
                    self.read_backs.schedule(until);
                } else {
                    self.leave_state_to(None);
                    self.detected.reset_for_new_claim();
                }
            }
            None => {}
        }
    }

    /// From now on the state is left to the row of `agent`, or is ours if that is `None`.
    pub(super) fn leave_state_to(&mut self, agent: Option<AgentLabel>) {
        self.detected.no_agent_since = None;
        self.detected.left_to.clone_from(&agent);
        self.state.reset_conflicts();
        if let Some(record) = &mut self.presentation.wanted {
            record.under_agent = agent;
        }
    }
}

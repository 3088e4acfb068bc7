//! Who says the state: we, or Herdr, which detects some agents by itself.
//!
//! A label that nobody asked for must not hide an agent that Herdr detects. So
//! it is asked what it detects below our claim, and if it detects an agent, the
//! state is left to it. If it shows no agent although a state is wanted, the
//! state is ours to say.

use std::time::Duration;

use herdr_proto::{AgentLabel, Explanation, PaneInfo};

use super::request::EndBy;
use super::{Claim, Mode, PaneMachine};

/// How long Herdr may take to show an agent whose state is wanted.
const SHOWS_WITHIN: Duration = Duration::from_secs(3);
/// When it is asked first what it detects below a new claim; then less and less
/// often, up to …
const ASK_FIRST: Duration = Duration::from_secs(1);
/// … this. An agent may start long after its wrapper.
const ASK_CAP: Duration = Duration::from_secs(30);

/// What is known of the agents that Herdr detects.
#[derive(Debug)]
pub(super) struct Detected {
    /// The state is left to Herdr, which shows this agent or is to.
    left_to: Option<AgentLabel>,
    /// Since when a state is wanted and Herdr shows no agent.
    none_since: Option<Duration>,
    /// What is below our claim.
    below: Below,
    /// When to ask again what is below, and how long to wait after that.
    ask_at: Option<Duration>,
    ask_after: Duration,
    /// The server does not say what is below.
    cannot_ask: bool,
    /// It does not end a claim but by a release.
    cannot_clear: bool,
    /// A session is stored on the pane.
    session_stored: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    Unknown,
    Nobody,
    Agent,
}

impl Detected {
    pub(super) fn new(claim: &Claim) -> Self {
        Self {
            left_to: (claim.mode == Mode::LeaveState).then(|| claim.agent.clone()),
            none_since: None,
            below: Below::Unknown,
            ask_at: None,
            ask_after: ASK_FIRST,
            cannot_ask: false,
            cannot_clear: false,
            session_stored: false,
        }
    }

    pub(super) fn herdrs_agent(&self) -> Option<&AgentLabel> {
        self.left_to.as_ref()
    }

    pub(super) fn new_claim(&mut self) {
        self.below = Below::Unknown;
        self.ask_at = None;
        self.ask_after = ASK_FIRST;
        self.cannot_ask = false;
        self.cannot_clear = false;
    }

    /// A state is wanted from now on; Herdr gets time to show its agent.
    pub(super) fn wait_for_herdr(&mut self, now: Duration) {
        self.none_since = Some(now);
    }

    /// A claim was made or renewed; who is below is to be found out.
    pub(super) fn claimed(&mut self, now: Duration, own_label: bool) {
        self.below = Below::Unknown;
        if !own_label && self.ask_at.is_none() {
            self.ask_at = Some(now + self.ask_after);
        }
    }

    pub(super) fn saw(&mut self, pane: &PaneInfo) {
        self.session_stored = pane.agent_session.is_some();
    }

    /// The server does not answer that; it is not asked again.
    pub(super) fn cannot_ask(&mut self) {
        self.cannot_ask = true;
        self.below = Below::Nobody;
        self.ask_at = None;
    }

    pub(super) fn cannot_clear(&mut self) {
        self.cannot_clear = true;
    }

    /// The claim is to end; who is below by now is to be found out.
    pub(super) fn ends(&mut self) {
        if !self.cannot_ask {
            self.below = Below::Unknown;
        }
    }

    /// How the claim is to end, so that a detected agent keeps its row.
    pub(super) fn end_by(&self) -> EndBy {
        if self.below == Below::Agent && !self.session_stored && !self.cannot_clear {
            EndBy::Clear
        } else {
            EndBy::Release
        }
    }
}

impl PaneMachine {
    /// Whether the state is ours to say.
    pub(super) fn speaks(&self) -> bool {
        self.detected.left_to.is_none()
    }

    pub(super) fn herdrs_agent(&self) -> Option<AgentLabel> {
        self.detected.left_to.clone()
    }

    /// Before a claim ends it is asked who is below. A label that Herdr knows
    /// is taken off without harm (protocol §5.4).
    pub(super) fn must_ask_before_the_end(&self) -> bool {
        self.state.may_be_there()
            && !self.speaker().agent.is_known()
            && self.detected.below == Below::Unknown
    }

    /// When it is to be asked who is below a claim that goes on.
    pub(super) fn asks_below_at(&self) -> Option<Duration> {
        self.detected.ask_at.filter(|_| self.wants && self.speaks() && self.state.may_be_there())
    }

    /// What Herdr explains; nothing if it knows no agent there.
    pub(super) fn explained(&mut self, now: Duration, explanation: Option<&Explanation>) {
        let claimed = self.speaker().agent.clone();
        // Of a label that it knows, it explains the screen whoever runs there.
        let detects = |it: &&Explanation| !claimed.is_known() || it.fits_the_screen();
        let agent = explanation.filter(detects).and_then(|it| it.agent.as_deref());
        let agent = agent.and_then(AgentLabel::normalize).filter(AgentLabel::is_known);
        self.detected.below = if agent.is_some() { Below::Agent } else { Below::Nobody };
        let Some(at) = self.asks_below_at() else { return };
        self.detected.ask_after = (self.detected.ask_after * 2).min(ASK_CAP);
        self.detected.ask_at = Some(at.max(now) + self.detected.ask_after);
        let Some(agent) = agent.filter(|_| !self.claim.is_once()) else { return };
        self.detected.ask_at = None;
        self.leave_state_to(Some(agent));
        self.looks.look_at(now);
    }

    /// The pane as it is while the state is left to Herdr.
    pub(super) fn watch_herdr(&mut self, now: Duration, pane: &PaneInfo) {
        if self.state.may_be_there() {
            // That is our own row still.
            return;
        }
        match pane.agent.as_deref().map(AgentLabel::normalize) {
            Some(shown) => {
                self.detected.none_since = None;
                let shown = shown.filter(AgentLabel::is_known);
                if shown.is_some() && shown != self.detected.left_to {
                    self.leave_state_to(shown);
                }
            }
            None if self.state.wanted.is_some() => {
                let since = *self.detected.none_since.get_or_insert(now);
                let until = since + SHOWS_WITHIN;
                if now < until {
                    self.looks.look_at(until);
                } else {
                    self.leave_state_to(None);
                    self.detected.new_claim();
                }
            }
            None => {}
        }
    }

    /// From now on the state is left to Herdr and its agent, or is ours.
    pub(super) fn leave_state_to(&mut self, agent: Option<AgentLabel>) {
        self.detected.none_since = None;
        self.detected.left_to.clone_from(&agent);
        self.state.try_anew();
        if let Some(record) = &mut self.presentation.wanted {
            record.under = agent;
        }
    }
}

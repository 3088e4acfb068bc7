//! What the detector sees: agents that appear and go, prompts on the screen
//! (V1, V6, A3, D8 of protocol 5).
//!
//! A pane with a plain shell never gets here. It is for tests that play an
//! agent's process.

use super::sources::{is_full_lifecycle, is_official};
use super::state::State;
use super::terminal::{Gate, GateCause, Session, Terminal};

impl Terminal {
    /// What the detector sees now: the agent, its state, and whether its prompt
    /// is on the screen.
    pub(crate) fn seen_by_detector(&self) -> Option<(&'static str, State, bool)> {
        self.detected.map(|agent| (agent, self.screen, self.prompt_seen_at.is_some()))
    }

    /// The detector sees a known agent with this state, and perhaps its prompt.
    pub(crate) fn agent_seen(&mut self, agent: &'static str, state: State, prompt: bool) {
        let order = self.next_order();
        let before = self.detected;
        self.detected = Some(agent);
        self.exited = None;
        self.clears_at = None;
        self.shown_no_state =
            (before != Some(agent) || self.shown_no_state) && state == State::Unknown;
        if before != Some(agent) {
            self.open_gates(agent);
        }
        self.screen = state;
        self.prompt_seen_at = (prompt && state == State::Blocked).then_some(order);
        let conflicting = self.claim.as_ref().is_some_and(|claim| {
            herdr_proto::canonical_label(&claim.label).is_some_and(|known| known != agent)
        });
        if conflicting {
            self.gate_current_claim();
            self.session = self.claim.take().and_then(|claim| {
                Some(Session {
                    source: claim.source,
                    label: claim.label,
                    reference: claim.session?,
                })
            });
        }
    }

    /// The process of the known agent in the pane has gone.
    pub(crate) fn agent_exited(&mut self, agent: &'static str) {
        self.next_order();
        let of_agent = |label: &str| herdr_proto::canonical_label(label) == Some(agent);
        let mut reset = Vec::new();
        let mut left = Vec::new();
        for (source, gate) in &mut self.gates {
            if !of_agent(&gate.label) || gate.cause == GateCause::Cleared {
                continue;
            }
            let gone = gate
                .coming
                .take()
                .or_else(|| gate.pending.as_ref().and_then(|(claim, _)| claim.session.clone()))
                .or_else(|| gate.session.clone());
            if let (Some(old), Some(gone)) = (&gate.session, &gone)
                && old != gone
            {
                left.push((source.clone(), gate.label.clone(), old.clone()));
            }
            gate.session = gone;
            gate.pending = None;
            reset.push(source.clone());
        }
        for (source, label, session) in left {
            self.remember_left(&source, &label, session);
        }
        for source in reset {
            self.marks.remove(&source);
        }
        let official = self.session().filter(|session| {
            is_official(&session.source, &session.label) && of_agent(&session.label)
        });
        if let Some(session) = official {
            self.marks.remove(&session.source);
            if is_full_lifecycle(&session.source, &session.label) {
                let gate = Gate::new(&session.label, Some(session.reference), GateCause::NoProcess);
                self.gates.insert(session.source, gate);
            }
        }
        if let Some(claim) = self.claim.take_if(|claim| of_agent(&claim.label)) {
            self.marks.remove(&claim.source);
        }
        self.session.take_if(|kept| of_agent(&kept.label));
        self.metadata.forget_agent(agent);
        self.detected = None;
        self.exited = Some(agent);
        self.shown_no_state = false;
        self.screen = State::Idle;
        self.prompt_seen_at = None;
    }

    /// Whether the detected process has shown no state so far.
    pub(super) fn is_new_process(&self) -> bool {
        self.shown_no_state
    }

    /// Lets through what waited for this agent's process.
    pub(super) fn open_gates(&mut self, agent: &'static str) {
        let waiting: Vec<String> = self
            .gates
            .iter()
            .filter(|(_, gate)| herdr_proto::canonical_label(&gate.label) == Some(agent))
            .filter(|(_, gate)| gate.cause == GateCause::Cleared || gate.coming.is_some())
            .map(|(source, _)| source.clone())
            .collect();
        let mut confirmed = Vec::new();
        for source in waiting {
            let Some(gate) = self.gates.remove(&source) else {
                continue;
            };
            let coming = gate.coming.filter(|_| gate.cause == GateCause::NoProcess);
            if let Some(old) = gate.session.filter(|old| Some(old) != coming.as_ref()) {
                self.remember_left(&source, &gate.label, old);
            }
            let Some(session) = coming else {
                continue;
            };
            confirmed.push(source.clone());
            self.forget_left(&source, &gate.label, &session);
            let mark = self.mark(&source);
            let pending = gate.pending.filter(|(claim, seq)| {
                claim.session.as_ref() == Some(&session) && mark.is_none_or(|mark| *seq > mark)
            });
            if let Some((claim, seq)) = pending {
                self.marks.insert(source.clone(), seq);
                self.claim = Some(claim);
            }
            self.session = Some(Session { source, label: gate.label, reference: session });
        }
        self.marks
            .retain(|source, _| confirmed.contains(source) || !is_full_lifecycle(source, agent));
    }
}

//! How a terminal reacts to what the detector sees (V1, V6, A3, D8 of protocol 5).

use super::detector::Sighting;
use super::sources::{is_full_lifecycle, is_official};
use super::state::State;
use super::terminal::{Change, Gate, GateCause, Session, Terminal};

impl Terminal {
    pub(super) fn see(&mut self, sighting: Sighting) -> Change {
        match sighting {
            Sighting::Process(agent) => {
                let ignored = self.ignores_detection(Some(agent));
                self.state_seen(Some(agent), State::Unknown);
                self.acquiring |= !ignored;
                Change::Applied
            }
            Sighting::State { agent, state } => {
                self.state_seen(agent, state);
                Change::Applied
            }
            Sighting::Exit(agent) => self.agent_exited(agent),
        }
    }

    /// Whether the detected state is ignored, because a full-lifecycle claim of the same agent
    /// is live.
    fn ignores_detection(&self, agent: Option<&'static str>) -> bool {
        self.screen_reading_off() && !self.claim_conflicts_with(agent)
    }

    /// Whether the claim is for another agent that Herdr knows.
    fn claim_conflicts_with(&self, agent: Option<&'static str>) -> bool {
        let claimed = self.claimed_agent();
        agent.is_some() && claimed.is_some() && claimed != agent
    }

    fn state_seen(&mut self, agent: Option<&'static str>, state: State) {
        let order = self.next_order();
        if self.ignores_detection(agent) {
            if agent.is_some() {
                self.detected = agent;
            }
            return;
        }
        let before = std::mem::replace(&mut self.detected, agent);
        if let Some(agent) = agent {
            self.keep_name_for(agent, None);
            if before != Some(agent) || self.exited == Some(agent) {
                self.open_gates(agent);
            }
            self.exited = None;
        }
        self.screen = state;
        self.prompt_seen_at = (state == State::Blocked).then_some(order);
        self.give_way(before, agent);
    }

    /// V6: a claim for an agent other than the detected one ends, and so does a claim for the
    /// agent that was detected before. Its session is kept.
    fn give_way(&mut self, before: Option<&'static str>, agent: Option<&'static str>) {
        let claimed = self.claimed_agent();
        let of_gone = before.is_some() && before != agent && claimed == before;
        if of_gone || self.claim_conflicts_with(agent) {
            self.gate_current_claim();
            self.session = self.claim.take().and_then(|claim| {
                let (source, label) = (claim.source, claim.label);
                Some(Session { source, label, reference: claim.session? })
            });
        }
    }

    /// The known agent that the claim's label stands for.
    fn claimed_agent(&self) -> Option<&'static str> {
        self.claim.as_ref().and_then(|claim| herdr_proto::canonical_label(&claim.label))
    }

    /// The process of this known agent has ended. Until the detector sees one again, only
    /// full-lifecycle sources can report an agent here.
    pub(super) fn agent_exited(&mut self, agent: &'static str) -> Change {
        self.next_order();
        let shown = self.is_agent();
        let before = self.detected.replace(agent);
        self.keep_name_for(agent, None);
        let of_agent = |label: &str| herdr_proto::canonical_label(label) == Some(agent);
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
            if let Some(old) =
                gate.session.take_if(|old| gone.as_ref().is_some_and(|gone| gone != old))
            {
                left.push((source.clone(), gate.label.clone(), old));
            }
            gate.session = gone;
            gate.pending = None;
            self.marks.remove(source);
        }
        for (source, label, session) in left {
            self.remember_left(&source, &label, session);
        }
        let of_it = |source: &str, label: &str| is_official(source, label) && of_agent(label);
        let claimed = self.claim.as_ref().filter(|claim| of_it(&claim.source, &claim.label));
        let official = match (claimed, &self.session) {
            (Some(claim), _) => {
                Some((claim.source.clone(), claim.label.clone(), claim.session.clone()))
            }
            (None, Some(kept)) if of_it(&kept.source, &kept.label) => {
                Some((kept.source.clone(), kept.label.clone(), Some(kept.reference.clone())))
            }
            _ => None,
        };
        if let Some((source, label, session)) = official {
            self.marks.remove(&source);
            self.gates.insert(source, Gate::new(&label, session, GateCause::NoProcess));
        }
        if let Some(claim) = self.claim.take_if(|claim| of_agent(&claim.label)) {
            self.marks.remove(&claim.source);
        }
        self.session.take_if(|kept| of_agent(&kept.label));
        self.metadata.forget_agent(agent);
        self.exited = Some(agent);
        self.screen = State::Idle;
        self.prompt_seen_at = None;
        self.give_way(before, Some(agent));
        if !shown {
            return Change::Applied;
        }
        self.set_name(None);
        Change::Released
    }

    /// Applies the reports that waited for this agent's process.
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
            self.keep_name_for(&gate.label, Some(&session));
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

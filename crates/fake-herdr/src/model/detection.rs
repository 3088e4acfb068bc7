//! How a terminal changes when the detector has seen something (V1, V6, A3, D8 of
//! protocol 5).

use super::detector::Detection;
use super::sources::{is_full_lifecycle, is_official};
use super::state::State;
use super::terminal::{Change, Claim, Session, Suppression, SuppressionCause, Terminal};

impl Terminal {
    pub(super) fn apply_detection(&mut self, detection: Detection) -> Change {
        match detection {
            Detection::Process(agent) => {
                let ignored = self.ignores_detection(Some(agent));
                self.state_seen(Some(agent), State::Unknown);
                self.acquiring |= !ignored;
                Change::Applied
            }
            Detection::State { agent, state } => {
                self.state_seen(agent, state);
                Change::Applied
            }
            Detection::Exit(agent) => self.agent_exited(agent),
        }
    }

    /// A live full-lifecycle claim overrides the detector, unless another agent is
    /// there.
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
                self.lift_suppressions(agent);
            }
            self.exited = None;
        }
        self.screen = state;
        self.prompt_seen_at = (state == State::Blocked).then_some(order);
        self.drop_outdated_claim(before, agent);
    }

    /// V6: drops a claim for another agent than the present one or for the agent that
    /// was there before. The session is kept.
    fn drop_outdated_claim(&mut self, before: Option<&'static str>, agent: Option<&'static str>) {
        let claimed = self.claimed_agent();
        let of_gone = before.is_some() && before != agent && claimed == before;
        if of_gone || self.claim_conflicts_with(agent) {
            self.suppress_claim_source();
            self.session = self.claim.take().and_then(Claim::into_session);
        }
    }

    /// The known agent that the claim's label names.
    fn claimed_agent(&self) -> Option<&'static str> {
        self.claim.as_ref().and_then(|claim| herdr_proto::canonical_label(&claim.label))
    }

    /// Applies the end of a known agent's process. Until the detector sees a process
    /// again, only full-lifecycle sources can report this agent.
    pub(super) fn agent_exited(&mut self, agent: &'static str) -> Change {
        self.next_order();
        let shown = self.is_agent();
        let before = self.detected.replace(agent);
        self.keep_name_for(agent, None);
        let of_agent = |label: &str| herdr_proto::canonical_label(label) == Some(agent);
        let mut left = Vec::new();
        for (source, suppression) in &mut self.suppressions {
            if !of_agent(&suppression.label) || suppression.cause == SuppressionCause::Cleared {
                continue;
            }
            let gone = suppression
                .announced
                .take()
                .or_else(|| {
                    suppression.pending.as_ref().and_then(|(claim, _)| claim.session.clone())
                })
                .or_else(|| suppression.session.clone());
            if let Some(old) =
                suppression.session.take_if(|old| gone.as_ref().is_some_and(|gone| gone != old))
            {
                left.push((source.clone(), suppression.label.clone(), old));
            }
            suppression.session = gone;
            suppression.pending = None;
            self.marks.remove(source);
        }
        for (source, label, session) in left {
            self.remember_left(&source, &label, session);
        }
        let official_of_agent =
            |source: &str, label: &str| is_official(source, label) && of_agent(label);
        let claimed =
            self.claim.as_ref().filter(|claim| official_of_agent(&claim.source, &claim.label));
        let official = match (claimed, &self.session) {
            (Some(claim), _) => {
                Some((claim.source.clone(), claim.label.clone(), claim.session.clone()))
            }
            (None, Some(kept)) if official_of_agent(&kept.source, &kept.label) => {
                Some((kept.source.clone(), kept.label.clone(), Some(kept.reference.clone())))
            }
            _ => None,
        };
        if let Some((source, label, session)) = official {
            self.marks.remove(&source);
            self.suppressions
                .insert(source, Suppression::new(&label, session, SuppressionCause::NoProcess));
        }
        if let Some(claim) = self.claim.take_if(|claim| of_agent(&claim.label)) {
            self.marks.remove(&claim.source);
        }
        self.session.take_if(|kept| of_agent(&kept.label));
        self.metadata.forget_agent(agent);
        self.exited = Some(agent);
        self.screen = State::Idle;
        self.prompt_seen_at = None;
        self.drop_outdated_claim(before, Some(agent));
        if !shown {
            return Change::Applied;
        }
        self.set_name(None);
        Change::Released
    }

    /// Ends the suppressions that wait for this agent's process, and applies their
    /// pending reports.
    pub(super) fn lift_suppressions(&mut self, agent: &'static str) {
        let waiting: Vec<String> = self
            .suppressions
            .iter()
            .filter(|(_, suppression)| {
                herdr_proto::canonical_label(&suppression.label) == Some(agent)
            })
            .filter(|(_, suppression)| {
                suppression.cause == SuppressionCause::Cleared || suppression.announced.is_some()
            })
            .map(|(source, _)| source.clone())
            .collect();
        let mut confirmed = Vec::new();
        for source in waiting {
            let Some(suppression) = self.suppressions.remove(&source) else {
                continue;
            };
            let announced =
                suppression.announced.filter(|_| suppression.cause == SuppressionCause::NoProcess);
            if let Some(old) = suppression.session.filter(|old| Some(old) != announced.as_ref()) {
                self.remember_left(&source, &suppression.label, old);
            }
            let Some(session) = announced else {
                continue;
            };
            confirmed.push(source.clone());
            self.forget_left(&source, &suppression.label, &session);
            self.keep_name_for(&suppression.label, Some(&session));
            let mark = self.mark(&source);
            let pending = suppression.pending.filter(|(claim, seq)| {
                claim.session.as_ref() == Some(&session) && mark.is_none_or(|mark| *seq > mark)
            });
            if let Some((claim, seq)) = pending {
                self.marks.insert(source.clone(), seq);
                self.claim = Some(claim);
            }
            self.session = Some(Session { source, label: suppression.label, reference: session });
        }
        self.marks
            .retain(|source, _| confirmed.contains(source) || !is_full_lifecycle(source, agent));
    }
}

//! Where TUIOS answers otherwise than Herdr (protocol 8.3).
//!
//! Not played: that it lets only a process of the pane itself report, which
//! needs the peer of a connection. `refuse:pane.report_agent:forbidden` answers
//! as it does to anybody else.

use std::time::Duration;

use super::Model;
use super::decode::Call;
use super::failure::Failure;
use super::params::ReportSession;
use super::sources::{SessionKind, SessionRef};
use super::terminal::Session;
use super::text;
use super::view::Outcome;

/// Metadata reports that may come at once, and how many come back in a second.
const BURST: u32 = 20;
const PER_SECOND: u32 = 5;

/// What is left of the burst.
#[derive(Debug, Clone)]
pub(super) struct Rate {
    left: u32,
    counted: Duration,
}

impl Default for Rate {
    fn default() -> Self {
        Self { left: BURST, counted: Duration::ZERO }
    }
}

impl Rate {
    fn take(&mut self, now: Duration) -> bool {
        let step = Duration::from_secs(1) / PER_SECOND;
        while self.left < BURST && self.counted + step <= now {
            self.counted += step;
            self.left += 1;
        }
        if self.left == BURST {
            self.counted = now;
        }
        let fits = self.left > 0;
        self.left = self.left.saturating_sub(1);
        fits
    }
}

/// A number as it stands in an id: twelve hexadecimal digits, scattered so that
/// nobody takes them for a place in a list.
pub(super) fn spell(number: u64) -> String {
    format!("{:012x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16)
}

impl Model {
    /// What stands before the rules that TUIOS shares with Herdr: an answer of
    /// its own, or none.
    pub(super) fn tuios_answer(&mut self, call: &Call) -> Option<Result<Outcome, Failure>> {
        let unsupported = |method: &str| {
            Some(Err(Failure::new("unsupported", format!("{method} is not supported"))))
        };
        match call {
            Call::AgentExplain(_) => unsupported("agent.explain"),
            Call::WorkspaceMetadata(_) => unsupported("workspace.report_metadata"),
            Call::Clear(_) => unsupported("pane.clear_agent_authority"),
            Call::ServerStop => unsupported("server.stop"),
            Call::LiveHandoff => unsupported("server.live_handoff"),
            Call::ReportMetadata(_) if !self.rate.take(self.now) => {
                Some(Err(Failure::new("rate_limited", "too many metadata reports")))
            }
            Call::ReportMetadata(report) => {
                let pane = self.find_pane(&report.pane_id).ok()?;
                let mark = self.panes.get(&pane)?.terminal.mark(&report.source)?;
                // One line of numbers for state and metadata.
                report.seq.is_some_and(|seq| seq <= mark).then_some(Ok(Outcome::Ok))
            }
            Call::ReportAgent(report) if report.state == super::state::State::Unknown => {
                Some(self.find_pane(&report.pane_id).map(|_| Outcome::Ok))
            }
            Call::ReportSession(report) => Some(self.tuios_session(report)),
            _ => None,
        }
    }

    /// Any source may have a session, but it needs an id; a path is ignored.
    fn tuios_session(&mut self, report: &ReportSession) -> Result<Outcome, Failure> {
        let pane = self.find_pane(&report.pane_id)?;
        let label = text::label(&report.agent)?;
        let id = report.agent_session_id.as_deref().filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| Failure::new("invalid_params", "agent_session_id is missing"))?;
        let reference = SessionRef { kind: SessionKind::Id, value: id.to_owned() };
        let session = Session { source: report.source.clone(), label, reference };
        self.change(pane, |terminal| {
            if terminal.take_seq(&session.source, report.seq) {
                terminal.session = Some(session);
            }
            false
        });
        Ok(Outcome::Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_twenty_and_then_five_a_second() {
        let mut rate = Rate::default();
        let at = Duration::from_secs(1);
        assert!((0..20).all(|_| rate.take(at)) && !rate.take(at));
        let later = at + Duration::from_secs(1);
        assert!((0..5).all(|_| rate.take(later)) && !rate.take(later));
        assert!((0..20).all(|_| rate.take(Duration::from_secs(60))));
    }
}

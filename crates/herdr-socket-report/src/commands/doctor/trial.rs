//! The trial: one report that is read back and released.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use herdr_proto::{AgentLabel, ReportState, SourceId, canonical_label};
use herdr_reporter::machine::{Claim, OneShot};
use herdr_reporter::sidecar::{Reported, report_once, shown};
use herdr_reporter::{AgentEvent, Config, Outcome, Part, Reason};
use herdr_socket_transport::Endpoint;

use super::check::{Check, Obstacle};
use crate::exit::Exit;

const NAME: &str = "report";

/// Reports that the agent is idle, until `report_by`, and releases the pane, until `back_by`.
/// Title, labels, tokens and the row of a detected agent are left alone.
pub(super) async fn trial(
    endpoint: &Endpoint,
    source: SourceId,
    label: AgentLabel,
    config: &Config,
    (report_by, back_by): (Instant, Instant),
) -> Result<Check, Obstacle> {
    let limit = report_by.saturating_duration_since(Instant::now());
    let pane = shown(endpoint, config, limit).await.map_err(|_| late())?;
    if pane.agent.as_deref().and_then(canonical_label).is_some() {
        let finding = "not tried: Herdr shows an agent of its own, and its row is left alone";
        return Ok(Check::open(NAME, finding));
    }
    let mut claim = Claim::new(endpoint.pane().clone(), source, label, config.clone());
    let mut say = |event, until| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let started = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        let mut once = OneShot::new(vec![event], started);
        once.only_the_row = true;
        claim.once = Some(once);
        report_once(endpoint, claim.clone(), until, || false)
    };
    let idle = AgentEvent::state_set(ReportState::Idle, None);
    let reported = say(idle, report_by).await;
    let back = say(AgentEvent::Release, back_by).await;
    let outcome = |of: &Reported, part| {
        let last = of.receipts.iter().rev().find(|receipt| receipt.of == part);
        last.map(|receipt| (receipt.outcome, receipt.reason.clone()))
    };
    match outcome(&reported, Part::State) {
        Some((Outcome::Applied, _)) => {}
        Some((Outcome::Ignored | Outcome::Hidden, Some(reason))) => return Err(not_shown(&reason)),
        _ => return Err(failed(&reported)),
    }
    let taken_back = matches!(outcome(&back, Part::Release), Some((Outcome::Sent, _)));
    Ok(if back.in_time && taken_back && back.diagnostics.is_empty() {
        Check::fine(NAME, "reported, shown, and taken back")
    } else {
        Check::open(NAME, "reported and shown, but it could not be taken back")
            .remedy("herdr-socket-report release, with the same --agent and --source")
    })
}

fn not_shown(reason: &Reason) -> Obstacle {
    let finding = format!("the server said ok and shows something else: {reason}");
    (Exit::NotApplied, Check::wrong(NAME, finding).remedy(reason.remedy()))
}

fn failed(reported: &Reported) -> Obstacle {
    let Some(told) = reported.diagnostics.last() else { return late() };
    let (exit, remedy) = match told.kind.as_str() {
        "protocol_rejected" | "foreign_pane" => {
            (Exit::Refused, "see the server's code; TUIOS takes reports from the pane only")
        }
        _ => (Exit::Unreachable, "see whether the server's windows react"),
    };
    (exit, Check::wrong(NAME, told.detail.clone()).remedy(remedy))
}

fn late() -> Obstacle {
    let check = Check::wrong(NAME, "the server is too slow to try a report");
    (Exit::Unreachable, check.remedy("see whether its windows react, and try again"))
}

//! What a one-shot reports about its outcome: the exit code and the message.

use std::time::{Duration, Instant};

use herdr_proto::ReportState;
use herdr_reporter::Config;
use herdr_reporter::sidecar::shown;
use herdr_socket_transport::Endpoint;

use super::event::Event;
use super::route::time_left;
use crate::control::Answers;
use crate::exit::{Exit, Stop};
use crate::output::say;
use crate::wait::blocking;

/// The least time for reading the pane back. A report that was delivered at the last moment is
/// still read back.
const READ_BACK: Duration = Duration::from_millis(100);

/// The outcome according to the answers of the pane's reporter or of Herdr.
pub(super) fn judge(answers: &Answers) -> Result<(), Stop> {
    let last_of = |kinds: &[&str]| {
        answers.diagnostics.iter().rev().find(|(kind, _)| kinds.contains(&kind.as_str()))
    };
    if let Some(state) = answers.states.last() {
        let because = state.reason.as_deref().unwrap_or("the reason is not known");
        let remedy =
            state.remedy.as_deref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
        match state.receipt.as_str() {
            "ignored" | "hidden" => {
                return Err(Stop(Exit::NotApplied, format!("not shown: {because}{remedy}")));
            }
            "failed" => {
                let refused = because == "rejected";
                let exit = if refused { Exit::Refused } else { Exit::Unreachable };
                return Err(Stop(exit, format!("not delivered: {because}{remedy}")));
            }
            "applied" => return Ok(()),
            // The state was replaced or was not read back. Whether anything was sent is decided
            // below.
            _ => {}
        }
    }
    if let Some(detail) = &answers.not_ours {
        return Err(Stop(Exit::Refused, detail.clone()));
    }
    if let Some((kind, detail)) = last_of(&["foreign_pane", "deferred", "protocol_rejected"]) {
        return Err(Stop(Exit::Refused, format!("{kind}: {detail}")));
    }
    let Some(Err(reason)) = &answers.flushed else { return Ok(()) };
    let why = match last_of(&["connect_failed", "timeout", "not_pane_api"]) {
        Some((kind, detail)) => format!("{kind}: {detail}"),
        None if reason == "timeout" => "not delivered in time".to_owned(),
        None => format!("not delivered: {reason}"),
    };
    Err(Stop(Exit::Unreachable, why))
}

/// Prints what the reporter found wrong with its lines. The reporter numbers the lines that it
/// got; here each is named as the user wrote it.
pub(super) fn complain_about_lines(answers: &Answers, events: &[Event]) {
    let sent: Vec<&Event> = events.iter().filter(|event| event.line().is_some()).collect();
    for wrong in &answers.bad_lines {
        let numbered = wrong.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
        let place = numbered.and_then(|(line, _)| line.parse::<usize>().ok()?.checked_sub(1));
        match (numbered, place.and_then(|place| sent.get(place))) {
            (Some((_, wrong)), Some(event)) => event.complain(wrong),
            _ => say(wrong),
        }
    }
}

/// Reads the pane back and checks that it shows the state. The reporter may know of other work,
/// and Herdr may show another claim.
pub(super) fn confirm(
    wanted: ReportState,
    pane: &Endpoint,
    config: &Config,
    until: Instant,
) -> Result<Exit, Stop> {
    match blocking(shown(pane, config, time_left(until).max(READ_BACK))) {
        Some(Ok(pane)) if pane.agent.is_none() => {
            Err(Stop(Exit::NotApplied, "not shown: the pane shows no agent".to_owned()))
        }
        Some(Ok(pane)) if pane.agent_status.same_as(&wanted.status()) => Ok(Exit::Fine),
        Some(Ok(pane)) => {
            let status = crate::text::shown(pane.agent_status.as_str());
            Err(Stop(Exit::NotApplied, format!("not shown: the pane shows {status}")))
        }
        Some(Err(error)) => Err(Stop(Exit::Unreachable, error.to_string())),
        None => Ok(Exit::Unreachable),
    }
}

//! Shows the agent's state in its terminal too, with reports of the Program Status Protocol (OSC
//! 7501).

mod bytes;
mod pace;
#[cfg(test)]
mod tests;
mod writer;

pub use bytes::ProgramStatus;
pub(crate) use pace::Pace;
pub(crate) use writer::{StatusWriter, Terminal};

use std::collections::BTreeMap;
use std::time::Duration;

use herdr_program_status::limits::NAME_MAX;
use herdr_program_status::{AppName, RecordId, Report};
use herdr_proto::AgentLabel;

use crate::activity::{Activity, Program};
use crate::config::Config;

/// The agent's program name for terminals: the label in lower case, with `-` for each character
/// that such a name must not contain. `None` if no character is left.
pub(crate) fn app_name(label: &AgentLabel) -> Option<AppName> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    let lower = label.as_str().to_lowercase();
    let name = lower.chars().map(|c| if allowed(c) { c } else { '-' });
    let name: String = name.take(NAME_MAX).collect();
    AppName::parse(name.trim_matches('-')).ok()
}

/// The program status as bytes, for one write by a command that ends afterwards; empty if there is
/// no state. Subagents and workflow runs are left out, since nothing would clear their records.
pub fn program_status(activity: &Activity, config: &Config, agent: &str) -> Vec<u8> {
    let app = AgentLabel::normalize(agent).and_then(|label| app_name(&label));
    let program =
        activity.program(config).map(|program| Program { parts: BTreeMap::new(), ..program });
    let mut pace = Pace::new(app, Duration::ZERO, 0);
    let mut reports = pace.step(Duration::ZERO, program.as_ref()).reports;
    if program.is_none() && activity.has_spoken() {
        reports.push(Report::clear(RecordId::root()));
    }
    encode(&reports)
}

fn encode(reports: &[Report]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for report in reports {
        report.write_to(&mut bytes);
    }
    bytes
}

//! The same truth for the terminal that the agent runs in: reports of the
//! Program Status Protocol (OSC 7501), made of what the pane is told.

mod bytes;
mod pace;
mod speaker;
#[cfg(test)]
mod tests;

pub use bytes::ProgramStatus;
pub(crate) use pace::Pace;
pub(crate) use speaker::{Speaker, Terminal};

use std::collections::BTreeMap;
use std::time::Duration;

use herdr_program_status::limits::NAME_MAX;
use herdr_program_status::{AppName, RecordId, Report};
use herdr_proto::AgentLabel;

use crate::activity::{Activity, Program};
use crate::config::Config;

/// An agent's name as terminals know programs: the label in lower case, with `-`
/// for what such a name cannot hold. `None` if nothing of it can be.
pub(crate) fn app_name(label: &AgentLabel) -> Option<AppName> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    let name = label.as_str().to_lowercase();
    let name: String = name.chars().map(|c| if fits(c) { c } else { '-' }).take(NAME_MAX).collect();
    AppName::parse(name.trim_matches('-')).ok()
}

/// What is told once, by somebody who does not stay to tell more.
pub(crate) fn once(activity: &Activity, config: &Config, agent: &str) -> Vec<u8> {
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

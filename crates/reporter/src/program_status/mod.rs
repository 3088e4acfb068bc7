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

use herdr_program_status::AppName;
use herdr_program_status::limits::NAME_MAX;
use herdr_proto::AgentLabel;

/// An agent's name as terminals know programs: the label in lower case, with `-`
/// for what such a name cannot hold. `None` if nothing of it can be.
pub(crate) fn app_name(label: &AgentLabel) -> Option<AppName> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    let name = label.as_str().to_lowercase();
    let name: String = name.chars().map(|c| if fits(c) { c } else { '-' }).take(NAME_MAX).collect();
    AppName::parse(name.trim_matches('-')).ok()
}

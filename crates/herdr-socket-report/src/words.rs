//! Words on the command line that more than one command takes.

use std::path::Path;

use herdr_proto::{AgentLabel, ReportState};

/// A state that can be reported.
///
/// # Errors
///
/// What would be right.
pub(crate) fn state(word: &str) -> Result<ReportState, String> {
    [ReportState::Idle, ReportState::Working, ReportState::Blocked]
        .into_iter()
        .find(|state| state.as_str() == word)
        .ok_or_else(|| "expected idle, working or blocked".to_owned())
}

/// The id of a process that could be there.
///
/// # Errors
///
/// What would be right.
pub(crate) fn pid(word: &str) -> Result<i32, String> {
    let pid = word.parse().ok().filter(|pid| *pid > 0);
    pid.ok_or_else(|| "expected a process id, a whole number from 1 on".to_owned())
}

/// The agent's name that a command's file name makes, if it makes one.
pub(crate) fn agent_of(command: &Path) -> Option<String> {
    let name = command.file_name()?.to_string_lossy();
    AgentLabel::normalize(&name).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_called_by_its_file() {
        assert_eq!(agent_of(Path::new("/opt/my agent/bin/Pixie")).as_deref(), Some("Pixie"));
        assert_eq!(agent_of(Path::new("claude")).as_deref(), Some("claude"));
        assert_eq!(agent_of(Path::new("/x/..")), None);
        assert_eq!(agent_of(Path::new("a\nb")).as_deref(), Some("a b"));
    }

    #[test]
    fn only_what_can_be_reported_is_a_state() {
        assert_eq!(state("blocked"), Ok(ReportState::Blocked));
        for word in ["done", "unknown", "Idle", ""] {
            assert!(state(word).is_err(), "{word}");
        }
    }
}

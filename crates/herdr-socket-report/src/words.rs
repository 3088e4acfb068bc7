//! Words on the command line that more than one command takes.

use std::ffi::OsStr;
use std::path::Path;

use clap::builder::{OsStringValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};
use herdr_proto::{AgentLabel, ReportState};

/// The states that can be reported.
const STATES: [ReportState; 3] = [ReportState::Idle, ReportState::Working, ReportState::Blocked];

/// A state that can be reported.
///
/// # Errors
///
/// What would be right.
pub(crate) fn state(word: &str) -> Result<ReportState, String> {
    STATES
        .into_iter()
        .find(|state| state.as_str() == word)
        .ok_or_else(|| "expected idle, working or blocked".to_owned())
}

/// Reads the value of a flag that takes a state.
pub(crate) fn states() -> impl TypedValueParser<Value = ReportState> {
    Completed(state, STATES.map(ReportState::as_str).to_vec())
}

/// Takes any word where a state belongs: what is wrong with it is said later.
pub(crate) fn state_words() -> impl TypedValueParser<Value = String> {
    words(STATES.map(ReportState::as_str))
}

/// Takes any word where one of these belongs: what is wrong with it is said
/// later.
pub(crate) fn words(
    known: impl IntoIterator<Item = &'static str>,
) -> impl TypedValueParser<Value = String> {
    Completed(lossy(), known.into_iter().collect())
}

/// Takes any text. Bytes that are not UTF-8 cost themselves only.
pub(crate) fn lossy() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|text| text.to_string_lossy().into_owned())
}

/// Reads as the parser in it, and tells the completions of shells these words.
#[derive(Clone)]
struct Completed<P>(P, Vec<&'static str>);

impl<P: TypedValueParser> TypedValueParser for Completed<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, Error> {
        self.0.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.1.iter().map(PossibleValue::new)))
    }
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

//! Argument values that several commands share, and their shell completions.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use herdr_proto::{AgentLabel, ReportState};

/// The states that can be reported.
const STATES: [ReportState; 3] = [ReportState::Idle, ReportState::Working, ReportState::Blocked];

/// The keys that are used most, and all intents.
const KEYS: &str = "enter esc tab shift+tab backspace space up down left right ctrl+c ctrl+u \
                    :interrupt :submit :clear-line :escape :tab :back-tab :up :down :left :right";

/// Parses a state that can be reported.
pub(crate) fn state(word: &str) -> Result<ReportState, String> {
    STATES
        .into_iter()
        .find(|state| state.as_str() == word)
        .ok_or_else(|| "expected idle, working or blocked".to_owned())
}

/// Takes any text. Bytes that are not UTF-8 are replaced.
pub(crate) fn lossy() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|text| text.to_string_lossy().into_owned())
}

/// Parses a process id.
pub(crate) fn pid(word: &str) -> Result<i32, String> {
    let pid = word.parse().ok().filter(|pid| *pid > 0);
    pid.ok_or_else(|| "expected a process id, a whole number from 1 on".to_owned())
}

/// The agent's name that follows from the file name of a command.
pub(crate) fn agent_of(command: &Path) -> Option<String> {
    let name = command.file_name()?.to_string_lossy();
    AgentLabel::normalize(&name).map(String::from)
}

pub(crate) fn states() -> ArgValueCandidates {
    let states = || STATES.into_iter().map(|state| CompletionCandidate::new(state.as_str()));
    ArgValueCandidates::new(move || states().collect())
}

/// Completes to the names of agents.
pub(crate) fn agents(names: impl Iterator<Item = &'static str>) -> ArgValueCandidates {
    let names: Vec<_> = names.collect();
    ArgValueCandidates::new(move || names.iter().map(CompletionCandidate::new).collect())
}

pub(crate) fn keys() -> ArgValueCandidates {
    ArgValueCandidates::new(|| KEYS.split(' ').map(CompletionCandidate::new).collect())
}

/// Completes to the processes of this user.
pub(crate) fn processes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let listed = Command::new("ps").args(["-x", "-o", "pid=,comm="]).output();
        let listed = listed.map(|output| output.stdout).unwrap_or_default();
        let candidate = |line: &str| {
            let (pid, name) = line.trim().split_once(' ')?;
            Some(CompletionCandidate::new(pid).help(Some(name.trim().to_owned().into())))
        };
        String::from_utf8_lossy(&listed).lines().filter_map(candidate).collect()
    })
}

pub(crate) fn command() -> ArgValueCompleter {
    ArgValueCompleter::new(CommandLine)
}

/// Completes to a command of `PATH` or a file, and after the command to files.
struct CommandLine;

impl ValueCompleter for CommandLine {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        PathCompleter::any().complete(current)
    }

    fn complete_at(&self, place: usize, current: &OsStr) -> Vec<CompletionCandidate> {
        let begun = current.to_string_lossy();
        if place > 0 || begun.contains('/') {
            return self.complete(current);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let files = std::env::split_paths(&path).filter_map(|folder| folder.read_dir().ok());
        let names = files.flatten().flatten().map(|file| file.file_name());
        let fits = |name: &OsString| name.to_string_lossy().starts_with(&*begun);
        let names: BTreeSet<OsString> = names.filter(fits).collect();
        names.into_iter().map(CompletionCandidate::new).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_completed_is_taken() {
        use herdr_pane_control::{Intent, Key};

        for key in KEYS.split(' ') {
            let meant = key.strip_prefix(':').map(|name| Intent::named(name).is_some());
            assert!(meant.unwrap_or_else(|| key.parse::<Key>().is_ok()), "{key}");
        }
    }
}

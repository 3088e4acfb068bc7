//! The exit codes of the commands.

use std::process::ExitCode;

use crate::output::say;

/// How a command ends, by what its caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, or without effect outside Herdr.
    Fine,
    /// The command line, the environment or a file is wrong.
    Usage,
    /// No server could be reached; only with `--strict`.
    Unreachable,
    /// The server refused; only with `--strict`.
    Refused,
    /// The report was delivered, and the pane shows something else; only with `--confirm`.
    NotApplied,
    /// Something stands in the way, or there is no signal. Nothing was sent.
    Held,
    /// The text still stands in the input box.
    Pending,
    /// The pane, or the agent in it, is gone.
    Gone,
    /// A deadline passed.
    TimedOut,
    /// The command exists and cannot be run. The code is that of shells.
    NotExecutable,
    /// There is no such command. The code is that of shells.
    NotFound,
}

/// Why a command stops: its exit and the message for stderr, which is empty if the message has
/// already been printed.
#[derive(Debug)]
pub(crate) struct Stop(pub(crate) Exit, pub(crate) String);

/// Stops because of an argument or a setting.
pub(crate) fn usage(why: impl Into<String>) -> Stop {
    Stop(Exit::Usage, why.into())
}

/// Prints why a command has stopped.
pub(crate) fn say_why(outcome: Result<Exit, Stop>) -> Exit {
    outcome.unwrap_or_else(|Stop(exit, why)| {
        if !why.is_empty() {
            say(&why);
        }
        exit
    })
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Usage => 2,
            Exit::Unreachable => 3,
            Exit::Refused => 4,
            Exit::NotApplied => 5,
            Exit::Held => 6,
            Exit::Pending => 7,
            Exit::Gone => 8,
            Exit::TimedOut => 9,
            Exit::NotExecutable => 126,
            Exit::NotFound => 127,
        })
    }
}

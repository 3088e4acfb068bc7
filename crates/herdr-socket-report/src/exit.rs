//! How a command ends.

use std::process::ExitCode;

use crate::output::say;

/// How a command ends, by what a caller would do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// As asked, or quietly without effect outside Herdr.
    Fine,
    /// The command line, the environment or a file is wrong.
    Usage,
    /// No server to be reached; only with `--strict`.
    Unreachable,
    /// The server refused; only with `--strict`.
    Refused,
    /// Delivered, and the pane shows something else; only with `--confirm`.
    NotApplied,
    /// Something stands in the way, or there is no signal; nothing was sent.
    Held,
    /// The text stands in the input box still.
    Pending,
    /// The pane is gone, or what it is there for.
    Gone,
    /// A deadline passed.
    TimedOut,
    /// The command is there and cannot be run; as shells say it.
    NotExecutable,
    /// There is no such command; as shells say it.
    NotFound,
}

/// Why a command stops before its end: how it exits, and what it says, unless
/// that is said already.
#[derive(Debug)]
pub(crate) struct Stop(pub(crate) Exit, pub(crate) String);

/// Stops because of what the person wrote or set.
pub(crate) fn usage(why: impl Into<String>) -> Stop {
    Stop(Exit::Usage, why.into())
}

/// Says why a command has stopped.
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

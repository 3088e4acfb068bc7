//! Whether the events of the host are reported, and if not, why.

use crate::config::Role;

/// What a reporter does at the moment. No status is a failure of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// What the host says is reported; nothing that prevents it is known.
    Reporting,
    /// This process does not run in a pane of Herdr's.
    NotInHerdr,
    /// Nothing is reported, and nothing will be.
    Off(OffReason),
    /// The server does not answer. What is wanted is sent once it does.
    WaitingForServer,
    /// Another process reports for the pane. This reporter takes over within two seconds after that
    /// process has ended.
    Deferred {
        /// The pid of that process, on Linux.
        to: Option<u32>,
    },
    /// The process does not run in the pane that its environment names.
    ForeignPane,
    /// Herdr detects the pane's agent and says its state itself. Title, labels and tokens are
    /// reported.
    StateLeftToHerdr,
    /// The reporter has ended.
    Ended,
}

/// Why a reporter is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OffReason {
    /// [`Config::enabled`](crate::Config::enabled) is false.
    Disabled,
    /// Only [`Role::Interactive`] reports.
    Role(Role),
    /// The environment or the settings do not make sense; a diagnostic says what.
    Misconfigured,
    /// The host has loaded a reporter that does this one's work
    /// ([`Config::loaded_reporters`](crate::Config::loaded_reporters)).
    LoadedReporter,
    /// A newer reporter of this process owns the pane.
    NewerReporter,
    /// This process is a copy of the one that started the reporter, made by `fork`. It may start a
    /// reporter of its own.
    Forked,
    /// The reporter could not start or has failed; a diagnostic says why.
    Failed,
}

impl Status {
    /// The word for it in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reporting => "reporting",
            Self::NotInHerdr => "not_in_herdr",
            Self::Off(_) => "off",
            Self::WaitingForServer => "waiting_for_server",
            Self::Deferred { .. } => "deferred",
            Self::ForeignPane => "foreign_pane",
            Self::StateLeftToHerdr => "state_left_to_herdr",
            Self::Ended => "ended",
        }
    }

    /// Whether what the host says is reported, or will be once the server answers.
    pub(crate) fn delivers(self) -> bool {
        matches!(self, Self::Reporting | Self::StateLeftToHerdr | Self::WaitingForServer)
    }
}

/// How a flush ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Flushed {
    /// Everything before the flush was delivered, or was refused, which a receipt says.
    Delivered,
    /// Nothing is reported, for this reason.
    NotReporting(Status),
    /// The time ran out first; the reporter goes on.
    TimedOut,
}

//! What became of a report.

use std::fmt;

use herdr_proto::Seq;

/// What became of one report. The server's `ok` only means that the report was delivered; the
/// outcome is what the pane showed afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// What became of it.
    pub outcome: Outcome,
    /// What it was about.
    pub of: Part,
    /// The sequence number of the report; `None` if it was not sent, or sent without one.
    pub seq: Option<Seq>,
    /// Why the report does not show; `None` where there is nothing to explain.
    pub reason: Option<Reason>,
}

impl Receipt {
    pub(crate) fn new(outcome: Outcome, of: Part) -> Self {
        Self { outcome, of, seq: None, reason: None }
    }

    pub(crate) fn seq(mut self, seq: Option<Seq>) -> Self {
        self.seq = seq;
        self
    }

    pub(crate) fn because(mut self, reason: impl Into<Option<Reason>>) -> Self {
        self.reason = reason.into();
        self
    }
}

/// What a report was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Part {
    /// The state.
    State,
    /// Title, display name and labels.
    Presentation,
    /// Tokens.
    Tokens,
    /// The session.
    Session,
    /// The end of the claim.
    Release,
}

impl Part {
    /// The word in output lines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Presentation => "presentation",
            Self::Tokens => "tokens",
            Self::Session => "session",
            Self::Release => "release",
        }
    }
}

/// What became of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The pane shows it.
    Applied,
    /// A newer report took its place before it was sent. That is success.
    Superseded,
    /// Delivered, and without effect.
    Ignored,
    /// Stored by the server, and not visible.
    Hidden,
    /// Delivered, and the pane was not read afterwards: a session or a release, which cannot be
    /// read back, or a report that was not meant to be verified.
    Sent,
    /// Delivered, and the read-back failed or could not tell.
    Unverified,
    /// Not delivered.
    Failed,
}

impl Outcome {
    /// The word in output lines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Superseded => "superseded",
            Self::Ignored => "ignored",
            Self::Hidden => "hidden",
            Self::Sent => "sent",
            Self::Unverified => "unverified",
            Self::Failed => "failed",
        }
    }
}

/// Why a report does not show, as a read-back shows (protocol §5.8).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The server's sequence mark for our source is above our number (§5.1).
    StaleSequence,
    /// The session of another integration owns the pane (§5.2 A9). Holds the source of that
    /// session.
    ForeignSession(String),
    /// Herdr sees another known agent in the pane (§5.2 A8).
    LabelConflict,
    /// The known agent of that label has just exited (§5.2 A3).
    AgentExited,
    /// Another reporter writes to the pane (§5.2 V5).
    OtherWriter,
    /// Herdr reads a prompt on the screen (§5.2 V1).
    ScreenPrompt,
    /// Another source holds the row, so the guards hide our presentation (§5.6 D3).
    NotHolder,
    /// The server refused the report. Holds the server's error code.
    Rejected(String),
    /// What the server answered cannot be understood.
    Unreadable,
    /// There was no time, or no server, to deliver it.
    NotDelivered,
}

impl Reason {
    /// The word in output lines.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::StaleSequence => "stale_sequence",
            Self::ForeignSession(_) => "foreign_session",
            Self::LabelConflict => "label_conflict",
            Self::AgentExited => "agent_exited",
            Self::OtherWriter => "other_writer",
            Self::ScreenPrompt => "screen_prompt",
            Self::NotHolder => "not_holder",
            Self::Rejected(_) => "rejected",
            Self::Unreadable => "unreadable",
            Self::NotDelivered => "not_delivered",
        }
    }

    /// What a person can do about it.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::StaleSequence => "close the pane and open another",
            Self::ForeignSession(_) => {
                "end that agent's session, or leave the state to its integration; title and tokens still show"
            }
            Self::LabelConflict => "report under a label that Herdr does not know",
            Self::AgentExited => {
                "report under a label that Herdr does not know, or start the agent"
            }
            Self::OtherWriter => "stop the other reporter of this pane",
            Self::ScreenPrompt => "answer the prompt in the pane",
            Self::NotHolder => "it shows again as soon as the pane is ours",
            Self::Rejected(_) => "see the server's code; other reports go on",
            Self::Unreadable => "see which server this is; reports go on unverified",
            Self::NotDelivered => "it is sent again if it is still wanted",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StaleSequence => f.write_str("the server's sequence mark is above ours"),
            Self::ForeignSession(source) => write!(f, "session owned by {source}"),
            Self::LabelConflict => f.write_str("Herdr sees another agent in the pane"),
            Self::AgentExited => f.write_str("the agent of that name has just exited"),
            Self::OtherWriter => f.write_str("another reporter writes to the pane"),
            Self::ScreenPrompt => f.write_str("Herdr sees a prompt on the screen"),
            Self::NotHolder => f.write_str("the pane is held by another source"),
            Self::Rejected(code) => write!(f, "refused with {code}"),
            Self::Unreadable => f.write_str("the answer cannot be understood"),
            Self::NotDelivered => f.write_str("not delivered"),
        }
    }
}

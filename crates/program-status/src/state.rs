/// What a record says about the program or one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// At rest, waiting for the user's next instruction.
    Idle,
    /// Running.
    Working,
    /// Finished, and the user has not looked at the result yet.
    Done,
    /// Cannot go on until the user does something.
    Blocked,
    /// Failed and stopped.
    Error,
}

impl State {
    pub(crate) const ALL: [Self; 5] =
        [Self::Idle, Self::Working, Self::Done, Self::Blocked, Self::Error];

    /// The protocol's word, for example `working`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Done => "done",
            Self::Blocked => "blocked",
            Self::Error => "error",
        }
    }

    pub(crate) fn has_progress(self) -> bool {
        matches!(self, Self::Working | Self::Blocked)
    }
}

/// What a blocked program needs from the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockedKind {
    /// Leave to do something.
    Permission,
    /// An answer.
    Question,
    /// A login, a token or another credential.
    Auth,
}

impl BlockedKind {
    pub(crate) const ALL: [Self; 3] = [Self::Permission, Self::Question, Self::Auth];

    /// The protocol's word, for example `permission`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Question => "question",
            Self::Auth => "auth",
        }
    }
}

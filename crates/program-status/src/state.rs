/// The state of a program or one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// It waits for the user's next instruction.
    Idle,
    /// It runs.
    Working,
    /// It has finished, and the user has not seen the result yet.
    Done,
    /// It cannot continue until the user does something.
    Blocked,
    /// It has failed and stopped.
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
    /// A permission.
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

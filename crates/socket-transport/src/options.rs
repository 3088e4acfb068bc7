use std::time::Duration;

/// The default of [`Options::deadline`].
pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(5);

/// The default of [`Options::reply_cap`], in bytes without the newline.
pub const DEFAULT_REPLY_CAP: usize = 1024 * 1024;

/// The limits of a [`Client`](crate::Client), and which servers it trusts.
///
/// ```
/// use std::time::Duration;
/// use herdr_socket_transport::Options;
///
/// let options = Options::default().deadline(Duration::from_millis(500));
/// assert_eq!(options.reply_cap, herdr_socket_transport::DEFAULT_REPLY_CAP);
/// assert!(!options.allow_foreign_socket);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The time limit for one whole exchange: connecting (with waits for a full backlog),
    /// writing and reading together. For streams it covers the acknowledgement only. Default
    /// [`DEFAULT_DEADLINE`]. 500 ms is too short for a busy server (protocol.md section 7.3).
    pub deadline: Duration,
    /// The longest line that is accepted from the server, in bytes without the newline. Default
    /// [`DEFAULT_REPLY_CAP`].
    pub reply_cap: usize,
    /// Whether a socket may be used that is served by a user other than this process's own or
    /// root. Default false. A project's settings file must never decide this.
    pub allow_foreign_socket: bool,
    /// Whether [`exchange_repeatable`](crate::Client::exchange_repeatable) may send a line
    /// again on another connection. Default true.
    pub hedge: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            deadline: DEFAULT_DEADLINE,
            reply_cap: DEFAULT_REPLY_CAP,
            allow_foreign_socket: false,
            hedge: true,
        }
    }
}

impl Options {
    /// Sets [`deadline`](Self::deadline).
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets [`reply_cap`](Self::reply_cap).
    #[must_use]
    pub fn reply_cap(mut self, bytes: usize) -> Self {
        self.reply_cap = bytes;
        self
    }

    /// Sets [`allow_foreign_socket`](Self::allow_foreign_socket).
    #[must_use]
    pub fn allow_foreign_socket(mut self, allow: bool) -> Self {
        self.allow_foreign_socket = allow;
        self
    }

    /// Sets [`hedge`](Self::hedge).
    #[must_use]
    pub fn hedge(mut self, hedge: bool) -> Self {
        self.hedge = hedge;
        self
    }
}

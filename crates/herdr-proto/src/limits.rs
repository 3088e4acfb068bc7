//! All limits of the wire. The numbers are those of Herdr 0.8.2 unless the text says that they
//! are this crate's own.

use std::time::Duration;

/// The longest request line that the server reads, without its newline (protocol §7.3). A
/// longer one resets the connection without an answer.
pub const SERVER_LINE_MAX: usize = 1024 * 1024;

/// The longest request line that this crate writes, with its newline. This limit is the crate's
/// own: all bounded values together stay far below it, and the server reads a line byte by byte
/// (0.9 MiB took it 0.6 s).
pub const REQUEST_LINE_MAX: usize = 64 * 1024;

/// The longest text that the server shows, in Unicode scalars. It cuts longer ones.
pub const TEXT_MAX_SCALARS: usize = 80;

/// The longest `source`, in characters of `A-Z a-z 0-9 : . _ -`.
pub const SOURCE_MAX: usize = 80;

/// The longest agent label, in Unicode scalars. This limit is the crate's own: the server takes
/// any length.
pub const AGENT_LABEL_MAX: usize = 80;

/// The longest pane id, in bytes. This limit is the crate's own: the server's ids are under 40.
pub const PANE_ID_MAX: usize = 128;

/// The longest token key, in characters of `A-Z a-z 0-9 _ -`.
pub const TOKEN_KEY_MAX: usize = 32;

/// How many token keys one report may set and clear.
pub const TOKENS_PER_REPORT: usize = 16;

/// How many tokens a pane may have from all sources.
pub const TOKENS_PER_PANE: usize = 32;

/// How many sources may send numbered tokens to a pane during its life.
pub const TOKEN_SOURCES_PER_PANE: usize = 32;

/// The longest ttl of a title, labels and tokens, in milliseconds.
pub const TTL_MAX_MS: u64 = 86_400_000;

/// The longest session id, in characters.
pub const SESSION_ID_MAX: usize = 512;

/// The longest session path, in characters.
pub const SESSION_PATH_MAX: usize = 4096;

/// How many words a `resume_argv` may have (servers from 0.9.2 on).
pub const RESUME_ARGV_MAX_WORDS: usize = 64;

/// How many bytes a `resume_argv` may have, all words together.
pub const RESUME_ARGV_MAX_BYTES: usize = 8192;

/// How many rows one read may ask for.
pub const READ_LINES_MAX: u32 = 1000;

/// How many events the server keeps for all subscribers together.
pub const EVENT_RING: usize = 512;

/// The interval at which the server checks a connection whose line is late, and at which a
/// subscription sends one event.
pub const SERVER_POLL: Duration = Duration::from_millis(100);

/// The time limit of the server for the first line, and for its own writes.
pub const SERVER_LINE_DEADLINE: Duration = Duration::from_secs(5);

//! Every limit of the wire, by name. Numbers are those of Herdr 0.8.2 unless
//! the text says that they are ours.

use std::time::Duration;

/// Longest request line the server reads, without its newline (protocol §7.3).
/// One byte more and the connection is reset without an answer.
pub const SERVER_LINE_MAX: usize = 1024 * 1024;

/// Longest request line that we send, newline included. Ours: every bounded
/// value together stays far below, and the server reads a line byte by byte
/// (0.9 MiB cost it 0.6 s).
pub const REQUEST_LINE_MAX: usize = 64 * 1024;

/// Longest text that the server shows, in Unicode scalars; it cuts there.
pub const TEXT_MAX_SCALARS: usize = 80;

/// Longest `source`, in characters of `A-Z a-z 0-9 : . _ -`.
pub const SOURCE_MAX: usize = 80;

/// Longest agent label, in Unicode scalars. Ours: the server takes any length.
pub const AGENT_LABEL_MAX: usize = 80;

/// Longest pane id, in bytes. Ours: the server's own are under 40.
pub const PANE_ID_MAX: usize = 128;

/// Longest token key, in characters of `A-Z a-z 0-9 _ -`.
pub const TOKEN_KEY_MAX: usize = 32;

/// Most token keys in one report, set and cleared together.
pub const TOKENS_PER_REPORT: usize = 16;

/// Most tokens on one pane, over all sources.
pub const TOKENS_PER_PANE: usize = 32;

/// Most sources that may sequence tokens on one pane, over the pane's life.
pub const TOKEN_SOURCES_PER_PANE: usize = 32;

/// Longest time to live of a title, of labels and of tokens, in milliseconds.
pub const TTL_MAX_MS: u64 = 86_400_000;

/// Longest session id, in characters.
pub const SESSION_ID_MAX: usize = 512;

/// Longest session path, in characters.
pub const SESSION_PATH_MAX: usize = 4096;

/// Most words of a `resume_argv` (servers from 0.9.2 on).
pub const RESUME_ARGV_MAX_WORDS: usize = 64;

/// Most bytes of a `resume_argv`, all words together.
pub const RESUME_ARGV_MAX_BYTES: usize = 8192;

/// Most rows of one read.
pub const READ_LINES_MAX: u32 = 1000;

/// Events that the server keeps for all subscribers together.
pub const EVENT_RING: usize = 512;

/// How often the server looks at a connection whose line is late, and how often
/// a subscription sends one event.
pub const SERVER_POLL: Duration = Duration::from_millis(100);

/// How long the server waits for the first line, and for its own writes.
pub const SERVER_LINE_DEADLINE: Duration = Duration::from_secs(5);

//! The specification's limits, in bytes unless the text says otherwise. A
//! terminal discards a report that breaks one.

/// Longest sequence, from its escape character to its terminator.
pub const SEQUENCE_MAX: usize = 4096;

/// Longest record id, with its slashes.
pub const RECORD_ID_MAX: usize = 128;

/// Most segments of a record id.
pub const RECORD_ID_LEVELS: usize = 8;

/// Longest segment of a record id, and longest application name.
pub const NAME_MAX: usize = 32;

/// Longest title, as text.
pub const TITLE_MAX: usize = 192;

/// Longest message, as text.
pub const MESSAGE_MAX: usize = 2048;

/// Most records that every terminal is able to keep at once. Beyond its own
/// limit a terminal drops the record that was reported least recently.
pub const RECORDS_MIN: usize = 64;

//! The log: one line for each line that is forwarded.

use std::fmt::Write as _;
use std::time::Instant;

use super::redact::redact;
use crate::output::Lines;

/// The longest part of a line that is shown, in bytes.
const SHOWN_MAX: usize = 64 * 1024;

/// Where the log goes, and what is shown in it. Writing to it never waits.
#[derive(Clone)]
pub(super) struct Log {
    out: Lines,
    start: Instant,
    redacts: bool,
}

impl Log {
    pub(super) fn new(out: Lines, redacts: bool) -> Self {
        Self { out, start: Instant::now(), redacts }
    }

    /// One direction of a connection: `>` from the client, `<` from the server.
    pub(super) fn direction(&self, connection: u64, sign: char) -> Direction {
        Direction { log: self.clone(), connection, sign, held: Vec::new(), length: 0 }
    }

    pub(super) fn note(&self, connection: u64, what: &str) {
        self.put(connection, '!', &escaped(what.as_bytes()));
    }

    fn put(&self, connection: u64, sign: char, text: &str) {
        let time = self.start.elapsed().as_secs_f64();
        self.out.put(&format!("{time:.3} {connection} {sign} {text}"));
    }
}

/// Splits the bytes of one direction into log lines.
pub(super) struct Direction {
    log: Log,
    connection: u64,
    sign: char,
    /// The part of a line that has been forwarded so far.
    held: Vec<u8>,
    length: usize,
}

impl Direction {
    /// Takes bytes that are forwarded.
    pub(super) fn bytes(&mut self, mut bytes: &[u8]) {
        while let Some(newline) = bytes.iter().position(|byte| *byte == b'\n') {
            self.hold(&bytes[..newline]);
            self.show("");
            bytes = &bytes[newline + 1..];
        }
        self.hold(bytes);
    }

    pub(super) fn end(&mut self) {
        if self.length > 0 {
            self.show(" (no newline)");
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        let room = SHOWN_MAX - self.held.len();
        self.held.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.length += bytes.len();
    }

    fn show(&mut self, tail: &str) {
        let cut = self.length - self.held.len();
        let mut text = match (self.log.redacts, cut) {
            (false, _) => escaped(&self.held),
            (true, 0) => escaped(redact(&self.held).as_bytes()),
            // An incomplete line cannot be redacted.
            (true, _) => format!("<{} bytes", self.held.len()),
        };
        if cut > 0 {
            let _ = write!(text, "… and {cut} bytes more");
            if self.log.redacts {
                text.push('>');
            }
        }
        text.push_str(tail);
        self.log.put(self.connection, self.sign, &text);
        self.held.clear();
        self.length = 0;
    }
}

/// Bytes as text. Characters that are not printable are replaced by their numbers.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                // Printable ASCII is harmless.
                ' '..='~' => text.push(c),
                _ => text.extend(c.escape_debug()),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

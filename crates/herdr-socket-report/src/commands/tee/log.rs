//! The log: a line for each line that goes by.

use std::fmt::Write as _;
use std::time::Instant;

use super::redact::redact;
use crate::output::Lines;

/// Most bytes of a line that are shown.
const SHOWN_MAX: usize = 64 * 1024;

/// Where the log goes, and what is shown. Writing to it never waits.
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

    /// What a connection says in one direction, `>` or `<`.
    pub(super) fn direction(&self, connection: u64, sign: char) -> Direction {
        Direction { log: self.clone(), connection, sign, held: Vec::new(), length: 0 }
    }

    /// Something about a connection itself.
    pub(super) fn note(&self, connection: u64, what: &str) {
        self.put(connection, '!', &escaped(what.as_bytes()));
    }

    fn put(&self, connection: u64, sign: char, text: &str) {
        let time = self.start.elapsed().as_secs_f64();
        self.out.put(&format!("{time:.3} {connection} {sign} {text}"));
    }
}

/// One direction of a connection: bytes in, lines out.
pub(super) struct Direction {
    log: Log,
    connection: u64,
    sign: char,
    /// The beginning of the line that has not ended.
    held: Vec<u8>,
    /// Its whole length so far.
    length: usize,
}

impl Direction {
    /// Takes bytes that go by.
    pub(super) fn bytes(&mut self, mut bytes: &[u8]) {
        while let Some(newline) = bytes.iter().position(|byte| *byte == b'\n') {
            self.hold(&bytes[..newline]);
            self.show("");
            bytes = &bytes[newline + 1..];
        }
        self.hold(bytes);
    }

    /// Nothing more goes by.
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
            // Half a line cannot be told apart into what may be shown.
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

/// Bytes as text that can neither move a cursor nor hide: what is not printable
/// stands there as its number.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                // The line is shown as it is; these are no harm.
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::output::Outlet;

    struct Sent(mpsc::Sender<Vec<u8>>);

    impl io::Write for Sent {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let sent = self.0.send(bytes.to_vec());
            sent.map(|()| bytes.len()).map_err(|_| io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The lines that these chunks make, without their times.
    fn logged(redacts: bool, chunks: &[&[u8]]) -> Vec<String> {
        let (sender, receiver) = mpsc::channel();
        let outlet = Outlet::start("test", Sent(sender));
        let mut direction = Log::new(outlet.lines(), redacts).direction(3, '>');
        for chunk in chunks {
            direction.bytes(chunk);
        }
        direction.end();
        outlet.finish(Duration::from_secs(10));
        let bytes: Vec<u8> = receiver.try_iter().flatten().collect();
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
    }

    #[test]
    fn lines_are_put_together_and_told_apart() {
        let chunks: [&[u8]; 4] = [b"{\"a\":", b"1}\n\nx", b"\r\nh", b"alf"];
        let lines = ["3 > {\"a\":1}", "3 > ", "3 > x\\r", "3 > half (no newline)"];
        assert_eq!(logged(false, &chunks), lines);
    }

    #[test]
    fn nothing_that_goes_by_moves_the_cursor() {
        let hostile = "\u{1b}[2J\u{9b}1m\u{202e}\u{7} é \\ \"\n".as_bytes();
        let lines = logged(false, &[hostile, b"\xff\xfe\n"]);
        assert_eq!(lines[0], r#"3 > \u{1b}[2J\u{9b}1m\u{202e}\u{7} é \ ""#);
        assert_eq!(lines[1], r"3 > \xff\xfe");
    }

    #[test]
    fn long_lines_are_cut_and_redacted_ones_not_shown() {
        let long = [vec![b'x'; SHOWN_MAX + 7], b"\n".to_vec()].concat();
        let shown = &logged(false, &[&long])[0];
        assert!(shown.ends_with("xxx… and 7 bytes more"));
        assert!(shown.len() < SHOWN_MAX + 100);
        assert_eq!(logged(true, &[&long]), ["3 > <65536 bytes… and 7 bytes more>"]);
        assert_eq!(
            logged(true, &[b"{\"title\":\"\\u001b[2J\"}\n"]),
            [r#"3 > {"title":"<4 characters>"}"#]
        );
    }
}

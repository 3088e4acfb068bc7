//! Splitting input into event lines.

use std::io::BufRead;
use std::time::Duration;

use herdr_reporter::sidecar::EventLine;
use herdr_reporter::{AgentEvent, Refused};
use serde_json::Value;

/// The longest event line, in bytes. A longer one is skipped without being kept in memory.
pub(crate) const LINE_MAX: usize = 1024 * 1024;

/// One line: what it says, or what is wrong with it. Blank lines are left out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The line's number, from 1.
    pub(crate) line: u64,
    pub(crate) what: Result<EventLine, String>,
}

/// A consumer of lines.
pub(crate) trait LineSink {
    fn record(&self, events: Vec<AgentEvent>) -> Vec<(usize, Refused)>;
    fn flush(&self, id: Value, timeout: Duration);
    fn bad_line(&self, line: u64, why: &str);

    /// Takes a batch of lines. Consecutive events up to a flush are one change.
    fn take_lines(&self, items: impl IntoIterator<Item = Item>) {
        let mut events = Vec::new();
        for Item { line, what } in items {
            match what {
                Ok(EventLine::Event(event)) => events.push((line, event)),
                Ok(EventLine::Flush { id, timeout }) => {
                    self.take_events(std::mem::take(&mut events));
                    self.flush(id, timeout);
                }
                // A line of a later version of the event language.
                Ok(_) => {}
                Err(why) => self.bad_line(line, &why),
            }
        }
        self.take_events(events);
    }

    fn take_events(&self, events: Vec<(u64, AgentEvent)>) {
        if events.is_empty() {
            return;
        }
        let (lines, events): (Vec<_>, Vec<_>) = events.into_iter().unzip();
        for (place, refused) in self.record(events) {
            if let Some(line) = lines.get(place) {
                self.bad_line(*line, &refused.to_string());
            }
        }
    }
}

/// Splits bytes into lines and reads them.
#[derive(Default)]
pub(crate) struct LineReader {
    /// The part of a line that has been read so far.
    partial: Vec<u8>,
    /// Whether the line is too long and the rest of it is skipped.
    skipping: bool,
    line: u64,
}

impl LineReader {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Takes bytes and adds the lines that they complete to `items`.
    pub(crate) fn push(&mut self, mut bytes: &[u8], items: &mut Vec<Item>) {
        while let Ok(1..) = bytes.read_until(b'\n', &mut self.partial) {
            let whole = self.partial.ends_with(b"\n");
            if whole || self.partial.len() > LINE_MAX {
                self.take(whole, items);
            }
        }
    }

    /// Takes the end of the input. A last line without a newline counts.
    pub(crate) fn finish(&mut self, items: &mut Vec<Item>) {
        if !self.partial.is_empty() {
            self.take(true, items);
        }
    }

    fn take(&mut self, whole: bool, items: &mut Vec<Item>) {
        if !std::mem::replace(&mut self.skipping, !whole) {
            let line = self.partial.strip_suffix(b"\n").unwrap_or(&self.partial);
            let what = if line.len() > LINE_MAX {
                Err(format!("longer than {LINE_MAX} bytes; skipped"))
            } else {
                EventLine::parse(line).map_err(|error| error.to_string())
            };
            self.line += 1;
            items.extend(what.transpose().map(|what| Item { line: self.line, what }));
        }
        self.partial.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]]) -> Vec<Item> {
        let mut reader = LineReader::new();
        let mut items = Vec::new();
        for chunk in chunks {
            reader.push(chunk, &mut items);
        }
        reader.finish(&mut items);
        items
    }

    fn started(line: u64) -> Item {
        Item { line, what: Ok(EventLine::Event(AgentEvent::agent_started())) }
    }

    const START: &[u8] = b"{\"event\": \"agent_started\"}\n";

    #[test]
    fn however_the_bytes_come_the_lines_are_the_same() {
        let text = [START, b"\r\n \n", START, b"{\"event\": \"flush\", \"id\": \"f\"}"].concat();
        let flush = EventLine::Flush { id: "f".into(), timeout: Duration::from_secs(5) };
        let expected = [started(1), started(4), Item { line: 5, what: Ok(flush) }];
        assert_eq!(read(&[&text]), expected);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(read(&bytes), expected);
    }

    #[test]
    fn a_long_line_is_skipped_without_being_held() {
        let mut reader = LineReader::new();
        let mut items = Vec::new();
        let chunk = vec![b'x'; 64 * 1024];
        for _ in 0..200 {
            reader.push(&chunk, &mut items);
            assert!(reader.partial.len() <= LINE_MAX + 64 * 1024);
        }
        reader.push(b"\n", &mut items);
        reader.push(START, &mut items);
        reader.finish(&mut items);
        assert_eq!(items.len(), 2, "named once");
        assert!(items[0].what.as_ref().is_err_and(|why| why.contains("1048576")));
        assert_eq!(items[1], started(2));
    }
}

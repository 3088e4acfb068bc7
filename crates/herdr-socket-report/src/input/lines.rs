//! From bytes to numbered event lines.

use std::io::BufRead;
use std::time::Duration;

use herdr_reporter::sidecar::EventLine;
use herdr_reporter::{AgentEvent, Refused};
use serde_json::Value;

/// Longest event line, in bytes. A longer one is skipped without being held.
pub(crate) const LINE_MAX: usize = 1024 * 1024;

/// What a line turned out to be, or what is wrong with it. Blank lines are
/// nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The line's number, from 1.
    pub(crate) line: u64,
    pub(crate) what: Result<EventLine, String>,
}

/// Where the items go.
pub(crate) trait Hear {
    fn record(&self, events: Vec<AgentEvent>) -> Vec<(usize, Refused)>;
    fn flush(&self, id: Value, timeout: Duration);
    fn bad_line(&self, line: u64, why: &str);

    /// Takes what is ready. The events up to a flush are one change.
    fn hear(&self, items: impl IntoIterator<Item = Item>) {
        let mut events = Vec::new();
        for Item { line, what } in items {
            match what {
                Ok(EventLine::Event(event)) => events.push((line, event)),
                Ok(EventLine::Flush { id, timeout }) => {
                    self.hear_events(std::mem::take(&mut events));
                    self.flush(id, timeout);
                }
                // A line of a later version of the language.
                Ok(_) => {}
                Err(why) => self.bad_line(line, &why),
            }
        }
        self.hear_events(events);
    }

    fn hear_events(&self, events: Vec<(u64, AgentEvent)>) {
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

/// Divides bytes into lines and reads them.
#[derive(Default)]
pub(crate) struct LineReader {
    /// The beginning of a line.
    begun: Vec<u8>,
    /// It was too long, and its rest is skipped.
    skips: bool,
    line: u64,
}

impl LineReader {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Takes bytes; what they complete is added to `items`.
    pub(crate) fn push(&mut self, mut bytes: &[u8], items: &mut Vec<Item>) {
        while let Ok(1..) = bytes.read_until(b'\n', &mut self.begun) {
            let whole = self.begun.ends_with(b"\n");
            if whole || self.begun.len() > LINE_MAX {
                self.take(whole, items);
            }
        }
    }

    /// Nothing follows; a last line without a newline counts.
    pub(crate) fn finish(&mut self, items: &mut Vec<Item>) {
        if !self.begun.is_empty() {
            self.take(true, items);
        }
    }

    fn take(&mut self, whole: bool, items: &mut Vec<Item>) {
        if !std::mem::replace(&mut self.skips, !whole) {
            let line = self.begun.strip_suffix(b"\n").unwrap_or(&self.begun);
            let what = if line.len() > LINE_MAX {
                Err(format!("longer than {LINE_MAX} bytes; skipped"))
            } else {
                EventLine::parse(line).map_err(|error| error.to_string())
            };
            self.line += 1;
            items.extend(what.transpose().map(|what| Item { line: self.line, what }));
        }
        self.begun.clear();
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
            assert!(reader.begun.len() <= LINE_MAX + 64 * 1024);
        }
        reader.push(b"\n", &mut items);
        reader.push(START, &mut items);
        reader.finish(&mut items);
        assert_eq!(items.len(), 2, "named once");
        assert!(items[0].what.as_ref().is_err_and(|why| why.contains("1048576")));
        assert_eq!(items[1], started(2));
    }
}

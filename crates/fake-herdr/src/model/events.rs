//! The ring of the last 512 events, shared by all kinds and all subscribers.

use std::collections::VecDeque;

use herdr_proto::limits;
use serde_json::{Map, Value, json};

/// An event. Its kind is repeated in `data.type`, as on the wire.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) kind: &'static str,
    pub(crate) data: Map<String, Value>,
}

impl Event {
    /// Makes an event from an object; any other value gives an event without fields.
    pub(crate) fn new(kind: &'static str, data: Value) -> Self {
        let mut data = match data {
            Value::Object(data) => data,
            _ => Map::new(),
        };
        data.insert("type".to_owned(), kind.into());
        Self { kind, data }
    }

    /// The line of a lifecycle event, without its newline.
    pub(crate) fn line(&self) -> String {
        line(self.kind, &self.data)
    }

    /// The line of a pane-scoped event: its name has a dot, and it has no `data.type`.
    pub(crate) fn scoped_line(kind: &str, data: &Map<String, Value>) -> String {
        let mut data = data.clone();
        data.remove("type");
        line(kind, &data)
    }
}

fn line(kind: &str, data: &Map<String, Value>) -> String {
    json!({ "data": data, "event": kind }).to_string()
}

/// The newest events with their sequence numbers, which start at 1.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventRing {
    kept: VecDeque<(u64, Event)>,
    last: u64,
}

impl EventRing {
    pub(crate) fn push(&mut self, event: Event) {
        self.last += 1;
        self.kept.push_back((self.last, event));
        if self.kept.len() > limits::EVENT_RING {
            self.kept.pop_front();
        }
    }

    /// The number of the newest event, 0 before the first.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Whether events after `seq` have already been dropped.
    pub(crate) fn lost_after(&self, seq: u64) -> bool {
        self.kept.front().is_some_and(|(first, _)| seq + 1 < *first)
    }

    /// The events after `seq` that are still kept.
    pub(crate) fn after(&self, seq: u64) -> impl Iterator<Item = (u64, &Event)> {
        let known = self.kept.partition_point(|(number, _)| *number <= seq);
        self.kept.iter().skip(known).map(|(number, event)| (*number, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_keeps_the_newest_512() {
        let mut ring = EventRing::default();
        for _ in 0..600 {
            ring.push(Event::new("pane_focused", json!({})));
        }
        assert_eq!(ring.last(), 600);
        assert_eq!(ring.after(0).count(), 512);
        assert_eq!(ring.after(0).next().map(|(number, _)| number), Some(89));
        assert_eq!(ring.after(598).count(), 2);
        assert!(ring.lost_after(87) && !ring.lost_after(88));
    }
}

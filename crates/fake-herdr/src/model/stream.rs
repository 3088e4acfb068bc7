//! Event streams: their replay, pace and end (protocol 7.5).

use std::time::Duration;

use herdr_proto::limits;
use serde_json::json;

use super::dispatch::{error_line, success_line};
use super::failure::Failure;
use super::subscription::{Active, Subscription};
use super::{Answer, Model};

/// A stream of events. It has no thread of its own: its holder calls
/// [`Model::tick`] whenever it is due.
#[derive(Debug, Clone)]
pub struct Stream {
    request: String,
    active: Vec<Active>,
    generation: u64,
    due: Duration,
    ended: bool,
}

impl Stream {
    /// When the next [`Model::tick`] is due, in the time of the model.
    pub fn due(&self) -> Duration {
        self.due
    }

    /// Whether the server has closed the stream.
    pub fn ended(&self) -> bool {
        self.ended
    }
}

impl Model {
    /// Runs one turn of a stream and returns its lines: at most one for each of its
    /// subscriptions, or everything on servers from 0.9.2 on. The next turn is due
    /// 100 ms later.
    pub fn tick(&mut self, now: Duration, stream: &mut Stream) -> Vec<String> {
        self.pass(now);
        stream.due = now + limits::SERVER_POLL;
        if self.stopping || stream.generation != self.generation {
            stream.ended = true;
        }
        if stream.ended {
            return Vec::new();
        }
        if self.profile.batches
            && stream.active.iter().any(|active| active.fell_behind(&self.events))
        {
            stream.ended = true;
            let failure = Failure::new("events_lost", "the stream is behind the kept events");
            return vec![error_line(&stream.request, &failure)];
        }
        let mut lines = Vec::new();
        for active in &mut stream.active {
            while let Some(line) = active.turn(self) {
                lines.push(line);
                if !self.profile.batches {
                    break;
                }
            }
        }
        lines
    }

    pub(super) fn subscribe(&mut self, id: String, wanted: Vec<Subscription>) -> Answer {
        let start = if self.profile.replays { 0 } else { self.events.last() };
        let mut active = Vec::with_capacity(wanted.len());
        for (index, subscription) in wanted.into_iter().enumerate() {
            match self.activate(subscription, start) {
                Ok(entry) => active.push(entry),
                Err(failure) if self.profile.echoes_ids => {
                    return Answer::Reply(error_line(&id, &failure));
                }
                Err(failure) => {
                    // Older servers answer with the id of their internal probe.
                    let id = format!("{id}:sub:{index}:probe");
                    return Answer::Reply(error_line(&id, &failure));
                }
            }
        }
        let reply = success_line(&id, &json!({ "type": "subscription_started" }));
        let stream = Stream {
            request: id,
            active,
            generation: self.generation,
            due: self.now,
            ended: false,
        };
        Answer::Stream { reply, stream }
    }

    fn activate(&self, subscription: Subscription, start: u64) -> Result<Active, Failure> {
        // Only these look at a pane, which a stopping server refuses. Lifecycle
        // subscriptions read just the ring.
        let info = |pane_id: &str| {
            if self.stopping {
                return Err(Failure::stopping());
            }
            let pane = self.find_pane(pane_id)?;
            self.row(pane).ok_or_else(|| Failure::pane_not_found(pane_id))
        };
        Ok(match subscription {
            Subscription::Lifecycle(kind) => Active::Lifecycle { kind, cursor: start },
            Subscription::Status { pane_id, filter } => {
                let pane = info(&pane_id)?;
                Active::Status {
                    filter,
                    cursor: self.events.last(),
                    initial: filter == Some(pane.agent_status),
                    pane_id: pane.pane_id.clone(),
                    shown: Box::new(pane),
                }
            }
            Subscription::Scroll { pane_id } => {
                info(&pane_id)?;
                Active::Silent
            }
            Subscription::Output { pane_id, text } => {
                info(&pane_id)?;
                Active::Output { pane_id, text, matching: false }
            }
        })
    }
}

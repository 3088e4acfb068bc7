//! What becomes of the requests in flight, and how time passes meanwhile.

use std::time::Duration;

use fake_herdr::Answer as Served;
use herdr_reporter::machine::{Answer, Failure, FailureKind, Input, PaneCall, Request};
use serde_json::{Value, json};

use crate::world::World;

/// What becomes of the request in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Applied and answered.
    Served,
    /// Applied; the answer is lost.
    Unanswered,
    /// Not answered in time, and applied later ([`World::thaw`]).
    Frozen,
    /// No server is there.
    Unreachable,
    /// The connection breaks before anything is applied.
    Broken,
    /// Applied and answered just before the deadline.
    Late,
    /// Applied and answered before the requests that were frozen earlier.
    Overtakes,
    /// Answered with `ok`, and not applied; reads are answered truly.
    Pretended,
    /// Not applied, and refused with this code.
    Refused(&'static str),
    /// Answered with something that is not a reply.
    Nonsense,
}

/// Just below the deadline of 1.5 s.
const LATE: Duration = Duration::from_millis(1400);

impl World {
    /// The request in flight meets its fate, which takes at least a millisecond.
    pub(crate) fn meet(&mut self, fate: Fate) {
        self.elapsed += Duration::from_millis(1);
        let Some(Request { call, deadline, .. }) = self.in_flight.take() else { return };
        let line = call.encode("t").unwrap();
        match call {
            PaneCall::Report(_) if !matches!(fate, Fate::Refused(_) | Fate::Unreachable) => {
                self.claimed = true;
            }
            PaneCall::Release(_) if matches!(fate, Fate::Served | Fate::Overtakes) => {
                self.claimed &= self.closing;
            }
            _ => {}
        }
        let failure = |kind| Err(Failure::new(kind, "a test's fault"));
        let answer = match fate {
            Fate::Served => self.serve(&call, &line),
            Fate::Late => {
                self.elapsed += LATE;
                self.serve(&call, &line)
            }
            Fate::Overtakes => self.request(&call, &line),
            Fate::Pretended if is_read(&call) => self.request(&call, &line),
            Fate::Pretended => Ok(Answer::Ack),
            Fate::Refused(code) => {
                let error = json!({"id": "t", "error": {"code": code, "message": "m"}});
                call.decode(error.to_string().as_bytes())
            }
            Fate::Unanswered => {
                let _ = self.serve(&call, &line);
                self.elapsed += deadline;
                failure(FailureKind::Timeout)
            }
            Fate::Frozen => {
                self.frozen.push_back(line);
                self.elapsed += deadline;
                failure(FailureKind::Timeout)
            }
            Fate::Nonsense => {
                let nonsense = json!({"id": "t", "result": {"type": "nonsense"}}).to_string();
                match call.decode(nonsense.as_bytes()) {
                    Ok(_) => failure(FailureKind::Malformed),
                    error => error,
                }
            }
            Fate::Unreachable => failure(FailureKind::Unreachable),
            Fate::Broken => failure(FailureKind::Broken),
        };
        self.answer(answer);
    }

    /// A frozen server goes on: it applies what it has received before anything newer.
    pub(crate) fn thaw(&mut self) {
        while let Some(line) = self.frozen.pop_front() {
            self.model.request(self.elapsed, &line);
        }
    }

    /// The process of a frozen server ends without applying what it has received.
    pub(crate) fn lose_what_is_frozen(&mut self) {
        self.frozen.clear();
    }

    /// Time passes. Timers fire, and no request is answered.
    pub(crate) fn pass(&mut self, time: Duration) {
        let until = self.elapsed + time;
        while self.ended.is_none() && self.fire_timer(until) {}
        self.elapsed = until;
    }

    /// Time passes on a healthy server.
    pub(crate) fn serve_for(&mut self, time: Duration) {
        self.meet_for(time, |_| Fate::Served);
    }

    /// Time passes, and each request meets the fate that it is given.
    pub(crate) fn meet_for(&mut self, time: Duration, mut fate: impl FnMut(&PaneCall) -> Fate) {
        let until = self.elapsed + time;
        while self.ended.is_none() {
            if let Some(request) = &self.in_flight {
                let fate = fate(&request.call);
                self.meet(fate);
                if self.elapsed > until {
                    break;
                }
            } else if !self.fire_timer(until) {
                break;
            }
        }
        self.elapsed = self.elapsed.max(until);
    }

    /// Time passes on a server that refuses one method.
    pub(crate) fn refuse_for(&mut self, time: Duration, method: &str, code: &'static str) {
        self.meet_for(time, |call| {
            let line: Value = serde_json::from_slice(&call.encode("t").unwrap()).unwrap();
            if line["method"] == method { Fate::Refused(code) } else { Fate::Served }
        });
    }

    /// Fires the machine's timer if that is due by `until`.
    fn fire_timer(&mut self, until: Duration) -> bool {
        let Some(wake) = self.wake.take_if(|wake| *wake <= until) else { return false };
        self.elapsed = self.elapsed.max(wake);
        self.step(Input::Timer);
        true
    }

    fn serve(&mut self, call: &PaneCall, line: &[u8]) -> Result<Answer, Failure> {
        self.thaw();
        self.request(call, line)
    }

    fn request(&mut self, call: &PaneCall, line: &[u8]) -> Result<Answer, Failure> {
        match self.model.request(self.elapsed, line) {
            Served::Reply(reply) => call.decode(reply.as_bytes()),
            other => panic!("a request of ours was answered with {other:?}"),
        }
    }
}

fn is_read(call: &PaneCall) -> bool {
    !matches!(
        call,
        PaneCall::Report(_) | PaneCall::Metadata(_) | PaneCall::Release(_) | PaneCall::Clear(_)
    )
}

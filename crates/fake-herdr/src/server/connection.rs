//! One connection: a request and its answer, or a stream, with the effect of faults.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use herdr_proto::limits;
use serde::Deserialize;

use super::fault::Fault;
use super::line::{self, Received};
use super::mangle;
use super::queue::Turn;
use super::shared::Shared;
use crate::model::{Answer, Stream};

/// The delay between two bytes of an answer that is sent byte by byte.
const BYTE_GAP: Duration = Duration::from_micros(200);

/// Longer than any client waits.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Serves a connection to its end. Errors only concern the client, which notices them.
pub(super) fn serve(shared: &Shared, client: &UnixStream, hangup: &UnixStream, number: u64) {
    let connection = Connection { shared, client, hangup, number };
    let _ = connection.serve();
}

struct Connection<'a> {
    shared: &'a Shared,
    client: &'a UnixStream,
    hangup: &'a UnixStream,
    number: u64,
}

impl Connection<'_> {
    fn serve(&self) -> io::Result<()> {
        let Some(request) = self.receive() else {
            return Ok(());
        };
        // A frozen server shows no other fault.
        if !self.shared.wait_for_thaw(self.hangup) {
            return Ok(());
        }
        // The request takes its turn before a fault is chosen, because a slow server delays all
        // later requests.
        let turn = self.shared.app.enter();
        let text = String::from_utf8_lossy(&request).into_owned();
        let fault = self.shared.with(|state, _| state.faults.strike(&method(&text)));
        match fault {
            Some(Fault::NeverAnswers) => {
                drop(turn);
                self.note(&text, None);
                line::wait_for_end(self.hangup, self.client, A_DAY);
                Ok(())
            }
            Some(Fault::ClosesEarly) => {
                self.note(&text, None);
                Ok(())
            }
            Some(Fault::JsonRpc) => self.say(turn, &text, &mangle::json_rpc(&text)),
            Some(Fault::Refuses { code, .. }) => {
                self.say(turn, &text, &mangle::refusal(&text, &code))
            }
            fault => self.answer(turn, &request, fault.as_ref()),
        }
    }

    /// The request line; `None` if the client left or the connection is to be reset unread.
    fn receive(&self) -> Option<Vec<u8>> {
        let strikes = |fault| self.shared.with(|state, _| state.faults.strike_exactly(fault));
        if strikes(&Fault::Resets) {
            // Closing with unread input resets the connection.
            line::wait(self.hangup, Some(self.client), limits::SERVER_LINE_DEADLINE);
            return None;
        }
        if strikes(&Fault::LooksLate) {
            line::wait(self.hangup, None, limits::SERVER_POLL);
        }
        match line::receive(self.client, self.hangup, self.shared.polls) {
            Received::Line(line) => Some(line),
            Received::Nothing | Received::Hangup => None,
        }
    }

    /// Lets the model answer, and sends the answer, possibly changed by a fault.
    fn answer(&self, turn: Turn<'_>, request: &[u8], fault: Option<&Fault>) -> io::Result<()> {
        turn.wait();
        let slowness = match fault {
            Some(Fault::SlowApp(time)) => *time,
            _ => Duration::ZERO,
        };
        // A server process that has ended applies nothing.
        if line::wait(self.hangup, None, slowness) || !self.shared.wait_for_thaw(self.hangup) {
            return Ok(());
        }
        let answer = self.shared.with(|state, now| {
            #[cfg(feature = "pty")]
            super::pty::refresh(state);
            let answer = state.model.request(now, request);
            let request = String::from_utf8_lossy(request).into_owned();
            state.log.push(self.number, now, request, answer.line().map(str::to_owned));
            answer
        });
        // Other requests may continue while the answer is written or a stream is held.
        drop(turn);
        let Some(reply) = answer.line() else {
            return Ok(());
        };
        self.send(reply, fault)?;
        if fault == Some(&Fault::HalfLine) {
            return Ok(());
        }
        if let Answer::Stream { mut stream, .. } = answer {
            self.hold(&mut stream)?;
        }
        self.enter();
        Ok(())
    }

    /// Presses the Enter of a typed prompt when it is due, even if no request comes.
    fn enter(&self) {
        loop {
            let due = self.shared.lock().model.next_enter();
            let Some(due) = due else { return };
            if line::wait(self.hangup, None, due.saturating_sub(self.shared.now())) {
                return;
            }
            self.shared.with(|state, now| state.model.pass(now.max(due)));
        }
    }

    fn send(&self, reply: &str, fault: Option<&Fault>) -> io::Result<()> {
        match fault {
            Some(Fault::AnswersLate(time)) => {
                if line::wait_for_end(self.hangup, self.client, *time) {
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
                self.write(&mangle::line(reply))
            }
            Some(Fault::ByteByByte) => mangle::line(reply).iter().try_for_each(|byte| {
                line::wait(self.hangup, None, BYTE_GAP);
                self.write(&[*byte])
            }),
            Some(fault) => {
                let bytes = mangle::mangle(fault, reply);
                self.write(&bytes.unwrap_or_else(|| mangle::line(reply)))
            }
            None => self.write(&mangle::line(reply)),
        }
    }

    /// Sends events until the client sends something or the server ends the stream.
    fn hold(&self, stream: &mut Stream) -> io::Result<()> {
        loop {
            if !self.shared.wait_for_thaw(self.hangup) || line::stirred(self.client) {
                return Ok(());
            }
            let (lines, now) = {
                let mut state = self.shared.lock();
                let now = self.shared.now();
                #[cfg(feature = "pty")]
                super::pty::refresh(&mut state);
                (state.model.tick(now, stream), now)
            };
            for line in lines {
                self.write(&mangle::line(&line))?;
            }
            let rest = stream.due().saturating_sub(now);
            if stream.ended() || line::wait(self.hangup, Some(self.client), rest) {
                return Ok(());
            }
        }
    }

    /// Sends an answer without asking the model.
    fn say(&self, turn: Turn<'_>, request: &str, reply: &str) -> io::Result<()> {
        turn.wait();
        drop(turn);
        self.note(request, Some(reply));
        self.write(&mangle::line(reply))
    }

    fn note(&self, request: &str, reply: Option<&str>) {
        self.shared.with(|state, at| {
            state.log.push(self.number, at, request.to_owned(), reply.map(str::to_owned));
        });
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        if !self.shared.wait_for_thaw(self.hangup) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        line::send(self.client, self.hangup, bytes, limits::SERVER_LINE_DEADLINE)
    }
}

/// The method of a request, as far as it can be read.
fn method(request: &str) -> String {
    #[derive(Deserialize)]
    struct OnlyMethod {
        method: String,
    }
    serde_json::from_str::<OnlyMethod>(request).map(|only| only.method).unwrap_or_default()
}

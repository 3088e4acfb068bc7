//! One connection: it reads a request and sends an answer or a stream, with the
//! faults that are set.

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

/// The time between two bytes of an answer that is sent byte by byte.
const BYTE_GAP: Duration = Duration::from_micros(200);

/// Longer than any client waits for an answer.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Serves a connection to its end. Its I/O errors are not reported here, because the
/// client sees them.
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
        // A frozen process has no other fault at the same time.
        if !self.shared.wait_for_thaw(self.hangup) {
            return Ok(());
        }
        // Taken before the fault is chosen, so that a slow request delays all later ones.
        let turn = self.shared.app.join();
        let text = String::from_utf8_lossy(&request).into_owned();
        let fault = self.shared.with(|state, _| state.faults.take(&method(&text)));
        match fault {
            Some(Fault::NeverAnswers) => {
                drop(turn);
                self.record(&text, None);
                line::wait_for_end(self.hangup, self.client, A_DAY);
                Ok(())
            }
            Some(Fault::ClosesEarly) => {
                self.record(&text, None);
                Ok(())
            }
            Some(Fault::JsonRpc) => self.send_directly(turn, &text, &mangle::json_rpc(&text)),
            Some(Fault::Refuses { code, .. }) => {
                self.send_directly(turn, &text, &mangle::refusal(&text, &code))
            }
            fault => self.answer(turn, &request, fault.as_ref()),
        }
    }

    /// The request line; `None` if the client left or the connection is to be reset.
    fn receive(&self) -> Option<Vec<u8>> {
        let take = |fault| self.shared.with(|state, _| state.faults.take_exact(fault));
        if take(&Fault::Resets) {
            // Closing a connection with unread bytes resets it.
            line::wait(self.hangup, Some(self.client), limits::SERVER_LINE_DEADLINE);
            return None;
        }
        if take(&Fault::LooksLate) {
            line::wait(self.hangup, None, limits::SERVER_POLL);
        }
        match line::receive(self.client, self.hangup, self.shared.polls) {
            Received::Line(line) => Some(line),
            Received::Nothing | Received::Hangup => None,
        }
    }

    /// Sends the model's answer, under a fault if there is one.
    fn answer(&self, turn: Turn<'_>, request: &[u8], fault: Option<&Fault>) -> io::Result<()> {
        turn.wait();
        let slowness = match fault {
            Some(Fault::SlowApp(time)) => *time,
            _ => Duration::ZERO,
        };
        // A process that has ended by now does not apply the request.
        if line::wait(self.hangup, None, slowness) || !self.shared.wait_for_thaw(self.hangup) {
            return Ok(());
        }
        let answer = self.shared.with(|state, now| {
            #[cfg(feature = "pty")]
            super::pty::update_model(state);
            let answer = state.model.request(now, request);
            let request = String::from_utf8_lossy(request).into_owned();
            state.log.push(self.number, now, request, answer.line().map(str::to_owned));
            answer
        });
        // Another thread than the application thread writes the answer and the events.
        drop(turn);
        let Some(reply) = answer.line() else {
            return Ok(());
        };
        self.send(reply, fault)?;
        if fault == Some(&Fault::HalfLine) {
            return Ok(());
        }
        if let Answer::Stream { mut stream, .. } = answer {
            self.send_events(&mut stream)?;
        }
        self.type_enter();
        Ok(())
    }

    /// Waits until a typed prompt gets its Enter, which must not depend on further
    /// requests.
    fn type_enter(&self) {
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

    /// Sends events until the client sends something or leaves, or the server ends the
    /// stream.
    fn send_events(&self, stream: &mut Stream) -> io::Result<()> {
        loop {
            if !self.shared.wait_for_thaw(self.hangup) || line::is_readable(self.client) {
                return Ok(());
            }
            let (lines, now) = {
                let mut state = self.shared.lock();
                let now = self.shared.now();
                #[cfg(feature = "pty")]
                super::pty::update_model(&mut state);
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

    /// Sends an answer that does not come from the model.
    fn send_directly(&self, turn: Turn<'_>, request: &str, reply: &str) -> io::Result<()> {
        turn.wait();
        drop(turn);
        self.record(request, Some(reply));
        self.write(&mangle::line(reply))
    }

    fn record(&self, request: &str, reply: Option<&str>) {
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

/// The method of a request; empty if the line cannot be parsed.
fn method(request: &str) -> String {
    #[derive(Deserialize)]
    struct OnlyMethod {
        method: String,
    }
    serde_json::from_str::<OnlyMethod>(request).map(|only| only.method).unwrap_or_default()
}

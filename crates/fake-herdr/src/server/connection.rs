//! One connection: one request, one answer, or a stream.

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;

use herdr_proto::limits;

use super::line::{self, Received};
use super::shared::Shared;
use crate::model::{Answer, Stream};

/// Serves a connection to its end. Whatever goes wrong with it concerns only
/// the client, which sees it.
pub(super) fn serve(shared: &Shared, connection: &UnixStream, number: u64) {
    let poll = shared.options().poll;
    let received = line::receive(connection, shared.alarm(), poll, limits::SERVER_LINE_DEADLINE);
    let Received::Line(line) = received else {
        return;
    };
    let _ = connection.set_write_timeout(Some(limits::SERVER_LINE_DEADLINE));
    match shared.answer(number, &line) {
        Answer::Silence => {}
        Answer::Reply(reply) => {
            let _ = send(connection, &reply);
        }
        Answer::Stream { reply, mut stream } => {
            if send(connection, &reply).is_ok() {
                hold(shared, connection, &mut stream);
            }
        }
    }
}

/// Sends events until the client stirs or the server ends the stream.
fn hold(shared: &Shared, connection: &UnixStream, stream: &mut Stream) {
    loop {
        if line::stirred(connection) {
            return;
        }
        let (lines, now) = {
            let mut state = shared.lock();
            let now = shared.now();
            (state.model.tick(now, stream), now)
        };
        if lines.iter().any(|line| send(connection, line).is_err()) || stream.ended() {
            return;
        }
        let rest = stream.due().saturating_sub(now);
        if line::wait(shared.alarm(), Some(connection), rest) {
            return;
        }
    }
}

fn send(mut connection: &UnixStream, line: &str) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(line.len() + 1);
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    connection.write_all(&bytes)
}

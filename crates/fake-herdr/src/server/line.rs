//! Reads the one line of a connection, and writes answers (protocol 7.3).

use std::io;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use herdr_proto::limits;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

/// The result of reading a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// A line without its newline. Bytes after it stay unread, so that closing the
    /// connection resets it, as on the real server.
    Line(Vec<u8>),
    /// The client left, was too slow or sent too much. It gets no answer.
    Nothing,
    /// The server closes the connection.
    Hangup,
}

/// Reads until the newline. With `poll` it looks only every 100 ms for bytes that have
/// not come yet.
pub(super) fn receive(connection: &UnixStream, hangup: &UnixStream, poll: bool) -> Received {
    let end = Instant::now() + limits::SERVER_LINE_DEADLINE;
    let mut line = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        match rustix::net::recv(connection, &mut *chunk, flags) {
            Ok((_, 0)) => return Received::Nothing,
            Ok((_, there)) => {
                let newline = chunk[..there].iter().position(|byte| *byte == b'\n');
                if line.len() + newline.unwrap_or(there) > limits::SERVER_LINE_MAX {
                    return Received::Nothing;
                }
                let taken = newline.map_or(there, |newline| newline + 1);
                match rustix::net::recv(connection, &mut chunk[..taken], RecvFlags::DONTWAIT) {
                    Ok((_, taken)) => line.extend_from_slice(&chunk[..taken]),
                    Err(_) => return Received::Nothing,
                }
                if line.pop_if(|byte| *byte == b'\n').is_some() {
                    return Received::Line(line);
                }
            }
            Err(Errno::AGAIN) => {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Received::Nothing;
                }
                let hung_up = if poll {
                    wait(hangup, None, left.min(limits::SERVER_POLL))
                } else {
                    wait(hangup, Some(connection), left)
                };
                if hung_up {
                    return Received::Hangup;
                }
            }
            Err(Errno::INTR) => {}
            Err(_) => return Received::Nothing,
        }
    }
}

/// Writes all bytes; waits at most `patience` for a client that does not read.
pub(super) fn send(
    connection: &UnixStream,
    hangup: &UnixStream,
    mut bytes: &[u8],
    patience: Duration,
) -> io::Result<()> {
    let end = Instant::now() + patience;
    while !bytes.is_empty() {
        match rustix::net::send(connection, bytes, SendFlags::DONTWAIT) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(Errno::AGAIN) => {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                let mut ready =
                    [PollFd::new(hangup, PollFlags::IN), PollFd::new(connection, PollFlags::OUT)];
                let _ = rustix::event::poll(&mut ready, timespec(left).as_ref());
                if !ready[0].revents().is_empty() {
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Waits until the connection, if one is given, is readable or the time is over;
/// `true` if the server closes the connection.
pub(super) fn wait(
    hangup: &UnixStream,
    connection: Option<&UnixStream>,
    longest: Duration,
) -> bool {
    let mut ready = vec![PollFd::new(hangup, PollFlags::IN)];
    ready.extend(connection.map(|connection| PollFd::new(connection, PollFlags::IN)));
    let _ = rustix::event::poll(&mut ready, timespec(longest).as_ref());
    !ready[0].revents().is_empty()
}

/// Waits until the client has left or the time is over; `true` if the client has left
/// or the server closes the connection. A client that has only shut down its writing
/// side has not left.
pub(super) fn wait_for_end(
    hangup: &UnixStream,
    connection: &UnixStream,
    longest: Duration,
) -> bool {
    // A hangup is reported even if no events are requested.
    let mut ready =
        [PollFd::new(hangup, PollFlags::IN), PollFd::new(connection, PollFlags::empty())];
    let _ = rustix::event::poll(&mut ready, timespec(longest).as_ref());
    ready.iter().any(|ready| !ready.revents().is_empty())
}

/// The timeout of a poll; `None`, for ever, if the time is too long for the system.
fn timespec(time: Duration) -> Option<Timespec> {
    time.try_into().ok()
}

/// Whether the client has left without sending anything.
pub(super) fn has_left(connection: &UnixStream) -> bool {
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    matches!(rustix::net::recv(connection, &mut [0; 1], flags), Ok((_, 0)))
}

/// Whether the client has sent something or left.
pub(super) fn is_readable(connection: &UnixStream) -> bool {
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    !matches!(rustix::net::recv(connection, &mut [0; 1], flags), Err(Errno::AGAIN | Errno::INTR))
}

//! Reading the line of a connection, and writing (protocol 7.3).

use std::io;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use herdr_proto::limits;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

/// What was received.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// A line without its newline. Bytes after it are not read, so that closing resets the
    /// connection, as on the real server.
    Line(Vec<u8>),
    /// The client closed, was too slow or sent too much. It gets no answer.
    Nothing,
    /// The server ends the connection.
    Hangup,
}

/// Reads until the newline. With `poll`, input that is not there at once is looked for every
/// 100 ms.
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

/// Writes everything, for at most `patience` if the client does not read.
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
                let _ = rustix::event::poll(&mut ready, Some(&timespec(left)));
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

/// Waits until the connection, if there is one, is readable or the time has passed. Returns
/// true if the server ends the connection.
pub(super) fn wait(
    hangup: &UnixStream,
    connection: Option<&UnixStream>,
    longest: Duration,
) -> bool {
    let mut ready = vec![PollFd::new(hangup, PollFlags::IN)];
    ready.extend(connection.map(|connection| PollFd::new(connection, PollFlags::IN)));
    let _ = rustix::event::poll(&mut ready, Some(&timespec(longest)));
    !ready[0].revents().is_empty()
}

/// Waits until the client has closed or the time has passed. Returns true if it has, or if the
/// server ends the connection. A client that has only closed its sending direction is still
/// there.
pub(super) fn wait_for_end(
    hangup: &UnixStream,
    connection: &UnixStream,
    longest: Duration,
) -> bool {
    // A hangup is always reported.
    let mut ready =
        [PollFd::new(hangup, PollFlags::IN), PollFd::new(connection, PollFlags::empty())];
    let _ = rustix::event::poll(&mut ready, Some(&timespec(longest)));
    ready.iter().any(|ready| !ready.revents().is_empty())
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// Whether the client has closed without sending anything more.
pub(super) fn has_left(connection: &UnixStream) -> bool {
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    matches!(rustix::net::recv(connection, &mut [0; 1], flags), Ok((_, 0)))
}

/// Whether the client has sent something or closed.
pub(super) fn stirred(connection: &UnixStream) -> bool {
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    !matches!(rustix::net::recv(connection, &mut [0; 1], flags), Err(Errno::AGAIN | Errno::INTR))
}

use std::io;

use crate::peer::Peer;

/// The system calls that open a connection. They are behind a trait so that a test can count
/// them and play the server of another user.
pub(crate) trait Wire {
    /// An open connection.
    type Connection;

    /// Connects without blocking.
    fn connect(&mut self) -> io::Result<Self::Connection>;
    /// Tells which process serves the socket.
    fn peer(&mut self, connection: &Self::Connection) -> io::Result<Peer>;
    /// Passes bytes to the kernel without blocking; returns how many it accepted.
    fn send(&mut self, connection: &Self::Connection, bytes: &[u8]) -> io::Result<usize>;
}

/// Which servers are trusted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trust {
    /// Servers of all users.
    Anyone,
    /// Servers of root and of this user.
    User(u32),
}

impl Trust {
    fn covers(self, peer: Peer) -> bool {
        match self {
            Self::Anyone => true,
            Self::User(ours) => peer.uid() == ours || peer.uid() == 0,
        }
    }
}

/// A connection on which the line has been sent.
#[derive(Debug)]
pub(crate) struct Dialled<C> {
    pub(crate) connection: C,
    pub(crate) peer: Peer,
    /// How many bytes of the line the kernel accepted.
    pub(crate) sent: usize,
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum DialError {
    /// The backlog is full at the moment.
    Full,
    /// Connecting, or asking for the peer, failed.
    Connect(io::Error),
    /// Another user serves the socket. No byte was sent.
    Foreign(Peer),
    /// The connection was made and accepted no bytes.
    Send(io::Error),
}

/// Connects, checks the peer, and sends the whole line with one call.
///
/// The server looks for the first byte right after it accepts, and then every 100 ms
/// (protocol.md section 7.3). So this is a plain function without an await between connecting
/// and sending, and no other task of the runtime can run in between.
pub(crate) fn dial<W: Wire>(
    wire: &mut W,
    line: &[u8],
    trust: Trust,
) -> Result<Dialled<W::Connection>, DialError> {
    let connection = wire.connect().map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => DialError::Full,
        _ => DialError::Connect(error),
    })?;
    let peer = wire.peer(&connection).map_err(DialError::Connect)?;
    if !trust.covers(peer) {
        return Err(DialError::Foreign(peer));
    }
    let sent = match wire.send(&connection, line) {
        Ok(sent) => sent,
        // A server that has already closed may have sent an answer before, which the reader
        // will find.
        Err(error) if is_gone(&error) => line.len(),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
        Err(error) => return Err(DialError::Send(error)),
    };
    Ok(Dialled { connection, peer, sent })
}

/// Whether the peer has closed its end.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scripted wire that records its calls.
    struct Script {
        connect: Result<(), io::ErrorKind>,
        uid: u32,
        takes: Result<usize, io::ErrorKind>,
        calls: Vec<String>,
    }

    impl Script {
        fn serving(uid: u32) -> Self {
            Self { connect: Ok(()), uid, takes: Ok(usize::MAX), calls: Vec::new() }
        }
    }

    impl Wire for Script {
        type Connection = ();

        fn connect(&mut self) -> io::Result<()> {
            self.calls.push("connect".into());
            self.connect.map_err(io::Error::from)
        }

        fn peer(&mut self, (): &()) -> io::Result<Peer> {
            self.calls.push("peer".into());
            Ok(Peer::new(self.uid, None))
        }

        fn send(&mut self, (): &(), bytes: &[u8]) -> io::Result<usize> {
            self.calls.push(format!("send {}", bytes.len()));
            self.takes.map(|most| most.min(bytes.len())).map_err(io::Error::from)
        }
    }

    const LINE: &[u8] = b"{\"id\":\"1\",\"method\":\"ping\",\"params\":{}}\n";

    #[test]
    fn the_whole_line_goes_out_in_one_send_after_the_check() {
        let mut wire = Script::serving(1000);
        let dialled = dial(&mut wire, LINE, Trust::User(1000)).unwrap();
        assert_eq!(dialled.sent, LINE.len());
        assert_eq!(wire.calls, ["connect", "peer", &format!("send {}", LINE.len())]);
    }

    #[test]
    fn what_the_kernel_does_not_take_is_left_for_later_not_tried_again() {
        for (takes, sent) in [(Ok(7), 7), (Err(io::ErrorKind::WouldBlock), 0)] {
            let mut wire = Script { takes, ..Script::serving(1000) };
            let dialled = dial(&mut wire, LINE, Trust::User(1000)).unwrap();
            assert_eq!(dialled.sent, sent);
            assert_eq!(wire.calls.len(), 3);
        }
    }

    #[test]
    fn a_foreign_server_gets_no_byte() {
        let cases = [
            (Trust::User(1000), 1000, true),
            (Trust::User(1000), 0, true),
            (Trust::User(1000), 1001, false),
            (Trust::User(0), 1000, false),
            (Trust::Anyone, 1001, true),
        ];
        for (trust, uid, spoken_to) in cases {
            let mut wire = Script::serving(uid);
            let outcome = dial(&mut wire, LINE, trust);
            assert_eq!(outcome.is_ok(), spoken_to, "{trust:?} {uid}");
            let sends = wire.calls.iter().filter(|call| call.starts_with("send")).count();
            assert_eq!(sends, usize::from(spoken_to), "{trust:?} {uid}");
        }
    }

    #[test]
    fn a_full_backlog_is_told_from_other_failures() {
        let mut full = Script { connect: Err(io::ErrorKind::WouldBlock), ..Script::serving(0) };
        assert!(matches!(dial(&mut full, LINE, Trust::Anyone), Err(DialError::Full)));
        let mut dead = Script { connect: Err(io::ErrorKind::NotFound), ..Script::serving(0) };
        assert!(matches!(dial(&mut dead, LINE, Trust::Anyone), Err(DialError::Connect(_))));
        assert_eq!(dead.calls, ["connect"]);
    }

    #[test]
    fn a_server_that_closed_at_once_is_still_listened_to() {
        let mut wire = Script { takes: Err(io::ErrorKind::BrokenPipe), ..Script::serving(0) };
        assert_eq!(dial(&mut wire, LINE, Trust::Anyone).unwrap().sent, LINE.len());
    }
}

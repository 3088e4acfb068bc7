//! Waking threads that wait on descriptors.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

/// Two ends of a socket pair: one to ring, one to poll.
#[derive(Debug)]
pub(super) struct Alarm {
    ring: UnixStream,
    hear: UnixStream,
}

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        let (ring, hear) = UnixStream::pair()?;
        ring.set_nonblocking(true)?;
        hear.set_nonblocking(true)?;
        Ok(Self { ring, hear })
    }

    /// What becomes readable when it rings.
    pub(super) fn hear(&self) -> &UnixStream {
        &self.hear
    }

    /// Rings once.
    pub(super) fn ring(&self) {
        // A full buffer rings already.
        let _ = (&self.ring).write(&[1]);
    }

    /// Takes away what rang so far; `true` if it rings for good.
    pub(super) fn quiet(&self) -> bool {
        let mut bytes = [0; 64];
        loop {
            match (&self.hear).read(&mut bytes) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }

    /// Rings for good, for everybody who waits on it.
    pub(super) fn ring_for_good(&self) {
        let _ = self.ring.shutdown(Shutdown::Both);
    }
}

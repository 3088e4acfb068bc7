//! Waking threads that wait for descriptors.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

/// The two ends of a socket pair: one to write to, one to poll.
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

    /// The end that becomes readable.
    pub(super) fn hear(&self) -> &UnixStream {
        &self.hear
    }

    /// Wakes the waiting thread once.
    pub(super) fn ring(&self) {
        // If the buffer is full, the end is already readable.
        let _ = (&self.ring).write(&[1]);
    }

    /// Resets the alarm. Returns whether it is permanent.
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

    /// Wakes all waiting threads permanently.
    pub(super) fn ring_for_good(&self) {
        let _ = self.ring.shutdown(Shutdown::Both);
    }
}

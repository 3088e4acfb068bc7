//! Wakes threads that poll a descriptor.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

/// A socket pair whose receiver becomes readable to wake a thread.
#[derive(Debug)]
pub(super) struct Waker {
    sender: UnixStream,
    receiver: UnixStream,
}

impl Waker {
    pub(super) fn new() -> io::Result<Self> {
        let (sender, receiver) = UnixStream::pair()?;
        sender.set_nonblocking(true)?;
        receiver.set_nonblocking(true)?;
        Ok(Self { sender, receiver })
    }

    /// The end to poll.
    pub(super) fn receiver(&self) -> &UnixStream {
        &self.receiver
    }

    pub(super) fn wake(&self) {
        // If the buffer is full, the receiver is readable already.
        let _ = (&self.sender).write(&[1]);
    }

    /// Resets the receiver; `true` if [`Waker::wake_forever`] was called.
    pub(super) fn drain(&self) -> bool {
        let mut bytes = [0; 64];
        loop {
            match (&self.receiver).read(&mut bytes) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }

    /// Keeps the receiver readable from now on, for every thread that polls it.
    pub(super) fn wake_forever(&self) {
        let _ = self.sender.shutdown(Shutdown::Both);
    }
}

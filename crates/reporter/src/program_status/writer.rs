use std::fmt;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::ProgramStatus;
use crate::clock::{LONGEST_WAIT, within};

/// A terminal that a host has given to the builder.
pub(crate) struct Terminal(Box<dyn Write + Send>);

impl Terminal {
    pub(crate) fn new(terminal: impl Write + Send + 'static) -> Self {
        Self(Box::new(terminal))
    }

    /// Writes all bytes at once, so that no other output gets into the middle of a report.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)?;
        self.0.flush()
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Terminal")
    }
}

/// The thread that writes to a terminal. A terminal that is stopped (Ctrl-S) blocks its writers, so
/// no other thread may write to it.
#[derive(Debug)]
pub(crate) struct StatusWriter {
    /// Is closed once the thread has ended.
    ended: oneshot::Receiver<()>,
}

impl StatusWriter {
    /// # Errors
    ///
    /// If the system cannot start a thread.
    pub(crate) fn start(mut status: ProgramStatus, mut terminal: Terminal) -> io::Result<Self> {
        let (sender, ended) = oneshot::channel();
        thread::Builder::new().name("herdr-status".to_owned()).spawn(move || {
            let _sender: oneshot::Sender<()> = sender;
            while !status.is_over() {
                let bytes = status.wait(LONGEST_WAIT);
                if !bytes.is_empty() && terminal.write(&bytes).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { ended })
    }

    /// Waits until the last bytes are written, at most `timeout`.
    pub(crate) async fn ended_within(self, timeout: Duration) {
        let _ = within(timeout, self.ended).await;
    }
}

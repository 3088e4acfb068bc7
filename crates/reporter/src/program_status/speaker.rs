use std::fmt;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::ProgramStatus;
use crate::clock::{FAR, within};

/// A terminal that a host has given.
pub(crate) struct Terminal(Box<dyn Write + Send>);

impl Terminal {
    pub(crate) fn new(terminal: impl Write + Send + 'static) -> Self {
        Self(Box::new(terminal))
    }

    /// Everything in one write: no report may be torn by what others write.
    fn tell(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)?;
        self.0.flush()
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Terminal")
    }
}

/// The thread that tells a terminal. It is its own, since a terminal that
/// somebody has stopped blocks whoever writes to it.
#[derive(Debug)]
pub(crate) struct Speaker {
    /// Hangs up when the last words are written.
    ended: oneshot::Receiver<()>,
}

impl Speaker {
    /// # Errors
    ///
    /// If the system has no thread to give.
    pub(crate) fn start(mut status: ProgramStatus, mut terminal: Terminal) -> io::Result<Self> {
        let (ends, ended) = oneshot::channel();
        thread::Builder::new().name("herdr-status".to_owned()).spawn(move || {
            let _ends: oneshot::Sender<()> = ends;
            while !status.is_over() {
                let bytes = status.wait(FAR);
                if !bytes.is_empty() && terminal.tell(&bytes).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { ended })
    }

    /// Waits for the last words, at most this long.
    pub(crate) async fn ended_within(self, timeout: Duration) {
        let _ = within(timeout, self.ended).await;
    }
}

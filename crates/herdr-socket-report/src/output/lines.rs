//! Writing lines without ever blocking the process.
//!
//! A host may not read the stdout or stderr of this process, and a write to a full pipe would
//! block. So a separate thread writes. Lines that are not read are kept up to a limit, and
//! later ones are dropped.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many bytes are kept for a slow reader.
const WAITING_MAX: usize = 4 * 1024 * 1024;

/// A queue of lines. Clones share it.
#[derive(Clone)]
pub(crate) struct Lines(Arc<Shared>);

pub(crate) struct Outlet {
    lines: Lines,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    /// The thread has taken bytes and has not written them yet.
    writing: bool,
    /// The reader is gone, so nothing more is written.
    gone: bool,
    dropped: u64,
}

impl Outlet {
    pub(crate) fn start(name: &str, out: impl Write + Send + 'static) -> Self {
        let shared = Shared { state: Mutex::default(), changed: Condvar::new() };
        let lines = Lines(Arc::new(shared));
        let writer = lines.clone();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || writer.write(out));
        // Without a thread no line can be written, and reporting goes on.
        lines.lock().gone = thread.is_err();
        Self { lines }
    }

    pub(crate) fn lines(&self) -> Lines {
        self.lines.clone()
    }

    /// Waits until everything is written, for at most `within`. Returns how many lines were
    /// dropped.
    pub(crate) fn finish(self, within: Duration) -> u64 {
        let end = Instant::now() + within;
        let mut state = self.lines.lock();
        while !state.gone && (state.writing || !state.waiting.is_empty()) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let woken = self.lines.0.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.dropped
    }
}

impl Lines {
    /// Queues one line, given without its newline. Never blocks.
    pub(crate) fn put(&self, line: &str) {
        let mut state = self.lock();
        if state.gone {
            return;
        }
        if state.waiting.len() + line.len() >= WAITING_MAX {
            state.dropped += 1;
            return;
        }
        state.waiting.extend_from_slice(line.as_bytes());
        state.waiting.push(b'\n');
        drop(state);
        self.0.changed.notify_all();
    }

    /// Whether a write has shown that the reader is gone.
    pub(crate) fn reader_is_gone(&self) -> bool {
        self.lock().gone
    }

    fn write(&self, mut out: impl Write) {
        loop {
            let mut state = self.lock();
            while state.waiting.is_empty() {
                state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let bytes = std::mem::take(&mut state.waiting);
            state.writing = true;
            drop(state);
            let written = out.write_all(&bytes).and_then(|()| out.flush());
            let mut state = self.lock();
            state.writing = false;
            state.gone = written.is_err();
            let gone = state.gone;
            drop(state);
            self.0.changed.notify_all();
            if gone {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Each write, such as one event of the log, becomes one line.
impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(&herdr_proto::strip_controls(&String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Blocks in `write` until the other end is dropped.
    struct Stuck(mpsc::Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_does_not_read_holds_nobody_up_and_memory_is_bounded() {
        let (hold, stuck) = mpsc::channel();
        let outlet = Outlet::start("test", Stuck(stuck));
        let line = "x".repeat(64 * 1024);
        for _ in 0..1000 {
            outlet.lines().put(&line);
        }
        assert!(outlet.lines.lock().waiting.len() <= WAITING_MAX);
        assert!(outlet.finish(Duration::from_millis(1)) > 800);
        drop(hold);
    }
}

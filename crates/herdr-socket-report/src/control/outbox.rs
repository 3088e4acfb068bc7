//! The output lines that wait to be written to one client.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, spawn_local};

/// How many bytes may wait for a client. A client that falls further behind gets no more lines;
/// its events still count.
const WAITING_MAX: usize = 256 * 1024;

pub(super) struct Outbox {
    lines: RefCell<Option<UnboundedSender<String>>>,
    /// How many bytes are not written yet.
    waiting: Rc<Cell<usize>>,
}

impl Outbox {
    /// An outbox and the task that writes it, which ends when everything is written or the
    /// client is gone.
    pub(super) fn to(mut stream: OwnedWriteHalf) -> (Self, JoinHandle<()>) {
        let (lines, mut queued) = unbounded_channel::<String>();
        let waiting = Rc::new(Cell::new(0));
        let outbox = Self { lines: RefCell::new(Some(lines)), waiting: Rc::clone(&waiting) };
        let writer = spawn_local(async move {
            while let Some(line) = queued.recv().await {
                if stream.write_all(line.as_bytes()).await.is_err() {
                    return;
                }
                waiting.set(waiting.get().saturating_sub(line.len()));
            }
        });
        (outbox, writer)
    }

    /// Queues one line, given without its newline. Never waits.
    pub(super) fn put(&self, line: &str) {
        let waiting = self.waiting.get() + line.len() + 1;
        if waiting > WAITING_MAX {
            return self.close();
        }
        self.waiting.set(waiting);
        if let Some(lines) = &*self.lines.borrow() {
            // Sending fails only if the client is gone.
            let _ = lines.send(format!("{line}\n"));
        }
    }

    pub(super) fn close(&self) {
        self.lines.take();
    }
}

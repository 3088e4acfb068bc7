//! What waits for one client to read it.

use std::cell::{Cell, RefCell};

use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::Notify;

/// Most bytes that wait for a client. One that falls further behind gets no
/// more lines; its events still count.
const WAITING_MAX: usize = 256 * 1024;

/// Lines for one client.
#[derive(Default)]
pub(super) struct Outbox {
    waiting: RefCell<Vec<u8>>,
    /// Nobody reads, or nobody reads fast enough.
    gone: Cell<bool>,
    closed: Cell<bool>,
    changed: Notify,
}

impl Outbox {
    /// Puts one line, without its newline. Never waits.
    pub(super) fn put(&self, line: &str) {
        if self.gone.get() || self.closed.get() {
            return;
        }
        let mut waiting = self.waiting.borrow_mut();
        if waiting.len() + line.len() >= WAITING_MAX {
            waiting.clear();
            self.gone.set(true);
        } else {
            waiting.extend_from_slice(line.as_bytes());
            waiting.push(b'\n');
        }
        self.changed.notify_one();
    }

    /// Nothing more will be put.
    pub(super) fn close(&self) {
        self.closed.set(true);
        self.changed.notify_one();
    }

    /// Writes until everything is written after [`close`](Self::close), or the
    /// client is no reader any more. The other direction stays open.
    pub(super) async fn write_to(&self, mut stream: OwnedWriteHalf) {
        loop {
            let bytes = self.waiting.take();
            if bytes.is_empty() {
                if self.gone.get() || self.closed.get() {
                    return;
                }
                self.changed.notified().await;
                continue;
            }
            tokio::select! {
                written = stream.write_all(&bytes) => self.gone.set(self.gone.get() || written.is_err()),
                () = self.overflow() => {}
            }
        }
    }

    /// Ends when the client has fallen too far behind.
    async fn overflow(&self) {
        while !self.gone.get() {
            self.changed.notified().await;
        }
    }
}

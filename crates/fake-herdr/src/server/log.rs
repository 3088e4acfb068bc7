//! What was asked and answered.

use std::collections::VecDeque;
use std::time::Duration;

/// Exchanges that are kept.
const KEPT: usize = 10_000;

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exchange {
    /// The number of the connection, from 1, in the order of accepting.
    pub connection: u64,
    /// When the request was complete, since the start of the server.
    pub at: Duration,
    /// The line without its newline. Bytes that are not UTF-8 are replaced.
    pub request: String,
    /// The first line that was sent back, without its newline; `None` if the
    /// connection was closed without one.
    pub reply: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    exchanges: VecDeque<Exchange>,
    connections: u64,
}

impl Log {
    pub(super) fn accept(&mut self) -> u64 {
        self.connections += 1;
        self.connections
    }

    pub(super) fn connections(&self) -> u64 {
        self.connections
    }

    pub(super) fn push(&mut self, exchange: Exchange) {
        self.exchanges.push_back(exchange);
        if self.exchanges.len() > KEPT {
            self.exchanges.pop_front();
        }
    }

    pub(super) fn exchanges(&self) -> Vec<Exchange> {
        self.exchanges.iter().cloned().collect()
    }

    pub(super) fn as_slice(&mut self) -> &[Exchange] {
        self.exchanges.make_contiguous()
    }
}

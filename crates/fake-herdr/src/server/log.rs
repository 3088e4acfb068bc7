//! The log of requests and answers.

use std::collections::VecDeque;
use std::time::Duration;

/// The most exchanges that are kept.
const KEPT: usize = 10_000;

/// The most bytes that are kept, because a request can have a mebibyte.
const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exchange {
    /// The number among all exchanges since the start, from 0. It does not change when
    /// older exchanges are dropped.
    pub number: u64,
    /// The number of the connection, from 1, in the order of accepting.
    pub connection: u64,
    /// When the request was complete, since the start of the server.
    pub at: Duration,
    /// The line without its newline. Bytes that are not UTF-8 are replaced.
    pub request: String,
    /// The answer without its newline, before a fault changed it; `None` if the
    /// connection was closed without an answer. The events of a stream are not kept.
    pub reply: Option<String>,
}

impl Exchange {
    fn size(&self) -> usize {
        self.request.len() + self.reply.as_ref().map_or(0, String::len)
    }
}

#[derive(Debug, Default)]
pub(super) struct Log {
    exchanges: VecDeque<Exchange>,
    bytes: usize,
    count: u64,
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

    pub(super) fn push(
        &mut self,
        connection: u64,
        at: Duration,
        request: String,
        reply: Option<String>,
    ) {
        let exchange = Exchange { number: self.count, connection, at, request, reply };
        self.count += 1;
        self.bytes += exchange.size();
        self.exchanges.push_back(exchange);
        while self.exchanges.len() > KEPT || self.bytes > KEPT_BYTES {
            let dropped = self.exchanges.pop_front();
            self.bytes -= dropped.map_or(self.bytes, |exchange| exchange.size());
        }
    }

    pub(super) fn exchanges(&self) -> Vec<Exchange> {
        self.exchanges.iter().cloned().collect()
    }

    pub(super) fn as_slice(&mut self) -> &[Exchange] {
        self.exchanges.make_contiguous()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(times: usize, length: usize) -> Log {
        let mut log = Log::default();
        for _ in 0..times {
            log.push(1, Duration::ZERO, "x".repeat(length), None);
        }
        log
    }

    #[test]
    fn the_oldest_are_dropped_and_the_numbers_stay() {
        let log = filled(KEPT + 5, 1).exchanges();
        assert_eq!((log.len(), log[0].number), (KEPT, 5));
        assert_eq!(log[KEPT - 1].number, 10_004);
        let big = filled(70, 1 << 20);
        assert_eq!((big.exchanges().len(), big.bytes), (64, KEPT_BYTES));
        assert_eq!(big.exchanges()[0].number, 6);
    }
}

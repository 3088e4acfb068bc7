//! One set of end-to-end bodies, on `fake-herdr` and, if `HERDR_BIN` names a
//! program, on that: `HERDR_BIN=/usr/bin/herdr cargo test -p e2e`. It is started
//! in a private folder; nobody's own Herdr is touched.
//!
//! A body whose name begins with a failure id shows that this failure does not
//! happen.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod authority;
mod detected;
mod entitled;
mod hooks;
mod identity;
mod lifecycle;
mod panes;
mod places;
mod pushes;
mod sequence;
mod server;
mod shell;
mod supervisor;
mod text;
mod voice;

use std::time::{SystemTime, UNIX_EPOCH};

/// The clock that sequence numbers come from.
fn micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_micros()).unwrap()
}

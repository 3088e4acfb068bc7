//! One set of end-to-end bodies, on `fake-herdr` and, if `HERDR_BIN` names a
//! program, on that: `HERDR_BIN=/usr/bin/herdr cargo test -p e2e`. It is started
//! in a private folder, and a Herdr of the user is not touched.
//!
//! A body with a failure id in its name, such as `b13`, shows that this failure does
//! not happen. `docs/failures.md` lists the ids.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod authority;
mod detected;
mod hooks;
mod identity;
mod lifecycle;
mod ownership;
mod panes;
mod places;
mod pushes;
mod sequence;
mod server;
mod shell;
mod supervisor;
mod takeover;
mod text;

use std::time::{SystemTime, UNIX_EPOCH};

/// The clock that sequence numbers come from.
fn micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_micros()).unwrap()
}

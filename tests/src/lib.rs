//! Support for the end-to-end bodies: the stage on which they run, the replay of recorded
//! traces and event flows on the pure model, on a fake server or on a real Herdr, the soak of
//! random hosts in real panes, and the benchmark.

pub mod bench;
pub mod replay;
pub mod soak;
pub mod stage;

/// The README's program is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

//! The pure machine and the fake's pure model, joined: no socket, no thread,
//! no clock. Scenarios pin single rules, properties try interleavings.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agreement;
mod endings;
mod events;
mod faults;
mod identity;
mod odd;
mod promises;
mod properties;
mod refusals;
mod rules;
mod world;

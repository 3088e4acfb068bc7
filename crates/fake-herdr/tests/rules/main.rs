//! The conditions of protocol 5 one by one, also those that no recorded trace
//! exercises.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod metadata;
mod panes;
mod places;
mod processes;
mod sessions;
mod status;
#[path = "../support/mod.rs"]
mod support;

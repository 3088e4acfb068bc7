//! Tests of each condition of protocol 5, including those that no recording covers.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod metadata;
mod panes;
mod processes;
mod sessions;
mod status;
#[path = "../support/mod.rs"]
mod support;
mod workspaces;

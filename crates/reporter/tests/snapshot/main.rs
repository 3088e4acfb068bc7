//! From events and settings to what the pane is to show: pure, no clock, no
//! socket.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod last_words;
mod limits;
mod privacy;
mod reasons;
mod sessions;
mod sources;
mod support;
mod titles;
mod tokens;

//! The snapshot that follows from events and settings. No test here needs a clock or a socket.

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

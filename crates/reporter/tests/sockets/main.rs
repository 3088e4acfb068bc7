//! The reporter on real sockets, against a server that behaves.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod embedding;
mod endings;
mod executors;
mod feeds;
mod flushes;
mod racing;
mod recovery;
mod serial;
mod supervised;
mod support;

//! Failures seen in the field, one test each, on real sockets and with real
//! processes.
//!
//! What counts for a whole process (descriptors, memory, CPU time, children) is
//! measured in a process of its own, which is this program again.
//!
//! Failure B68 has no test here: where there are no Unix sockets, that a
//! reporter builds and stays inert is the business of a build for that target.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests start processes, the library does not")]

mod held;
#[cfg(target_os = "linux")]
mod leaks;
mod lease;
mod names;
mod off;
#[cfg(target_os = "linux")]
mod paths;
#[cfg(target_os = "linux")]
mod quiet;
mod stuck;
mod support;
mod texts;
mod versions;
#[cfg(target_os = "linux")]
mod whose;

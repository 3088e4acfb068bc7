//! The reporter in hosts, on real sockets: with servers that behave and servers that do not, and in
//! separate processes.
//!
//! What is measured for a whole process (descriptors, memory, CPU time, children) is measured in a
//! separate process, which runs this program again.
//!
//! Failure B68 has no test here: a build for a target without Unix sockets checks that a reporter
//! builds and stays inert there.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests start processes, the library does not")]

mod calls;
mod embedding;
mod endings;
#[cfg(target_os = "linux")]
mod entitled;
mod executors;
mod feeds;
mod flushes;
#[cfg(target_os = "linux")]
mod forks;
mod hedges;
mod held;
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(target_os = "linux")]
mod leaks;
mod lease;
mod leases;
mod names;
mod off;
#[cfg(target_os = "linux")]
mod paths;
mod processes;
#[cfg(target_os = "linux")]
mod quiet;
mod racing;
mod recovery;
#[cfg(target_os = "linux")]
mod seldom;
mod serial;
mod stuck;
mod supervised;
mod support;
mod terminals;
mod texts;
mod versions;
#[cfg(target_os = "linux")]
mod whose;

//! What comes in: event lines on stdin, signals, the end of a process.

#[cfg(unix)]
mod drain;
mod lines;
#[cfg(unix)]
mod process;
#[cfg(unix)]
pub(crate) mod signals;
#[cfg(unix)]
mod stdin;

#[cfg(unix)]
pub(crate) use drain::drain_stdin;
pub(crate) use lines::{Item, LineReader};
#[cfg(unix)]
pub(crate) use process::Host;
#[cfg(unix)]
pub(crate) use stdin::{End, Stdin, leave_the_hosts_group};

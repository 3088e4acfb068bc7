//! What comes in: event lines on stdin, signals, the end of a process.

mod lines;
#[cfg(unix)]
mod process;
#[cfg(unix)]
pub(crate) mod signals;
#[cfg(unix)]
mod stdin;

pub(crate) use lines::{Item, LineReader};
#[cfg(unix)]
pub(crate) use process::Host;
#[cfg(unix)]
pub(crate) use stdin::{End, Stdin, leave_the_hosts_group};

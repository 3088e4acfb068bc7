//! Input: event lines on stdin, signals, the end of a process.

mod drain;
mod lines;
pub(crate) mod signals;
mod stdin;

pub(crate) use drain::drain_stdin;
pub(crate) use lines::{Item, LineReader, LineSink};
pub(crate) use stdin::{End, Stdin, leave_the_hosts_group};

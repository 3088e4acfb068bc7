//! The control socket: it takes event lines and sends output lines, and nothing else.
//!
//! The owner of a pane listens beside its lease. A supervisor also listens at an address of its
//! own, which the watched command is told. One-shots and hosts connect to these addresses to
//! reach the one reporter of the pane. Herdr's own socket cannot be reached through them
//! (failure B83).

mod admission;
mod call;
mod client;
mod file_checks;
mod hello;
mod intake;
mod outbox;
mod server;
mod socket_file;

pub(crate) use admission::{Address, Admission, JobState};
pub(crate) use call::{Answers, Call, is_timeout};
pub(crate) use hello::{Hello, Refusal};
pub(crate) use intake::Intake;
pub(crate) use server::{Addresses, Control, is_ours};
pub(crate) use socket_file::SocketFile;

/// The variable that tells the command of `exec` the address of its supervisor.
pub(crate) const HERDR_REPORT_SOCKET: &str = "HERDR_REPORT_SOCKET";

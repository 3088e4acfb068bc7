//! The control socket: event lines in, output lines out, and nothing else.
//!
//! It lies beside the pane's lease and belongs to whoever holds it. Commands
//! that report once, and hosts that come later, speak through it to the one
//! reporter that the pane has. There is no way through it to Herdr's own
//! socket (failure B83).

mod call;
mod client;
mod intake;
mod outbox;
mod server;
mod socket_file;

pub(crate) use call::{Answers, Call, is_timeout};
pub(crate) use intake::Intake;
pub(crate) use server::{Control, is_ours};
pub(crate) use socket_file::SocketFile;

/// The variable that names the control socket for the children of `exec`.
pub(crate) const HERDR_REPORT_SOCKET: &str = "HERDR_REPORT_SOCKET";

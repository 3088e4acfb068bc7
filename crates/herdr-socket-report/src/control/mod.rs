//! The control socket: event lines in, output lines out, and nothing else.
//!
//! The owner of a pane listens beside its lease, and a supervisor at an address
//! of its own as well, which the command that it watches is told. Commands that
//! report once, and hosts that come later, speak through it to the one reporter
//! that the pane has. There is no way through it to Herdr's own socket (failure
//! B83).

mod call;
mod client;
mod door;
mod hello;
mod intake;
mod looks;
mod outbox;
mod server;
mod socket_file;

pub(crate) use call::{Answers, Call, is_timeout};
pub(crate) use door::{Address, Door, Standing};
pub(crate) use hello::{Hello, Refusal};
pub(crate) use intake::Intake;
pub(crate) use server::{Addresses, Control, is_ours};
pub(crate) use socket_file::SocketFile;

/// The variable that names its supervisor's socket to the command of `exec`.
pub(crate) const HERDR_REPORT_SOCKET: &str = "HERDR_REPORT_SOCKET";

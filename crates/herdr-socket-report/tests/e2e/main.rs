//! The outside behaviour of the sidecar: arguments, output, exit codes, signals and what the
//! pane shows.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what fails in a helper fails the test")]

mod agents;
mod cli;
mod commands;
mod control;
mod demo;
mod doctor;
mod emit;
mod exec;
mod exec_ends;
mod flush;
mod forwarding;
mod hostile;
mod hosts;
mod init;
mod lines;
mod odd;
mod others;
mod outcomes;
mod pane;
mod panes;
mod plugins;
mod program_status;
mod sessions;
mod settings;
mod signals;
mod sockets;
mod supervisor;
mod support;
mod tee;
mod terminal;
mod texts;
mod watch;
mod whose;

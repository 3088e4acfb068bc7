//! A fake Herdr for tests of integrations: a model of Herdr 0.8.2's panes and of the
//! agents that it detects in them, and a server around the model.
//!
//! It does not just record requests and answer `ok`. A report with a stale number, a
//! report on a pane with another source's session and a release by the wrong source get
//! an `ok` and change nothing, as on the real server. [`FakeHerdr::observe`] shows what
//! a reader of the pane sees. The fake server behaves like the real one on every
//! recording.
//!
//! - [`Model`] is the pure state: lines and the time go in, answers come out. It has no
//!   clock, socket or thread, which suits property tests.
//! - [`FakeHerdr`] serves a model on a Unix socket.
//! - The program `fake-herdr` does the same for tests in other languages.
//!
//! # A test in ten lines
//!
//! ```
//! use std::io::{BufRead, BufReader, Write};
//! use std::os::unix::net::UnixStream;
//! use std::time::Duration;
//!
//! let herdr = fake_herdr::FakeHerdr::start()?;
//!
//! // The integration under test; here a single report.
//! let mut socket = UnixStream::connect(herdr.socket_path())?;
//! socket.write_all(br#"{"id":"1","method":"pane.report_agent","params":{"pane_id":"w1:p1","#)?;
//! socket.write_all(br#""source":"custom:bot","agent":"bot","state":"working","seq":1}}"#)?;
//! socket.write_all(b"\n")?;
//! let mut reply = String::new();
//! BufReader::new(socket).read_line(&mut reply)?;
//!
//! let seen = herdr.wait_until(Duration::from_secs(5), |pane| pane.agent_status == "working")?;
//! assert_eq!(seen.agent.as_deref(), Some("bot"));
//! assert_eq!(herdr.log().len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(unix), doc = "The server exists only on Unix.")]

mod model;
#[cfg(unix)]
mod server;

pub use model::{
    AgentSession, Answer, Folders, Model, Observation, PaneProcess, Profile, Stream, UnknownProfile,
};
#[cfg(unix)]
pub use server::{Builder, Exchange, FakeHerdr, Fault, Stopper, UnknownFault, WaitTimedOut};

/// Runs the README's example as a test.
#[cfg(all(doctest, unix))]
#[doc = include_str!("../README.md")]
struct Readme;

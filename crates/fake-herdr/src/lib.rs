//! A Herdr that behaves: a model of Herdr 0.8.2's panes and of the agents it
//! detects in them, and a server around it, for anybody who tests a Herdr integration.
//!
//! It is not a recorder that always says `ok`. A report with a stale number, one on a
//! pane that carries somebody else's session, a release by the wrong source:
//! they all answer `ok` and change nothing, as on the real server, and
//! [`FakeHerdr::observe`] shows what a reader sees. On every recording of the real
//! server it does what that one did.
//!
//! - [`Model`] is the pure state: lines and the time in, answers out. No clock,
//!   socket or thread, so it joins property tests.
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
//! // The integration under test; here the smallest one there can be.
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

/// The README's example is a test.
#[cfg(all(doctest, unix))]
#[doc = include_str!("../README.md")]
struct Readme;

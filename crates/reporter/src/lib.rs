//! Reports the state of a coding agent to its [Herdr](https://herdr.dev) pane, and checks that the
//! pane shows it.
//!
//! The server answers `ok` even to a report that it ignores. This crate sends guarded reports over
//! the pane's socket, reads the pane back, recovers where it can, and otherwise says why the report
//! does not show. It spawns no process, installs no handler, and never makes the host wait for the
//! server.
//!
//! ```
//! use std::time::Duration;
//! use herdr_reporter::{Prompt, Reporter};
//!
//! # let herdr = fake_herdr::FakeHerdr::start()?;
//! # let variables = herdr.env();
//! # let lookup = move |name: &str| {
//! #     variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.into())
//! # };
//! let pane = Reporter::builder("my-agent") // `start` never fails; inert outside Herdr
//! #   .environment(lookup)
//!     .start();
//! pane.set_session("0b7c1f").set_title("Fix the login redirect");
//! let turn = pane.turn(); // working
//! {
//!     let _tool = turn.tool("grep"); // finished when it is dropped
//! }
//! let ask = turn.prompt(Prompt::approval("Run cargo test?")); // blocked, with the reason
//! # pane.flush(Duration::from_secs(5));
//! # let seen = herdr.observe(herdr.pane_id()).unwrap();
//! # assert_eq!(seen.agent_status, "blocked");
//! # assert_eq!(seen.state_labels["blocked"], "Run cargo test?");
//! drop(ask);
//! drop(turn); // idle
//! pane.close(Duration::from_millis(500)); // or close_async, or just drop
//! # assert_eq!(herdr.observe(herdr.pane_id()).unwrap().agent, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Parts
//!
//! - [`AgentEvent`] is one thing that a host says. A [`Handle`] has a call for each usual event.
//! - [`Reporter`] owns a claim, and any number of [`Handle`]s report through it. One thread with
//!   its own runtime sends the reports.
//! - [`ProgramStatus`] and [`Builder::program_status`] show the same in a terminal, also outside
//!   Herdr.
//! - [`Status`] says whether the events are reported, a [`Receipt`] what became of one report,
//!   and a [`Diagnostic`] what keeps reports from showing.
//!
//! Every type in these calls is re-exported here, so a host depends on this crate alone.

mod activity;
mod builder;
mod clock;
mod config;
mod diagnostic;
mod engine;
mod error;
mod event;
mod feed;
mod handle;
mod lease;
mod leavings;
#[doc(hidden)]
pub mod machine;
mod process;
mod program_status;
mod receipt;
mod reporter;
mod runtime;
mod scopes;
mod scrub;
#[doc(hidden)]
pub mod sidecar;
mod source;
mod status;

pub use herdr_proto::{
    InvalidValue, PaneId, ReportState, Seq, SourceId, StateKey, Ttl, strip_controls,
};
pub use herdr_socket_transport::Endpoint;

pub use activity::{OPEN_MAX, Refused};
pub use builder::Builder;
pub use config::{Config, Privacy, ReasonLabel, Role, Source, UnverifiedPane};
pub use diagnostic::{Diagnostic, DiagnosticKind};
pub use error::{Error, ErrorKind};
pub use event::{
    AgentEvent, EventId, ID_MAX_BYTES, MAIN_AGENT, Prompt, PromptKind, SessionStarted, TurnOutcome,
};
pub use feed::Feed;
pub use handle::Handle;
pub use machine::{Counters, Ended};
pub use program_status::ProgramStatus;
pub use receipt::{Outcome, Part, Reason, Receipt};
pub use reporter::{DROP_BUDGET, Reporter};
pub use scopes::{OpenPrompt, ToolRun, Turn};
pub use scrub::scrub;
pub use status::{Flushed, OffReason, Status};

/// Runs the examples of the README and of the guide for hosts as tests.
#[cfg(doctest)]
mod document_tests {
    #[doc = include_str!("../README.md")]
    struct Readme;

    #[doc = include_str!("../tests/embedding.md")]
    struct Embedding;
}

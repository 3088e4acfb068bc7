//! Reports a coding agent's state to its [Herdr](https://herdr.dev) pane, and
//! checks that the pane shows it.
//!
//! The server answers `ok` and may have ignored the report. This crate sends
//! guarded reports over the pane's socket, reads the pane back, recovers where
//! it can and otherwise says why it cannot. It spawns no process, installs no
//! handler and never blocks the host on the server.
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
//! let pane = Reporter::builder("my-agent") // never fails; inert outside Herdr
//! #   .environment(lookup)
//!     .start();
//! pane.session("0b7c1f").title("Fix the login redirect");
//! let turn = pane.turn(); // working
//! {
//!     let _tool = turn.tool("grep"); // ids are made; drop = finished
//! }
//! let ask = turn.prompt(Prompt::approval("Run cargo test?")); // blocked, the reason visible
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
//! - [`AgentEvent`] is what a host says; [`EventLine`] is the same as JSON
//!   lines. [`Activity`] folds events, [`Snapshot`] is what the pane is to show.
//! - [`machine::PaneMachine`] holds every rule of reporting, without clock,
//!   socket or thread.
//! - [`Reporter`] owns a claim and [`Handle`]s report to it; one thread with a
//!   runtime of its own executes what the machine says.

mod activity;
mod builder;
mod config;
mod diagnostic;
mod engine;
mod error;
mod event;
mod feed;
mod guards;
mod handle;
mod lease;
pub mod machine;
mod receipt;
mod reporter;
mod scrub;
mod source;

pub use activity::{Activity, OPEN_MAX, Presentation, Refused, Session, Snapshot, show_context};
pub use builder::Builder;
pub use config::{Config, Privacy, ReasonLabel, Role, Source, UnverifiedPane, Verify};
pub use diagnostic::{Diagnostic, DiagnosticKind};
#[cfg(unix)]
pub use engine::{await_shell, judge_identity};
pub use error::{Error, ErrorKind};
#[doc(hidden)]
pub use event::repaired;
pub use event::{
    AgentEvent, EventId, EventLine, ID_MAX_BYTES, LineError, LineProblem, MAIN_AGENT, Prompt,
    PromptKind, SessionStarted, TurnOutcome,
};
pub use feed::Feed;
pub use guards::{OpenPrompt, ToolRun, Turn};
pub use handle::{Flushed, Handle};
pub use lease::LeaseFile;
pub use machine::{Counters, Ended};
pub use receipt::{Outcome, Part, Reason, Receipt};
pub use reporter::{DROP_BUDGET, Reporter};
pub use scrub::scrub;
pub use source::{SourceNotice, source_for};

/// The README's example and those of the guide for hosts are tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;

    #[doc = include_str!("../tests/embedding.md")]
    struct Embedding;
}

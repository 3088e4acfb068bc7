//! placeholder docs
mod activity;
mod config;
mod diagnostic;
mod event;
pub mod machine;
mod receipt;

pub use activity::{Activity, OPEN_MAX, Presentation, Refused, Session, Snapshot, show_context};
pub use config::{Config, Privacy, ReasonLabel, Role, Source, UnverifiedPane, Verify};
pub use diagnostic::{Diagnostic, DiagnosticKind};
pub use event::{
    AgentEvent, EventLine, ID_MAX_BYTES, LineError, LineProblem, MAIN_AGENT, Prompt, PromptKind,
    SessionStarted,
};
pub use machine::{Counters, Ended};
pub use receipt::{Outcome, Part, Reason, Receipt};

//! The wire of Herdr's pane socket (Herdr 0.8.2, protocol 20, and the servers
//! that answer the same methods): typed requests and replies, error
//! codes, and the rules for text. No I/O and no runtime.
//!
//! # The wire in one paragraph
//!
//! A client connects, writes one line `{"id", "method", "params"}` with its
//! newline in a single write, reads one line `{"id", "result"}` or
//! `{"id", "error"}`, and closes. `params` is always an object and `id` always
//! a string. A refused line comes back with the id `""`, so `error` is checked
//! before the id; with one request per connection the id is not needed at all.
//!
//! # What `ok` means
//!
//! Only that the request was delivered. A stale sequence number, a foreign
//! session owner and a release without effect are all answered with `ok`;
//! `pane.get` tells what the pane shows. This crate reads and writes lines;
//! judging what became of a report is the reporter's task.
//!
//! # Strict out, lenient in
//!
//! Requests consist of types that are checked once ([`PaneId`], [`SourceId`],
//! [`AgentLabel`], [`TokenKey`], [`PresentationText`], …), because the server
//! would alter or silently drop what does not fit. Replies are read leniently:
//! unknown statuses and codes are kept as text, unknown fields are ignored, and
//! absent fields have defaults.
//!
//! # Where the rules come from
//!
//! Texts such as "protocol §5.2 A9" name a section and a row of
//! `docs/protocol.md` in this crate's repository, which says what the server
//! does; "failure B42" names an entry of `docs/failures.md`, which says what
//! goes wrong in the field and which tests try it.
//!
//! # A request and its reply
//!
//! ```
//! use herdr_proto::{Ack, AgentLabel, PaneId, ReportAgent, ReportState, Seq, SourceId};
//!
//! let pane: PaneId = "w1:p1".parse()?;
//! let mut report = ReportAgent::new(
//!     pane,
//!     SourceId::parse("custom:hostbot")?,
//!     AgentLabel::parse("hostbot")?,
//!     ReportState::Working,
//! );
//! report.seq = Some(Seq::new(1));
//! let line = herdr_proto::encode("r1", &report)?;
//! assert!(line.ends_with(b"\n"));
//!
//! let reply: Ack = herdr_proto::decode(br#"{"id":"r1","result":{"type":"ok"}}"#)?
//!     .expect("the server took it");
//! # let _ = reply;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod absent;
mod agent;
mod call;
mod envelope;
mod error;
mod escape;
mod explain;
mod ids;
mod input;
mod integration;
mod label;
pub mod limits;
mod metadata;
mod open;
mod pane;
mod ping;
mod process;
mod prompt;
mod read;
mod report;
mod resume;
mod session;
mod snapshot;
mod state;
mod subscribe;
mod text;
mod token;

pub use agent::{AgentGet, AgentInfo, AgentInfoReply, AgentList, AgentListReply};
pub use call::{Ack, Call, decode, encode};
pub use envelope::{Rejection, Reply};
pub use error::{Error, ErrorKind, InvalidValue};
pub use explain::{AgentExplain, AgentExplainReply, Explanation};
pub use ids::{PaneId, Seq, SourceId, Ttl};
pub use input::{SendInput, SendKeys, SendText};
pub use integration::{Integration, integration, integrations};
pub use label::{AgentLabel, canonical_label, known_labels};
pub use metadata::{ReportMetadata, StateLabels};
pub use open::{AgentStatus, ErrorCode};
pub use pane::{
    AgentSession, PaneCurrent, PaneGet, PaneInfo, PaneInfoReply, PaneList, PaneListReply, Scroll,
};
pub use ping::{Capabilities, Ping, Pong};
pub use process::{Process, ProcessInfo, ProcessInfoGet, ProcessInfoReply};
pub use prompt::AgentPrompt;
pub use read::{AgentRead, PaneRead, PaneReadReply, PaneText, ReadFormat, ReadSource};
pub use report::{ClearAgentAuthority, ReleaseAgent, ReportAgent, ReportAgentSession};
pub use resume::ResumeArgv;
pub use session::{SessionId, SessionPath, StartSource};
pub use snapshot::{SessionSnapshot, Snapshot, SnapshotReply, Tab, Workspace};
pub use state::{ReportState, StateKey};
pub use subscribe::{Subscribe, SubscriptionStarted};
pub use text::{PresentationText, strip_controls};
pub use token::{TokenEdit, TokenKey, TokenPatch};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

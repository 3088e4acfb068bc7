//! The Program Status Protocol (OSC 7501, [specification] revision 0.4) as a
//! program speaks it: what the program is doing, written as bytes for its
//! terminal, and the question whether the terminal reads them. No I/O and no
//! runtime.
//!
//! [specification]: https://www.superlogical.com/rex/docs/build/program-status
//!
//! # The protocol in one paragraph
//!
//! A terminal keeps one record for each [`RecordId`]: the root record for the
//! program itself and records below it for its parts. A [`Report`] replaces one
//! record as a whole, so each report repeats everything that the record is to
//! keep. [`Report::clear`] removes a record and all records below it. When the
//! program exits or a shell prompt begins, the terminal drops `working` and
//! `blocked` by itself; `done` and `error` stay until the user has seen them.
//! Nothing is acknowledged, and a report that breaks a rule is discarded
//! silently. For this reason no report of this crate can break one: names are
//! parsed into [`RecordId`] and [`AppName`], and texts are cleaned and cut.
//!
//! # Reporting
//!
//! ```
//! use herdr_program_status::{AppName, BlockedKind, RecordId, Report, State};
//!
//! let app = AppName::parse("deploy")?;
//! let region = RecordId::parse("eu-west")?;
//! let mut bytes = Vec::new();
//! Report::builder(State::Working).app(app).progress(40).build()?.write_to(&mut bytes);
//! Report::builder(State::Blocked)
//!     .id(region.clone())
//!     .kind(BlockedKind::Permission)
//!     .message("Deploy to production?")
//!     .build()?
//!     .write_to(&mut bytes);
//! Report::clear(region).write_to(&mut bytes);
//! assert_eq!(
//!     String::from_utf8(bytes)?,
//!     "\x1b]7501;state=working:progress=40:app=deploy\x1b\\\
//!      \x1b]7501;state=blocked:id=eu-west:kind=permission:msg=RGVwbG95IHRvIHByb2R1Y3Rpb24/\x1b\\\
//!      \x1b]7501;state=clear:id=eu-west\x1b\\",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Write these bytes to the terminal in one write, and never between the bytes
//! of another escape sequence.
//!
//! # Asking first
//!
//! A terminal that does not know the protocol ignores it, so asking is optional.
//! Only a program that reads the terminal's input itself can ask, because the
//! answer arrives there, between the user's keys. It writes [`QUERY`] and passes
//! what it reads through an [`AnswerFilter`].
//!
//! # Why this is not `termstate-core`
//!
//! `termstate-core` 0.0.2 reads and writes the same revision, is small, is
//! tested against the specification sentence by sentence, and serves as the
//! reader in this crate's tests. This crate does not write with it for three
//! reasons. Its detector reads the answer but does not hand on what the user
//! typed in the meantime. Its texts are cut between characters and keep the remains of
//! escape sequences and direction overrides, while the texts of Herdr's panes do
//! not; what it would save is the joining of seven pairs. And every release of a
//! version 0.0 may break its users.

mod answer;
mod app;
mod capabilities;
mod error;
pub mod limits;
mod record;
mod report;
mod state;
mod text;

pub use answer::{Answer, AnswerFilter, QUERY};
pub use app::AppName;
pub use capabilities::Capabilities;
pub use error::{Error, ErrorKind};
pub use record::RecordId;
pub use report::{Report, ReportBuilder};
pub use state::{BlockedKind, State};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

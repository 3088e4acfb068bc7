//! The output of `run`: messages on stderr and output lines on stdout. Neither ever blocks the
//! reading of the input.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use herdr_proto::strip_controls;
use herdr_reporter::{Diagnostic, DiagnosticKind, Feed, Receipt};
use serde_json::Value;

use crate::exit::Exit;
use crate::output::{Lines, NAME, Outlet, Record};
use crate::wait::blocking;

/// The time limit for writing the last lines.
const FINISH_LIMIT: Duration = Duration::from_millis(500);

/// The output of `run`. Clones share it.
#[derive(Clone)]
pub(crate) struct Output {
    errors: Lines,
    lines: Lines,
    receipts: bool,
    /// Whether stdout and stderr lead to the same place and everything is written to stdout.
    merged: bool,
    raised: Arc<Mutex<Vec<DiagnosticKind>>>,
    outlets: Arc<Mutex<Option<(Outlet, Outlet)>>>,
}

impl Output {
    /// Starts the output. With `receipts`, everything is also written to stdout.
    pub(crate) fn start(receipts: bool) -> Self {
        let errors = Outlet::start("stderr", io::stderr());
        let output = Outlet::start("stdout", io::stdout());
        Self {
            errors: errors.lines(),
            lines: output.lines(),
            receipts,
            merged: receipts && are_one(io::stdout().as_fd(), io::stderr().as_fd()),
            raised: Arc::default(),
            outlets: Arc::new(Mutex::new(Some((errors, output)))),
        }
    }

    pub(crate) fn errors(&self) -> Lines {
        self.errors.clone()
    }

    /// Writes a message to stderr.
    pub(crate) fn say(&self, what: &str) {
        self.errors.put(&format!("{NAME}{}", strip_controls(what)));
    }

    /// Writes a diagnostic to stderr, and to stdout if receipts are wanted.
    pub(crate) fn diagnose(&self, diagnostic: &str, detail: &str) {
        self.tell(diagnostic, detail, &format!("{diagnostic}: {detail}"));
    }

    /// Reports a line that is not an event, or an event of which a part was left out.
    pub(crate) fn bad_line(&self, line: u64, why: &str) {
        let detail = format!("line {line}: {why}");
        self.tell("bad_line", &detail, &detail);
    }

    fn tell(&self, diagnostic: &str, detail: &str, sentence: &str) {
        if !self.merged {
            self.say(sentence);
        }
        if self.receipts {
            self.lines.put(&Record::Diagnostic { diagnostic, detail }.line());
        }
    }

    pub(crate) fn answer(&self, id: &Value, refusal: Option<&'static str>) {
        let record = Record::Flushed { flushed: id, ok: refusal.is_none(), reason: refusal };
        self.lines.put(&record.line());
    }

    /// Writes the reporter's receipts and diagnostics until it has ended. The returned receiver
    /// is disconnected when everything has been written.
    pub(crate) fn follow(
        &self,
        mut diagnostics: Feed<Diagnostic>,
        mut receipts: Feed<Receipt>,
    ) -> Receiver<()> {
        let (following, follower) = mpsc::channel();
        let output = self.clone();
        thread::spawn(move || {
            blocking(async {
                loop {
                    tokio::select! {
                        Some(receipt) = receipts.recv() => if output.receipts {
                            output.lines.put(&Record::of_receipt(&receipt).line());
                        },
                        Some(it) = diagnostics.recv() => output.raise(it.kind, &it.detail),
                        else => return,
                    }
                }
            });
            drop(following);
        });
        follower
    }

    pub(crate) fn raised(&self, kinds: &[DiagnosticKind]) -> bool {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.iter().any(|kind| kinds.contains(kind))
    }

    pub(crate) fn finish(self, exit: Exit) -> Exit {
        let outlets = self.outlets.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((errors, output)) = outlets {
            let unread = output.finish(FINISH_LIMIT);
            if unread > 0 {
                self.say(&format!("{unread} output lines were dropped: nobody read them"));
            }
            errors.finish(FINISH_LIMIT);
        }
        exit
    }

    /// Writes a diagnostic of the reporter and remembers its kind.
    pub(crate) fn raise(&self, kind: DiagnosticKind, detail: &str) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).push(kind);
        // An event that exceeds a limit has already been reported with its line.
        if kind != DiagnosticKind::Limit {
            self.diagnose(kind.as_str(), detail);
        }
    }
}

/// Whether two descriptors lead to the same place.
fn are_one(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    let place = |fd: BorrowedFd<'_>| {
        let found = File::from(fd.try_clone_to_owned().ok()?).metadata().ok()?;
        Some((found.dev(), found.ino(), found.rdev()))
    };
    place(one).is_some_and(|place_of_one| place(other) == Some(place_of_one))
}

//! What `run` says: sentences on stderr, output lines on stdout. Neither ever
//! holds the reading of the input up.

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

/// How long the end waits for somebody to read what was said.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Says things. Clones say them in the same place.
#[derive(Clone)]
pub(crate) struct Voice {
    errors: Lines,
    output: Lines,
    receipts: bool,
    /// Stdout and stderr are one, and everything is told on stdout.
    once: bool,
    raised: Arc<Mutex<Vec<DiagnosticKind>>>,
    outlets: Arc<Mutex<Option<(Outlet, Outlet)>>>,
}

impl Voice {
    /// Begins to speak on stdout and stderr; with `receipts`, everything is
    /// told on stdout too.
    pub(crate) fn start(receipts: bool) -> Self {
        let errors = Outlet::start("stderr", io::stderr());
        let output = Outlet::start("stdout", io::stdout());
        Self {
            errors: errors.lines(),
            output: output.lines(),
            receipts,
            once: receipts && are_one(io::stdout().as_fd(), io::stderr().as_fd()),
            raised: Arc::default(),
            outlets: Arc::new(Mutex::new(Some((errors, output)))),
        }
    }

    pub(crate) fn errors(&self) -> Lines {
        self.errors.clone()
    }

    /// One sentence on stderr.
    pub(crate) fn say(&self, what: &str) {
        self.errors.put(&format!("{NAME}{}", strip_controls(what)));
    }

    /// A diagnostic on stderr, and on stdout if everything is told there.
    pub(crate) fn diagnose(&self, diagnostic: &str, detail: &str) {
        self.tell(diagnostic, detail, &format!("{diagnostic}: {detail}"));
    }

    /// A line that is not an event, or one of which something was left out.
    pub(crate) fn bad_line(&self, line: u64, why: &str) {
        let detail = format!("line {line}: {why}");
        self.tell("bad_line", &detail, &detail);
    }

    fn tell(&self, diagnostic: &str, detail: &str, sentence: &str) {
        if !self.once {
            self.say(sentence);
        }
        if self.receipts {
            self.output.put(&Record::Diagnostic { diagnostic, detail }.line());
        }
    }

    pub(crate) fn answer(&self, id: &Value, refusal: Option<&'static str>) {
        let record = Record::Flushed { flushed: id, ok: refusal.is_none(), reason: refusal };
        self.output.put(&record.line());
    }

    /// Passes on what the reporter says, until it has ended. What comes back
    /// hangs up when everything is passed on.
    pub(crate) fn follow(
        &self,
        mut diagnostics: Feed<Diagnostic>,
        mut receipts: Feed<Receipt>,
    ) -> Receiver<()> {
        let (following, follower) = mpsc::channel();
        let voice = self.clone();
        thread::spawn(move || {
            blocking(async {
                loop {
                    tokio::select! {
                        Some(receipt) = receipts.recv() => if voice.receipts {
                            voice.output.put(&Record::of_receipt(&receipt).line());
                        },
                        Some(it) = diagnostics.recv() => voice.raise(it.kind, &it.detail),
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
            let unread = output.finish(LAST_WORDS);
            if unread > 0 {
                self.say(&format!("{unread} output lines were dropped: nobody read them"));
            }
            errors.finish(LAST_WORDS);
        }
        exit
    }

    /// A diagnostic of one of the reporter's kinds, which is remembered.
    pub(crate) fn raise(&self, kind: DiagnosticKind, detail: &str) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).push(kind);
        // What does not fit is named by its line already.
        if kind != DiagnosticKind::Limit {
            self.diagnose(kind.as_str(), detail);
        }
    }
}

/// Whether what is written to both comes out at the same place.
fn are_one(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
    let place = |fd: BorrowedFd<'_>| {
        let found = File::from(fd.try_clone_to_owned().ok()?).metadata().ok()?;
        Some((found.dev(), found.ino(), found.rdev()))
    };
    place(one).is_some_and(|place_of_one| place(other) == Some(place_of_one))
}

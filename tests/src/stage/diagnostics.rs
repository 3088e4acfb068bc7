//! The diagnostics of a reporter.

use std::time::Instant;

use herdr_reporter::{Diagnostic, DiagnosticKind, Feed, Handle};

use super::{PATIENCE, Stage};

/// The diagnostics of a reporter from the first one on. Timeouts are left out for a program,
/// because any server is late on a busy machine. The fake in this process is never late.
#[derive(Debug)]
pub struct Diagnostics {
    feed: Feed<Diagnostic>,
    may_be_late: bool,
}

impl Stage {
    /// The diagnostics of this reporter.
    pub fn diagnostics(&self, reporter: &Handle) -> Diagnostics {
        Diagnostics { feed: reporter.diagnostics(), may_be_late: self.as_fake().is_none() }
    }
}

impl Diagnostics {
    /// The next diagnostic, if there is one.
    pub fn try_next(&mut self) -> Option<Diagnostic> {
        loop {
            let diagnostic = self.feed.try_recv()?;
            if self.is_news(&diagnostic) {
                return Some(diagnostic);
            }
        }
    }

    /// Waits for the next diagnostic; `None` if there is none within [`PATIENCE`].
    pub fn wait(&mut self) -> Option<Diagnostic> {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let diagnostic = self.feed.recv_timeout(left)?;
            if self.is_news(&diagnostic) {
                return Some(diagnostic);
            }
        }
    }

    /// The kinds of the present diagnostics.
    pub fn kinds(&mut self) -> Vec<DiagnosticKind> {
        std::iter::from_fn(|| self.try_next()).map(|diagnostic| diagnostic.kind).collect()
    }

    fn is_news(&self, diagnostic: &Diagnostic) -> bool {
        !(self.may_be_late && diagnostic.kind == DiagnosticKind::Timeout)
    }
}

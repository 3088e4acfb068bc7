//! What a reporter tells of itself.

use std::time::Instant;

use herdr_reporter::{Diagnostic, DiagnosticKind, Feed, Handle};

use super::{PATIENCE, Stage};

/// The diagnostics of a reporter, from the first one on. That a server was late
/// is no news on a program: it is true of any on a busy machine. The fake in
/// this process is never late.
#[derive(Debug)]
pub struct Told {
    feed: Feed<Diagnostic>,
    may_be_late: bool,
}

impl Stage {
    /// What this reporter tells.
    pub fn told(&self, reporter: &Handle) -> Told {
        Told { feed: reporter.diagnostics(), may_be_late: self.as_fake().is_none() }
    }
}

impl Told {
    /// The next one, if it is there.
    pub fn try_next(&mut self) -> Option<Diagnostic> {
        loop {
            let diagnostic = self.feed.try_recv()?;
            if self.is_news(&diagnostic) {
                return Some(diagnostic);
            }
        }
    }

    /// Waits for the next one; `None` if there is none within [`PATIENCE`].
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

    /// The kinds of those that are there.
    pub fn kinds(&mut self) -> Vec<DiagnosticKind> {
        std::iter::from_fn(|| self.try_next()).map(|diagnostic| diagnostic.kind).collect()
    }

    fn is_news(&self, diagnostic: &Diagnostic) -> bool {
        !(self.may_be_late && diagnostic.kind == DiagnosticKind::Timeout)
    }
}

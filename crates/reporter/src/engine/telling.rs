use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::diagnostic::Diagnostic;
use crate::feed::{Feed, Feeds};
use crate::receipt::Receipt;

/// Most diagnostics that are kept for readers that come later.
const KEPT: usize = 32;

/// What hosts are told.
#[derive(Debug, Default)]
pub(super) struct Telling {
    receipts: Feeds<Receipt>,
    diagnostics: Feeds<Diagnostic>,
    raised: Mutex<Vec<Diagnostic>>,
}

impl Telling {
    pub(super) fn receipts(&self, over: bool) -> Feed<Receipt> {
        self.receipts.subscribe([], over)
    }

    pub(super) fn diagnostics(&self, over: bool) -> Feed<Diagnostic> {
        // The lock keeps a diagnostic from being told twice or not at all.
        let raised = self.raised();
        self.diagnostics.subscribe(raised.iter().cloned(), over)
    }

    pub(super) fn receipt(&self, receipt: &Receipt) {
        self.receipts.publish(receipt);
    }

    /// Tells a diagnostic to whoever listens, now or later.
    pub(super) fn raise(&self, diagnostic: Diagnostic) {
        self.keep(&mut self.raised(), diagnostic);
    }

    /// As [`raise`](Self::raise), unless one of its kind was told before.
    pub(super) fn raise_once(&self, diagnostic: Diagnostic) {
        let mut raised = self.raised();
        if !raised.iter().any(|known| known.kind == diagnostic.kind) {
            self.keep(&mut raised, diagnostic);
        }
    }

    fn keep(&self, raised: &mut Vec<Diagnostic>, diagnostic: Diagnostic) {
        tracing::warn!(kind = diagnostic.kind.as_str(), detail = %diagnostic.detail);
        self.diagnostics.publish(&diagnostic);
        if raised.len() == KEPT {
            raised.remove(0);
        }
        raised.push(diagnostic);
    }

    pub(super) fn end(&self) {
        self.receipts.end();
        self.diagnostics.end();
    }

    fn raised(&self) -> MutexGuard<'_, Vec<Diagnostic>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

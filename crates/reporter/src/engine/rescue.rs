use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use herdr_proto::{ReleaseAgent, Seq};
use socket_transport::Client;

use crate::machine::{Claim, Ended, PaneCall};

/// How long a failed engine's release may take.
const DEADLINE: Duration = Duration::from_millis(500);

/// What is needed to give the pane back if the engine fails.
#[derive(Debug)]
pub(super) struct Will {
    release: ReleaseAgent,
    last_seq: AtomicU64,
}

impl Will {
    pub(super) fn new(claim: &Claim) -> Self {
        let release =
            ReleaseAgent::new(claim.pane.clone(), claim.source.clone(), claim.agent.clone());
        Self { release, last_seq: AtomicU64::new(0) }
    }

    /// Notes the number of a request that goes out.
    pub(super) fn note(&self, call: &PaneCall) {
        let seq = match call {
            PaneCall::Report(report) => report.seq,
            PaneCall::Metadata(report) => report.seq,
            PaneCall::Release(release) => release.seq,
            PaneCall::Get(_) | PaneCall::Ping(_) | PaneCall::Processes(_) | PaneCall::List(_) => {
                None
            }
        };
        if let Some(seq) = seq {
            self.last_seq.fetch_max(seq.get(), Ordering::Relaxed);
        }
    }

    pub(super) async fn execute(&self, client: &Client) -> Ended {
        let last = self.last_seq.load(Ordering::Relaxed);
        if last == 0 {
            return Ended::NothingToRelease;
        }
        let mut release = self.release.clone();
        release.seq = Some(Seq::new(last.saturating_add(1)));
        match client.with_deadline(DEADLINE).call(&release).await {
            Ok(_) => Ended::ReleasedUncleared,
            Err(_) => Ended::NotReleased,
        }
    }
}

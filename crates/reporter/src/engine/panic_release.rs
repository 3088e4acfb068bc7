use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use herdr_proto::{ReleaseAgent, Seq};
use herdr_socket_transport::Client;

use crate::machine::{Claim, Ended, PaneCall};

/// How long a failed engine's release may take.
const DEADLINE: Duration = Duration::from_millis(500);

/// What is needed to give the pane back if the engine fails.
#[derive(Debug)]
pub(super) struct PanicRelease {
    /// With the last number that was used; none if nothing was sent.
    release: Mutex<ReleaseAgent>,
}

impl PanicRelease {
    pub(super) fn new(claim: &Claim) -> Self {
        let release =
            ReleaseAgent::new(claim.pane.clone(), claim.source.clone(), claim.agent.clone());
        Self { release: Mutex::new(release) }
    }

    /// Notes a request that goes out: its number, and where the claim is by
    /// now and under which name.
    pub(super) fn note(&self, call: &PaneCall) {
        let mut release = self.release.lock().unwrap_or_else(PoisonError::into_inner);
        match call {
            PaneCall::Report(report) => {
                release.pane_id.clone_from(&report.pane_id);
                release.source.clone_from(&report.source);
                release.seq = release.seq.max(report.seq);
            }
            PaneCall::Metadata(report) => release.seq = release.seq.max(report.seq),
            PaneCall::Release(last) => release.seq = release.seq.max(last.seq),
            PaneCall::Clear(last) => release.seq = release.seq.max(last.seq),
            _ => {}
        }
    }

    pub(super) async fn execute(&self, client: &Client) -> Ended {
        let mut release = self.release.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(last) = release.seq else { return Ended::NothingToRelease };
        release.seq = Some(Seq::new(last.get().saturating_add(1)));
        match client.with_deadline(DEADLINE).call(&release).await {
            Ok(_) => Ended::ReleasedUncleared,
            Err(_) => Ended::NotReleased,
        }
    }
}

//! The shell around the machine: one thread with a runtime of its own, which
//! only executes. It enters no runtime of the host's.

mod exchange;
#[cfg(unix)]
mod forward;
mod hold;
#[cfg(unix)]
mod identity;
mod lease;
mod outlook;
mod owners;
mod run;
mod server;
mod shared;
mod waits;
#[cfg(all(test, unix))]
mod wake_ups;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use herdr_socket_transport::{Client, Endpoint};
use tokio::runtime::Runtime;

use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::machine::{Claim, Ended};
#[cfg(unix)]
pub(crate) use exchange::exchange;
#[cfg(unix)]
pub(crate) use identity::{await_shell, judge_identity};
pub(crate) use outlook::Outlook;
pub(crate) use shared::Shared;

/// What an engine is started with.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) claim: Claim,
    pub(crate) client: Client,
    /// The pane as the environment has it.
    pub(crate) endpoint: Endpoint,
    /// The process that must run in the pane; `None` is this one.
    pub(crate) agent: Option<u32>,
}

/// Starts the thread that owns a pane's socket, and retires the reporter of this
/// process that had the pane before. If it cannot start, that one stays.
///
/// Everything that touches a disk or a socket happens in the thread: the host's
/// own may be in a runtime, and its disk may hang.
pub(crate) fn start(shared: &Arc<Shared>, plan: Plan) -> io::Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (hand_in, handed) = mpsc::sync_channel::<(Runtime, Option<Arc<Shared>>)>(1);
    let endpoint = plan.endpoint.clone();
    let of_thread = shared.clone();
    let thread = std::thread::Builder::new().name("herdr-reporter".to_owned()).spawn(move || {
        let Ok((runtime, predecessor)) = handed.recv() else { return };
        let run = AssertUnwindSafe(|| execute(&runtime, &of_thread, plan, predecessor));
        let ended = catch_unwind(run).unwrap_or(Ended::NotReleased);
        // A disk that hangs must not keep the thread.
        runtime.shutdown_background();
        of_thread.end(ended);
    });
    match thread {
        Ok(thread) => {
            let predecessor = owners::take_over(&endpoint, shared);
            let _ = hand_in.send((runtime, predecessor));
            Ok(thread)
        }
        Err(error) => {
            // A host's runtime may not be blocked by the end of another one.
            runtime.shutdown_background();
            Err(error)
        }
    }
}

fn execute(
    runtime: &Runtime,
    shared: &Arc<Shared>,
    plan: Plan,
    predecessor: Option<Arc<Shared>>,
) -> Ended {
    let mut engine = run::Engine::new(shared, plan, predecessor);
    let run = AssertUnwindSafe(|| runtime.block_on(engine.run()));
    catch_unwind(run).unwrap_or_else(|_| {
        if shared.is_retired() {
            return Ended::NothingToRelease;
        }
        // A bug here must not leave a lie on the pane.
        let release = AssertUnwindSafe(|| runtime.block_on(engine.release_after_a_panic()));
        let ended = catch_unwind(release);
        shared.fail();
        shared.raise(&Diagnostic::new(
            DiagnosticKind::EngineFailed,
            "the reporter has failed by a bug of its own and reports no more; the pane is given back",
        ));
        ended.unwrap_or(Ended::NotReleased)
    })
}

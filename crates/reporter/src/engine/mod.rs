//! The shell around the machine: one thread with its own runtime, which does what the machine says.
//! It never uses a runtime of the host.

mod exchange;
#[cfg(unix)]
mod forward;
mod hold;
mod identity;
mod lease;
mod owners;
mod program;
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
pub(crate) use program::ProgramUpdate;
pub(crate) use shared::Shared;

/// What an engine needs to start.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) claim: Claim,
    pub(crate) client: Client,
    /// The pane as the environment has it.
    pub(crate) endpoint: Endpoint,
    /// The process that must run in the pane; `None` means this process.
    pub(crate) agent: Option<u32>,
}

/// Starts the thread that talks to the pane's server, and retires the earlier reporter of this
/// process for the same pane. If the thread cannot start, the earlier reporter stays.
///
/// Everything that uses a disk or a socket happens in that thread: the calling thread may belong to
/// an async runtime, and a disk may hang.
pub(crate) fn start(shared: &Arc<Shared>, plan: Plan) -> io::Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (sender, receiver) = mpsc::sync_channel::<(Runtime, Option<Arc<Shared>>)>(1);
    let endpoint = plan.endpoint.clone();
    let engine_shared = shared.clone();
    let thread = std::thread::Builder::new().name("herdr-reporter".to_owned()).spawn(move || {
        let Ok((runtime, predecessor)) = receiver.recv() else { return };
        let run = AssertUnwindSafe(|| execute(&runtime, &engine_shared, plan, predecessor));
        let ended = catch_unwind(run).unwrap_or(Ended::NotReleased);
        // A disk that hangs must not keep this thread alive.
        runtime.shutdown_background();
        engine_shared.end(ended);
    });
    match thread {
        Ok(thread) => {
            let predecessor = owners::take_over(&endpoint, shared);
            let _ = sender.send((runtime, predecessor));
            Ok(thread)
        }
        Err(error) => {
            // Dropping a runtime blocks, which panics inside a runtime of the host.
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
        // A bug in the engine must not leave a false state on the pane.
        let release = AssertUnwindSafe(|| runtime.block_on(engine.release_after_a_panic()));
        let ended = catch_unwind(release);
        shared.fail();
        shared.raise(&Diagnostic::new(
            DiagnosticKind::EngineFailed,
            "the reporter has failed because of a bug in it and reports nothing more; the pane is released",
        ));
        ended.unwrap_or(Ended::NotReleased)
    })
}

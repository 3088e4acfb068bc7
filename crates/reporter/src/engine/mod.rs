//! The shell around the machine: one thread with a runtime of its own, which
//! only executes. It enters no runtime of the host's.

mod failure;
mod flushes;
#[cfg(unix)]
mod forward;
#[cfg(unix)]
mod identity;
mod news;
mod owners;
mod rescue;
mod run;
mod shared;
mod telling;
mod tenure;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use herdr_socket_transport::{Client, Endpoint};
use tokio::runtime::Runtime;

use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::machine::{Claim, Ended, PaneMachine};
#[cfg(unix)]
pub(crate) use identity::{await_shell, judge_identity};
pub(crate) use owners::take_over;
#[cfg(unix)]
pub(crate) use run::exchange;
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
    /// The reporter of this process that had the pane before.
    pub(crate) predecessor: Option<Arc<Shared>>,
}

/// Starts the thread that owns a pane's socket.
///
/// Everything that touches a disk or a runtime happens in it: the host's thread
/// may be in a runtime of its own, and its disk may hang.
pub(crate) fn start(shared: Arc<Shared>, plan: Plan) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("herdr-reporter".to_owned()).spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let ended = match runtime {
            Ok(runtime) => {
                let ended = execute(&runtime, &shared, plan);
                // A disk that hangs must not keep the thread.
                runtime.shutdown_background();
                ended
            }
            Err(error) => {
                let detail = format!("the reporter's runtime cannot start: {error}");
                shared.raise(Diagnostic::new(DiagnosticKind::ConnectFailed, detail));
                Ended::NothingToRelease
            }
        };
        shared.end(ended);
    })
}

fn execute(runtime: &Runtime, shared: &Arc<Shared>, plan: Plan) -> Ended {
    let Plan { claim, client, endpoint, agent, predecessor } = plan;
    let will = rescue::Will::new(&claim);
    let engine = async {
        let tenure = tenure::Tenure::new(shared.lease_of(&endpoint), predecessor);
        let machine = PaneMachine::new(claim);
        run::Engine::new(shared, machine, client.clone(), tenure, endpoint, agent, &will)
            .run()
            .await
    };
    catch_unwind(AssertUnwindSafe(|| runtime.block_on(engine))).unwrap_or_else(|_| {
        if shared.is_retired() {
            return Ended::NothingToRelease;
        }
        // A bug here must not leave a lie on the pane.
        tracing::error!("the reporter's engine failed; releasing the pane");
        catch_unwind(AssertUnwindSafe(|| runtime.block_on(will.execute(&client))))
            .unwrap_or(Ended::NotReleased)
    })
}

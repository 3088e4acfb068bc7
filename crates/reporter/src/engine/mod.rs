//! The shell around the machine: one thread with a runtime of its own, which
//! only executes. It enters no runtime of the host's.

mod failure;
mod rescue;
mod run;
mod shared;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use socket_transport::Client;

use crate::machine::{Claim, Ended, PaneMachine};
pub(crate) use shared::Shared;

/// Starts the thread that owns a pane's socket.
pub(crate) fn start(
    shared: Arc<Shared>,
    claim: Claim,
    client: Client,
) -> io::Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("herdr-reporter".to_owned()).spawn(move || {
        let will = rescue::Will::new(&claim);
        let engine = async {
            run::Engine::new(&shared, PaneMachine::new(claim), client.clone(), &will).run().await
        };
        let ended = catch_unwind(AssertUnwindSafe(|| runtime.block_on(engine)));
        let ended = ended.unwrap_or_else(|_| {
            // A bug here must not leave a lie on the pane.
            tracing::error!("the reporter's engine failed; releasing the pane");
            catch_unwind(AssertUnwindSafe(|| runtime.block_on(will.execute(&client))))
                .unwrap_or(Ended::NotReleased)
        });
        shared.end(ended);
    })
}

//! Whether this process belongs to the pane.

use std::path::Path;

use herdr_proto::{ProcessInfo, ProcessInfoGet, ProcessInfoReply, decode, encode};
use herdr_reporter::machine::Identity;
use herdr_reporter::process::ancestors;
use herdr_reporter::{Config, UnverifiedPane, await_shell, judge_identity};
use herdr_socket_transport::Peer;

use super::{Direct, Problem};

impl Direct {
    /// Makes sure that `agent` runs in the pane (failure B34). Without one,
    /// this process or one that it comes from has to: hosts often start their
    /// hooks in a session of their own, while a server of tmux that was born in
    /// the pane is nobody's child.
    pub(crate) async fn check_place(
        &self,
        config: &Config,
        agent: Option<u32>,
    ) -> Result<(), Problem> {
        if config.any_pane {
            return Ok(());
        }
        let unprovable = match config.unverified_pane {
            UnverifiedPane::Deny => Err(Problem::Unproven),
            _ => Ok(()),
        };
        let call = ProcessInfoGet::new(self.pane.clone());
        let Ok(line) = encode("p", &call) else { return unprovable };
        let (reply, server) = self.client.exchange_with(&line).await.map_err(Problem::Transport)?;
        let Ok(Ok(ProcessInfoReply { process_info: info, .. })) = decode(&reply) else {
            return unprovable;
        };
        match judge_place(&info, agent, self.client.socket(), server).await {
            Identity::Proven => Ok(()),
            Identity::Foreign => Err(Problem::Foreign),
            _ => unprovable,
        }
    }
}

/// Judges whether `agent` runs in a pane, or without one this process or one
/// that it comes from.
pub(crate) async fn judge_place(
    info: &ProcessInfo,
    agent: Option<u32>,
    socket: &Path,
    server: Peer,
) -> Identity {
    await_shell(info, server).await;
    let judge = |process| judge_identity(info, process, socket, server);
    let identity = judge(agent);
    let proves = |ancestor| judge(Some(ancestor)) == Identity::Proven;
    if identity == Identity::Foreign && agent.is_none() && ancestors(std::process::id()).any(proves)
    {
        return Identity::Proven;
    }
    identity
}

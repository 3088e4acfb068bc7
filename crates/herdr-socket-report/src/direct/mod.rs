//! Reporting to Herdr without a reporter: one request after the other, nothing
//! remembered, nothing kept on disk.
//!
//! Title and labels go as edits of the source's record. A report of them
//! without a `clear_*` flag would replace the record, so that a title set by
//! one process would erase the labels set by another (failure B42); with
//! `clear_display_agent`, which nothing here ever sets, it edits (protocol
//! §5.6 D5). They and the tokens go without a number: the server takes such
//! reports always, whatever the clocks of other processes said.

mod batch;
mod beside;
mod metadata;
mod place;
mod state;

use std::fmt;
use std::time::Duration;

use herdr_proto::{AgentLabel, Call, ErrorCode, PaneGet, PaneId, PaneInfo, SourceId, Ttl};
use herdr_reporter::{Config, Reason};
use herdr_socket_transport::{Client, Endpoint, ErrorKind, Options};

use crate::exit::Exit;

pub(crate) use batch::Batch;
pub(crate) use metadata::Guard;
pub(crate) use place::judge_place;
pub(crate) use state::Said;

/// How long one request may take. A hook should not wait for long, and a
/// server that takes longer is not worth it.
const REQUEST: Duration = Duration::from_millis(1500);

/// A pane, and who reports to it.
#[derive(Debug)]
pub(crate) struct Direct {
    client: Client,
    pane: PaneId,
    source: SourceId,
    agent: AgentLabel,
    /// How long titles, labels and tokens stay.
    ttl: Ttl,
    /// Whether a source that nothing can unmute is replaced by `NAME.2`.
    fresh_source: bool,
}

/// Why something was not reported, or does not show.
#[derive(Debug)]
pub(crate) enum Problem {
    /// It did not get to the server, or the server refused it.
    Transport(herdr_socket_transport::Error),
    /// The server has no such pane.
    NoPane(PaneId),
    /// It was delivered and has no effect.
    NotApplied(Reason),
    /// A release of our row, where the pane shows this agent.
    NotOurs(String),
    /// This process is not in the pane.
    Foreign,
    /// Nobody can tell, and the settings want it proven.
    Unproven,
}

impl Direct {
    pub(crate) fn new(
        endpoint: &Endpoint,
        source: SourceId,
        agent: AgentLabel,
        ttl: Ttl,
        config: &Config,
    ) -> Self {
        let options = Options::default().deadline(REQUEST);
        let options = options.allow_foreign_socket(config.allow_foreign_socket);
        let client = Client::new(endpoint.socket(), options);
        let fresh_source = config.fresh_source;
        Self { client, pane: endpoint.pane().clone(), source, agent, ttl, fresh_source }
    }

    /// The pane as it is now.
    pub(crate) async fn look(&self) -> Result<PaneInfo, Problem> {
        Ok(self.call(&PaneGet::new(self.pane.clone())).await?.pane)
    }

    async fn call<C: Call>(&self, call: &C) -> Result<C::Reply, Problem> {
        self.client.call(call).await.map_err(|error| match error.rejection() {
            Some(refused) if refused.code == ErrorCode::PANE_NOT_FOUND => {
                Problem::NoPane(self.pane.clone())
            }
            _ => Problem::Transport(error),
        })
    }
}

impl Problem {
    /// The exit code, where somebody asked for one.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Transport(error) if error.kind() == ErrorKind::Rejected => Exit::Refused,
            Self::Transport(_) => Exit::Unreachable,
            Self::NotApplied(_) => Exit::NotApplied,
            Self::NoPane(_) | Self::NotOurs(_) | Self::Foreign | Self::Unproven => Exit::Refused,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(f),
            Self::NoPane(pane) => write!(
                f,
                "the server has no pane {pane} (pane_not_found): it was closed, or the id is of \
                 another server; doctor looks"
            ),
            Self::NotOurs(shown) => write!(
                f,
                "nothing is given back: the pane shows {shown}, and no row of ours; if that row is \
                 meant, name it with --agent"
            ),
            Self::NotApplied(reason) => write!(f, "not shown: {reason}; {}", reason.remedy()),
            Self::Foreign => f.write_str(
                "this process does not run in the pane that HERDR_PANE_ID names; nothing is \
                 reported (--any-pane reports all the same)",
            ),
            Self::Unproven => f.write_str(
                "whether this process runs in the pane cannot be told from here, and \
                 unverified_pane is deny; nothing is reported (--any-pane reports all the same)",
            ),
        }
    }
}

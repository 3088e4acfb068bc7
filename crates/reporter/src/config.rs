use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use herdr_proto::{SourceId, StateKey, Ttl};
use herdr_socket_transport::Options;

/// What is reported and how. A library host sets the fields; only the sidecar reads them from files
/// and the environment.
///
/// ```
/// let mut config = herdr_reporter::Config::default();
/// config.privacy = herdr_reporter::Privacy::Tool;
/// config.display_name = Some("My agent".into());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "independent switches, set by name")]
pub struct Config {
    /// Whether anything is reported at all. Default: true.
    pub enabled: bool,
    /// The source of the reports. Default: `custom:` and the agent's label in lower case, with `-`
    /// for each character that a source must not contain.
    pub source: Option<SourceId>,
    /// Whether the first report of a claim includes the session. Default: true. Herdr 0.8.2 drops
    /// it for custom sources (failure B40).
    pub report_session: bool,
    /// Whether the session is shown as the token `session`. Default: false.
    pub session_token: bool,
    /// Whether the progress of the main agent's turn is shown as the token `progress`, for example
    /// `40%`. Default: false.
    pub progress_token: bool,
    /// Where the pane's title comes from. Default: from the events.
    pub title: Source,
    /// Where the reason for a block comes from. Default: from the prompt or run that waits.
    pub message: Source,
    /// Where the reason while working comes from. Default: from the newest tool.
    pub working_message: Source,
    /// Which tokens are sent. Default: model, context and the host's own tokens. [`Source::None`]
    /// sends none of them.
    pub tokens: Source,
    /// Texts for states, used where the host sets none. A blank text counts as absent. Default:
    /// none.
    pub state_labels: BTreeMap<StateKey, String>,
    /// The states for which the reason is shown as the state's label. Default: blocked only.
    pub reason_label: ReasonLabel,
    /// How much of the host's texts is sent. Default: all.
    pub privacy: Privacy,
    /// Shown instead of the agent's label. Default: none.
    pub display_name: Option<String>,
    /// How long idle is held back after work, in case work goes on. Default: 300 ms.
    pub settle: Duration,
    /// How long title, labels and tokens stay if they are not refreshed. They are sent again after
    /// a third of it. Default: 180 s.
    pub metadata_ttl: Ttl,
    /// Whether the pane is read back after a claim and after a change of the state. If false, it is
    /// still read at intervals, to repair a row that another writer has taken. Default: true.
    pub verify: bool,
    /// Whether a socket that another user serves is accepted. Default: false.
    pub allow_foreign_socket: bool,
    /// Whether a request that is safe to repeat is sent a second time, on another connection, when
    /// its answer is late: a request that just misses Herdr's check for requests waits 100 ms for
    /// the next check. Default: true.
    pub hedge: bool,
    /// Whether to claim a pane even if this process is proven not to run in it. Default: false.
    pub any_pane: bool,
    /// What to do if it cannot be proven whether this process runs in the pane. Default: claim the
    /// pane.
    pub unverified_pane: UnverifiedPane,
    /// The folder of the leases, by which the processes of this machine agree on one reporter for
    /// each pane. Default: `$XDG_RUNTIME_DIR/herdr-socket-report`, else a folder of this user's own
    /// in the temporary folder.
    pub runtime_folder: Option<PathBuf>,
    /// What this process is to the pane. Default: [`Role::Interactive`].
    pub role: Role,
    /// If the path of a loaded reporter contains one of these texts, that reporter reports in place
    /// of this one. Default: `herdr-agent-state`.
    pub defer_to: Vec<String>,
    /// The paths of the reporters that the host has loaded. Default: none.
    pub loaded_reporters: Vec<PathBuf>,
    /// Whether the state is left to Herdr. For the sidecar.
    #[doc(hidden)]
    pub leave_state: bool,
    /// Whether the user has set the agent's label. If not, the state is left to Herdr where it
    /// detects an agent in the pane. For the sidecar.
    #[doc(hidden)]
    pub own_label: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            enabled: true,
            source: None,
            report_session: true,
            session_token: false,
            progress_token: false,
            title: Source::Auto,
            message: Source::Auto,
            working_message: Source::Auto,
            tokens: Source::Auto,
            state_labels: BTreeMap::new(),
            reason_label: ReasonLabel::Blocked,
            privacy: Privacy::Text,
            display_name: None,
            settle: Duration::from_millis(300),
            metadata_ttl: DEFAULT_TTL,
            verify: true,
            allow_foreign_socket: false,
            hedge: true,
            any_pane: false,
            unverified_pane: UnverifiedPane::Allow,
            runtime_folder: None,
            role: Role::Interactive,
            defer_to: vec!["herdr-agent-state".to_owned()],
            loaded_reporters: Vec::new(),
            leave_state: false,
            own_label: true,
        }
    }
}

impl Config {
    /// The options of the transport.
    pub(crate) fn transport(&self) -> Options {
        Options::default().allow_foreign_socket(self.allow_foreign_socket).hedge(self.hedge)
    }
}

/// Three minutes: long enough for two lost refreshes, short enough that a killed host's title does
/// not stay for long (failure B55).
const DEFAULT_TTL: Ttl = match Ttl::from_millis_const(180_000) {
    Some(ttl) => ttl,
    None => panic!("within the range"),
};

/// Where a text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Source {
    /// From the events.
    #[default]
    Auto,
    /// It is not sent.
    None,
}

/// For which states the reason becomes the state's label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ReasonLabel {
    /// While blocked.
    #[default]
    Blocked,
    /// While blocked and while working.
    All,
    /// Never.
    Off,
}

/// How much of the host's texts is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Privacy {
    /// Everything in the events.
    #[default]
    Text,
    /// The names of tools, titles and tokens. The text of an approval counts as a name; a question
    /// becomes `Waiting for an answer`.
    Tool,
    /// Only `Waiting for approval`, `Waiting for an answer`, `Workflow needs attention`, and the
    /// derived tokens for model and context. No title, tool name, session, label or token of the
    /// host.
    Fixed,
}

/// What to do if it cannot be proven whether this process runs in the pane, as in a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum UnverifiedPane {
    /// Claim it.
    #[default]
    Allow,
    /// Leave it alone.
    Deny,
}

/// What this process is to the pane. Only an interactive one claims it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Role {
    /// The agent that a person talks to in the pane.
    #[default]
    Interactive,
    /// A run without a person, such as print mode or CI (failure B21).
    Headless,
    /// A helper of another agent.
    Subagent,
    /// A step of a workflow.
    WorkflowStage,
}

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use herdr_proto::{SourceId, StateKey, Ttl};
use herdr_socket_transport::Options;

/// What is reported and how. Files and environment are the sidecar's; a
/// library host sets fields.
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
    /// Who reports. Default: `custom:` and the agent's label in lower case, with
    /// `-` for what a source cannot hold.
    pub source: Option<SourceId>,
    /// Whether the session goes out with the first report of a claim. Default:
    /// true. Herdr 0.8.2 drops it for custom sources (failure B40).
    pub report_session: bool,
    /// Whether the session is shown as token `session`. Default: false.
    pub session_token: bool,
    /// Whether the progress of the main agent's turn is shown as token
    /// `progress`, for example `40%`. Default: false.
    pub progress_token: bool,
    /// Where the pane's title comes from. Default: the session's.
    pub title: Source,
    /// Where the reason of a block comes from. Default: the prompt or run.
    pub message: Source,
    /// Where the reason while working comes from. Default: the newest tool.
    pub working_message: Source,
    /// Which tokens go out. Default: model, context and the host's own;
    /// [`Source::None`] also drops the host's.
    pub tokens: Source,
    /// Texts for states, used where the host sets none. Blank ones count as
    /// absent. Default: none.
    pub state_labels: BTreeMap<StateKey, String>,
    /// For which states the reason is shown as the state's label. Default:
    /// blocked only.
    pub reason_label: ReasonLabel,
    /// How much of the host's texts goes out. Default: all.
    pub privacy: Privacy,
    /// Shown instead of the agent's label. Default: none.
    pub display_name: Option<String>,
    /// How long an idle that follows work waits for work to resume. Default:
    /// 300 ms.
    pub settle: Duration,
    /// How long title, labels and tokens outlive us. They are sent again after
    /// a third of it. Default: 180 s.
    pub metadata_ttl: Ttl,
    /// Whether the pane is read back after a claim and a change of state, to
    /// see whether it shows them. It is watched all the same, to repair a row
    /// that somebody took. Default: true.
    pub verify: bool,
    /// Whether a socket that another user serves is accepted. Default: false.
    pub allow_foreign_socket: bool,
    /// Whether a request that is safe to repeat goes out again on another
    /// connection when its answer is late: Herdr looks for a request that comes
    /// a moment late only 100 ms later. Default: true.
    pub hedge: bool,
    /// Whether to claim a pane that is proven not to be ours. Default: false.
    pub any_pane: bool,
    /// What to do on a pane that can be proven neither ours nor foreign.
    /// Default: claim it.
    pub unverified_pane: UnverifiedPane,
    /// Where leases are kept, by which the processes of this machine agree on
    /// one reporter per pane. Default: `$XDG_RUNTIME_DIR/herdr-socket-report`,
    /// else a folder of the user's own in the temporary one.
    pub runtime_folder: Option<PathBuf>,
    /// What this process is to the pane. Default: [`Role::Interactive`].
    pub role: Role,
    /// A loaded reporter whose path contains one of these reports for us.
    /// Default: `herdr-agent-state`.
    pub defer_to: Vec<String>,
    /// Paths of the reporters that the host has actually loaded. Default: none.
    pub loaded_reporters: Vec<PathBuf>,
    /// Whether Herdr says the state of the agent. For the sidecar.
    #[doc(hidden)]
    pub leave_state: bool,
    /// Whether somebody asked for the agent's label. Otherwise the state is left
    /// to Herdr where it detects an agent of its own in the pane. For the sidecar.
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
    /// How the server is spoken to.
    pub(crate) fn transport(&self) -> Options {
        Options::default().allow_foreign_socket(self.allow_foreign_socket).hedge(self.hedge)
    }
}

/// Three minutes: long enough for two lost refreshes, short enough that a
/// killed host's title does not stay for long (failure B55).
const DEFAULT_TTL: Ttl = match Ttl::from_millis_const(180_000) {
    Some(ttl) => ttl,
    None => panic!("within the range"),
};

/// Where a text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Source {
    /// From what the events carry.
    #[default]
    Auto,
    /// It does not go out.
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

/// How much of the host's texts goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Privacy {
    /// What the events carry.
    #[default]
    Text,
    /// Names of tools, titles and tokens. What an approval is for counts as a
    /// name; a question becomes `Waiting for an answer`.
    Tool,
    /// `Waiting for approval`, `Waiting for an answer`, `Workflow needs
    /// attention`, and the derived model and context. No title, tool name,
    /// session, label or token of the host.
    Fixed,
}

/// What to do on a pane that can be proven neither ours nor foreign, as in
/// a container.
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

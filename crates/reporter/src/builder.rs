use std::env;
use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{IsTerminal, Write};

use herdr_proto::{AgentLabel, ReportState, SourceId};
use herdr_socket_transport::{Client, Discovery, Endpoint};

use crate::activity::Activity;
use crate::config::{Config, Role};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::engine::{self, Shared};
use crate::error::{Error, ErrorKind};
use crate::event::{AgentEvent, EventId, Prompt, PromptKind};
use crate::machine::{Claim, Ended};
use crate::program_status::{ProgramStatus, StatusWriter, Terminal, app_name};
use crate::reporter::Reporter;
use crate::source::{SourceNotice, source_for};
use crate::status::{OffReason, Status};

const NAMELESS: &str = "agent";

/// Why a reporter is inert, and a diagnostic if that should not be so.
type Inert = (Status, Option<Diagnostic>);

/// How a [`Reporter`] is set up.
#[derive(Debug)]
#[must_use = "nothing is reported until start"]
pub struct Builder {
    agent: String,
    config: Config,
    endpoint: Option<Discovery>,
    initial: Option<ReportState>,
    process: Option<u32>,
    pub(crate) activity: Activity,
    pub(crate) terminal: Option<Terminal>,
}

impl Builder {
    pub(crate) fn new(agent: String) -> Self {
        Self {
            agent,
            config: Config::default(),
            endpoint: None,
            initial: None,
            process: None,
            activity: Activity::default(),
            terminal: None,
        }
    }

    /// What is reported and how. Default: [`Config::default`].
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// The pane to report to. Default: the pane that the environment names.
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.endpoint = Some(Discovery::Found(endpoint));
        self
    }

    /// Reads variables through this function instead of from this process's environment.
    pub fn environment(mut self, lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        self.endpoint = Some(Endpoint::from_env(lookup));
        self
    }

    /// The state that the agent is in already, so that the first report is true (failure B18).
    /// `Working` is a running turn of the main agent; the first [`turn`](crate::Handle::turn) takes
    /// it over. `Blocked` is such a turn with an open prompt, which is closed when the first turn
    /// begins: from then on the host says what is asked. Default: the pane is claimed at the first
    /// event that says a state.
    pub fn initial(mut self, state: ReportState) -> Self {
        self.initial = Some(state);
        self
    }

    /// What this process is to the pane. Only [`Role::Interactive`] reports.
    pub fn role(mut self, role: Role) -> Self {
        self.config.role = role;
        self
    }

    /// The process that must run in the pane, for a reporter that reports for another process.
    /// Default: this process.
    pub fn process(mut self, pid: u32) -> Self {
        self.process = Some(pid);
        self
    }

    /// Also writes what the agent does to this terminal, with the Program Status Protocol (OSC
    /// 7501), on a thread of its own; this works outside Herdr too. Only changes are written, at
    /// most ten times a second, each time in one write. Nothing is written if `terminal` is not a
    /// terminal. Default: none.
    ///
    /// A host that draws on the terminal should write the bytes itself, between its own sequences;
    /// see [`Handle::program_status`](crate::Handle::program_status).
    pub fn program_status(mut self, terminal: impl Write + IsTerminal + Send + 'static) -> Self {
        if terminal.is_terminal() {
            self.terminal = Some(Terminal::new(terminal));
        }
        self
    }

    /// Checks whether the source and the label may be used.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OfficialSource`] for one of Herdr's own pairs, [`ErrorKind::InvalidLabel`] for
    /// a blank label.
    pub fn check(&self) -> Result<(), Error> {
        let Some(label) = AgentLabel::normalize(&self.agent) else {
            return Err(Error::new(
                ErrorKind::InvalidLabel,
                "the agent's label is blank; expected a short name such as my-agent",
            ));
        };
        let source = self.source(&label);
        match SourceNotice::of(&source, &label) {
            Some(notice) if notice.is_refused() => {
                let detail = format!("{source} with {label}: {}", notice.text());
                Err(Error::new(ErrorKind::OfficialSource, detail))
            }
            Some(notice) => {
                tracing::warn!(%source, %label, "{}", notice.text());
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Starts reporting. Never fails: outside Herdr, or if it is disabled or refused, the reporter
    /// is inert. It then has no thread, timer, file or connection, and
    /// [`status`](crate::Handle::status) says why. A terminal that was given is written to outside
    /// Herdr too.
    ///
    /// The returned reporter owns the claim: when it is dropped, the pane is released.
    pub fn start(mut self) -> Reporter {
        let app = app_name(&self.label());
        let plan = self.plan();
        let inert = plan.as_ref().err().map(|(status, _)| *status);
        let shared = Shared::new(self.config, app, self.activity, inert);
        shared.record(initial_events(self.initial));
        let started = plan.and_then(|plan| {
            engine::start(&shared, plan).map_err(|error| {
                shared.fail();
                let detail = format!("the reporter cannot start: {error}");
                off(OffReason::Failed, DiagnosticKind::EngineFailed, detail)
            })
        });
        let thread = match started {
            Ok(thread) => Some(thread),
            Err((_, diagnostic)) => {
                if let Some(diagnostic) = diagnostic {
                    shared.raise(&diagnostic);
                }
                shared.end(Ended::NothingToRelease);
                None
            }
        };
        let status = ProgramStatus::new(shared.clone());
        let writer = self.terminal.and_then(|terminal| start_writer(status, terminal));
        Reporter::new(shared, thread, writer)
    }

    /// What the engine needs, or why the reporter is inert.
    fn plan(&mut self) -> Result<engine::Plan, Inert> {
        let misconfigured =
            |detail| off(OffReason::Misconfigured, DiagnosticKind::Misconfigured, detail);
        if !self.config.enabled {
            return Err((Status::Off(OffReason::Disabled), None));
        }
        if self.config.role != Role::Interactive {
            return Err((Status::Off(OffReason::Role(self.config.role)), None));
        }
        let refused = self.check().err().filter(|e| e.kind() == ErrorKind::OfficialSource);
        if let Some(error) = refused {
            return Err(misconfigured(error.to_string()));
        }
        if let Some(path) = defers_to(&self.config) {
            let detail = format!("{path} is loaded and reports for this pane");
            return Err(off(OffReason::LoadedReporter, DiagnosticKind::Deferred, detail));
        }
        let discovery = self.endpoint.take();
        let discovery = discovery.unwrap_or_else(|| Endpoint::from_env(|name| env::var_os(name)));
        let endpoint = match discovery {
            Discovery::Found(endpoint) => endpoint,
            Discovery::Misconfigured(wrong) => return Err(misconfigured(wrong.to_string())),
            _ => return Err((Status::NotInHerdr, None)),
        };
        let client = Client::new(endpoint.socket(), self.config.transport());
        let label = self.label();
        let source = self.source(&label);
        let mut claim = Claim::new(endpoint.pane().clone(), source, label, self.config.clone());
        claim.seed = RandomState::new().build_hasher().finish();
        Ok(engine::Plan { claim, client, endpoint, agent: self.process })
    }

    fn label(&self) -> AgentLabel {
        AgentLabel::normalize(&self.agent)
            .or_else(|| AgentLabel::parse(NAMELESS).ok())
            .expect("a constant that is a label")
    }

    fn source(&self, label: &AgentLabel) -> SourceId {
        self.config.source.clone().unwrap_or_else(|| source_for(label))
    }
}

/// Starts the thread that writes to the terminal. If it cannot start, the pane is reported to all
/// the same.
fn start_writer(status: ProgramStatus, terminal: Terminal) -> Option<StatusWriter> {
    if status.is_over() {
        return None;
    }
    let started = StatusWriter::start(status, terminal);
    started.inspect_err(|error| tracing::warn!(%error, "the terminal shows no status")).ok()
}

fn off(why: OffReason, kind: DiagnosticKind, detail: String) -> Inert {
    (Status::Off(why), Some(Diagnostic::new(kind, detail)))
}

/// The path of a loaded reporter that reports in place of this one.
fn defers_to(config: &Config) -> Option<String> {
    let paths = config.loaded_reporters.iter().map(|path| path.to_string_lossy().into_owned());
    let patterns = || config.defer_to.iter().filter(|pattern| !pattern.is_empty());
    paths.into_iter().find(|path| patterns().any(|pattern| path.contains(pattern)))
}

fn initial_events(state: Option<ReportState>) -> Vec<AgentEvent> {
    match state {
        None | Some(ReportState::Unknown) => vec![],
        Some(ReportState::Idle) => vec![AgentEvent::state_set(ReportState::Idle, None)],
        Some(ReportState::Working) => vec![AgentEvent::agent_started()],
        Some(ReportState::Blocked) => vec![
            AgentEvent::agent_started(),
            AgentEvent::prompt_opened(initial_prompt(), Prompt::of(PromptKind::Other)),
        ],
    }
}

/// The id of the prompt that is open at the start if the agent is blocked already.
pub(crate) fn initial_prompt() -> EventId {
    EventId::internal(0)
}

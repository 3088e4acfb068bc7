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
use crate::program_status::{ProgramStatus, Speaker, Terminal, app_name};
use crate::reporter::Reporter;
use crate::source::{SourceNotice, source_for};
use crate::status::{OffReason, Status};

const NAMELESS: &str = "agent";

/// How a [`Reporter`] is set up.
#[derive(Debug)]
#[must_use = "nothing is reported until start"]
pub struct Builder {
    agent: String,
    config: Config,
    endpoint: Option<Discovery>,
    initial: Option<ReportState>,
    process: Option<u32>,
    activity: Activity,
    terminal: Option<Terminal>,
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

    /// What is reported and how; [`Config::default`] otherwise.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// The pane to report to. Without it, the environment says.
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.endpoint = Some(Discovery::Found(endpoint));
        self
    }

    /// Where to look variables up instead of this process's environment.
    pub fn environment(mut self, lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        self.endpoint = Some(Endpoint::from_env(lookup));
        self
    }

    /// What the agent does already, so that the first report is true
    /// (failure B18). `Working` is a turn of the main agent that goes on; the
    /// first [`turn`](crate::Handle::turn) takes it over, and the agent's
    /// settling ends it. `Blocked` is such a turn with an open prompt, which
    /// ends when that first turn begins: from then on the host says what is
    /// asked. Without it the pane is claimed at the first event that bears on
    /// the state.
    pub fn initial(mut self, state: ReportState) -> Self {
        self.initial = Some(state);
        self
    }

    /// What this process is to the pane; only [`Role::Interactive`] reports.
    pub fn role(mut self, role: Role) -> Self {
        self.config.role = role;
        self
    }

    /// The process that has to run in the pane; this one if not said. For a
    /// reporter that speaks for another process.
    pub fn process(mut self, pid: u32) -> Self {
        self.process = Some(pid);
        self
    }

    /// Also tells this terminal what the agent does, with the Program Status
    /// Protocol (OSC 7501), from a thread of its own; also outside Herdr. Only
    /// changes go out, at most ten times a second, each time in one write.
    /// Nothing is written to what is not a terminal. Default: none.
    ///
    /// A host that draws writes the bytes itself, between its own sequences:
    /// [`Handle::program_status`](crate::Handle::program_status).
    pub fn program_status(self, terminal: impl Write + IsTerminal + Send + 'static) -> Self {
        if terminal.is_terminal() { self.terminal(terminal) } else { self }
    }

    pub(crate) fn terminal(mut self, terminal: impl Write + Send + 'static) -> Self {
        self.terminal = Some(Terminal::new(terminal));
        self
    }

    /// What is known already, from a reporter that has given the pane back.
    pub(crate) fn activity(mut self, activity: Activity) -> Self {
        self.activity = activity;
        self
    }

    /// Whether source and label may be used.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OfficialSource`] for one of Herdr's own pairs,
    /// [`ErrorKind::InvalidLabel`] for a blank label.
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

    /// Starts reporting. Never fails: outside Herdr, when disabled or refused,
    /// the reporter is inert, has no thread, timer, file or connection, and
    /// [`status`](crate::Handle::status) says why. Outside Herdr a terminal that
    /// was given is told all the same.
    ///
    /// The reporter that comes back owns the claim: when it is dropped, the
    /// pane is released.
    pub fn start(mut self) -> Reporter {
        let terminal = self.terminal.take();
        let (config, app) = (self.config.clone(), app_name(&self.label()));
        let (initial, activity) = (self.initial, self.activity.clone());
        let reporter = self.try_start().unwrap_or_else(|(status, told)| {
            let shared = Shared::inert(config, app, status);
            shared.resume(activity);
            shared.record(initial_events(initial));
            if let Some(diagnostic) = told {
                shared.raise(&diagnostic);
            }
            shared.end(Ended::NothingToRelease);
            Reporter::new(shared, None)
        });
        let speaker = terminal.and_then(|terminal| speaker(reporter.program_status(), terminal));
        reporter.with_speaker(speaker)
    }

    /// A running reporter, or why it is inert and what there is to tell if that
    /// is not as it should be.
    fn try_start(self) -> Result<Reporter, (Status, Option<Diagnostic>)> {
        let off =
            |why, kind, detail: String| (Status::Off(why), Some(Diagnostic::new(kind, detail)));
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
        let label = self.label();
        let source = self.source(&label);
        let Self { config, endpoint, initial, process: agent, activity, .. } = self;
        if let Some(path) = defers_to(&config) {
            let detail = format!("{path} is loaded and reports for this pane");
            return Err(off(OffReason::LoadedReporter, DiagnosticKind::Deferred, detail));
        }
        let discovery = endpoint.unwrap_or_else(|| Endpoint::from_env(|name| env::var_os(name)));
        let endpoint = match discovery {
            Discovery::Found(endpoint) => endpoint,
            Discovery::Misconfigured(wrong) => return Err(misconfigured(wrong.to_string())),
            _ => return Err((Status::NotInHerdr, None)),
        };
        let client = Client::new(endpoint.socket(), config.transport());
        let app = app_name(&label);
        let mut claim = Claim::new(endpoint.pane().clone(), source, label, config.clone());
        claim.seed = RandomState::new().build_hasher().finish();
        let shared = Shared::new(config, app);
        shared.resume(activity);
        shared.record(initial_events(initial));
        let plan = engine::Plan { claim, client, endpoint, agent };
        match engine::start(&shared, plan) {
            Ok(thread) => Ok(Reporter::new(shared, Some(thread))),
            Err(error) => {
                let detail = format!("the reporter cannot start: {error}");
                Err(off(OffReason::Failed, DiagnosticKind::EngineFailed, detail))
            }
        }
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

/// Starts the thread that tells the terminal, if there is anything to tell it.
/// Without one the pane is reported to all the same.
fn speaker(status: ProgramStatus, terminal: Terminal) -> Option<Speaker> {
    if status.is_over() {
        return None;
    }
    let started = Speaker::start(status, terminal);
    started.inspect_err(|error| tracing::warn!(%error, "the terminal cannot be told")).ok()
}

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

/// The prompt that a reporter starts with if the agent is blocked already.
pub(crate) fn initial_prompt() -> EventId {
    EventId::ours(0)
}

//! From events to what is true now: [`Activity`] folds, [`Snapshot`] says.

mod program;
mod session;
mod snapshot;
mod text;
mod usage;
mod work;

use std::collections::BTreeMap;
use std::fmt;

use herdr_proto::limits::TOKENS_PER_PANE;
use herdr_proto::{InvalidValue, PresentationText, ReportState, StateKey, StateLabels, TokenKey};

use crate::event::{AgentEvent, ID_MAX_BYTES, SessionStarted};
pub(crate) use program::{Part, Program, Record};
use session::KnownSession;
pub use session::Session;
pub use snapshot::{Presentation, Snapshot};
pub use usage::show_context;
use work::Work;

/// What is known of an agent, folded from its events. Pure: no clock, no
/// socket.
#[derive(Debug, Clone, Default)]
pub struct Activity {
    work: Work,
    /// The last state that is to be shown; `None` until something begins, and
    /// after a release.
    state: Option<ReportState>,
    released: bool,
    /// Rises when everything is to go out again though nothing changed.
    resend: u64,
    session: Option<KnownSession>,
    title: Option<PresentationText>,
    model: Option<PresentationText>,
    window: Option<u64>,
    used: Option<u64>,
    /// The host's tokens. `None` hides a derived one.
    tokens: BTreeMap<TokenKey, Option<PresentationText>>,
    labels: StateLabels,
}

/// What of an event was left out because it does not fit. The rest of the
/// event counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// An id of over [`ID_MAX_BYTES`] bytes; the whole event is left out.
    LongId,
    /// More than [`OPEN_MAX`] agents, tools, prompts and providers are open.
    TooManyOpen,
    /// Token keys that the server would refuse, and the report with them.
    TokenKeys(Vec<String>),
    /// Tokens beyond the 32 that a pane takes. Hidden ones do not count.
    TooManyTokens(Vec<String>),
    /// Parts of a session that the server would drop without a word, or refuse
    /// the report for.
    Session(Vec<InvalidValue>),
}

/// Most agents, tools, prompts and workflow providers that may be open at a
/// time. More is a leak in the host.
pub const OPEN_MAX: usize = 1024;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongId => write!(f, "an id has over {ID_MAX_BYTES} bytes"),
            Self::TooManyOpen => write!(f, "over {OPEN_MAX} agents, tools and prompts are open"),
            Self::TokenKeys(keys) => {
                write!(f, "token keys {}: expected 1 to 32 of A-Z a-z 0-9 _ -", text::list(keys))
            }
            Self::TooManyTokens(keys) => {
                write!(f, "a pane takes 32 tokens; left out: {}", text::list(keys))
            }
            Self::Session(wrong) => {
                f.write_str("left out of the session: ")?;
                // By the names that events have.
                let told =
                    |wrong: &InvalidValue| wrong.to_string().replace("agent_session_", "session_");
                let wrong: Vec<String> = wrong.iter().map(told).collect();
                f.write_str(&wrong.join("; "))
            }
        }
    }
}

impl std::error::Error for Refused {}

impl Refused {
    /// As `Display`, but with counts in the place of names: for logs.
    pub(crate) fn without_names(&self) -> String {
        match self {
            Self::TokenKeys(keys) => {
                format!("left out, not 1 to 32 of A-Z a-z 0-9 _ -: token keys: {}", keys.len())
            }
            Self::TooManyTokens(keys) => {
                format!("left out, a pane takes 32: tokens: {}", keys.len())
            }
            Self::LongId | Self::TooManyOpen | Self::Session(_) => self.to_string(),
        }
    }
}

impl Activity {
    /// Folds one event.
    ///
    /// # Errors
    ///
    /// [`Refused`] names what was left out; everything else of the event was
    /// folded.
    pub fn apply(&mut self, event: AgentEvent) -> Result<(), Refused> {
        if event.has_long_id() {
            return Err(Refused::LongId);
        }
        // After a release only something that begins claims the pane again.
        let claims = event.is_beginning() || (event.is_about_work() && !self.released);
        let outcome = self.fold(event);
        if claims {
            self.released = false;
            self.settle_state();
        }
        outcome
    }

    fn fold(&mut self, event: AgentEvent) -> Result<(), Refused> {
        match event {
            AgentEvent::SessionStarted(session) if session.agent_id.is_main() => {
                return self.start_session(session);
            }
            AgentEvent::SessionEnded { agent_id } if agent_id.is_main() => {
                self.work.end_all();
            }
            AgentEvent::TitleChanged { title, agent_id } if agent_id.is_main() => {
                self.title = text::clean(title.as_deref());
            }
            AgentEvent::ModelChanged { model, context_window, agent_id } if agent_id.is_main() => {
                self.model = text::clean(model.as_deref());
                self.window = context_window.filter(|window| *window > 0);
            }
            AgentEvent::UsageChanged { used, agent_id } if agent_id.is_main() => {
                self.used = Some(used);
            }
            AgentEvent::TokensChanged { tokens } => return self.change_tokens(tokens),
            AgentEvent::LabelsChanged { labels } => self.change_labels(labels),
            // Everything said so far is forgotten.
            AgentEvent::Release => {
                *self = Self { released: true, resend: self.resend, ..Self::default() };
            }
            // Facts about another agent's session are not the pane's, and the
            // work does not know them either.
            other => return self.work.apply(other),
        }
        Ok(())
    }

    /// The state to show; `None` until something begins, and after a release.
    pub fn state(&self) -> Option<ReportState> {
        self.state
    }

    /// Whether a state was to be shown, or the pane to be given back.
    pub(crate) fn has_spoken(&self) -> bool {
        self.state.is_some() || self.released
    }

    /// Idle is not believed while a workflow provider has never said anything.
    fn settle_state(&mut self) {
        let state = self.work.state();
        if state != ReportState::Idle || self.work.all_providers_known() {
            self.state = Some(state);
        }
    }

    fn start_session(&mut self, session: SessionStarted) -> Result<(), Refused> {
        let other = |known: &KnownSession| known.id != session.session_id;
        if self.session.as_ref().is_some_and(other) {
            self.model = None;
            self.window = None;
            self.used = None;
            if session.reason.as_deref() != Some("compact") {
                self.work.end_main_agent();
            }
        }
        if let Some(model) = &session.model {
            let model = text::clean(Some(model));
            if self.model != model {
                self.window = None;
            }
            self.model = model;
        }
        if let Some(window) = session.context_window {
            self.window = (window > 0).then_some(window);
        }
        self.used = session.used.or(self.used);
        if let Some(title) = &session.title {
            self.title = text::clean(Some(title));
        }
        let (session, wrong) = KnownSession::of(session);
        self.session = Some(session);
        self.resend += 1;
        if wrong.is_empty() { Ok(()) } else { Err(Refused::Session(wrong)) }
    }

    fn change_tokens(&mut self, tokens: BTreeMap<String, Option<String>>) -> Result<(), Refused> {
        let mut bad_keys = Vec::new();
        let mut too_many = Vec::new();
        // What goes first makes room for what comes.
        let (go, come): (Vec<_>, Vec<_>) = tokens
            .into_iter()
            .map(|(key, value)| (key, text::clean(value.as_deref())))
            .partition(|(_, value)| value.is_none());
        for (key, value) in go.into_iter().chain(come) {
            let Ok(key) = TokenKey::parse(key.as_str()) else {
                bad_keys.push(key);
                continue;
            };
            let shown = || self.tokens.values().flatten().count();
            if value.is_none() && !snapshot::is_derived(&key) {
                self.tokens.remove(&key);
            } else if value.is_none() || self.is_shown(&key) || shown() < TOKENS_PER_PANE {
                self.tokens.insert(key, value);
            } else {
                too_many.push(String::from(key));
            }
        }
        if !bad_keys.is_empty() {
            return Err(Refused::TokenKeys(bad_keys));
        }
        if !too_many.is_empty() {
            return Err(Refused::TooManyTokens(too_many));
        }
        Ok(())
    }

    fn is_shown(&self, key: &TokenKey) -> bool {
        self.tokens.get(key).is_some_and(Option::is_some)
    }

    fn change_labels(&mut self, labels: BTreeMap<StateKey, Option<String>>) {
        for (state, label) in labels {
            match text::clean(label.as_deref()) {
                Some(label) => self.labels.insert(state, label),
                None => self.labels.remove(&state),
            };
        }
    }
}

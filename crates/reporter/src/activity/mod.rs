//! What follows from the events: [`Activity`] folds them, and a [`Snapshot`] is what the pane
//! should show.

mod program;
mod refused;
mod session;
mod snapshot;
mod usage;
mod work;

use std::collections::BTreeMap;

use herdr_proto::limits::TOKENS_PER_PANE;
use herdr_proto::{PresentationText, ReportState, StateKey, StateLabels, TokenKey};

use crate::event::{AgentEvent, SessionStarted};
pub(crate) use program::{PartId, Program, Record};
pub use refused::Refused;
use session::KnownSession;
pub use session::Session;
pub use snapshot::{Presentation, Snapshot};
pub use usage::show_context;
use work::Work;

/// What is known of an agent, folded from its events. It uses no clock and no socket.
#[derive(Debug, Clone, Default)]
pub struct Activity {
    work: Work,
    /// The state to show; `None` until something begins, and after a release.
    state: Option<ReportState>,
    released: bool,
    /// Rises when everything must be sent again although nothing changed.
    resend: u64,
    session: Option<KnownSession>,
    title: Option<PresentationText>,
    model: Option<PresentationText>,
    window: Option<u64>,
    used: Option<u64>,
    /// The host's tokens. `None` hides a derived token.
    tokens: BTreeMap<TokenKey, Option<PresentationText>>,
    labels: StateLabels,
}

/// The most agents, tools, prompts and workflow providers that may be open at a time. A host that
/// has more does not end them.
pub const OPEN_MAX: usize = 1024;

impl Activity {
    /// Folds one event.
    ///
    /// # Errors
    ///
    /// [`Refused`] names what was left out. The rest of the event was folded.
    pub fn apply(&mut self, event: AgentEvent) -> Result<(), Refused> {
        if event.has_long_id() {
            return Err(Refused::LongId);
        }
        // After a release, the pane is claimed again only when something begins.
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
                self.title = clean(title.as_deref());
            }
            AgentEvent::ModelChanged { model, context_window, agent_id } if agent_id.is_main() => {
                self.model = clean(model.as_deref());
                self.window = context_window.filter(|window| *window > 0);
            }
            AgentEvent::UsageChanged { used, agent_id } if agent_id.is_main() => {
                self.used = Some(used);
            }
            AgentEvent::TokensChanged { tokens } => return self.change_tokens(tokens),
            AgentEvent::LabelsChanged { labels } => self.change_labels(labels),
            AgentEvent::Release => {
                *self = Self { released: true, resend: self.resend, ..Self::default() };
            }
            // This includes facts about the session of another agent, which `Work` ignores.
            other => return self.work.apply(other),
        }
        Ok(())
    }

    /// The state to show; `None` until something begins, and after a release.
    pub fn state(&self) -> Option<ReportState> {
        self.state
    }

    /// Whether the host has said a state or a release.
    pub(crate) fn has_spoken(&self) -> bool {
        self.state.is_some() || self.released
    }

    /// Takes over the state of the work, except for idle while a workflow provider has not been
    /// ready yet.
    fn settle_state(&mut self) {
        let state = self.work.state();
        if state != ReportState::Idle || self.work.all_providers_known() {
            self.state = Some(state);
        }
    }

    fn start_session(&mut self, session: SessionStarted) -> Result<(), Refused> {
        if self.session.as_ref().is_some_and(|known| known.id != session.session_id) {
            self.model = None;
            self.window = None;
            self.used = None;
            if session.reason.as_deref() != Some("compact") {
                self.work.end_main_agent();
            }
        }
        if let Some(model) = &session.model {
            let model = PresentationText::normalize(model);
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
            self.title = PresentationText::normalize(title);
        }
        let (session, invalid) = KnownSession::of(session);
        self.session = Some(session);
        self.resend += 1;
        if invalid.is_empty() { Ok(()) } else { Err(Refused::Session(invalid)) }
    }

    fn change_tokens(&mut self, tokens: BTreeMap<String, Option<String>>) -> Result<(), Refused> {
        let mut bad_keys = Vec::new();
        let mut too_many = Vec::new();
        // Cleared tokens make room for new ones, so they come first.
        let (cleared, set): (Vec<_>, Vec<_>) = tokens
            .into_iter()
            .map(|(key, value)| (key, clean(value.as_deref())))
            .partition(|(_, value)| value.is_none());
        for (key, value) in cleared.into_iter().chain(set) {
            let Ok(key) = TokenKey::parse(key.as_str()) else {
                bad_keys.push(key);
                continue;
            };
            let shown = || self.tokens.values().flatten().count();
            let is_shown = |key| self.tokens.get(key).is_some_and(Option::is_some);
            if value.is_none() && !snapshot::is_derived(&key) {
                self.tokens.remove(&key);
            } else if value.is_none() || is_shown(&key) || shown() < TOKENS_PER_PANE {
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

    fn change_labels(&mut self, labels: BTreeMap<StateKey, Option<String>>) {
        for (state, label) in labels {
            match clean(label.as_deref()) {
                Some(label) => self.labels.insert(state, label),
                None => self.labels.remove(&state),
            };
        }
    }
}

/// The text as the server stores it. An absent text and a blank one both give `None`.
fn clean(text: Option<&str>) -> Option<PresentationText> {
    text.and_then(PresentationText::normalize)
}

use std::collections::BTreeMap;

use herdr_proto::limits::TOKENS_PER_PANE;
use herdr_proto::{PresentationText, ReportState, StateKey, StateLabels, TokenKey};

use super::session::Session;
use super::work::Reason;
use super::{Activity, show_context, text};
use crate::config::{Config, Privacy, ReasonLabel, Source};
use crate::event::PromptKind;

/// What a pane is to show now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The state.
    pub state: ReportState,
    /// Why; goes out as the report's `message`.
    pub reason: Option<PresentationText>,
    /// Title, name and labels.
    pub presentation: Presentation,
    /// Every token of ours.
    pub tokens: BTreeMap<TokenKey, PresentationText>,
    /// The session, for the first report of a claim.
    pub session: Option<Session>,
    /// Another number means: send it again, though nothing changed.
    pub resend: u64,
}

impl Snapshot {
    /// The same of an agent whose process is stopped: idle, and the label says
    /// why (failure B29).
    #[must_use]
    pub fn suspended(mut self) -> Self {
        if self.state != ReportState::Unknown {
            self.state = ReportState::Idle;
        }
        self.reason = None;
        for state in [StateKey::Idle, StateKey::Done] {
            self.presentation.labels.extend(text::clean(Some(SUSPENDED)).map(|text| (state, text)));
        }
        self
    }
}

/// Title, display name and labels: one record on the server, always sent
/// whole (failure B42).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Presentation {
    /// What the agent is about.
    pub title: Option<PresentationText>,
    /// Shown instead of the label.
    pub display_agent: Option<PresentationText>,
    /// Shown instead of the states' names.
    pub labels: StateLabels,
}

impl Presentation {
    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a stopped agent's idle is called.
pub(super) const SUSPENDED: &str = "suspended";

const MODEL: &str = "model";
const CONTEXT: &str = "ctx";
const SESSION: &str = "session";
const PROGRESS: &str = "progress";

/// Whether a token of this name is made here, so that hiding it means
/// something.
pub(super) fn is_derived(key: &TokenKey) -> bool {
    matches!(key.as_str(), MODEL | CONTEXT | SESSION | PROGRESS)
}

impl Activity {
    /// What the pane is to show, as far as the settings let it; `None` while
    /// there is no state to report.
    pub fn snapshot(&self, config: &Config) -> Option<Snapshot> {
        // Where Herdr says the state, titles show without one of ours.
        let unsaid = (config.leave_state && !self.released).then_some(ReportState::Unknown);
        let state = self.state().or(unsaid)?;
        let reason = self.reason(state, config);
        Some(Snapshot {
            state,
            presentation: self.presentation(state, reason.as_ref(), config),
            reason,
            tokens: self.tokens(config),
            session: self.session(config),
            resend: self.resend,
        })
    }

    fn reason(&self, state: ReportState, config: &Config) -> Option<PresentationText> {
        words(self.work.reason(state)?, state, config)
    }

    fn presentation(
        &self,
        state: ReportState,
        reason: Option<&PresentationText>,
        config: &Config,
    ) -> Presentation {
        let fixed = config.privacy == Privacy::Fixed;
        let mut labels: StateLabels = config
            .state_labels
            .iter()
            .filter_map(|(key, label)| Some((*key, PresentationText::normalize(label)?)))
            .collect();
        if !fixed {
            labels.extend(self.labels.clone());
        }
        let shown = match config.reason_label {
            ReasonLabel::Off => false,
            // What a command says with a state is there to be seen.
            ReasonLabel::Blocked => {
                state == ReportState::Blocked
                    || matches!(self.work.reason(state), Some(Reason::LastWord(_)))
            }
            ReasonLabel::All => true,
        };
        if let Some(reason) = reason.filter(|_| shown) {
            let key = StateKey::from(state);
            let label = match labels.get(&key) {
                Some(label) => text::clean(Some(&format!("{label}: {reason}"))),
                None => Some(reason.clone()),
            };
            labels.extend(label.map(|label| (key, label)));
        }
        if let Some(idle) = labels.get(&StateKey::Idle).cloned() {
            // Herdr calls an idle that nobody has seen done.
            labels.entry(StateKey::Done).or_insert(idle);
        }
        let title = self.shown_title(config);
        Presentation { title, display_agent: text::clean(config.display_name.as_deref()), labels }
    }

    pub(super) fn shown_title(&self, config: &Config) -> Option<PresentationText> {
        let shown = config.title == Source::Auto && config.privacy != Privacy::Fixed;
        self.title.clone().filter(|_| shown)
    }

    /// The host's tokens come first: they were asked for by name.
    fn tokens(&self, config: &Config) -> BTreeMap<TokenKey, PresentationText> {
        if config.tokens == Source::None {
            return BTreeMap::new();
        }
        let fixed = config.privacy == Privacy::Fixed;
        let mut tokens: BTreeMap<_, _> = self
            .tokens
            .iter()
            .filter(|_| !fixed)
            .filter_map(|(key, text)| Some((key.clone(), text.clone()?)))
            .collect();
        let context = self.used.map(|used| show_context(used, self.window));
        let session = self.session.as_ref().filter(|_| config.session_token && !fixed);
        let progress = self.progress().filter(|_| config.progress_token);
        let progress = progress.map(|percent| format!("{percent}%"));
        let derived = [
            (MODEL, self.model.clone()),
            (CONTEXT, text::clean(context.as_deref())),
            (SESSION, session.and_then(|session| text::clean(Some(&session.id)))),
            (PROGRESS, text::clean(progress.as_deref())),
        ];
        for (name, text) in derived {
            let (Ok(key), Some(text)) = (TokenKey::parse(name), text) else { continue };
            if !self.tokens.contains_key(&key) && tokens.len() < TOKENS_PER_PANE {
                tokens.insert(key, text);
            }
        }
        tokens
    }

    fn session(&self, config: &Config) -> Option<Session> {
        if !config.report_session || config.privacy == Privacy::Fixed {
            return None;
        }
        self.session.as_ref()?.sent.clone()
    }
}

/// The words for the reason of a state, as far as the settings let them out.
pub(super) fn words(
    reason: Reason,
    state: ReportState,
    config: &Config,
) -> Option<PresentationText> {
    let from = if state == ReportState::Working { config.working_message } else { config.message };
    phrase(reason, config.privacy).filter(|_| from == Source::Auto)
}

fn phrase(reason: Reason, privacy: Privacy) -> Option<PresentationText> {
    let fixed = match &reason {
        Reason::Prompt(PromptKind::Approval, _) => "Waiting for approval",
        Reason::Prompt(..) => "Waiting for an answer",
        Reason::Run(_) => "Workflow needs attention",
        Reason::Tool(_) | Reason::Said(_) | Reason::LastWord(_) | Reason::Error(_) => "",
    };
    let own = match (reason, privacy) {
        (Reason::Prompt(_, label), Privacy::Text)
        | (Reason::Prompt(PromptKind::Approval, label), Privacy::Tool) => label,
        (Reason::Run(Some(run)), Privacy::Text) => text::clean(Some(&format!("{fixed}: {run}"))),
        (Reason::Tool(name), Privacy::Text | Privacy::Tool) => Some(name),
        (Reason::Said(label) | Reason::LastWord(label) | Reason::Error(label), Privacy::Text) => {
            Some(label)
        }
        _ => None,
    };
    own.or_else(|| text::clean(Some(fixed)))
}

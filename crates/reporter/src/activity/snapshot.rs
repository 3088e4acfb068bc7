use std::collections::BTreeMap;

use herdr_proto::limits::TOKENS_PER_PANE;
use herdr_proto::{PresentationText, ReportState, StateKey, StateLabels, TokenKey};

use super::session::Session;
use super::work::Reason;
use super::{Activity, clean, show_context};
use crate::config::{Config, Privacy, ReasonLabel, Source};
use crate::event::PromptKind;

/// What a pane should show now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The state.
    pub state: ReportState,
    /// The reason for the state; sent as the `message` of the report.
    pub reason: Option<PresentationText>,
    /// Title, display name and labels.
    pub presentation: Presentation,
    /// All tokens.
    pub tokens: BTreeMap<TokenKey, PresentationText>,
    /// The session, for the first report of a claim.
    pub session: Option<Session>,
    /// A different number means that everything must be sent again, although nothing changed.
    pub resend: u64,
}

impl Snapshot {
    /// The same snapshot while the agent's process is stopped: idle, with a label that says so
    /// (failure B29).
    #[must_use]
    pub fn suspended(mut self) -> Self {
        if self.state != ReportState::Unknown {
            self.state = ReportState::Idle;
        }
        self.reason = None;
        for state in [StateKey::Idle, StateKey::Done] {
            let label = PresentationText::normalize(SUSPENDED);
            self.presentation.labels.extend(label.map(|label| (state, label)));
        }
        self
    }
}

/// Title, display name and labels. The server keeps them as one record, so they are always sent
/// together (failure B42).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Presentation {
    /// What the session is about.
    pub title: Option<PresentationText>,
    /// Shown instead of the agent's label.
    pub display_agent: Option<PresentationText>,
    /// Shown instead of the names of the states.
    pub labels: StateLabels,
}

impl Presentation {
    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The label of idle while the agent's process is stopped.
pub(super) const SUSPENDED: &str = "suspended";

const MODEL: &str = "model";
const CONTEXT: &str = "ctx";
const SESSION: &str = "session";
const PROGRESS: &str = "progress";

/// Whether a token with this key is derived from events, so that the host can hide it.
pub(super) fn is_derived(key: &TokenKey) -> bool {
    matches!(key.as_str(), MODEL | CONTEXT | SESSION | PROGRESS)
}

impl Activity {
    /// What the pane should show with these settings; `None` while there is no state to report.
    pub fn snapshot(&self, config: &Config) -> Option<Snapshot> {
        // If the state is left to Herdr, the title is reported even before the host says a state.
        let unknown = (config.leave_state && !self.released).then_some(ReportState::Unknown);
        let state = self.state().or(unknown)?;
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

    pub(super) fn reason(&self, state: ReportState, config: &Config) -> Option<PresentationText> {
        reason_text(self.work.reason(state)?, state, config)
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
            // The label that a command sets together with a state is always shown.
            ReasonLabel::Blocked => {
                state == ReportState::Blocked
                    || matches!(self.work.reason(state), Some(Reason::SetAtEnd(_)))
            }
            ReasonLabel::All => true,
        };
        if let Some(reason) = reason.filter(|_| shown) {
            let key = StateKey::from(state);
            let label = match labels.get(&key) {
                Some(label) => PresentationText::normalize(&format!("{label}: {reason}")),
                None => Some(reason.clone()),
            };
            labels.extend(label.map(|label| (key, label)));
        }
        if let Some(idle) = labels.get(&StateKey::Idle).cloned() {
            // Herdr shows idle as done until a person has looked at the pane.
            labels.entry(StateKey::Done).or_insert(idle);
        }
        let title = self.shown_title(config);
        Presentation { title, display_agent: clean(config.display_name.as_deref()), labels }
    }

    pub(super) fn shown_title(&self, config: &Config) -> Option<PresentationText> {
        let shown = config.title == Source::Auto && config.privacy != Privacy::Fixed;
        self.title.clone().filter(|_| shown)
    }

    /// The host's own tokens take precedence over derived ones.
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
            (CONTEXT, clean(context.as_deref())),
            (SESSION, session.and_then(|session| PresentationText::normalize(&session.id))),
            (PROGRESS, clean(progress.as_deref())),
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

/// The text for the reason of a state, if the settings allow one.
pub(super) fn reason_text(
    reason: Reason,
    state: ReportState,
    config: &Config,
) -> Option<PresentationText> {
    let works = state == ReportState::Working;
    if (if works { config.working_message } else { config.message }) == Source::None {
        return None;
    }
    let fixed = match &reason {
        Reason::Prompt(PromptKind::Approval, _) => "Waiting for approval",
        Reason::Prompt(..) => "Waiting for an answer",
        Reason::Run(_) => "Workflow needs attention",
        Reason::Tool(_) | Reason::Set(_) | Reason::SetAtEnd(_) | Reason::Error(_) => "",
    };
    let own = match (reason, config.privacy) {
        (Reason::Prompt(_, label), Privacy::Text)
        | (Reason::Prompt(PromptKind::Approval, label), Privacy::Tool) => label,
        (Reason::Run(Some(run)), Privacy::Text) => {
            PresentationText::normalize(&format!("{fixed}: {run}"))
        }
        (Reason::Tool(name), Privacy::Text | Privacy::Tool) => Some(name),
        (Reason::Set(label) | Reason::SetAtEnd(label) | Reason::Error(label), Privacy::Text) => {
            Some(label)
        }
        _ => None,
    };
    own.or_else(|| PresentationText::normalize(fixed))
}

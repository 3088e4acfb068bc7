//! From what is wanted and what the server has to the fewest requests.

use std::collections::{BTreeMap, BTreeSet};

use herdr_proto::limits::TOKENS_PER_REPORT;
use herdr_proto::{PresentationText, ReportState, TokenEdit, TokenKey, TokenPatch};

use crate::activity::{Presentation, Session, Snapshot};

/// What the server has of ours, as far as it said `ok`.
#[derive(Debug, Clone, Default)]
pub(super) struct Confirmed {
    /// The state that it has; `None` if it has none, or nobody knows.
    pub(super) state: Option<StateRecord>,
    /// A report of the state that was given up unanswered and that it may take
    /// later still.
    pub(super) late: Option<StateRecord>,
    /// The session that it was told in this claim.
    pub(super) session: Option<Session>,
    /// Title, name and labels.
    pub(super) presentation: Known<PresentationRecord>,
    /// Each token that it may have; `None` if the text is not known.
    pub(super) tokens: BTreeMap<TokenKey, Option<PresentationText>>,
}

/// A value on the server, or the knowledge that we do not know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known<T> {
    /// It has this.
    Is(T),
    /// It may have anything of ours.
    Unsure,
}

impl<T: Default> Default for Known<T> {
    fn default() -> Self {
        Self::Is(T::default())
    }
}

/// What one report of the state says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StateRecord {
    pub(super) state: ReportState,
    pub(super) reason: Option<PresentationText>,
    pub(super) resend: u64,
}

/// What one report of the presentation says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PresentationRecord {
    pub(super) presentation: Presentation,
    pub(super) resend: u64,
}

/// One request to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    State(StateRecord, Option<Session>),
    /// Empty means the three clear flags.
    Presentation(PresentationRecord),
    Tokens(TokenPatch),
    Release,
}

impl StateRecord {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        Self { state: snapshot.state, reason: snapshot.reason.clone(), resend: snapshot.resend }
    }
}

impl PresentationRecord {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        Self { presentation: snapshot.presentation.clone(), resend: snapshot.resend }
    }
}

/// The requests in their order: state, presentation, tokens; at the end
/// clears, then the release.
pub(super) fn plan(wanted: Option<&Snapshot>, claimed: bool, confirmed: &Confirmed) -> Vec<Action> {
    let mut actions = Vec::new();
    if let Some(wanted) = wanted {
        actions.extend(state_action(wanted, confirmed));
        actions.extend(presentation_action(PresentationRecord::of(wanted), confirmed));
        actions.extend(token_actions(&wanted.tokens, confirmed));
    } else {
        actions.extend(presentation_action(PresentationRecord::default(), confirmed));
        actions.extend(token_actions(&BTreeMap::new(), confirmed));
        // A release that finds nothing of ours is without effect and raises no
        // mark, and what comes after it would stay. Once a claim is answered,
        // the release is taken, and everything before it is stale.
        let late = confirmed.late.clone().map(|record| Action::State(record, None));
        actions.extend(late.filter(|_| claimed));
        actions.extend(claimed.then_some(Action::Release));
    }
    actions
}

fn state_action(wanted: &Snapshot, confirmed: &Confirmed) -> Option<Action> {
    let record = StateRecord::of(wanted);
    let session = wanted.session.clone().filter(|s| confirmed.session.as_ref() != Some(s));
    (confirmed.state.as_ref() != Some(&record)).then_some(Action::State(record, session))
}

fn presentation_action(record: PresentationRecord, confirmed: &Confirmed) -> Option<Action> {
    let same = match &confirmed.presentation {
        Known::Unsure => false,
        Known::Is(had) => {
            let both_empty = had.presentation.is_empty() && record.presentation.is_empty();
            *had == record || both_empty
        }
    };
    (!same).then_some(Action::Presentation(record))
}

fn token_actions(
    wanted: &BTreeMap<TokenKey, PresentationText>,
    confirmed: &Confirmed,
) -> Vec<Action> {
    let keys: BTreeSet<&TokenKey> = wanted.keys().chain(confirmed.tokens.keys()).collect();
    let edits =
        keys.into_iter().filter_map(|key| match (wanted.get(key), confirmed.tokens.get(key)) {
            (Some(text), had) => (had.and_then(Option::as_ref) != Some(text))
                .then(|| (key.clone(), TokenEdit::Set(text.clone()))),
            (None, Some(_)) => Some((key.clone(), TokenEdit::Clear)),
            (None, None) => None,
        });
    // Clears first, so that a full pane has room for what is set.
    let (clears, sets): (Vec<_>, Vec<_>) = edits.partition(|(_, edit)| *edit == TokenEdit::Clear);
    let edits: Vec<_> = clears.into_iter().chain(sets).collect();
    edits
        .chunks(TOKENS_PER_REPORT)
        .map(|chunk| {
            let mut patch = TokenPatch::new();
            for (key, edit) in chunk {
                patch.edit(key.clone(), edit.clone());
            }
            Action::Tokens(patch)
        })
        .collect()
}

impl Confirmed {
    /// Whether a title, labels or tokens of ours may be on the pane.
    pub(super) fn has_metadata(&self) -> bool {
        !self.tokens.is_empty() || self.has_presentation()
    }

    fn has_presentation(&self) -> bool {
        match &self.presentation {
            Known::Unsure => true,
            Known::Is(record) => !record.presentation.is_empty(),
        }
    }

    /// Forgets what can be lost on the server, so that it goes out again.
    pub(super) fn forget(&mut self) {
        self.state = None;
        self.session = None;
        self.forget_metadata();
    }

    /// Makes title, labels and tokens go out again.
    pub(super) fn forget_metadata(&mut self) {
        if self.has_presentation() {
            self.presentation = Known::Unsure;
        }
        self.tokens.values_mut().for_each(|text| *text = None);
    }

    /// Takes in that the server took `patch`.
    pub(super) fn took_tokens(&mut self, patch: &TokenPatch) {
        for (key, text) in patch.iter() {
            match text {
                Some(text) => self.tokens.insert(key.clone(), Some(text.clone())),
                None => self.tokens.remove(key),
            };
        }
    }

    /// Takes in that the server may have taken `patch`.
    pub(super) fn may_have_taken_tokens(&mut self, patch: &TokenPatch) {
        for (key, _) in patch.iter() {
            self.tokens.insert(key.clone(), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Activity, AgentEvent, Config};

    fn key(key: &str) -> TokenKey {
        TokenKey::parse(key).unwrap()
    }

    fn text(text: &str) -> PresentationText {
        PresentationText::normalize(text).unwrap()
    }

    fn working(tokens: usize) -> Snapshot {
        let mut activity = Activity::default();
        activity.apply(AgentEvent::agent_started()).unwrap();
        let mut snapshot = activity.snapshot(&Config::default()).unwrap();
        snapshot.tokens = (0..tokens).map(|n| (key(&format!("k{n:02}")), text("v"))).collect();
        snapshot
    }

    #[test]
    fn tokens_go_in_portions_with_clears_first() {
        let mut confirmed = Confirmed::default();
        confirmed.tokens.insert(key("zz"), Some(text("old")));
        let actions = plan(Some(&working(32)), true, &confirmed);
        let patches: Vec<&TokenPatch> = actions
            .iter()
            .filter_map(|action| match action {
                Action::Tokens(patch) => Some(patch),
                _ => None,
            })
            .collect();
        assert_eq!(patches.iter().map(|patch| patch.len()).collect::<Vec<_>>(), [16, 16, 1]);
        assert!(patches[0].iter().any(|(k, text)| *k == key("zz") && text.is_none()));
    }

    #[test]
    fn nothing_is_planned_for_what_the_server_has() {
        let wanted = working(2);
        let mut confirmed = Confirmed::default();
        for action in plan(Some(&wanted), false, &confirmed.clone()) {
            match action {
                Action::State(record, session) => {
                    confirmed.state = Some(record);
                    confirmed.session = session;
                }
                Action::Presentation(record) => confirmed.presentation = Known::Is(record),
                Action::Tokens(patch) => confirmed.took_tokens(&patch),
                Action::Release => unreachable!(),
            }
        }
        assert_eq!(plan(Some(&wanted), true, &confirmed), []);
        let end = plan(None, true, &confirmed);
        assert!(matches!(end.as_slice(), [Action::Tokens(_), Action::Release]));
        assert_eq!(plan(None, false, &Confirmed::default()), []);
    }
}

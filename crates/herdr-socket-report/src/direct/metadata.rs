//! Titles, labels and tokens as edits.

use std::collections::BTreeMap;

use herdr_proto::limits::TOKENS_PER_REPORT;
use herdr_proto::{
    PresentationText, ReportMetadata, SourceId, StateKey, StateLabels, TokenEdit, TokenKey,
    TokenPatch,
};

use super::{Direct, Problem};

/// When a title shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Always.
    None,
    /// While Herdr shows our agent in the pane, whoever says so.
    Agent,
}

impl Direct {
    /// Sets the title, or takes it off.
    pub(crate) async fn title(
        &self,
        title: Option<PresentationText>,
        guard: Guard,
    ) -> Result<(), Problem> {
        let mut report = self.edit();
        report.agent = (guard == Guard::Agent).then(|| self.agent.clone());
        report.clear_title = title.is_none();
        report.title = title;
        self.call(&report).await.map(drop)
    }

    /// Sets the labels of these states, or takes them off.
    pub(crate) async fn labels(
        &self,
        labels: &BTreeMap<StateKey, Option<PresentationText>>,
    ) -> Result<(), Problem> {
        let set: StateLabels =
            labels.iter().filter_map(|(state, text)| Some((*state, text.clone()?))).collect();
        let off: Vec<StateKey> =
            labels.iter().filter(|(_, text)| text.is_none()).map(|(state, _)| *state).collect();
        // There is no edit that takes one label off, so all go and the others
        // come back.
        let back = if off.is_empty() {
            StateLabels::new()
        } else {
            let shown = self.look().await?.state_labels;
            let mut report = self.edit();
            report.clear_state_labels = true;
            self.call(&report).await?;
            let text = |key: StateKey| PresentationText::normalize(shown.get(key.as_str())?);
            let kept = StateKey::ALL.into_iter().filter(|key| !off.contains(key));
            kept.filter_map(|key| Some((key, text(key)?))).collect()
        };
        let mut report = self.edit();
        report.state_labels = back;
        report.state_labels.extend(set);
        if report.state_labels.is_empty() {
            return Ok(());
        }
        self.call(&report).await.map(drop)
    }

    /// Sets tokens, or takes them off.
    pub(crate) async fn tokens(
        &self,
        tokens: &BTreeMap<TokenKey, Option<PresentationText>>,
    ) -> Result<(), Problem> {
        // What goes makes room for what comes.
        let (off, set): (Vec<_>, Vec<_>) = tokens.iter().partition(|(_, text)| text.is_none());
        let edits: Vec<_> = off.into_iter().chain(set).collect();
        for portion in edits.chunks(TOKENS_PER_REPORT) {
            let mut patch = TokenPatch::new();
            for (key, text) in portion {
                let edit = (*text).clone().map_or(TokenEdit::Clear, TokenEdit::Set);
                patch.edit((*key).clone(), edit);
            }
            let mut report = ReportMetadata::new(self.pane.clone(), self.source.clone());
            report.tokens = patch;
            report.ttl_ms = Some(self.ttl);
            self.call(&report).await?;
        }
        Ok(())
    }

    /// Shows these labels with the state that was reported last, and no others
    /// of an earlier one. They are a record of their own: nobody could tell
    /// later which of the labels was a reason that is over.
    pub(super) async fn accompany(&self, labels: StateLabels) -> Result<(), Problem> {
        let Some(mut report) = self.companions(labels) else { return Ok(()) };
        report.applies_to_source = Some(self.source.clone());
        self.call(&report).await.map(drop)
    }

    /// The same with the state that Herdr shows for our agent.
    pub(super) async fn accompany_beside(&self, labels: StateLabels) -> Result<(), Problem> {
        let Some(report) = self.companions(labels) else { return Ok(()) };
        self.call(&report).await.map(drop)
    }

    fn companions(&self, labels: StateLabels) -> Option<ReportMetadata> {
        let mut report = ReportMetadata::new(self.pane.clone(), self.companion()?);
        report.clear_state_labels = labels.is_empty();
        report.state_labels = labels;
        report.ttl_ms = Some(self.ttl);
        report.agent = Some(self.agent.clone());
        Some(report)
    }

    fn companion(&self) -> Option<SourceId> {
        SourceId::parse(format!("{}.reason", self.source)).ok()
    }

    /// Takes title and labels off.
    pub(super) async fn clear_presentation(&self) -> Result<(), Problem> {
        self.accompany(StateLabels::new()).await?;
        let mut report = ReportMetadata::new(self.pane.clone(), self.source.clone());
        report.clear_title = true;
        report.clear_display_agent = true;
        report.clear_state_labels = true;
        self.call(&report).await.map(drop)
    }

    /// A report that leaves what it does not name as it is.
    fn edit(&self) -> ReportMetadata {
        let mut report = ReportMetadata::new(self.pane.clone(), self.source.clone());
        report.clear_display_agent = true;
        report.ttl_ms = Some(self.ttl);
        report
    }
}

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{PaneId, Seq, SourceId, Ttl};
use crate::label::AgentLabel;
use crate::state::StateKey;
use crate::text::PresentationText;
use crate::token::TokenPatch;

/// Texts that the sidebar shows instead of the states' names.
pub type StateLabels = BTreeMap<StateKey, PresentationText>;

/// `pane.report_metadata`: title, display name, labels and tokens.
///
/// Without a `clear_*` flag the report replaces the source's whole record of
/// title, name and labels; with any of them it edits the record (protocol
/// §5.6 D5, failure B42). Tokens always merge. The guards [`agent`](Self::agent)
/// and [`applies_to_source`](Self::applies_to_source) hide the record, but not
/// the tokens, while somebody else holds the pane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReportMetadata {
    /// The pane.
    pub pane_id: PaneId,
    /// Whose record.
    pub source: SourceId,
    /// Show the record only while this is the effective label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentLabel>,
    /// Show the record only while this source holds the pane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applies_to_source: Option<SourceId>,
    /// What the agent is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<PresentationText>,
    /// Shown instead of the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_agent: Option<PresentationText>,
    /// Shown instead of the states' names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub state_labels: StateLabels,
    /// Changes to the tokens.
    #[serde(default, skip_serializing_if = "TokenPatch::is_empty")]
    pub tokens: TokenPatch,
    /// Takes the title off; not together with a title.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clear_title: bool,
    /// Takes the display name off; not together with one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clear_display_agent: bool,
    /// Takes the labels off; not together with some.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clear_state_labels: bool,
    /// Above every number used before for this pane's metadata and source; a
    /// mark of its own. Absent is always taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// How long it stays. Absent means for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<Ttl>,
}

impl ReportMetadata {
    /// A report without content, which the server refuses; set something.
    pub fn new(pane_id: PaneId, source: SourceId) -> Self {
        Self {
            pane_id,
            source,
            agent: None,
            applies_to_source: None,
            title: None,
            display_agent: None,
            state_labels: StateLabels::new(),
            tokens: TokenPatch::new(),
            clear_title: false,
            clear_display_agent: false,
            clear_state_labels: false,
            seq: None,
            ttl_ms: None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_false(flag: &bool) -> bool {
    !flag
}

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{PaneId, Seq, SourceId, Ttl};
use crate::label::AgentLabel;
use crate::state::StateKey;
use crate::text::PresentationText;
use crate::token::TokenPatch;

/// Texts that the sidebar shows instead of the names of states.
pub type StateLabels = BTreeMap<StateKey, PresentationText>;

/// `pane.report_metadata`: title, display name, labels and tokens.
///
/// Without a `clear_*` flag the report replaces the source's whole record of title, display
/// name and labels. With any of them it edits the record (protocol §5.6 D5, failure B42).
/// Tokens always merge. The guards [`agent`](Self::agent) and
/// [`applies_to_source`](Self::applies_to_source) hide the record, but not the tokens, while
/// another source holds the pane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReportMetadata {
    /// The pane.
    pub pane_id: PaneId,
    /// The source of the record.
    pub source: SourceId,
    /// Shows the record only while the row has this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentLabel>,
    /// Shows the record only while this source holds the pane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applies_to_source: Option<SourceId>,
    /// The title: what the agent works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<PresentationText>,
    /// The name that is shown instead of the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_agent: Option<PresentationText>,
    /// The texts that are shown instead of the names of states.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub state_labels: StateLabels,
    /// The changes to the tokens.
    #[serde(default, skip_serializing_if = "TokenPatch::is_empty")]
    pub tokens: TokenPatch,
    /// Clears the title. Not together with a title.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clear_title: bool,
    /// Clears the display name. Not together with a display name.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clear_display_agent: bool,
    /// Clears the labels. Not together with labels.
    #[serde(default, skip_serializing_if = "is_false")]
    pub clear_state_labels: bool,
    /// Must be above every number used before for this pane's metadata and source, which have a
    /// mark of their own. A report without a number is always accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// How long the record and the tokens stay. Absent means without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<Ttl>,
}

impl ReportMetadata {
    /// A report without content. The server refuses it, so set something.
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

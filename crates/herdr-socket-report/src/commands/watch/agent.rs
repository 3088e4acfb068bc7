//! An agent as it is shown.

use std::collections::BTreeMap;

use herdr_proto::{AgentInfo, AgentStatus, strip_controls};
use serde::Serialize;

/// An agent on a pane. Its texts are the server's, without what could move a
/// cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Agent {
    /// What it is known by from one look to the next: its terminal stays when
    /// its pane moves.
    #[serde(skip)]
    pub(crate) key: String,
    pub(crate) pane_id: String,
    /// Its label, as Herdr files it.
    #[serde(rename = "agent", skip_serializing_if = "Option::is_none")]
    filed: Option<String>,
    /// What a person calls it.
    pub(crate) name: String,
    /// The label of its workspace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) workspace: String,
    #[serde(skip)]
    pub(crate) status: AgentStatus,
    pub(crate) state: String,
    /// The text for its state, where somebody set one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tokens: BTreeMap<String, String>,
    state_change_seq: u64,
    /// The state is on record, and only the shell runs in the pane.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    without_process: bool,
}

impl Agent {
    /// Takes what is shown. `workspaces` gives the label of a workspace's id.
    pub(crate) fn of(info: &AgentInfo, workspaces: &BTreeMap<&str, &str>) -> Self {
        let pane = info.pane_id.as_str();
        let name = [&info.display_agent, &info.name, &info.agent].into_iter().flatten();
        let mut names = name.filter_map(|name| clean(name));
        let workspace = info.workspace_id.as_deref().map(|id| {
            let label = workspaces.get(id).copied();
            label.and_then(clean).unwrap_or_else(|| strip_controls(id))
        });
        let label = info.state_labels.get(info.agent_status.as_str());
        let tokens = info.tokens.iter();
        Self {
            key: info.terminal_id.clone().unwrap_or_else(|| pane.to_owned()),
            pane_id: strip_controls(pane),
            filed: info.agent.as_deref().and_then(clean),
            name: names.next().unwrap_or_else(|| strip_controls(pane)),
            workspace: workspace.unwrap_or_default(),
            state: strip_controls(info.agent_status.as_str()),
            status: info.agent_status.clone(),
            label: label.and_then(|label| clean(label)),
            title: info.title.as_deref().and_then(clean),
            tokens: tokens.map(|(key, text)| (strip_controls(key), strip_controls(text))).collect(),
            state_change_seq: info.state_change_seq,
            without_process: false,
        }
    }

    /// The same, shown as a state that nobody keeps true.
    pub(crate) fn without_process(self) -> Self {
        let label = Some("no process".to_owned());
        Self { status: AgentStatus::UNKNOWN, label, without_process: true, ..self }
    }

    /// Whether this is still the state of an earlier look. One that went and
    /// came back in between is a new one, which only the number shows.
    pub(crate) fn goes_on_from(&self, earlier: &Self) -> bool {
        self.filed == earlier.filed
            && self.state_change_seq == earlier.state_change_seq
            && self.status.same_as(&earlier.status)
    }

    /// The tokens in one text.
    pub(crate) fn tokens(&self, between: &str) -> String {
        let tokens: Vec<_> =
            self.tokens.iter().map(|(key, text)| format!("{key} {text}")).collect();
        tokens.join(between)
    }
}

/// A text without what could move a cursor, if anything is left.
fn clean(text: &str) -> Option<String> {
    Some(strip_controls(text)).filter(|text| !text.is_empty())
}

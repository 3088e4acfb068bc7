//! An agent as Herdr shows it.

use std::collections::BTreeMap;

use herdr_proto::{AgentInfo, AgentStatus, Snapshot, strip_controls};
use serde::Serialize;

use super::{Line, Style};

/// An agent on a pane. Its texts are the server's, without what could move a
/// cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Agent {
    /// What it is known by from one look to the next: its terminal stays when
    /// its pane moves.
    #[serde(skip)]
    pub(crate) key: String,
    pub(crate) pane_id: String,
    #[serde(rename = "agent", skip_serializing_if = "Option::is_none")]
    filed: Option<String>,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) workspace: String,
    #[serde(skip)]
    tab: String,
    #[serde(skip)]
    status: AgentStatus,
    state: String,
    /// The text for its state, where somebody set one.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
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
    /// Takes what is shown. The snapshot has the labels of its workspace and tab.
    pub(crate) fn of(info: &AgentInfo, snapshot: &Snapshot) -> Self {
        let pane = strip_controls(info.pane_id.as_str());
        let mut names = [&info.display_agent, &info.name, &info.agent].into_iter().flatten();
        let workspace = info.workspace_id.as_deref().map(|id| {
            let found = snapshot.workspaces.iter().find(|found| found.workspace_id == id);
            found.and_then(|found| clean(&found.label)).unwrap_or_else(|| strip_controls(id))
        });
        let tab = snapshot.tabs.iter().find(|tab| info.tab_id.as_ref() == Some(&tab.tab_id));
        let tokens = info.tokens.iter();
        Self {
            key: info.terminal_id.clone().unwrap_or_else(|| pane.clone()),
            filed: info.agent.as_deref().and_then(clean),
            name: names.find_map(|name| clean(name)).unwrap_or_else(|| pane.clone()),
            pane_id: pane,
            workspace: workspace.unwrap_or_default(),
            tab: tab.map(|tab| strip_controls(&tab.label)).unwrap_or_default(),
            state: strip_controls(info.agent_status.as_str()),
            label: info.state_labels.get(info.agent_status.as_str()).and_then(|it| clean(it)),
            status: info.agent_status.clone(),
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

    pub(crate) fn state_text(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.state)
    }

    /// Herdr's sign of its state: a dot, or a symbol where there are no colours.
    pub(crate) fn sign(&self, colour: bool) -> (Style, &'static str) {
        let (style, dot, symbol) = if self.status == AgentStatus::BLOCKED {
            (Style::Red, "●", "×")
        } else if self.status == AgentStatus::WORKING {
            (Style::Yellow, "●", "◐")
        } else if self.status == AgentStatus::IDLE {
            (Style::Green, "○", "○")
        } else if self.status == AgentStatus::DONE {
            (Style::Teal, "●", "✓")
        } else {
            (Style::Faint, "-", "-")
        };
        (style, if colour { dot } else { symbol })
    }

    pub(crate) fn tokens(&self) -> String {
        let tokens = self.tokens.iter().map(|(key, text)| format!("{key} {text}"));
        tokens.collect::<Vec<_>>().join(", ")
    }

    /// All of it in one line, for output that is not a terminal.
    pub(crate) fn sentence(&self) -> String {
        let mut text = format!("{} {}: {}", self.sign(false).1, self.name, self.state);
        if let Some(label) = &self.label {
            text = format!("{text} ({label})");
        }
        let parts = [self.title.clone().unwrap_or_default(), self.tokens()];
        for part in parts.iter().filter(|part| !part.is_empty()) {
            text = format!("{text} | {part}");
        }
        text
    }

    /// What a sidebar shows with the rows `["state_icon", "workspace", "tab"]`,
    /// `["agent"]`, `["state_text"]`, `["pane"]` and `["$model", "$ctx"]`. A row
    /// without anything to show is left out.
    pub(crate) fn rows(&self, colour: bool) -> Vec<Line> {
        let (style, sign) = self.sign(colour);
        let joined = |parts: &[&str]| {
            let parts = parts.iter().copied().filter(|part| !part.is_empty());
            parts.collect::<Vec<_>>().join(" · ")
        };
        let token = |key: &str| self.tokens.get(key).map(String::as_str).unwrap_or_default();
        let place = joined(&[&self.workspace, &self.tab]);
        let others = [
            (Style::Plain, self.name.clone()),
            (style, self.state_text().to_owned()),
            (Style::Plain, self.title.clone().unwrap_or_default()),
            (Style::Faint, joined(&[token("model"), token("ctx")])),
        ];
        let mut rows = vec![Line::of(style, sign).blanks(1).with(Style::Strong, &place)];
        let others = others.iter().filter(|(_, text)| !text.is_empty());
        rows.extend(others.map(|(style, text)| Line::default().blanks(2).with(*style, text)));
        rows
    }
}

/// A text without what could move a cursor, if anything is left.
fn clean(text: &str) -> Option<String> {
    Some(strip_controls(text)).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(fields: &str) -> Agent {
        let text = format!(
            r#"{{"workspaces": [{{"workspace_id": "w1", "label": "web"}}],
                "tabs": [{{"tab_id": "w1:t1", "label": "fix"}}],
                "agents": [{{"pane_id": "w1:p1", "workspace_id": "w1", "tab_id": "w1:t1", {fields}}}]}}"#
        );
        let snapshot: Snapshot = serde_json::from_str(&text).unwrap();
        Agent::of(&snapshot.agents[0], &snapshot)
    }

    fn rows(agent: &Agent, columns: usize) -> Vec<String> {
        agent.rows(false).iter().map(|row| row.cut(columns).text(false)).collect()
    }

    #[test]
    fn the_rows_are_those_of_herdrs_sidebar() {
        let agent = agent(
            r#""agent": "bot", "agent_status": "blocked", "state_labels": {"blocked": "Run it?"},
               "title": "Fix it", "tokens": {"ctx": "4k", "model": "m", "branch": "main"}"#,
        );
        let expected = "× bot: blocked (Run it?) | Fix it | branch main, ctx 4k, model m";
        assert_eq!(agent.sentence(), expected);
        let expected = ["× web · fix", "  bot", "  Run it?", "  Fix it", "  m · 4k"];
        assert_eq!(rows(&agent, 25), expected);
        assert!(agent.rows(true)[0].text(true).starts_with("\u{1b}[31m●\u{1b}[0m "));
    }

    #[test]
    fn whatever_a_server_says_fits_and_moves_no_cursor() {
        let hostile = agent(
            r#""agent": "a\u001b[2Jb", "agent_status": "w\u001b]0;x\u0007ild",
               "title": "one\ntwo\u202e", "tokens": {"ctx": "\u001b[31mv"}"#,
        );
        let wide = agent(
            r#""agent": "名前が長い代理人", "agent_status": "working",
               "title": "日本語の長い題名です、とても長い", "state_labels": {"working": "長い状態"}"#,
        );
        for agent in [hostile, wide] {
            let wild = |c: char| c.is_control() || c == '\u{202e}';
            assert!(!agent.sentence().chars().any(wild), "{}", agent.sentence());
            for columns in 0..40 {
                for row in agent.rows(false) {
                    assert!(row.cut(columns).width() <= columns, "{columns}");
                    assert_eq!(row.fit(columns).width(), columns);
                    assert!(!row.text(false).chars().any(wild));
                }
            }
        }
    }
}

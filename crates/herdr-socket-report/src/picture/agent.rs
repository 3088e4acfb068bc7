//! An agent as Herdr shows it.

use std::collections::BTreeMap;

use herdr_proto::{AgentInfo, AgentStatus, Snapshot, strip_controls};
use serde::Serialize;

use super::Style;

/// An agent in a pane. Its texts are the server's, without control characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Agent {
    /// Identifies the agent across reads. It is the terminal, which stays when the pane moves.
    #[serde(skip)]
    pub(crate) key: String,
    pub(crate) pane_id: String,
    #[serde(rename = "agent", skip_serializing_if = "Option::is_none")]
    filed: Option<String>,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) workspace: String,
    /// The tab's name, if Herdr shows one. A workspace's only tab has no name of its own.
    #[serde(skip)]
    tab: String,
    #[serde(skip)]
    pane_label: Option<String>,
    #[serde(skip)]
    terminal_title: Option<String>,
    #[serde(skip)]
    terminal_title_stripped: Option<String>,
    #[serde(skip)]
    status: AgentStatus,
    state: String,
    /// The text for its state, if one is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tokens: BTreeMap<String, String>,
    state_change_seq: u64,
    /// Whether an agent is on record while only the shell runs in the pane.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    without_process: bool,
}

impl Agent {
    /// Reads an agent. The snapshot has the names of its workspace and tab.
    pub(crate) fn of(info: &AgentInfo, snapshot: &Snapshot) -> Self {
        let pane = strip_controls(info.pane_id.as_str());
        let mut names = [&info.display_agent, &info.name, &info.agent].into_iter().flatten();
        let workspace = info.workspace_id.as_deref().map(|id| {
            let found = snapshot.workspaces.iter().find(|found| found.workspace_id == id);
            found.and_then(|found| clean(&found.label)).unwrap_or_else(|| strip_controls(id))
        });
        let mut tabs = snapshot.tabs.iter();
        let tab = tabs.find(|tab| info.tab_id.as_ref() == Some(&tab.tab_id)).filter(|tab| {
            let all = snapshot.tabs.iter().filter(|other| other.workspace_id == tab.workspace_id);
            // A tab's default name is its number.
            all.count() > 1 || tab.label.parse::<u32>().is_err()
        });
        let pane_info = snapshot.panes.iter().find(|found| found.pane_id == info.pane_id);
        let tokens = info.tokens.iter();
        Self {
            key: info.terminal_id.clone().unwrap_or_else(|| pane.clone()),
            filed: info.agent.as_deref().and_then(clean),
            name: names.find_map(|name| clean(name)).unwrap_or_else(|| pane.clone()),
            pane_id: pane,
            workspace: workspace.unwrap_or_default(),
            tab: tab.map(|tab| strip_controls(&tab.label)).unwrap_or_default(),
            pane_label: pane_info.and_then(|found| clean(found.label.as_deref()?)),
            terminal_title: info.terminal_title.as_deref().and_then(clean),
            terminal_title_stripped: info.terminal_title_stripped.as_deref().and_then(clean),
            state: strip_controls(info.agent_status.as_str()),
            label: info.state_labels.get(info.agent_status.as_str()).and_then(|it| clean(it)),
            status: info.agent_status.clone(),
            title: info.title.as_deref().and_then(clean),
            tokens: tokens.map(|(key, text)| (strip_controls(key), strip_controls(text))).collect(),
            state_change_seq: info.state_change_seq,
            without_process: false,
        }
    }

    /// The same agent, shown as one whose process has ended.
    pub(crate) fn without_process(self) -> Self {
        let label = Some("no process".to_owned());
        Self { status: AgentStatus::UNKNOWN, label, without_process: true, ..self }
    }

    /// Whether this is the state that was read earlier. A state that ended and began again in
    /// between is a new one, which only the sequence number shows.
    pub(crate) fn goes_on_from(&self, earlier: &Self) -> bool {
        self.filed == earlier.filed
            && self.state_change_seq == earlier.state_change_seq
            && self.status.same_as(&earlier.status)
    }

    pub(crate) fn state_text(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.state)
    }

    /// Herdr's sign for its state: a dot, or a symbol without colours.
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
            (Style::Faint, "·", "·")
        };
        (style, if colour { dot } else { symbol })
    }

    pub(crate) fn tokens(&self) -> String {
        let tokens = self.tokens.iter().map(|(key, text)| format!("{key} {text}"));
        tokens.collect::<Vec<_>>().join(", ")
    }

    /// Everything in one line, for output that is not a terminal.
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

    /// Its text for a token of the sidebar's rows.
    pub(super) fn text(&self, token: &str) -> Option<&str> {
        match token {
            "workspace" => Some(&self.workspace),
            "tab" => Some(&self.tab),
            "agent" => Some(&self.name),
            "state_text" => Some(self.state_text()),
            "pane" => self.title.as_deref().or(self.pane_label.as_deref()),
            "terminal_title" => self.terminal_title.as_deref(),
            "terminal_title_stripped" => self.terminal_title_stripped.as_deref(),
            token => self.tokens.get(token.strip_prefix('$')?).map(String::as_str),
        }
    }
}

/// A text without control characters; `None` if nothing is left.
fn clean(text: &str) -> Option<String> {
    Some(strip_controls(text)).filter(|text| !text.is_empty())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::picture::Rows;

    pub(in crate::picture) fn agent(fields: &str) -> Agent {
        let text = format!(
            r#"{{"workspaces": [{{"workspace_id": "w1", "label": "web"}}],
                "tabs": [{{"tab_id": "w1:t1", "label": "fix"}}],
                "agents": [{{"pane_id": "w1:p1", "workspace_id": "w1", "tab_id": "w1:t1", {fields}}}]}}"#
        );
        let snapshot: Snapshot = serde_json::from_str(&text).unwrap();
        Agent::of(&snapshot.agents[0], &snapshot)
    }

    #[test]
    fn a_sentence_has_all_of_it() {
        let agent = agent(
            r#""agent": "bot", "agent_status": "blocked", "state_labels": {"blocked": "Run it?"},
               "title": "Fix it", "tokens": {"ctx": "4k", "model": "m", "branch": "main"}"#,
        );
        let expected = "× bot: blocked (Run it?) | Fix it | branch main, ctx 4k, model m";
        assert_eq!(agent.sentence(), expected);
    }

    #[test]
    fn a_tab_is_shown_where_there_are_several_or_it_has_a_name() {
        let tab = |tabs: &str| {
            let text = format!(
                r#"{{"tabs": [{tabs}], "agents": [{{"pane_id": "w1:p1", "tab_id": "w1:t1"}}]}}"#
            );
            let snapshot: Snapshot = serde_json::from_str(&text).unwrap();
            Agent::of(&snapshot.agents[0], &snapshot).tab
        };
        let first = r#"{"tab_id": "w1:t1", "workspace_id": "w1", "label": "1"}"#;
        assert_eq!(tab(first), "");
        assert_eq!(tab(&first.replace("\"1\"", "\"fix\"")), "fix");
        let second = first.replace("t1", "t2");
        assert_eq!(tab(&format!("{first}, {second}")), "1");
        assert_eq!(tab(&format!("{first}, {}", second.replace("w1\",", "w2\","))), "");
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
            let rows: Rows = [vec!["state_icon", "agent"], vec!["pane", "$ctx", "state_text"]]
                .into_iter()
                .collect();
            for columns in 0..40 {
                for row in rows.of(&agent, columns, false) {
                    assert!(row.cut(columns).width() <= columns, "{columns}");
                    assert_eq!(row.fit(columns).width(), columns);
                    assert!(!row.text(false).chars().any(wild));
                }
            }
        }
    }
}

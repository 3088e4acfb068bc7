//! The objects of replies, in the order of fields in which Herdr writes them.
//! What is not set is left out.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::layout::{Rect, SplitView};
use super::sources::SessionKind;
use super::state::Status;

/// Everything that a successful reply may hold.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Outcome {
    Ok,
    Pong {
        version: String,
        protocol: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        server: Option<&'static str>,
        capabilities: Value,
    },
    PaneInfo {
        pane: PaneInfo,
    },
    PaneCurrent {
        pane: PaneInfo,
    },
    PaneList {
        panes: Vec<PaneInfo>,
    },
    PaneRead {
        read: ReadView,
    },
    PaneProcessInfo {
        process_info: ProcessView,
    },
    PaneMove {
        move_result: Box<MoveView>,
    },
    AgentInfo {
        agent: AgentInfo,
    },
    AgentList {
        agents: Vec<AgentInfo>,
    },
    AgentExplain {
        explain: Value,
    },
    AgentPrompted {
        agent: AgentInfo,
    },
    WorkspaceCreated {
        workspace: WorkspaceView,
        tab: TabView,
        root_pane: PaneInfo,
    },
    WorkspaceInfo {
        workspace: WorkspaceView,
    },
    WorkspaceList {
        workspaces: Vec<WorkspaceView>,
    },
    TabCreated {
        tab: TabView,
        root_pane: PaneInfo,
    },
    TabInfo {
        tab: TabView,
    },
    TabList {
        tabs: Vec<TabView>,
    },
    SessionSnapshot {
        snapshot: Box<SnapshotView>,
    },
    NotificationShow {
        shown: bool,
        reason: &'static str,
    },
    SubscriptionStarted,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SessionView {
    pub(crate) source: String,
    pub(crate) agent: String,
    pub(crate) kind: SessionKind,
    pub(crate) value: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ScrollView {
    pub(crate) offset_from_bottom: u64,
    pub(crate) max_offset_from_bottom: u64,
    pub(crate) viewport_rows: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PaneInfo {
    pub(crate) pane_id: String,
    pub(crate) terminal_id: String,
    pub(crate) workspace_id: String,
    pub(crate) tab_id: String,
    pub(crate) focused: bool,
    pub(crate) cwd: String,
    pub(crate) foreground_cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) display_agent: Option<String>,
    pub(crate) agent_status: Status,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) state_labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tokens: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_session: Option<SessionView>,
    pub(crate) scroll: ScrollView,
    pub(crate) revision: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AgentInfo {
    pub(crate) terminal_id: String,
    pub(crate) agent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) display_agent: Option<String>,
    pub(crate) agent_status: Status,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) state_labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tokens: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_session: Option<SessionView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) screen_detection_skipped: Option<bool>,
    pub(crate) workspace_id: String,
    pub(crate) tab_id: String,
    pub(crate) pane_id: String,
    pub(crate) focused: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state_change_seq: Option<u64>,
    pub(crate) cwd: String,
    pub(crate) foreground_cwd: String,
    pub(crate) revision: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct WorkspaceView {
    pub(crate) workspace_id: String,
    pub(crate) number: usize,
    pub(crate) label: String,
    pub(crate) focused: bool,
    pub(crate) pane_count: usize,
    pub(crate) tab_count: usize,
    pub(crate) active_tab_id: String,
    pub(crate) agent_status: Status,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tokens: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TabView {
    pub(crate) tab_id: String,
    pub(crate) workspace_id: String,
    pub(crate) number: u64,
    pub(crate) label: String,
    pub(crate) focused: bool,
    pub(crate) pane_count: usize,
    pub(crate) agent_status: Status,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LayoutView {
    pub(crate) workspace_id: String,
    pub(crate) tab_id: String,
    pub(crate) zoomed: bool,
    pub(crate) area: Rect,
    pub(crate) focused_pane_id: String,
    pub(crate) panes: Vec<LayoutPane>,
    pub(crate) splits: Vec<SplitView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LayoutPane {
    pub(crate) pane_id: String,
    pub(crate) focused: bool,
    pub(crate) rect: Rect,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct MoveView {
    pub(crate) changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
    pub(crate) previous_pane_id: String,
    pub(crate) previous_workspace_id: String,
    pub(crate) previous_tab_id: String,
    pub(crate) pane: PaneInfo,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source_layout: Option<LayoutView>,
    pub(crate) target_layout: LayoutView,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_workspace: Option<WorkspaceView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_tab: Option<TabView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) closed_workspace_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) closed_tab_id: Option<String>,
    pub(crate) focused_pane_id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SnapshotView {
    pub(crate) version: String,
    pub(crate) protocol: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) focused_workspace_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) focused_tab_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) focused_pane_id: Option<String>,
    pub(crate) workspaces: Vec<WorkspaceView>,
    pub(crate) tabs: Vec<TabView>,
    pub(crate) panes: Vec<PaneInfo>,
    pub(crate) layouts: Vec<LayoutView>,
    pub(crate) agents: Vec<AgentInfo>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ReadView {
    pub(crate) pane_id: String,
    pub(crate) workspace_id: String,
    pub(crate) tab_id: String,
    pub(crate) source: &'static str,
    pub(crate) format: &'static str,
    pub(crate) text: String,
    pub(crate) revision: u64,
    pub(crate) truncated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ProcessView {
    pub(crate) pane_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shell_pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) foreground_process_group_id: Option<u32>,
    pub(crate) foreground_processes: Vec<PaneProcess>,
}

/// A process in the foreground of a pane, as `pane.process_info` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PaneProcess {
    /// Its process id.
    pub pid: u32,
    /// The name of its program.
    pub name: String,
    /// Its arguments, the program's first; empty when they are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// The same in one text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cmdline: Option<String>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

impl PaneProcess {
    /// A process of which no more than this is known.
    pub fn new(pid: u32, name: impl Into<String>) -> Self {
        Self { pid, name: name.into(), argv: Vec::new(), cmdline: None, cwd: None }
    }
}

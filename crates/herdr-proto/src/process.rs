use serde::{Deserialize, Serialize};

use crate::absent;
use crate::ids::PaneId;

/// `pane.process_info`: the processes of a pane, as the server sees them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProcessInfoGet {
    /// The pane; absent asks for the one with the focus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane_id: Option<PaneId>,
}

impl ProcessInfoGet {
    /// Asks for this pane.
    pub fn new(pane_id: PaneId) -> Self {
        Self { pane_id: Some(pane_id) }
    }
}

/// What `pane.process_info` answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ProcessInfoReply {
    /// The processes.
    pub process_info: ProcessInfo,
}

/// The processes of a pane. Process ids are those of the server's own
/// namespace, which need not be ours.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// The pane.
    pub pane_id: PaneId,
    /// The pane's shell, which leads the session of everything started in it.
    #[serde(default)]
    pub shell_pid: Option<u32>,
    /// The process group in the foreground.
    #[serde(default)]
    pub foreground_process_group_id: Option<u32>,
    /// The terminal; never filled in on Linux.
    #[serde(default)]
    pub tty: Option<String>,
    /// The foreground group's processes.
    #[serde(default, deserialize_with = "absent::null")]
    pub foreground_processes: Vec<Process>,
}

/// One process of a pane.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its name.
    #[serde(default, deserialize_with = "absent::null")]
    pub name: String,
    /// Its arguments, the program among them; empty if not known.
    #[serde(default, deserialize_with = "absent::null")]
    pub argv: Vec<String>,
    /// Its arguments as one text.
    #[serde(default)]
    pub cmdline: Option<String>,
    /// Where it is.
    #[serde(default)]
    pub cwd: Option<String>,
}

use serde::{Deserialize, Serialize};

use crate::absent;
use crate::ids::PaneId;

/// `pane.process_info`: the processes of a pane, as the server sees them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProcessInfoGet {
    /// The pane; absent asks for the focused one.
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

/// The processes of a pane. The process ids are those of the server's pid namespace, which may
/// be another than the caller's.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// The pane.
    pub pane_id: PaneId,
    /// The pane's shell. It leads the session of everything that is started in it.
    #[serde(default)]
    pub shell_pid: Option<u32>,
    /// The foreground process group.
    #[serde(default)]
    pub foreground_process_group_id: Option<u32>,
    /// The terminal; never set on Linux.
    #[serde(default)]
    pub tty: Option<String>,
    /// The processes of the foreground group.
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
    /// The arguments, beginning with the program; empty if not known.
    #[serde(default, deserialize_with = "absent::null")]
    pub argv: Vec<String>,
    /// The arguments as one text.
    #[serde(default)]
    pub cmdline: Option<String>,
    /// The current folder.
    #[serde(default)]
    pub cwd: Option<String>,
}

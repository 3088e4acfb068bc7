//! The pure model: a Herdr without clock, socket or thread.
//!
//! [`Model::request`] takes a line and the time since the start and returns the answer. The
//! state changes only through the methods of [`Model`]. The same calls at the same times give
//! the same answers.

mod agents;
mod arrange;
mod call;
mod detection;
mod detector;
mod dispatch;
mod events;
mod failure;
mod ids;
mod keys;
mod layout;
mod lifetime;
mod lookup;
mod metadata;
mod moves;
mod observe;
mod panes;
mod places;
mod profile;
mod release;
mod report;
mod reports;
mod screen;
mod server;
mod session;
mod sources;
mod state;
mod stream;
mod subscription;
mod terminal;
mod text;
mod tokens;
mod topology;

use std::collections::BTreeMap;
use std::time::Duration;

use events::EventRing;
use topology::{Pane, Workspace};

pub use observe::{AgentSession, Observation};
pub use panes::PaneProcess;
pub use profile::{Profile, UnknownProfile};
#[cfg(feature = "pty")]
pub(crate) use screen::Row;
pub use stream::Stream;

/// The state of a Herdr, and the rules by which requests change it.
///
/// Every call gets the time as the [`Duration`] since the start. Time never runs backwards: an
/// earlier time counts as the latest one so far.
///
/// ```
/// use std::time::Duration;
/// use fake_herdr::{Answer, Model};
///
/// let mut herdr = Model::new();
/// let report = br#"{"id":"1","method":"pane.report_agent","params":{"pane_id":"w1:p1",
///     "source":"custom:bot","agent":"bot","state":"working","seq":1}}"#;
/// let line: Vec<u8> = report.iter().copied().filter(|byte| *byte != b'\n').collect();
/// let Answer::Reply(reply) = herdr.request(Duration::ZERO, &line) else { panic!() };
/// assert_eq!(reply, r#"{"id":"1","result":{"type":"ok"}}"#);
/// let seen = herdr.observe(Duration::ZERO, "w1:p1").unwrap();
/// assert_eq!((seen.agent.as_deref(), seen.agent_status.as_str()), (Some("bot"), "working"));
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    profile: Profile,
    workspaces: Vec<Workspace>,
    panes: BTreeMap<u64, Pane>,
    /// The key of the focused workspace.
    focus: Option<u64>,
    /// The workspace position and the pane of the last focus events.
    told_focus: Option<(usize, u64)>,
    /// The public ids that moved panes had before.
    aliases: BTreeMap<String, u64>,
    events: EventRing,
    /// One counter for the whole server (protocol 2.3).
    state_changes: u64,
    next_pane: u64,
    next_workspace: u64,
    next_terminal: u64,
    folders: Folders,
    /// Whether the first line of the screen shows the tabs.
    shows_tabs: bool,
    now: Duration,
    stopping: bool,
    /// Increases when another process continues as the server.
    generation: u64,
}

/// The file system around the model.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Folders {
    /// The user's home folder, in which a pane starts if its own folder does not exist.
    pub home: String,
    /// The name of a workspace in a folder; `None` if the folder does not exist.
    pub name: fn(&str) -> Option<String>,
}

impl Default for Folders {
    /// A file system in which every folder exists. The name is the last part of the path.
    fn default() -> Self {
        Self { home: "/home/user".to_owned(), name: |path| Some(last_part(path).to_owned()) }
    }
}

/// The last part of a path; the root for the root itself.
pub(crate) fn last_part(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}

/// The answer to a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// One line, without its newline; then the connection closes.
    Reply(String),
    /// The connection closes without an answer (protocol 7.3).
    Silence,
    /// One line, and then events as long as the connection is open.
    Stream {
        /// The first line, without its newline.
        reply: String,
        /// The stream, whose lines [`Model::tick`] returns every 100 ms.
        stream: Stream,
    },
}

impl Answer {
    /// The line that is sent at once, if there is one.
    pub fn line(&self) -> Option<&str> {
        match self {
            Self::Reply(reply) | Self::Stream { reply, .. } => Some(reply),
            Self::Silence => None,
        }
    }
}

impl Default for Model {
    fn default() -> Self {
        Self::new()
    }
}

impl Model {
    /// A Herdr 0.8.2 with one workspace, one tab and one focused pane `w1:p1`.
    pub fn new() -> Self {
        Self::with_profile(Profile::default())
    }

    /// As [`Model::new`], for another server.
    pub fn with_profile(profile: Profile) -> Self {
        Self::empty(profile).with_demo()
    }

    /// A server with nothing open, like `herdr server` at its start.
    pub fn empty(profile: Profile) -> Self {
        Self {
            profile,
            workspaces: Vec::new(),
            panes: BTreeMap::new(),
            focus: None,
            told_focus: None,
            aliases: BTreeMap::new(),
            events: EventRing::default(),
            state_changes: 0,
            next_pane: 1,
            next_workspace: 1,
            next_terminal: 1,
            folders: Folders::default(),
            shows_tabs: false,
            now: Duration::ZERO,
            stopping: false,
            generation: 0,
        }
    }

    /// Opens the first workspace, named "demo".
    pub(crate) fn with_demo(mut self) -> Self {
        let create = call::Create { label: Some("demo".to_owned()), ..call::Create::default() };
        // Nothing in it can be refused.
        let _ = self.workspace_create(create);
        self.settle_view();
        self
    }

    /// Replaces the file system. Panes that are open keep their folders.
    #[must_use]
    pub fn with_folders(mut self, folders: Folders) -> Self {
        self.folders = folders;
        self
    }

    /// Whether `server.stop` was requested.
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// How often a live handoff or a restart has replaced the server process. Streams of an
    /// earlier generation end.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

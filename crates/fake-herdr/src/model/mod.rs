//! The pure model: a Herdr without clock, socket or thread.
//!
//! [`Model::request`] takes a line and the time since the start and returns the
//! answer. Only calls of the model's methods change it, so the same calls at the
//! same times give the same answers.

mod agents;
mod arrange;
mod call;
mod detection;
mod detector;
mod dispatch;
mod events;
mod failure;
mod geometry;
mod ids;
mod keys;
mod layout;
mod lifetime;
mod lookup;
mod metadata;
mod moves;
mod observe;
mod panes;

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
mod workspaces;

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

/// A Herdr's state, and the rules by which requests change it.
///
/// Every call takes the time as a [`Duration`] since the start. Time never runs
/// backwards: an earlier time than the latest so far counts as the latest.
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
    /// The workspace (its place in the list) and the pane of the last focus events.
    announced_focus: Option<(usize, u64)>,
    /// Public ids that moved panes had before.
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
    /// Rises when another process takes over the socket.
    generation: u64,
}

/// What a model has to know about the file system.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Folders {
    /// The user's home folder. A pane starts here if its own folder does not exist.
    pub home: String,
    /// Gives the name of a workspace in a folder; `None` if the folder does not exist.
    pub name: fn(&str) -> Option<String>,
}

impl Default for Folders {
    /// A file system in which every folder exists and is named after its last part.
    fn default() -> Self {
        Self { home: "/home/user".to_owned(), name: |path| Some(last_part(path).to_owned()) }
    }
}

/// The last part of a path; the root stays as it is.
pub(crate) fn last_part(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}

/// The answer to a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// One line, without its newline; then the connection closes.
    Reply(String),
    /// Nothing; the connection closes (protocol 7.3).
    Silence,
    /// One line, and then events for as long as the connection lives.
    Stream {
        /// The first line, without its newline.
        reply: String,
        /// Gives its lines to [`Model::tick`], which is due every 100 ms.
        stream: Stream,
    },
}

impl Answer {
    /// The line that is sent at once; `None` for [`Answer::Silence`].
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

    /// The same workspace, tab and pane on another server.
    pub fn with_profile(profile: Profile) -> Self {
        Self::empty(profile).with_demo()
    }

    /// A server without a workspace, as `herdr server` starts.
    pub fn empty(profile: Profile) -> Self {
        Self {
            profile,
            workspaces: Vec::new(),
            panes: BTreeMap::new(),
            focus: None,
            announced_focus: None,
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

    /// Opens the first workspace, "demo".
    pub(crate) fn with_demo(mut self) -> Self {
        let create = call::Create { label: Some("demo".to_owned()), ..call::Create::default() };
        // No check can fail: there is neither a folder nor a variable in it.
        let _ = self.workspace_create(create);
        self.finish_turn();
        self
    }

    /// The same model in another file system. Open panes keep their folders.
    #[must_use]
    pub fn with_folders(mut self, folders: Folders) -> Self {
        self.folders = folders;
        self
    }

    /// Whether a client has asked for `server.stop`.
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// How often the process behind the socket has been replaced by a live
    /// handoff or a restart. Streams of an older generation end.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

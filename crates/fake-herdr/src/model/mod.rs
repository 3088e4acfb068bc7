//! The pure model: a Herdr without clock, socket or thread.
//!
//! [`Model::request`] takes a line and the time since the start and gives the
//! answer; nothing else moves it but the methods named here. The same calls at
//! the same times give the same answers.

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

/// A Herdr's state, and the rules by which requests change it.
///
/// Time is given to every call as the [`Duration`] since the start and never
/// runs backwards; an earlier one counts as the latest so far.
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
    /// The key of the workspace that the user looks at.
    focus: Option<u64>,
    /// The place of the workspace and the pane that the last focus events named.
    told_focus: Option<(usize, u64)>,
    /// Public ids that moved panes had before.
    aliases: BTreeMap<String, u64>,
    events: EventRing,
    /// One counter for the whole server (protocol 2.3).
    state_changes: u64,
    next_pane: u64,
    next_workspace: u64,
    next_terminal: u64,
    folders: Folders,
    /// Whether the first line of the screen is for the tabs.
    shows_tabs: bool,
    now: Duration,
    stopping: bool,
    /// Rises when the process behind the socket becomes another one.
    generation: u64,
}

/// What a model is told of the file system around it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Folders {
    /// The user's own, in which a pane starts whose folder does not exist.
    pub home: String,
    /// What a workspace in a folder is called; `None` if there is no such folder.
    pub name: fn(&str) -> Option<String>,
}

impl Default for Folders {
    /// A world in which every folder exists and is called by its last part.
    fn default() -> Self {
        Self { home: "/home/user".to_owned(), name: |path| Some(last_part(path).to_owned()) }
    }
}

/// What a folder is called; the root by itself.
pub(crate) fn last_part(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}

/// What comes back for a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum Answer {
    /// One line, without its newline; then the connection closes.
    Reply(String),
    /// The connection closes without a word (protocol 7.3).
    Silence,
    /// One line, and then events for as long as the connection lives.
    Stream {
        /// The first line, without its newline.
        reply: String,
        /// To be asked for its lines every 100 ms with [`Model::tick`].
        stream: Stream,
    },
}

impl Answer {
    /// The line that is sent at once, if any.
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

    /// The same for another server.
    pub fn with_profile(profile: Profile) -> Self {
        Self::empty(profile).with_demo()
    }

    /// A server on which nothing was opened yet, as `herdr server` starts.
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

    /// Opens the first workspace, "demo".
    pub(crate) fn with_demo(mut self) -> Self {
        let create = call::Create { label: Some("demo".to_owned()), ..call::Create::default() };
        // Nothing in it can be refused.
        let _ = self.workspace_create(create);
        self.settle_view();
        self
    }

    /// The same model in another file system. The panes that are open stay where
    /// they are.
    #[must_use]
    pub fn with_folders(mut self, folders: Folders) -> Self {
        self.folders = folders;
        self
    }

    /// Whether `server.stop` was asked for.
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// How often the process behind the socket has been replaced by a live
    /// handoff or a restart. Streams of an older generation end.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

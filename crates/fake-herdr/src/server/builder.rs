//! The settings of a fake server, and its start.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use super::FakeHerdr;
use super::fault::{Fault, Faults};
use super::listener::Listener;
use super::shared::Shared;
use crate::model::{Folders, Model, Profile, last_part};

/// Settings of a [`FakeHerdr`].
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it is started"]
pub struct Builder {
    panes: usize,
    profile: Profile,
    poll: bool,
    socket_path: Option<PathBuf>,
    model: Option<Box<Model>>,
    faults: Vec<Fault>,
    #[cfg(feature = "pty")]
    program: Option<Vec<std::ffi::OsString>>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            panes: 1,
            profile: Profile::default(),
            poll: false,
            socket_path: None,
            model: None,
            faults: Vec::new(),
            #[cfg(feature = "pty")]
            program: None,
        }
    }
}

impl Builder {
    /// How many panes the first tab has; 1 by default. With 0 the server starts as
    /// `herdr server` does, without a workspace.
    pub fn panes(mut self, panes: usize) -> Self {
        self.panes = panes;
        self
    }

    /// The protocol number; 20 by default. It chooses the newest known server
    /// of that number, see [`Profile::for_protocol`].
    pub fn protocol(self, protocol: u64) -> Self {
        self.profile(Profile::for_protocol(protocol))
    }

    /// The server to behave as; Herdr 0.8.2 by default.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Whether to look for a late request only every 100 ms, as the real server
    /// does (protocol 7.3). Off by default, so that tests are quick; the program
    /// `fake-herdr serve` turns it on.
    pub fn poll(mut self, poll: bool) -> Self {
        self.poll = poll;
        self
    }

    /// The path of the socket. By default it is in a temporary folder, which is
    /// removed with the server.
    pub fn socket_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.socket_path = Some(path.into());
        self
    }

    /// Serves this model instead of a new one. The settings of panes and profile
    /// then have no effect.
    pub fn model(mut self, model: Model) -> Self {
        self.model = Some(Box::new(model));
        self
    }

    /// Starts with a fault, as [`FakeHerdr::fault`] sets it later. More than one
    /// can be given.
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Runs this program, given as a command and its arguments, in a
    /// pseudo-terminal behind every pane. It leads a session and has the variables
    /// that Herdr sets. `pane.process_info`, `pane.read` and the typing methods then
    /// work on this program, and its end closes the pane. Without a program, panes
    /// have a simulated shell without a process.
    #[cfg(feature = "pty")]
    pub fn program<W: Into<std::ffi::OsString>>(
        mut self,
        command: impl IntoIterator<Item = W>,
    ) -> Self {
        self.program = Some(command.into_iter().map(Into::into).collect());
        self
    }

    /// Binds the socket and starts to serve.
    ///
    /// # Errors
    ///
    /// If the path is taken by a running server or by something that is not a
    /// socket, if it is too long, or if the folder, the thread or the program cannot
    /// be created. The socket of a dead server is replaced, as Herdr does.
    pub fn start(self) -> io::Result<FakeHerdr> {
        let folder = match self.socket_path {
            None => Some(tempfile::Builder::new().prefix("fake-herdr").tempdir()?),
            Some(_) => None,
        };
        let path = match (&self.socket_path, &folder) {
            (Some(path), _) => path.clone(),
            (None, Some(folder)) => folder.path().join("herdr.sock"),
            (None, None) => return Err(io::ErrorKind::NotFound.into()),
        };
        let model =
            self.model.map_or_else(|| first_model(self.profile, self.panes), |model| *model);
        let pane_id = model.pane_ids().into_iter().next().unwrap_or_default();
        let mut faults = Faults::default();
        for fault in self.faults {
            faults.set(fault, None);
        }
        let shared = Arc::new(Shared::new(model, faults, path, self.poll)?);
        let listener = Listener::bind(Arc::clone(&shared))?;
        #[cfg(feature = "pty")]
        if let Some(program) = self.program
            && let Err(error) = super::pty::run_everywhere(&shared, program)
        {
            listener.end();
            return Err(error);
        }
        let listener =
            thread::Builder::new().name("fake-herdr".to_owned()).spawn(move || listener.run())?;
        Ok(FakeHerdr { shared, listener: Some(listener), pane_id, _folder: folder })
    }
}

fn first_model(profile: Profile, panes: usize) -> Model {
    let empty = Model::empty(profile).with_folders(folders());
    if panes == 0 {
        return empty;
    }
    let mut model = empty.with_demo();
    for _ in 1..panes {
        if let Some(first) = model.pane_ids().first() {
            model.split_pane(std::time::Duration::ZERO, &first.clone());
        }
    }
    model
}

/// The file system of this machine. A folder in a git repository is named after the
/// repository.
fn folders() -> Folders {
    let home = std::env::var("HOME").unwrap_or_else(|_| "/".to_owned());
    let name = |path: &str| {
        let path = Path::new(path);
        let repository = path.ancestors().find(|folder| folder.join(".git").exists());
        let named = repository.unwrap_or(path).to_string_lossy();
        path.is_dir().then(|| last_part(&named).to_owned())
    };
    let mut folders = Folders::default();
    (folders.home, folders.name) = (home, name);
    folders
}

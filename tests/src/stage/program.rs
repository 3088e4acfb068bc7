//! The program that `HERDR_BIN` names, started like `herdr server`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, io};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;

use super::poll;

/// The variable that names the program on which the bodies run besides the fake.
pub const HERDR_BIN: &str = "HERDR_BIN";

/// How long it may take to start, and to end after it was told to.
const PATIENCE: Duration = Duration::from_secs(30);

/// The settings of a private Herdr, which does not look for updates.
const SETTINGS: &str = "\
onboarding = false

[update]
version_check = false
manifest_check = false
";

/// A running program with a private home folder.
#[derive(Debug)]
pub(super) struct Program {
    bin: PathBuf,
    folder: TempDir,
    child: Option<Child>,
}

/// The program on which the bodies run, if one is named.
pub(super) fn named() -> Option<PathBuf> {
    let bin = PathBuf::from(env::var_os(HERDR_BIN).filter(|bin| !bin.is_empty())?);
    // Tests run in the folder of their package, but a relative path usually refers to the
    // folder in which cargo was called, which is the workspace's.
    if bin.is_relative() && bin.components().count() > 1 {
        return Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(bin));
    }
    Some(bin)
}

/// All of Herdr's variables in the environment of this process.
pub(super) fn herdr_variables() -> impl Iterator<Item = OsString> {
    env::vars_os().map(|(name, _)| name).filter(|name| name.to_string_lossy().starts_with("HERDR_"))
}

/// A folder for sockets. If the path for temporary files is long, a socket in it would not fit
/// into an address.
pub(super) fn folder(prefix: &str) -> io::Result<TempDir> {
    const LONG: usize = 40;
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    if env::temp_dir().as_os_str().len() > LONG {
        return builder.tempdir_in("/tmp");
    }
    builder.tempdir()
}

impl Program {
    /// Starts the program. It is not ready yet.
    pub(super) fn start(bin: &Path) -> io::Result<Self> {
        let folder = folder("herdr-stage")?;
        let mut private = fs::DirBuilder::new();
        private.recursive(true).mode(0o700);
        for name in ["home", "run", "config/herdr", "work"] {
            private.create(folder.path().join(name))?;
        }
        fs::write(folder.path().join("config/herdr/config.toml"), SETTINGS)?;
        let mut program = Self { bin: bin.to_owned(), folder, child: None };
        program.spawn()?;
        Ok(program)
    }

    /// Starts the program again at the same path and with the state it kept.
    pub(super) fn spawn(&mut self) -> io::Result<()> {
        let folder = self.folder.path();
        let mut command = Command::new(&self.bin);
        for name in herdr_variables() {
            command.env_remove(name);
        }
        // It keeps all other files below its home, and its shells read no files of the
        // surrounding one.
        for name in ["XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "ENV", "BASH_ENV"] {
            command.env_remove(name);
        }
        let child = command
            .arg("server")
            .env("HOME", folder.join("home"))
            .env("XDG_CONFIG_HOME", folder.join("config"))
            .env("XDG_RUNTIME_DIR", folder.join("run"))
            .env("HERDR_SOCKET_PATH", self.socket())
            .env("SHELL", "/bin/sh")
            .current_dir(self.work())
            .stdin(Stdio::null())
            .stdout(File::create(folder.join("stdout"))?)
            .stderr(File::create(folder.join("stderr"))?)
            .spawn()?;
        self.child = Some(child);
        Ok(())
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.folder.path().join("herdr.sock")
    }

    /// The folder in which its shells start.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Waits until it answers.
    ///
    /// # Panics
    ///
    /// If it ends or takes too long. The message has its output.
    pub(super) fn await_ready(&mut self, answers: impl Fn() -> bool) {
        let ready = poll::until(PATIENCE, || {
            let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
            answers().then_some(Ok(())).or(ended.map(Err))
        });
        let said = || fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default();
        match ready {
            Some(Ok(())) => {}
            Some(Err(status)) => panic!("{} ended: {status}: {}", self.bin.display(), said()),
            None => panic!("{} does not answer: {}", self.bin.display(), said()),
        }
    }

    /// Waits for its end after it was told to end, and kills it if it does not. `server` is the
    /// serving process, which after a handoff is not the one that was started.
    pub(super) fn await_end(&mut self, server: Option<Pid>, answers: impl Fn() -> bool) {
        let successor = server.filter(|pid| self.child.as_ref().map(Pid::from_child) != Some(*pid));
        let ended = poll::until(PATIENCE, || {
            let child = self.child.as_mut();
            let gone = child.is_none_or(|child| !matches!(child.try_wait(), Ok(None)));
            // It stops answering before it has saved its state.
            (gone && !answers() && successor.is_none_or(has_ended)).then_some(())
        });
        if let Some(mut child) = self.child.take() {
            // This has no effect on a process that has ended.
            let _ = child.kill();
            let _ = child.wait();
        }
        if let (None, Some(successor)) = (ended, successor) {
            let _ = kill_process(successor, Signal::KILL);
        }
    }
}

/// Whether a process that is not our child has ended. A zombie has.
fn has_ended(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    // The name before the state may contain anything, even a parenthesis.
    let state = stat.ok().and_then(|stat| Some(stat.rsplit_once(')')?.1.trim_start().to_owned()));
    test_kill_process(pid).is_err() || state.is_some_and(|state| state.starts_with('Z'))
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

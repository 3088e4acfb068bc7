//! The sidecar as a process with a clean environment.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs};

use super::poll::{self, PATIENCE};

/// The sidecar's program, in the folder of this program.
///
/// Cargo builds it with the tests of the whole workspace. If only the tests of this package are
/// run, cargo does not, so it is built here if it is missing or out of date.
///
/// # Panics
///
/// If it cannot be built.
pub fn sidecar() -> &'static Path {
    static SIDECAR: OnceLock<PathBuf> = OnceLock::new();
    SIDECAR.get_or_init(|| built("herdr-socket-report", &[]))
}

/// The program of the fake in the same folder, with shells behind its panes.
///
/// # Panics
///
/// If it cannot be built.
pub(super) fn fake_herdr() -> PathBuf {
    built("fake-herdr", &["--features", "pty"])
}

fn built(package: &str, more: &[&str]) -> PathBuf {
    let own = env::current_exe().expect("the path of this program");
    // TARGET/PROFILE/deps/TEST or TARGET/PROFILE/PROGRAM
    let mut folders = own.ancestors().skip(1);
    let profile = folders.find(|folder| !folder.ends_with("deps"));
    let profile = profile.expect("a profile's folder");
    let program = profile.join(package);
    if is_stale(&program) {
        build(package, more, profile);
    }
    assert!(program.exists(), "there is no {}", program.display());
    program
}

/// Whether the program is missing, or older than a file from which it was built.
fn is_stale(program: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
    let Some(built) = changed(program) else { return true };
    // Cargo's list: the program, a colon, and the files.
    let list = fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    let files = list.split_once(": ").map_or("", |(_, files)| files).trim_end().split(' ');
    files.into_iter().any(|file| changed(Path::new(file)).is_some_and(|changed| changed > built))
}

fn build(package: &str, more: &[&str], profile: &Path) {
    let name = match profile.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--locked", "--package", package])
        .args(more)
        .args(["--profile", name, "--target-dir"])
        .arg(profile.parent().unwrap_or(profile))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(status.is_ok_and(|status| status.success()), "{package} cannot be built");
}

/// A running `herdr-socket-report run`. It is killed when this is dropped.
#[derive(Debug)]
#[must_use = "the sidecar is killed when this goes"]
pub struct Sidecar {
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Sidecar {
    pub(super) fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(sidecar())
            .arg("run")
            .args(arguments)
            .env_clear()
            .env("HOME", folder)
            .env("XDG_RUNTIME_DIR", folder)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the sidecar starts");
        let stdin = child.stdin.take();
        Self { child, stdin }
    }

    /// Writes one event line.
    ///
    /// # Panics
    ///
    /// If the sidecar has ended.
    pub fn tell(&mut self, event: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(format!("{event}\n").as_bytes()).expect("the sidecar reads");
    }

    /// Kills it with SIGKILL.
    ///
    /// # Panics
    ///
    /// If there is no such process.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it is ours");
    }

    /// Ends its input and returns its exit code.
    ///
    /// # Panics
    ///
    /// If it does not end.
    pub fn finish(mut self) -> Option<i32> {
        self.stdin = None;
        let ended = poll::until(PATIENCE, || self.child.try_wait().expect("it is ours"));
        ended.expect("the sidecar ends after its input").code()
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! Runs the commands of README.md and of the sidecar's README unchanged: in a clone, with an
//! empty home, in a pane of the fake.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use e2e::stage::{PATIENCE, Stage, sidecar};
use fake_herdr::FakeHerdr;
use tempfile::TempDir;

const README: &str = include_str!("../../README.md");
const SIDECAR_README: &str = include_str!("../../crates/herdr-socket-report/README.md");

/// How a block begins, and words in the requests that it sends.
const EXPECTED: [(&str, &[&str]); 5] = [
    (
        "herdr-socket-report state blocked",
        &["\"state\":\"blocked\"", "{\"blocked\":\"Run cargo test?\"}"],
    ),
    ("herdr-socket-report release", &["pane.release_agent"]),
    ("herdr-socket-report exec", &["\"agent\":\"my-agent\"", "\"state\":\"idle\""]),
    (
        "herdr-socket-report state working\n",
        &["\"state\":\"working\"", "Fix the login redirect", "\"branch\":\"main\"", "\"19k\""],
    ),
    ("herdr-socket-report run", &["\"agent\":\"my-agent\"", "Fix the login redirect"]),
];

/// Stubs for the programs that are not run here.
const STUBS: [(&str, &str); 3] = [
    // The programs that it would build were built with this test.
    (
        "cargo",
        "case $1 in\n\
         install) for path; do :; done; test -f \"$path/Cargo.toml\" && . \"$BIN/built\" ;;\n\
         add) PATH=${CARGO%/*}:$PATH exec \"$CARGO\" \"$@\" --offline ;;\n\
         test) ;;\n\
         *) exit 1 ;;\n\
         esac",
    ),
    ("herdr", "[ \"$*\" = 'server reload-config' ]"),
    (
        "my-agent",
        "timeout 20 sh -c 'until herdr-socket-report pane wait --until idle; do :; done' \\\n\
         >\"$BIN/said\" 2>&1",
    ),
];

struct Place {
    herdr: FakeHerdr,
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let herdr = FakeHerdr::start().unwrap();
        let place = Self { herdr, folder: tempfile::tempdir().unwrap() };
        let path = place.folder.path();
        for folder in ["bin", "my-host/src"] {
            fs::create_dir_all(path.join(folder)).unwrap();
        }
        let clone = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        symlink(clone, path.join("herdr-socket-report")).unwrap();
        let host = "[package]\nname = \"my-host\"\nedition = \"2024\"\n";
        fs::write(path.join("my-host/Cargo.toml"), host).unwrap();
        fs::write(path.join("my-host/src/main.rs"), "fn main() {}\n").unwrap();
        for (name, script) in STUBS {
            let path = path.join("bin").join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let link = |program: &Path| format!("ln -sf '{}' \"$BIN\"\n", program.display());
        let built = link(sidecar()) + &link(&Stage::program());
        fs::write(path.join("bin/built"), built).unwrap();
        place
    }

    fn shell(&self, script: &str) -> Command {
        let path = self.folder.path();
        let at = if script.starts_with("cargo add") { "my-host" } else { "herdr-socket-report" };
        let bin = path.join("bin");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let home = std::env::var_os("HOME").unwrap_or_default();
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo_home = cargo_home.unwrap_or_else(|| Path::new(&home).join(".cargo"));
        let mut shell = Command::new("sh");
        shell
            .args(["-e", "-c", script])
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("BIN", &bin)
            .env("CARGO", cargo)
            .env("CARGO_HOME", cargo_home)
            .env("HOME", path)
            .env("XDG_RUNTIME_DIR", path)
            .envs(self.herdr.env())
            .current_dir(path.join(at));
        shell
    }

    fn run(&self, script: &str) {
        let output = self.shell(script).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}\n{said}");
        let quiet = said.is_empty() || script.starts_with("cargo add");
        assert!(quiet, "{script}\n{said}");
    }

    /// Starts a server and waits until it says that it is ready.
    fn start(&self, script: &str) -> Serving {
        let mut shell = self.shell(&format!("exec {script}"));
        let mut child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.starts_with("ready "), "{said}");
        Serving(child)
    }

    fn has(&self, file: &str) -> bool {
        self.path(file).is_file()
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }
}

struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The code blocks of a language, in their order.
fn blocks(text: &'static str, language: &str) -> Vec<&'static str> {
    let begin = format!("\n```{language}\n");
    text.split(&begin).skip(1).map(|block| block.split("\n```").next().unwrap()).collect()
}

#[test]
fn the_commands_of_the_readme_work() {
    let place = Place::new();
    let mut expected = EXPECTED.to_vec();
    let mut serving = None;
    for block in blocks(README, "sh") {
        // Another server on this machine could use the path in /tmp.
        let block = block.replace("/tmp/", &format!("{}/", place.folder.path().display()));
        if block.starts_with("fake-herdr serve") {
            serving = Some(place.start(&block));
            continue;
        }
        let before = place.herdr.log().len();
        place.run(&block);
        if let Some(at) = expected.iter().position(|(begins, _)| block.starts_with(begins)) {
            let log = place.herdr.log();
            let requests: Vec<_> = log[before..].iter().map(|one| one.request.as_str()).collect();
            for words in expected.remove(at).1 {
                assert!(requests.concat().contains(words), "{words} in {requests:#?}");
            }
        }
    }
    assert!(serving.is_some() && expected.is_empty(), "{expected:?}");
    assert!(place.has(".config/herdr/config.toml") && place.has(".claude/settings.json"));
    let host = fs::read_to_string(place.path("my-host/Cargo.toml")).unwrap();
    assert!(host.contains("herdr-reporter = { "), "{host}");
}

#[test]
fn the_commands_of_the_sidecars_readme_work() {
    let place = Place::new();
    place.run("cargo install --locked --path crates/herdr-socket-report");
    // Numbers differ from run to run.
    let without_numbers = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    for block in blocks(SIDECAR_README, "console") {
        let (command, expected) = block.split_once('\n').unwrap_or((block, ""));
        let output = place.shell(command.trim_start_matches("$ ")).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let matches =
            expected.is_empty() || without_numbers(said.trim_end()) == without_numbers(expected);
        assert!(output.status.success() && matches, "{command}: {said}");
    }
    let program = blocks(SIDECAR_README, "python")[0];
    fs::write(place.path("host.py"), program).unwrap();
    if Command::new("python3").arg("--version").output().is_ok() {
        place.run("python3 \"$HOME/host.py\"");
        place.herdr.wait_until(PATIENCE, |pane| pane.agent.is_none()).unwrap();
        let log = place.herdr.log();
        assert!(log.iter().any(|one| one.request.contains("Fix the login redirect")));
    }
}

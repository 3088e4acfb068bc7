//! The shell of a pane, and the processes in the pane.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::expectations::Expectations;
use crate::stage::{PATIENCE, Stage, sidecar, until};

/// The program that plays an agent. It executes the lines it is sent.
const AGENT: &str = "\
#!/bin/sh
echo $$ >\"$1.pid\"
exec 3<>\"$1.fifo\"
while read -r line <&3; do eval \"$line\"; done
";

/// A shell in a pane, with a folder for its files.
pub(super) struct Shell<'a> {
    stage: &'a Stage,
    expectations: &'a Expectations,
    folder: PathBuf,
    hosts: u32,
}

/// A named pipe on which a host receives its commands, and the host's pid.
pub(super) struct Line {
    path: PathBuf,
    fifo: File,
}

/// Waits for some time.
pub(super) fn rest(time: Duration) {
    until(time, || None::<()>);
}

impl<'a> Shell<'a> {
    pub(super) fn of(stage: &'a Stage, expectations: &'a Expectations) -> Self {
        let folder = stage.folder().to_owned();
        let agent = folder.join("agent");
        fs::write(&agent, AGENT).expect("the agent can be written");
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let shell = Self { stage, expectations, folder, hosts: 0 };
        assert!(stage.has_shell(), "hosts need a pane with a shell");
        let program = sidecar().display();
        let at = shell.folder.display();
        shell.type_line(&format!(
            "cd {at}; export HOME={at} XDG_RUNTIME_DIR={at}; ln -s {program} hsr; PATH={at}:$PATH; \
             set -m; echo >ready"
        ));
        let ready = until(PATIENCE, || shell.folder.join("ready").exists().then_some(()));
        ready.expect("the shell does what is typed");
        shell
    }

    pub(super) fn type_line(&self, line: &str) {
        let params = json!({ "pane_id": self.stage.pane(), "text": format!("{line}\n") });
        self.call("pane.send_text", &params);
    }

    pub(super) fn press(&self, key: &str) {
        self.call("pane.send_keys", &json!({ "pane_id": self.stage.pane(), "keys": [key] }));
    }

    /// A new pipe to a host, and its name in the folder.
    pub(super) fn line(&mut self) -> (String, Line) {
        self.hosts += 1;
        let name = format!("host{}", self.hosts);
        let path = self.folder.join(&name);
        let fifo = path.with_extension("fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a fifo");
        // Opened for reading and writing, so that neither side waits for the other.
        let fifo = OpenOptions::new().read(true).write(true).open(fifo).expect("it is there");
        (name, Line { path, fifo })
    }

    /// The reporters in the pane: processes of the sidecar, except those that have become
    /// another command.
    pub(super) fn reporters(&self) -> Vec<Pid> {
        let pane = format!("HERDR_PANE_ID={}", self.stage.pane());
        let folder = format!("HOME={}", self.folder.display());
        let of_this_pane = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            let has = |entry: &str| environment.split(|b| *b == 0).any(|e| e == entry.as_bytes());
            has(&pane) && has(&folder)
        };
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let reporters = processes.map(|process| process.path()).filter(|process| {
            fs::read_link(process.join("exe")).is_ok_and(|exe| exe == sidecar())
                && of_this_pane(process)
        });
        reporters
            .filter_map(|process| Pid::from_raw(process.file_name()?.to_str()?.parse().ok()?))
            .collect()
    }

    fn call(&self, method: &str, params: &serde_json::Value) {
        self.expectations.while_well(|| self.stage.call(method, params));
    }
}

impl Line {
    pub(super) fn send(&mut self, line: &str) {
        self.fifo.write_all(format!("{line}\n").as_bytes()).expect("a fifo takes a line");
    }

    /// Waits until the agent at this pipe runs.
    pub(super) fn pid(&self) -> Pid {
        let pid = || {
            let text = fs::read_to_string(self.path.with_extension("pid")).ok()?;
            Pid::from_raw(text.trim().parse().ok()?)
        };
        until(PATIENCE, pid).expect("the agent starts")
    }
}

/// Kills a process, if it still runs, and waits for its end.
pub(super) fn kill(pid: Pid) {
    let _ = kill_process(pid, Signal::KILL);
    let proc = PathBuf::from(format!("/proc/{}", pid.as_raw_nonzero()));
    let gone = || {
        let stat = fs::read_to_string(proc.join("stat")).ok();
        let zombie = stat.as_ref().is_none_or(|stat| {
            stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
        });
        zombie.then_some(())
    };
    until(PATIENCE, gone).expect("a killed process ends");
}

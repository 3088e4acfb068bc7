//! A pane of another process is left alone, by supervisors and one-shots.
#![cfg(target_os = "linux")]

use std::process::{Child, Command};

use crate::pane::{Client, Pane, complaints, poll};
use crate::support::requests;

/// A shell that leads a session in the pane, as the server would start it.
pub(crate) struct Shell(pub(crate) Child);

impl Shell {
    pub(crate) fn start(pane: &Pane) -> Self {
        let mut command = Command::new("setsid");
        command.args(["sleep", "1000"]).envs(pane.herdr.env());
        let shell = Self(command.spawn().unwrap());
        let pid = shell.0.id();
        poll(|| (session_of(pid) == Some(pid)).then_some(()));
        shell
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The leader of a process's session; 0 if it is outside the visible processes.
pub(crate) fn session_of(process: u32) -> Option<u32> {
    of_stat(process, 3)
}

/// The leader of its process group.
pub(crate) fn group_of(process: u32) -> Option<u32> {
    of_stat(process, 2)
}

fn of_stat(process: u32, after_name: usize) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(after_name)?.parse().ok()
}

pub(crate) fn leads(pane: &Pane, shell: u32) {
    let id = pane.herdr.pane_id().to_owned();
    assert!(pane.herdr.with_model(|model| model.set_processes(&id, Some(shell), Vec::new())));
}

fn reports(pane: &Pane) -> usize {
    requests(&pane.herdr, "pane.report_agent").len()
        + requests(&pane.herdr, "pane.report_metadata").len()
}

#[test]
fn b34_what_does_not_run_in_the_pane_reports_nothing() {
    let pane = Pane::new();
    let shell = Shell::start(&pane);
    leads(&pane, shell.0.id());

    let output = pane.run(&["title", "T", "--strict"]);
    assert_eq!(output.status.code(), Some(4), "{}", complaints(&output));
    assert!(complaints(&output).contains("does not run in the pane"));
    assert_eq!(pane.run(&["state", "working"]).status.code(), Some(0));

    let mut started = pane.start(&["exec", "--state", "working", "cat"]);
    let mut client = Client::of(&pane.supervisor_socket(started.child.id()));
    client.until(|line| line["diagnostic"] == "foreign_pane");
    started.line("up");
    assert_eq!(started.answer(), "up");
    assert_eq!(pane.run(&["state", "idle", "--strict"]).status.code(), Some(4));
    // A foreign process does not keep others from the pane.
    pane.wait_unheld();
    assert_eq!(started.finish().code(), Some(0));
    assert_eq!(reports(&pane), 0);

    pane.quietly(&["title", "T", "--strict", "--any-pane"]);
    assert_eq!(pane.now().title.as_deref(), Some("T"));
}

#[test]
fn a_hook_in_a_session_of_its_own_belongs_to_where_it_comes_from() {
    let pane = Pane::new();
    // In a container that was entered from outside, the session leader is not visible.
    let Some(session) = session_of(std::process::id()).filter(|pid| *pid != 0) else { return };
    leads(&pane, session);
    pane.quietly(&["title", "In the pane", "--strict"]);

    let hook = pane.command(&["title", "From a hook", "--strict"]);
    let mut apart = Command::new("setsid");
    apart.arg("--wait").arg(hook.get_program()).args(hook.get_args()).env_clear();
    apart.envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = apart.current_dir(pane.path()).output().unwrap();
    assert_eq!((output.status.code(), complaints(&output)), (Some(0), String::new()));
    assert_eq!(pane.now().title.as_deref(), Some("From a hook"));

    // For a supervisor, the command has to run in the pane, not the supervisor.
    let mut started = pane.start(&["exec", "--state", "working", "cat"]);
    pane.wait_status("working");
    started.finish();
    pane.wait(|seen| seen.agent.is_none());
}

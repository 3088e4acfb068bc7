//! The terminal of the reported process gets reports. They are whole, whatever else is written
//! to the terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use fake_herdr::FakeHerdr;
use pty_process::blocking::Command;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use termstate_core::scan::{Event, Scanner};
use termstate_store::Store;

use crate::pane::poll;
use crate::support::{PATIENCE, states};

const BINARY: &str = env!("CARGO_BIN_EXE_herdr-socket-report");

/// A program in a session and on a terminal of its own.
struct AtTerminal {
    child: Child,
    keyboard: File,
    written: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
    /// The records in the terminal, and the states that the root record had.
    store: Store,
    scanner: Scanner,
    root: Vec<String>,
    folder: TempDir,
}

impl AtTerminal {
    /// Starts it with these variables and no others, except those for folders.
    fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start_with(arguments, variables, Stdio::null())
    }

    fn start_with(arguments: &[&str], variables: &[(&str, &str)], stdin: Stdio) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (pty, pts) = pty_process::blocking::open().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let command = Command::new(arguments[0])
            .args(&arguments[1..])
            .env_clear()
            .env("PATH", path)
            .env("HOME", folder.path())
            .env("XDG_RUNTIME_DIR", folder.path())
            .env("REPORT", BINARY)
            .envs(variables.iter().copied())
            .current_dir(folder.path())
            .stdin(stdin);
        let child = command.spawn(pts).unwrap();
        let mut terminal = File::from(pty.as_fd().try_clone_to_owned().unwrap());
        let keyboard = terminal.try_clone().unwrap();
        let (sender, written) = mpsc::channel();
        thread::spawn(move || {
            let _open = pty;
            let mut chunk = [0; 4096];
            // On Linux, a terminal without processes ends with an error.
            while let Ok(count @ 1..) = terminal.read(&mut chunk) {
                if sender.send(chunk[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let (store, scanner) = (Store::new(), Scanner::new());
        let (bytes, root) = (Vec::new(), Vec::new());
        Self { child, keyboard, written, bytes, store, scanner, root, folder }
    }

    /// Reads what was written. Returns whether anything was, and may still be, written.
    fn take(&mut self) -> bool {
        let Ok(bytes) = self.written.recv_timeout(PATIENCE) else { return false };
        let Self { store, root, .. } = self;
        self.scanner.feed(&bytes, |event| {
            let Event::Sequence { message, .. } = event else { return };
            store.apply(&message.expect("it breaks no rule"));
            let state = store.get(None).map(|root| root.state.to_string());
            root.push(state.unwrap_or_else(|| "clear".to_owned()));
            root.dedup();
        });
        self.bytes.extend(bytes);
        true
    }

    fn wait(&mut self, satisfied: impl Fn(&Store) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !satisfied(&self.store) {
            assert!(
                self.take() && Instant::now() < end,
                "{:?} {:?}",
                self.root,
                String::from_utf8_lossy(&self.bytes)
            );
        }
    }

    fn wait_root(&mut self, state: &str) {
        self.wait(|store| store.get(None).is_some_and(|root| root.state.to_string() == state));
    }

    /// Reads everything until no process has the terminal.
    fn finish(&mut self) {
        self.child.wait().unwrap();
        while self.take() {}
        assert!(self.scanner.is_ground());
    }

    fn kill(&self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).unwrap();
    }
}

impl Drop for AtTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const KNOWN: (&str, &str) = ("TERM_PROGRAM", "ghostty");

#[test]
fn no_report_stands_inside_what_the_program_draws_and_nothing_else_is_written() {
    const FRAME: &str = "\u{1b}[1;31mframe\u{1b}[0m\u{1b}]0;title\u{7}\u{1b}[2K";
    // The shell draws, with one write for each frame.
    let script = r#"
        (while [ ! -e over ]; do printf '\033[1;31mframe\033[0m\033]0;title\007\033[2K'; done) &
        for number in 1 2 3 4 5 6 7 8; do
            "$REPORT" emit '{"event": "agent_started"}'
            "$REPORT" emit '{"event": "tool_started", "tool_id": 1, "tool": "bash"}'
            "$REPORT" emit '{"event": "agent_started", "agent_id": "helper"}'
            "$REPORT" emit '{"event": "agent_settled", "agent_id": "helper"}'
            "$REPORT" emit '{"event": "agent_settled", "outcome": "error", "message": "x"}'
        done
        : > over
        wait
    "#;
    let exec = [BINARY, "exec", "--settle-ms", "0", "--", "sh", "-c", script];
    let mut terminal = AtTerminal::start(&exec, &[KNOWN]);
    terminal.finish();
    let mut rest = &terminal.bytes[..];
    let (mut frames, mut reports) = (0, 0);
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(FRAME.as_bytes()) {
            (rest, frames) = (after, frames + 1);
            continue;
        }
        let text = String::from_utf8_lossy(&rest[..rest.len().min(200)]).into_owned();
        let report = rest.strip_prefix(b"\x1b]7501;state=");
        let report =
            report.unwrap_or_else(|| panic!("{frames} frames, {reports} reports: {text:?}"));
        let end = report.windows(2).position(|two| two == b"\x1b\\").expect("it ends");
        assert!(report[..end].iter().all(|byte| (0x20..0x7f).contains(byte)), "{text:?}");
        (rest, reports) = (&report[end + 2..], reports + 1);
    }
    assert!(frames > 100 && reports > 1, "{frames} frames, {reports} reports");
    let left: Vec<_> = terminal.store.iter().map(|(_, record)| record.state.to_string()).collect();
    assert_eq!(left, ["error"], "an outcome stays, and nothing else");
}

#[test]
fn after_the_kill_of_a_command_its_records_are_taken_off() {
    let script = r#"
        "$REPORT" emit '{"event": "agent_started"}' '{"event": "agent_started", "agent_id": 7}'
        exec cat
    "#;
    let (stdin, _keep) = pipe();
    let exec = [BINARY, "exec", "--agent", "bot", "--", "sh", "-c", script];
    let mut terminal = AtTerminal::start_with(&exec, &[KNOWN], stdin);
    terminal.wait(|store| store.len() == 2);
    assert_eq!(terminal.store.effective_app(Some("1.1")), Some("bot"));
    terminal.kill();
    terminal.wait(Store::is_empty);
    terminal.finish();
}

#[test]
fn attach_tells_the_terminal_of_its_process_and_not_its_own() {
    let (stdin, _keep) = pipe();
    let mut host = AtTerminal::start_with(&["cat"], &[], stdin);
    let pid = host.child.id().to_string();
    let attach = [BINARY, "attach", "--state", "working", "--pid", &pid];
    let mut other = AtTerminal::start(&attach, &[KNOWN]);
    host.wait_root("working");
    other.finish();
    assert!(other.bytes.is_empty());
    host.kill();
    host.wait(Store::is_empty);
}

#[test]
fn run_tells_what_it_reads_until_its_host_is_killed() {
    let script =
        r#"{ printf '%s\n' '{"event": "agent_started"}'; exec sleep 1000; } | "$REPORT" run"#;
    let mut terminal = AtTerminal::start(&["sh", "-c", &format!("echo $$; {script}")], &[KNOWN]);
    terminal.wait_root("working");
    // The whole job of the shell is killed, except the sidecar, which is in a process group of
    // its own.
    rustix::process::kill_process_group(Pid::from_child(&terminal.child), Signal::KILL).unwrap();
    terminal.wait(Store::is_empty);
    terminal.finish();
}

#[test]
fn a_hook_without_a_reporter_tells_the_terminal_itself() {
    for hook in ["", "setsid "] {
        let script = format!(
            r#"{hook}"$REPORT" state blocked --label 'Run it?' --agent bot > out 2> err; : > done; exec cat"#
        );
        let (stdin, _keep) = pipe();
        let mut terminal = AtTerminal::start_with(&["sh", "-c", &script], &[KNOWN], stdin);
        terminal.wait_root("blocked");
        let root = terminal.store.get(None).unwrap();
        assert_eq!((root.app.as_deref(), root.msg.as_deref()), (Some("bot"), Some("Run it?")));
        let folder = terminal.folder.path().to_owned();
        poll(|| folder.join("done").exists().then_some(()));
        for file in ["out", "err"] {
            assert_eq!(std::fs::read_to_string(folder.join(file)).unwrap(), "", "{hook}{file}");
        }
    }
}

#[test]
fn release_takes_off_what_a_hook_has_said() {
    let script = r#""$REPORT" state working; "$REPORT" title T; "$REPORT" release"#;
    let mut terminal = AtTerminal::start(&["sh", "-c", script], &[KNOWN]);
    terminal.finish();
    assert_eq!(terminal.root, ["working", "clear"]);
}

#[test]
fn strict_asks_for_a_pane_also_where_the_terminal_is_told() {
    let events = r#""$REPORT" emit --strict '{"event": "agent_started"}' 2> /dev/null; echo $?"#;
    let attach = r#"sleep 1000 & "$REPORT" attach --strict --state working --pid $! 2> /dev/null; echo $?; kill $!"#;
    let exec = [BINARY, "exec", "--", "sh", "-c", events];
    for arguments in [&["sh", "-c", events][..], &["sh", "-c", attach], &exec] {
        let mut terminal = AtTerminal::start(arguments, &[KNOWN]);
        terminal.finish();
        let text = String::from_utf8_lossy(&terminal.bytes);
        assert!(text.contains("3\r\n"), "{arguments:?}: {text:?}");
        assert_eq!(terminal.root.first().map(String::as_str), Some("working"), "{arguments:?}");
    }
}

#[test]
fn a_terminal_that_somebody_has_stopped_holds_no_hook_up() {
    let script = r#"read line < /dev/tty; "$REPORT" state working; : > done; exec cat"#;
    let (stdin, _keep) = pipe();
    let mut terminal = AtTerminal::start_with(&["sh", "-c", script], &[KNOWN], stdin);
    // Ctrl-S, and a line.
    terminal.keyboard.write_all(b"\x13\n").unwrap();
    let folder = terminal.folder.path().to_owned();
    poll(|| folder.join("done").exists().then_some(()));
}

#[test]
fn doctor_says_whether_the_terminal_is_told_and_why() {
    let off = [KNOWN, ("HERDR_REPORT_PROGRAM_STATUS", "off")];
    for (variables, finding) in [
        (&[KNOWN][..], "gets reports: TERM_PROGRAM is ghostty"),
        (&off, "gets no reports: program_status is off"),
        (&[], "gets no reports: this terminal is not known to read reports"),
    ] {
        let mut terminal = AtTerminal::start(&[BINARY, "doctor"], variables);
        terminal.finish();
        let text = String::from_utf8_lossy(&terminal.bytes);
        let line = text.lines().find(|line| line.contains("reports: ")).expect(&text);
        assert!(line.contains("terminal") && line.contains(finding), "{line:?}");
    }
}

#[test]
fn a_terminal_that_stops_writers_in_the_background_stops_nobody() {
    let script = r#"stty tostop
        printf '{"event": "agent_started"}\n' | "$REPORT" run
        "$REPORT" state blocked"#;
    let mut terminal =
        AtTerminal::start(&["sh", "-c", &format!("({script}) < /dev/tty")], &[KNOWN]);
    terminal.finish();
    assert_eq!(terminal.root, ["blocked"]);
}

#[test]
fn nobody_is_told_unasked_who_is_not_known_to_read() {
    let herdr = FakeHerdr::start().unwrap();
    let inside = herdr.env();
    let inside: Vec<_> = inside.iter().map(|(name, value)| (&**name, &**value)).collect();
    let with = |more: &[(&'static str, &'static str)]| [&inside[..], more].concat();
    let script = r#""$REPORT" state working; "$REPORT" exec --state working -- "$REPORT" title T
        printf '{"event": "agent_started"}\n' | "$REPORT" run"#;
    let silent: [Vec<(&str, &str)>; 5] = [
        vec![],
        vec![("TERM_PROGRAM", "Apple_Terminal")],
        vec![KNOWN, ("HERDR_REPORT_PROGRAM_STATUS", "off")],
        vec![KNOWN, ("HERDR_REPORT_ENABLED", "false")],
        with(&[KNOWN, ("HC_TERMINAL_ID", "t1")]),
    ];
    for variables in silent {
        let mut terminal = AtTerminal::start(&["sh", "-c", script], &variables);
        terminal.finish();
        let text = String::from_utf8_lossy(&terminal.bytes);
        assert!(!text.contains("7501"), "{variables:?}: {text:?}");
    }
}

#[test]
fn a_pane_and_its_terminal_get_the_same_states_in_the_same_order() {
    let herdr = FakeHerdr::start().unwrap();
    let variables = herdr.env();
    let variables: Vec<_> = variables.iter().map(|(name, value)| (&**name, &**value)).collect();
    let (stdin, mut input) = pipe();
    let run = [BINARY, "run", "--program-status", "on", "--settle-ms", "0", "--any-pane"];
    let mut terminal = AtTerminal::start_with(&run, &variables, stdin);
    for (event, told, shown) in [
        (r#""agent_started""#, "working", "working"),
        (r#""prompt_opened", "prompt_id": 1, "kind": "approval""#, "blocked", "blocked"),
        (r#""prompt_closed", "prompt_id": 1"#, "working", "working"),
        (r#""agent_settled", "outcome": "done""#, "done", "idle"),
        (r#""agent_started""#, "working", "working"),
        (r#""agent_settled", "outcome": "error", "message": "x""#, "error", "idle"),
    ] {
        writeln!(input, r#"{{"event": {event}}}"#).unwrap();
        terminal.wait_root(told);
        poll(|| (states(&herdr).last().map(String::as_str) == Some(shown)).then_some(()));
    }
    drop(input);
    terminal.finish();
    assert_eq!(terminal.root, ["working", "blocked", "working", "done", "working", "error"]);
    assert_eq!(states(&herdr), ["working", "blocked", "working", "idle", "working", "idle"]);
}

/// The reading end for a program, and the writing end.
fn pipe() -> (Stdio, File) {
    let (read, write) = std::io::pipe().unwrap();
    (read.into(), File::from(std::os::fd::OwnedFd::from(write)))
}

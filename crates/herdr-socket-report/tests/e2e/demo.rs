//! The demo, in plain lines and in a terminal.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;

use fake_herdr::FakeHerdr;
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::{PATIENCE, Setup, inside, is_clean, now, sidecar};

#[test]
fn the_plain_demo_tells_a_whole_session_and_leaves_nothing() {
    let trace = tempfile::tempdir().unwrap();
    let place = trace.path().to_str().unwrap();
    let setup = sidecar(&["demo", "--plain"]).env("TMPDIR", place).env("XDG_RUNTIME_DIR", place);
    let output = setup.run("");
    assert_eq!(std::fs::read_dir(trace.path()).unwrap().count(), 0, "no file remains");
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    let shown: Vec<&str> =
        output.stdout.lines().filter_map(|line| line.strip_prefix("         ")).collect();
    let find = |words: &[&str]| {
        let line = shown.iter().position(|line| words.iter().all(|word| line.contains(word)));
        line.unwrap_or_else(|| panic!("{words:?} in {shown:#?}"))
    };
    let blocked = find(&["blocked", "Run cargo test?", "model large-2", "ctx 19k/200k"]);
    let title = find(&["on it", "Fix login redirect loop, add a test"]);
    let end = find(&["no agent"]);
    assert!(blocked < title && title < end);
    assert_eq!(end, shown.len() - 1);
    assert!(output.stdout.ends_with("no agent, title or token of the demo remains.\n"));
    assert!(!output.stdout.contains('\u{1b}'));
}

#[test]
fn a_reader_that_had_enough_does_no_harm() {
    let herdr = FakeHerdr::start().unwrap();
    let mut setup = inside(&herdr, &["demo", "--live"]);
    let mut child = setup.command.spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(is_clean(&now(&herdr)));
}

#[test]
fn live_plays_on_the_real_pane_and_needs_one() {
    let output = sidecar(&["demo", "--live"]).run("");
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("--live plays on a pane of Herdr"), "{}", output.stderr);
    let output = sidecar(&["demo", "--live", "--socket", "/nowhere", "--pane", "w1:p1"]).run("");
    assert_eq!(output.code, Some(3), "{output:?}");

    let herdr = FakeHerdr::start().unwrap();
    let demo = inside(&herdr, &["demo", "--live"]).start();
    let pane = herdr.wait_until(PATIENCE, |pane| pane.agent_status == "blocked").unwrap();
    assert_eq!(pane.agent.as_deref(), Some("demo"));
    demo.signal(Signal::INT);
    let output = demo.wait();
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert!(is_clean(&now(&herdr)));
}

#[test]
fn in_a_terminal_it_draws_in_place_and_gives_the_cursor_back() {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    tcsetwinsize(&terminal, size).unwrap();

    let Setup { mut command, folder: _folder } = sidecar(&["demo"]).env("TERM", "xterm");
    let mut demo = command.stdout(Stdio::from(terminal)).spawn().unwrap();
    drop(command);
    let (sender, drawn) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut master = File::from(master);
        let mut chunk = [0; 4096];
        // The end of a terminal is an error on Linux.
        while let Ok(count @ 1..) = master.read(&mut chunk) {
            sender.send(String::from_utf8_lossy(&chunk[..count]).into_owned()).unwrap();
        }
    });
    let mut text = String::new();
    while !text.contains("on it") {
        text.push_str(&drawn.recv_timeout(PATIENCE).expect("it draws"));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&demo), Signal::TERM).unwrap();
    assert_eq!(demo.wait().unwrap().code(), Some(0));
    reader.join().unwrap();
    text.extend(drawn.try_iter());

    let hidden = text.find("\x1b[?25l").expect("the cursor is hidden");
    let shown = text.rfind("\x1b[?25h").expect("and comes back");
    assert!(hidden < shown);
    assert!(!text[shown..].contains("\x1b[?25l"));
    assert!(text.contains("Herdr's sidebar"));
    assert!(text.contains("\x1b[33m"), "working has its colour");
}

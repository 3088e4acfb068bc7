//! A terminal shows the same states as the pane, also outside Herdr.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use fake_herdr::FakeHerdr;
use herdr_reporter::{AgentEvent, Builder, Config, Ended, Prompt, Reporter, Status, TurnOutcome};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Action, tcflow};
use termstate_core::Message;
use termstate_core::scan::{Event, Scanner};

use super::support::{AMPLE, BUDGET, builder, config, requests, started, states};

/// Both ends of a pseudo-terminal.
fn terminal() -> (File, File) {
    let ours: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = open(&*name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    (ours.into(), theirs.into())
}

fn outside() -> Builder {
    let mut config = Config::default();
    config.settle = std::time::Duration::ZERO;
    Reporter::builder("host").environment(|_| None).config(config)
}

/// The states of the root record in the written bytes, which must contain only reports.
fn shown(bytes: &[u8]) -> Vec<String> {
    let mut shown = Vec::new();
    let mut scanner = Scanner::new();
    scanner.feed(bytes, |event| match event {
        Event::Sequence { message, .. } => shown.push(match message.unwrap() {
            Message::Report(report) => report.state.to_string(),
            Message::Clear { id: None } => "clear".to_owned(),
            other => panic!("{other:?}"),
        }),
        other @ Event::Passthrough(_) => panic!("{other:?}"),
    });
    assert!(scanner.is_ground());
    shown
}

/// Everything that was written to the terminal, once it is closed.
fn rest(mut terminal: File) -> Vec<u8> {
    let mut bytes = Vec::new();
    // On Linux, reading a terminal that no process has open any more ends with an error.
    let _ = terminal.read_to_end(&mut bytes);
    bytes
}

#[test]
fn outside_herdr_a_terminal_shows_the_states_and_is_cleared_at_the_end() {
    let (ours, theirs) = terminal();
    let pane = outside().program_status(theirs).start();
    assert_eq!((pane.status(), pane.is_active()), (Status::NotInHerdr, false));
    let mut status = pane.program_status();
    let turn = pane.turn();
    assert_eq!(shown(&status.wait(AMPLE)), ["working"]);
    let ask = turn.prompt(Prompt::approval("Run it?"));
    assert_eq!(shown(&status.wait(AMPLE)), ["blocked"]);
    drop((ask, turn));
    assert_eq!(shown(&status.wait(AMPLE)), ["idle"]);
    assert_eq!(pane.close(BUDGET), Ended::NothingToRelease);
    assert_eq!(shown(&status.wait(AMPLE)), ["clear"]);
    assert!(status.is_over() && status.wait(AMPLE).is_empty());
    // The writer thread has its own pace, so it may have skipped states.
    let shown = shown(&rest(ours));
    assert_eq!(shown.last().map(String::as_str), Some("clear"));
}

#[test]
fn an_outcome_stays_when_the_host_goes() {
    for (outcome, left) in
        [(TurnOutcome::Done, "done"), (TurnOutcome::Error, "error"), (TurnOutcome::Cancelled, "")]
    {
        let (ours, theirs) = terminal();
        let pane = outside().program_status(theirs).start();
        pane.turn().settle(outcome, Some("why".to_owned()));
        drop(pane);
        let shown = shown(&rest(ours));
        let last = shown.last().map(String::as_str).filter(|last| *last != "clear");
        assert_eq!(last.unwrap_or_default(), left, "{shown:?}");
    }
}

#[test]
fn nothing_is_written_to_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let pane = outside().program_status(file.reopen().unwrap()).start();
    pane.set_state(herdr_reporter::ReportState::Working);
    drop(pane);
    assert_eq!(file.path().metadata().unwrap().len(), 0);
}

#[test]
fn a_reporter_that_is_off_writes_nothing() {
    let (ours, theirs) = terminal();
    let mut off = Config::default();
    off.enabled = false;
    let pane = outside().config(off).program_status(theirs).start();
    let mut status = pane.program_status();
    let _turn = pane.turn();
    assert!(status.is_over() && status.take().is_empty());
    assert_eq!(rest(ours), b"");
}

#[test]
fn a_stopped_terminal_does_not_hold_the_host_up() {
    let (ours, theirs) = terminal();
    let stopped = theirs.try_clone().unwrap();
    tcflow(&stopped, Action::OOff).unwrap();
    let pane = outside().program_status(theirs).start();
    let turn = pane.turn();
    drop(turn);
    assert_eq!(pane.close(BUDGET), Ended::NothingToRelease);
    tcflow(&stopped, Action::OOn).unwrap();
    drop(stopped);
    shown(&rest(ours));
}

#[test]
fn a_pane_and_a_terminal_get_the_same_states_in_the_same_order() {
    let herdr = FakeHerdr::start().unwrap();
    let mut config = config(herdr.socket_path());
    config.settle = std::time::Duration::ZERO;
    let pane = builder(&herdr).config(config).start();
    let mut status = pane.program_status();
    let mut terminal = Vec::new();
    let settled = |how| AgentEvent::agent_settled().with_outcome(how, None);
    for event in [
        started(),
        AgentEvent::prompt_opened("p", Prompt::approval("Run it?")),
        AgentEvent::prompt_closed("p"),
        settled(TurnOutcome::Done),
        started(),
        AgentEvent::prompt_opened("p", Prompt::auth("Sign in")),
        settled(TurnOutcome::Error),
    ] {
        pane.record(event).unwrap();
        pane.flush(AMPLE);
        terminal.extend(shown(&status.wait(AMPLE)));
    }
    let idle = |state: &String| ["done", "error"].contains(&state.as_str());
    let as_herdr_has_it: Vec<_> =
        terminal.iter().map(|state| if idle(state) { "idle" } else { state }).collect();
    let requests = requests(&herdr);
    let mut socket = states(&requests);
    socket.dedup();
    assert_eq!(as_herdr_has_it, socket);
    assert_eq!(terminal.last().map(String::as_str), Some("error"));
}

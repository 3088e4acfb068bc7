//! A host that embeds the reporter: an agent with one tool, the shell.
//!
//! Each line is a command that the agent would like to run. It asks whether it
//! may, and runs it after `y`. Ctrl-D, Ctrl-C and SIGTERM end it, in the middle
//! of whatever it does, and the pane is as it was before.
//!
//! `cargo run -p rust-host`

mod events;

use std::io::{self, Write as _};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use events::{Events, Stop};
use herdr_reporter::{Ended, Handle, Prompt, Reporter};

fn main() -> io::Result<()> {
    // Signals are caught before there is anything on the pane to take back.
    let mut events = Events::start()?;
    let pane = Reporter::builder("rust-host").start(); // inert outside Herdr
    let diagnostics = tell_diagnostics(&pane);
    pane.set_session(format!("rust-host-{}", std::process::id()))
        .set_model("large-2", Some(200_000));

    let stop = loop {
        if let Err(stop) = one_task(&pane, &mut events) {
            break stop;
        }
    };

    // No guard is left. What is not sent yet would be dropped by the close.
    pane.flush(Duration::from_millis(250));
    if pane.close(Duration::from_millis(500)) == Ended::NotReleased {
        complain("the pane could not be given back");
    }
    let _ = diagnostics.join();
    match stop {
        Stop::EndOfInput => Ok(()),
        // Whoever started the host sees that a signal ended it.
        Stop::Signal(signal) => signal_hook::low_level::emulate_default_handler(signal),
    }
}

/// One line and what it leads to. Guards end turn, prompt and tool on each way
/// out, also on the one of a signal.
fn one_task(pane: &Handle, events: &mut Events) -> Result<(), Stop> {
    let command = events.line()?;
    if command.trim().is_empty() {
        return Ok(());
    }
    let turn = pane.turn(); // working
    pane.set_title(&command);

    let question = format!("Run {command}?");
    say(&format!("{question} [y/n]"));
    let asked = turn.prompt(Prompt::approval(question)); // blocked, with the reason
    let answer = events.line()?;
    drop(asked); // working
    if answer.trim() != "y" {
        say("not run");
        return Ok(());
    }

    let _tool = turn.tool("sh");
    let outcome = events.run(&command)?;
    say(&outcome);
    Ok(()) // the tool, then the turn: idle
}

/// Shows what keeps reports from showing, until the reporter has ended. None of
/// it is a reason to stop.
fn tell_diagnostics(pane: &Handle) -> JoinHandle<()> {
    let mut diagnostics = pane.diagnostics();
    thread::spawn(move || {
        for told in diagnostics.iter() {
            // It may hold words of the server, and this goes to a terminal.
            let detail = herdr_proto::strip_controls(&told.detail);
            complain(&format!("{}: {detail}", told.kind.as_str()));
        }
    })
}

/// Says something to the person; a closed output is not a reason to fail.
fn say(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}

fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "rust-host: {text}");
}

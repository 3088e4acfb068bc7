//! Everything that the host waits for, in one channel, so that a signal is
//! noticed whatever it waits for.

use std::collections::VecDeque;
use std::io;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Why the host ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    EndOfInput,
    Signal(i32),
}

enum Event {
    Line(String),
    EndOfInput,
    Signal(i32),
    /// The tool has closed its output.
    ToolEnded,
}

/// What happens to the host, one after the other.
pub(crate) struct Events {
    sender: Sender<Event>,
    receiver: Receiver<Event>,
    /// Lines that came while a tool ran.
    early: VecDeque<String>,
    input_ended: bool,
}

impl Events {
    /// Catches the signals and reads stdin, each on a thread that ends with the
    /// process.
    pub(crate) fn start() -> io::Result<Self> {
        let (sender, receiver) = channel();

        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        let caught = sender.clone();
        thread::spawn(move || {
            signals.forever().try_for_each(|signal| caught.send(Event::Signal(signal)))
        });

        let read = sender.clone();
        thread::spawn(move || {
            for line in io::stdin().lines().map_while(Result::ok) {
                read.send(Event::Line(line))?;
            }
            read.send(Event::EndOfInput)
        });

        Ok(Self { sender, receiver, early: VecDeque::new(), input_ended: false })
    }

    /// The next line of the person.
    pub(crate) fn line(&mut self) -> Result<String, Stop> {
        loop {
            if let Some(line) = self.early.pop_front() {
                return Ok(line);
            }
            if self.input_ended {
                return Err(Stop::EndOfInput);
            }
            self.take()?;
        }
    }

    /// Runs a command to its end, and says how it ended. A signal ends the
    /// command too; the end of the input does not.
    pub(crate) fn run(&mut self, command: &str) -> Result<String, Stop> {
        let mut tool = Command::new("sh");
        tool.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::piped());
        // A tool that is an agent itself would report to this pane.
        herdr_reporter::scrub(&mut tool);
        let mut child = match tool.spawn() {
            Ok(child) => child,
            Err(error) => return Ok(format!("sh cannot be started: {error}")),
        };
        if let Some(mut output) = child.stdout.take() {
            let ended = self.sender.clone();
            thread::spawn(move || {
                let _ = io::copy(&mut output, &mut io::stdout());
                ended.send(Event::ToolEnded)
            });
            while !self.take().inspect_err(|_| drop(child.kill()))? {}
        }
        Ok(match child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        })
    }

    /// Waits for one event; whether it was the end of the tool.
    fn take(&mut self) -> Result<bool, Stop> {
        match self.receiver.recv() {
            Ok(Event::Line(line)) => self.early.push_back(line),
            Ok(Event::Signal(signal)) => return Err(Stop::Signal(signal)),
            Ok(Event::ToolEnded) => return Ok(true),
            Ok(Event::EndOfInput) | Err(_) => self.input_ended = true,
        }
        Ok(false)
    }
}

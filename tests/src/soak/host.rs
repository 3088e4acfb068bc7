//! The hosts that run in a pane one after the other: what they report, and how they end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fastrand::Rng;

use super::GRACE;
use super::expectations::{Expectations, Row, TOKEN, Wanted};
use super::pane::{Line, Shell, kill, rest};
use crate::stage::Stage;

/// How a host reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Run,
    Exec,
    Attach,
    OneShot,
}

/// Plays hosts in a pane until `over` is set, and leaves nothing on it.
pub(super) fn play(
    stage: &Stage,
    pane: usize,
    expectations: &Expectations,
    rng: Rng,
    over: &AtomicBool,
) {
    let agent = format!("bot{pane}");
    let mut actor = Actor {
        shell: Shell::of(stage, expectations),
        pane,
        expectations,
        rng,
        agent,
        row: Row::default(),
    };
    while !over.load(Ordering::Relaxed) {
        let kinds = [Kind::Run, Kind::Exec, Kind::Exec, Kind::Exec, Kind::Attach, Kind::OneShot];
        let kind = actor.rng.choice(kinds).unwrap_or(Kind::Exec);
        actor.play_host(kind, true);
    }
    // The next run clears what a host left that was killed together with its reporter.
    actor.play_host(Kind::Exec, false);
}

struct Actor<'a> {
    shell: Shell<'a>,
    pane: usize,
    expectations: &'a Expectations,
    rng: Rng,
    agent: String,
    row: Row,
}

impl Actor<'_> {
    fn play_host(&mut self, kind: Kind, rough: bool) {
        self.expectations.host();
        self.row = Row { agent: self.agent.clone(), ..Row::default() };
        match kind {
            Kind::Run => self.play_run(rough),
            Kind::Exec => self.play_exec(rough),
            Kind::Attach => self.play_attach(),
            Kind::OneShot => self.play_one_shots(),
        }
        self.pause();
    }

    fn play_run(&mut self, rough: bool) {
        let (name, mut line) = self.shell.line();
        self.shell.type_line(&format!("hsr run --agent {} <{name}.fifo", self.agent));
        for number in 0..self.rng.u32(2..8) {
            let events = self.event(number);
            for event in events {
                line.send(&event);
            }
            self.pause();
        }
        if rough && self.rng.u8(..5) == 0 {
            self.shell.reporters().into_iter().for_each(kill);
            self.record("the reporter is killed", Wanted::Anything);
        } else {
            self.record("the input ends", Wanted::Nothing);
        }
        // This ends the input.
        drop(line);
    }

    /// An event of a host that writes event lines.
    fn event(&mut self, number: u32) -> Vec<String> {
        let text = format!("{} {number}", self.agent);
        let event = |body: &str| format!("{{\"event\":{body}}}");
        // The first event has to claim the pane.
        match if number == 0 { 0 } else { self.rng.u8(..6) } {
            0 => {
                self.row.state = "working";
                self.row.label = None;
                self.record_row("agent_started");
                vec![event("\"prompt_closed\",\"prompt_id\":\"p\""), event("\"agent_started\"")]
            }
            1 => {
                self.row.state = "blocked";
                self.row.label = Some(text.clone());
                self.record_row("prompt_opened");
                vec![event(&format!(
                    "\"prompt_opened\",\"prompt_id\":\"p\",\"kind\":\"approval\",\"label\":\"{text}\""
                ))]
            }
            2 => {
                self.row.state = "idle";
                self.row.label = None;
                self.record_row("agent_settled");
                vec![event("\"prompt_closed\",\"prompt_id\":\"p\""), event("\"agent_settled\"")]
            }
            3 | 4 => {
                self.row.title = Some(text.clone());
                self.record_row("title_changed");
                vec![event(&format!("\"title_changed\",\"title\":\"{text}\""))]
            }
            _ => {
                self.row.token = Some(text.clone());
                self.record_row("tokens_changed");
                vec![event(&format!("\"tokens_changed\",\"tokens\":{{\"{TOKEN}\":\"{text}\"}}"))]
            }
        }
    }

    fn play_exec(&mut self, rough: bool) {
        let (name, mut line) = self.shell.line();
        let agent = self.agent.clone();
        self.shell.type_line(&format!("hsr exec --agent {agent} --state working ./agent {name}"));
        let pid = line.pid();
        self.row.state = "working";
        self.record_row("exec");
        for number in 0..self.rng.u32(1..7) {
            self.hook(&mut line, number);
            self.pause();
            match self.rng.u8(..8) {
                0 => self.nested(&mut line),
                1 => self.suspended(),
                _ => {}
            }
        }
        match if rough { self.rng.u8(..6) } else { 0 } {
            0 | 1 => {
                self.record("exit 0", Wanted::Nothing);
                line.send("exit 0");
            }
            2 => {
                self.record("exit with a late hook", Wanted::Nothing);
                line.send("(sleep 1; hsr state blocked --label late) & exit 3");
            }
            3 => {
                self.record("the host is killed", Wanted::Nothing);
                kill(pid);
            }
            4 => {
                self.record("the supervisor is killed", Wanted::Anything);
                self.shell.reporters().into_iter().for_each(kill);
                line.send("exit 0");
            }
            _ => {
                self.record("both are killed", Wanted::Anything);
                self.shell.reporters().into_iter().for_each(kill);
                kill(pid);
            }
        }
    }

    /// A one-shot of a hook.
    fn hook(&mut self, line: &mut Line, number: u32) {
        let text = format!("{} {number}", self.agent);
        let command = match self.rng.u8(..6) {
            0 | 1 => {
                self.row.state = "blocked";
                self.row.label = Some(text.clone());
                format!("hsr state blocked --label '{text}'")
            }
            2 => {
                self.row.state = "idle";
                self.row.label = None;
                "hsr state idle".to_owned()
            }
            3 => {
                self.row.state = "working";
                self.row.label = None;
                "hsr state working".to_owned()
            }
            4 => {
                self.row.title = Some(text.clone());
                format!("hsr title '{text}'")
            }
            _ => {
                self.row.token = Some(text.clone());
                format!("hsr tokens '{TOKEN}={text}'")
            }
        };
        self.record_row(&command);
        line.send(&command);
    }

    /// Starts another agent inside the first one. Its reports have no effect.
    fn nested(&mut self, line: &mut Line) {
        self.record_row("a nested exec");
        line.send("hsr exec --agent child sh -c 'hsr title Child; hsr state idle; sleep 0.3'");
        self.pause();
    }

    /// Stops the agent with Ctrl-Z, may start another agent, and continues with `fg`.
    fn suspended(&mut self) {
        let row = self.row.clone();
        self.shell.press("ctrl+z");
        self.row.state = "idle";
        self.row.label = Some("suspended".to_owned());
        self.record_row("Ctrl-Z");
        self.pause();
        if self.rng.bool() {
            let (name, mut line) = self.shell.line();
            let front = format!("front{}", self.pane);
            self.shell
                .type_line(&format!("hsr exec --agent {front} --state working ./agent {name}"));
            line.pid();
            let asks = Row {
                agent: front.clone(),
                state: "blocked",
                label: Some(front.clone()),
                ..Row::default()
            };
            self.record("another agent in front", Wanted::Row(asks));
            line.send(&format!("hsr state blocked --label {front}"));
            // Long enough for a mismatch to be counted.
            rest(GRACE * 2);
            self.record_row("the agent in front ends");
            line.send("exit 0");
            self.pause();
        }
        self.shell.type_line("fg");
        self.row = row;
        self.record_row("fg");
        self.pause();
    }

    fn play_attach(&mut self) {
        let (name, mut line) = self.shell.line();
        self.shell.type_line(&format!("./agent {name} &"));
        let pid = line.pid();
        let number = pid.as_raw_nonzero();
        self.shell.type_line(&format!(
            "hsr attach --pid {number} --agent {} --state working",
            self.agent
        ));
        self.row.state = "working";
        self.record_row("attach");
        for number in 0..self.rng.u32(1..5) {
            self.pause();
            self.hook(&mut line, number);
        }
        self.pause();
        self.record("the attached agent ends", Wanted::Nothing);
        if self.rng.bool() {
            line.send("exit 0");
        } else {
            kill(pid);
        }
    }

    fn play_one_shots(&mut self) {
        let agent = self.agent.clone();
        for number in 0..self.rng.u32(1..4) {
            let (state, label) = match self.rng.u8(..3) {
                0 => ("idle", None),
                1 => ("working", None),
                _ => ("blocked", Some(format!("{agent}-{number}"))),
            };
            let flag = label.as_ref().map(|label| format!("--label {label}")).unwrap_or_default();
            let command = format!("hsr state {state} {flag} --agent {agent}");
            (self.row.state, self.row.label) = (state, label);
            self.record_row(&command);
            self.shell.type_line(&command);
            self.pause();
        }
        self.record("release", Wanted::Nothing);
        self.shell.type_line(&format!("hsr release --agent {agent}"));
    }

    fn record_row(&mut self, action: &str) {
        self.record(action, Wanted::Row(self.row.clone()));
    }

    fn record(&mut self, action: &str, wanted: Wanted) {
        self.expectations.record(self.pane, action, wanted);
    }

    /// Waits, mostly for a short time, sometimes long enough for a mismatch to be counted.
    fn pause(&mut self) {
        let most = if self.rng.u8(..6) == 0 { 5_000 } else { 600 };
        rest(Duration::from_millis(self.rng.u64(20..most)));
    }
}

//! Random pushes while everything that can happen to a pane happens: Enters are
//! lost, a person types, dialogs open, panes move and close, and the pusher
//! itself breaks off and begins again.
//!
//! What happens to the pane happens before a look, and is on the screen by then:
//! a look and the key that follows on it are two requests, and what comes in
//! between them is beyond every pusher.
//!
//! `PUSHES=1000 cargo test -p e2e --test bodies random_pushes -- --nocapture`
//! makes more of them than the few of an ordinary run, and says what became of
//! them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fs, thread};

use e2e::stage::{PATIENCE, Share, Stage, until};
use fastrand::Rng;
use herdr_pane_control::{
    Claude, Error, ErrorKind, Key, Look, OperationId, Outcome, PaneControl, Profile, PushOptions,
    Pushed, ReadOptions, Scene, Target,
};
use serde_json::{Value, json};

e2e::bodies! {
    shared:
        random_pushes_are_never_typed_twice_and_no_enter_goes_astray;
}

/// How many pushes, where `PUSHES` does not say.
const PUSHES: usize = 16;
/// To how many panes they go at the same time, at most.
const PANES: usize = 24;

/// What happens to the pane. Text and control characters are typed.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Typed(&'static str),
    Moved,
    Closed,
}

const DEEDS: [Deed; 9] = [
    Deed::Typed("x"),
    Deed::Typed(" wait, "),
    Deed::Typed("\u{7f}"),
    CLEAR,
    Deed::Typed("\u{f}"),
    Deed::Typed("\u{1b}"),
    Deed::Typed("\n"),
    Deed::Moved,
    Deed::Closed,
];
const CLEAR: Deed = Deed::Typed("\u{15}");
const LOSE_AN_ENTER: Deed = Deed::Typed("\u{5}");
/// Counts up the number at the bottom of the screen.
const COUNT: &str = "\u{6}";

/// Claude's profile, with somebody in the room: before some looks something
/// happens.
#[derive(Debug)]
struct Room {
    stage: Stage,
    terminal: String,
    now: Mutex<Now>,
}

#[derive(Debug)]
struct Now {
    rng: Rng,
    /// How many deeds may still come in this push.
    left: usize,
    /// How many there were in this pane.
    done: usize,
}

impl Room {
    /// The pane's present id; absent once it is closed.
    fn id(&self) -> Option<String> {
        let panes = self.stage.try_call("pane.list", &json!({})).ok()?;
        let mut panes = panes["panes"].as_array()?.iter();
        let pane = panes.find(|pane| pane["terminal_id"] == self.terminal.as_str())?;
        pane["pane_id"].as_str().map(str::to_owned)
    }

    fn type_in(&self, text: &str) -> bool {
        let Some(id) = self.id() else { return false };
        self.stage.try_call("pane.send_text", &json!({ "pane_id": id, "text": text })).is_ok()
    }

    /// Whether the pane was there for it.
    fn suffer(&self, deed: Deed, done: &mut usize) -> bool {
        let Some(id) = self.id() else { return false };
        match deed {
            Deed::Typed(text) => {
                let typed = self.type_in(&format!("{text}{COUNT}"));
                *done += usize::from(typed);
                return typed;
            }
            Deed::Moved => {
                let to = json!({ "type": "new_workspace", "label": "moved" });
                self.stage.call("pane.move", &json!({ "pane_id": id, "destination": to }))
            }
            Deed::Closed => self.stage.call("pane.close", &json!({ "pane_id": id })),
        };
        true
    }
}

impl Profile for Room {
    fn name(&self) -> &'static str {
        "room"
    }

    fn look(&self, scene: &Scene) -> Look {
        let mut now = self.now.lock().unwrap();
        let Now { rng, left, done } = &mut *now;
        if *left > 0 && rng.u8(..) < 50 {
            *left -= 1;
            let deed = DEEDS[rng.usize(..DEEDS.len())];
            // The stage waits for its answers, which a task must not.
            thread::scope(|scope| scope.spawn(|| self.suffer(deed, done)).join()).unwrap();
        }
        let last = scene.screen.rows().iter().rev().find(|row| !row.text().is_empty());
        let shown = last.and_then(|row| row.text().rsplit(" · ").next()?.trim().parse().ok());
        if shown.unwrap_or(0) == *done {
            Claude.look(scene)
        } else {
            // It does not show yet what has happened.
            Look::default()
        }
    }

    fn holds(&self, look: &Look, text: &str) -> bool {
        Claude.holds(look, text)
    }

    fn fold(&self, look: &Look) -> Option<String> {
        Claude.fold(look)
    }

    fn brackets(&self) -> bool {
        true
    }

    fn is_command(&self, text: &str) -> bool {
        Claude.is_command(text)
    }

    fn interrupt(&self) -> Key {
        Claude.interrupt()
    }
}

/// A pane with `input_box` in it.
struct Pane {
    room: Arc<Room>,
    control: PaneControl,
    target: Target,
    runtime: tokio::runtime::Runtime,
}

/// What came into the program: what it did, and the text.
type Entries = Vec<(String, String)>;

impl Pane {
    /// A new pane of the same server.
    fn open(like: &Stage, rng: Rng) -> Self {
        let stage = match like.as_fake() {
            Some(_) => Stage::fake(Share::Shared),
            None => Stage::live(Share::Shared, "random pushes").unwrap(),
        };
        assert!(stage.has_shell());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = stage.client().clone();
        let target = Target::new(stage.pane().clone());
        let probe = runtime.block_on(PaneControl::new(client.clone()).probe(&target)).unwrap();
        let target = probe.target().clone();
        let terminal = target.terminal().unwrap().to_owned();
        let room = Room { stage, terminal, now: Mutex::new(Now { rng, left: 0, done: 0 }) };
        let room = Arc::new(room);
        let control = PaneControl::builder(client).profile(Arc::clone(&room) as _).build();
        let pane = Self { room, control, target, runtime };
        pane.shows(&["$", "#"]);
        let (program, log) = (env!("CARGO_BIN_EXE_input_box"), pane.log());
        assert!(pane.room.type_in(&format!("{program} claude --log {}\r", log.display())));
        pane.shows(&["? for shortcuts"]);
        pane
    }

    fn log(&self) -> std::path::PathBuf {
        self.room.stage.folder().join("input-box.log")
    }

    fn shows(&self, ends: &[&str]) {
        let screen = || {
            let read = self.control.read(&self.target, ReadOptions::default());
            self.runtime.block_on(read).unwrap().text
        };
        let shown = until(PATIENCE, || {
            let screen = screen();
            ends.iter().any(|end| screen.trim_end().ends_with(end)).then_some(())
        });
        assert!(shown.is_some(), "none of {ends:?} shows: {}", screen());
    }

    fn suffer(&self, deed: Deed) -> bool {
        self.room.suffer(deed, &mut self.room.now.lock().unwrap().done)
    }

    fn entries(&self) -> Entries {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let entry = |line: &str| {
            let entry: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| entry[name].as_str().unwrap().to_owned();
            (text("did"), text("text"))
        };
        log.lines().map(entry).collect()
    }

    /// One push, with its repeats; whether the pane is there after it.
    fn push(&self, name: &str, rng: &mut Rng, tally: &Mutex<Tally>) -> bool {
        let before = self.entries().len();
        let text = text(name, rng);
        for _ in 0..rng.usize(0..4).saturating_sub(1) {
            self.suffer(LOSE_AN_ENTER);
        }
        self.room.now.lock().unwrap().left = rng.usize(0..4);
        let pushed = self.calls(&text, OperationId::parse(name).unwrap(), rng);
        tally.lock().unwrap().take(name, &text, &pushed, &self.entries()[before..]);
        // Whoever opened a dialog or typed has gone.
        self.suffer(Deed::Typed("\u{1b}"));
        self.suffer(CLEAR)
    }

    /// What the last of some calls of one operation said, and whether it was the
    /// only one. Some calls are broken off.
    fn calls(&self, text: &str, id: OperationId, rng: &mut Rng) -> (Result<Pushed, Error>, bool) {
        let options = PushOptions::default().profile("room").operation(id);
        let push = || self.control.push(&self.target, text, &options);
        let mut only = true;
        if rng.u8(..) < 40 {
            let patience = Duration::from_millis(rng.u64(0..1500));
            let _ = self.runtime.block_on(async { tokio::time::timeout(patience, push()).await });
            only = false;
        }
        let mut pushed = self.runtime.block_on(push());
        for _ in 0..rng.usize(0..3) {
            if pushed.as_ref().is_ok_and(|pushed| pushed.outcome == Outcome::Delivered) {
                break;
            }
            pushed = self.runtime.block_on(push());
            only = false;
        }
        (pushed, only)
    }
}

fn text(name: &str, rng: &mut Rng) -> String {
    match rng.u8(0..12) {
        0 => format!("{name} {}.", "w".repeat(2668)),
        1 => format!("{name}\n{}end", "a line of many\n".repeat(340)),
        2 => format!("{name} {}.", "word ".repeat(4000)),
        3 => format!("/compact {name}"),
        4 => format!("{name} and\nthen\nthis"),
        _ => format!("{name} {}", "fix the tests ".repeat(rng.usize(1..9)).trim_end()),
    }
}

/// What became of all pushes.
#[derive(Debug, Default)]
struct Tally {
    /// By outcome and reason.
    outcomes: BTreeMap<String, usize>,
    /// What must not happen.
    faults: Vec<String>,
}

impl Tally {
    fn take(
        &mut self,
        name: &str,
        text: &str,
        (pushed, only): &(Result<Pushed, Error>, bool),
        entries: &[(String, String)],
    ) {
        let did: Vec<_> = entries.iter().map(|(did, _)| did.as_str()).collect();
        let mut check = |fine: bool, what: &str| {
            if !fine {
                self.faults.push(format!("{name}: {what}: {did:?}: {pushed:?}"));
            }
        };
        let typed = entries
            .iter()
            .filter(|(did, at)| (did.starts_with("pasted") || did == "typed") && at == text);
        let typed = typed.count();
        check(typed <= 1, "typed twice");
        let enters = entries
            .iter()
            .filter(|(did, _)| ["said", "eaten", "answered", "nothing"].contains(&did.as_str()));
        check(!did.contains(&"pasted into a dialog"), "typed into a dialog");
        check(!did.contains(&"pasted behind a text"), "typed behind a text");
        check(!did.contains(&"answered"), "Enter into a dialog");
        check(enters.clone().all(|(_, at)| at == text), "Enter on another text");
        let outcome = match pushed {
            Ok(pushed) => {
                check(enters.count() <= pushed.enters.into(), "an Enter too many");
                check(pushed.typed || typed == 0, "it was typed");
                let delivered = pushed.outcome == Outcome::Delivered;
                check(delivered == pushed.why.is_none(), "no reason");
                format!("{:?} {:?}", pushed.outcome, pushed.why)
            }
            Err(error) => {
                check(error.kind() == ErrorKind::PaneGone, "another error");
                check(typed == 0 || !only, "it was typed");
                format!("{:?}", error.kind())
            }
        };
        *self.outcomes.entry(outcome).or_default() += 1;
    }
}

#[expect(clippy::print_stderr, reason = "what became of the pushes is for the reader")]
fn random_pushes_are_never_typed_twice_and_no_enter_goes_astray(stage: &Stage) {
    let pushes = std::env::var("PUSHES").ok().map_or(PUSHES, |number| number.parse().unwrap());
    let panes = (pushes / 2).clamp(1, PANES);
    let tally = Mutex::new(Tally::default());
    thread::scope(|scope| {
        for number in 0..panes {
            let tally = &tally;
            scope.spawn(move || {
                let mut rng = Rng::with_seed(number as u64);
                let mut pane = Pane::open(stage, rng.fork());
                for turn in (number..pushes).step_by(panes) {
                    if !pane.push(&format!("push-{turn}"), &mut rng, tally) {
                        pane = Pane::open(stage, rng.fork());
                    }
                }
                pane.suffer(Deed::Closed);
            });
        }
    });
    let tally = tally.into_inner().unwrap();
    eprintln!("{pushes} pushes: {:#?}", tally.outcomes);
    assert!(tally.faults.is_empty(), "{:#?}", tally.faults);
}

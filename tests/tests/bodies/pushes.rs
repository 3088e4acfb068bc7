//! Random pushes into panes that are disturbed: Enters are lost, a person types, dialogs
//! open, panes move and close, and the push itself is interrupted and repeated.
//!
//! A disturbance always happens before a look at the screen and is visible in that look. A
//! look and the key after it are two requests, and no client can see what happens between
//! them.
//!
//! `PUSHES=1000 cargo test -p e2e --test bodies random_pushes -- --nocapture` makes more
//! pushes than an ordinary run, and prints how many had which outcome.

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
        random_pushes_are_never_typed_twice_and_no_enter_goes_to_another_text;
}

/// The number of pushes without `PUSHES`.
const PUSHES: usize = 16;
/// The most panes at the same time.
const PANES: usize = 24;

/// Something that happens to the pane besides the push.
#[derive(Debug, Clone, Copy)]
enum Disturbance {
    /// Text and control characters are typed.
    Typed(&'static str),
    Moved,
    Closed,
}

const DISTURBANCES: [Disturbance; 9] = [
    Disturbance::Typed("x"),
    Disturbance::Typed(" wait, "),
    Disturbance::Typed("\u{7f}"),
    CLEAR,
    Disturbance::Typed("\u{f}"),
    Disturbance::Typed("\u{1b}"),
    Disturbance::Typed("\n"),
    Disturbance::Moved,
    Disturbance::Closed,
];
const CLEAR: Disturbance = Disturbance::Typed("\u{15}");
const LOSE_AN_ENTER: Disturbance = Disturbance::Typed("\u{5}");
/// Adds one to the number at the bottom of the screen.
const COUNT: &str = "\u{6}";

/// Claude's profile for a pane that is disturbed before some of the looks.
#[derive(Debug)]
struct Disturbed {
    stage: Stage,
    terminal: String,
    progress: Mutex<Progress>,
}

#[derive(Debug)]
struct Progress {
    rng: Rng,
    /// How many disturbances this push may still have.
    left: usize,
    /// How many of them were typed into this pane so far.
    typed: usize,
}

impl Disturbed {
    /// The present id of the pane; `None` once it is closed.
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

    /// Disturbs the pane; `false` if it is closed.
    fn disturb(&self, disturbance: Disturbance, typed: &mut usize) -> bool {
        let Some(id) = self.id() else { return false };
        match disturbance {
            Disturbance::Typed(text) => {
                let arrived = self.type_in(&format!("{text}{COUNT}"));
                *typed += usize::from(arrived);
                return arrived;
            }
            Disturbance::Moved => {
                let to = json!({ "type": "new_workspace", "label": "moved" });
                self.stage.call("pane.move", &json!({ "pane_id": id, "destination": to }))
            }
            Disturbance::Closed => self.stage.call("pane.close", &json!({ "pane_id": id })),
        };
        true
    }
}

impl Profile for Disturbed {
    fn name(&self) -> &'static str {
        "disturbed"
    }

    fn look(&self, scene: &Scene) -> Look {
        let mut progress = self.progress.lock().unwrap();
        let Progress { rng, left, typed } = &mut *progress;
        if *left > 0 && rng.u8(..) < 50 {
            *left -= 1;
            let disturbance = DISTURBANCES[rng.usize(..DISTURBANCES.len())];
            // The stage blocks until it has its answers, which a task must not do.
            thread::scope(|scope| scope.spawn(|| self.disturb(disturbance, typed)).join()).unwrap();
        }
        let last = scene.screen.rows().iter().rev().find(|row| !row.text().is_empty());
        let shown = last.and_then(|row| row.text().rsplit(" · ").next()?.trim().parse().ok());
        if shown.unwrap_or(0) == *typed {
            Claude.look(scene)
        } else {
            // The screen does not show the last disturbance yet.
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
    disturbed: Arc<Disturbed>,
    control: PaneControl,
    target: Target,
    runtime: tokio::runtime::Runtime,
}

/// What the program did, and with which text.
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
        let progress = Mutex::new(Progress { rng, left: 0, typed: 0 });
        let disturbed = Arc::new(Disturbed { stage, terminal, progress });
        let control = PaneControl::builder(client).profile(Arc::clone(&disturbed) as _).build();
        let pane = Self { disturbed, control, target, runtime };
        pane.shows(&["$", "#"]);
        let (program, log) = (env!("CARGO_BIN_EXE_input_box"), pane.log());
        assert!(pane.disturbed.type_in(&format!("{program} claude --log {}\r", log.display())));
        pane.shows(&["? for shortcuts"]);
        pane
    }

    fn log(&self) -> std::path::PathBuf {
        self.disturbed.stage.folder().join("input-box.log")
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

    fn disturb(&self, disturbance: Disturbance) -> bool {
        let typed = &mut self.disturbed.progress.lock().unwrap().typed;
        self.disturbed.disturb(disturbance, typed)
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

    /// One push with its repetitions; `false` if the pane is closed after it.
    fn push(&self, name: &str, rng: &mut Rng, tally: &Mutex<Tally>) -> bool {
        let before = self.entries().len();
        let text = text(name, rng);
        for _ in 0..rng.usize(0..4).saturating_sub(1) {
            self.disturb(LOSE_AN_ENTER);
        }
        self.disturbed.progress.lock().unwrap().left = rng.usize(0..4);
        let pushed = self.calls(&text, OperationId::parse(name).unwrap(), rng);
        tally.lock().unwrap().take(name, &text, &pushed, &self.entries()[before..]);
        // Closes an open dialog and empties the box for the next push.
        self.disturb(Disturbance::Typed("\u{1b}"));
        self.disturb(CLEAR)
    }

    /// Calls the same operation once or several times; some calls are cancelled. Returns the
    /// last result, and whether there was only one call.
    fn calls(&self, text: &str, id: OperationId, rng: &mut Rng) -> (Result<Pushed, Error>, bool) {
        let options = PushOptions::default().profile("disturbed").operation(id);
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

/// The outcomes of all pushes.
#[derive(Debug, Default)]
struct Tally {
    /// How often there was which outcome and reason.
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

#[expect(clippy::print_stderr, reason = "the outcomes are for the person who runs it")]
fn random_pushes_are_never_typed_twice_and_no_enter_goes_to_another_text(stage: &Stage) {
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
                pane.disturb(Disturbance::Closed);
            });
        }
    });
    let tally = tally.into_inner().unwrap();
    eprintln!("{pushes} pushes: {:#?}", tally.outcomes);
    assert!(tally.faults.is_empty(), "{:#?}", tally.faults);
}

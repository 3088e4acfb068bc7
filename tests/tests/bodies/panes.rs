//! Reading and driving panes, with real programs behind them: a shell, and
//! `boxes`, a program with an input box.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use e2e::stage::{PATIENCE, SOURCE, Stage, until};
use herdr_pane_control::{
    AgentStatus, Error, ErrorKind, Evidence, Key, Life, Missing, OperationId, Outcome, PaneControl,
    PromptOptions, PushOptions, Pushed, ReadOptions, Signal, Source, Target, WaitOptions, Way,
    What, Why,
};
use serde_json::{Value, json};

e2e::bodies! {
    shared:
        a_text_goes_into_the_box_and_is_seen_above_it,
        an_eaten_enter_is_pressed_once_more_and_a_repeat_types_nothing,
        a_person_who_types_keeps_the_box,
        a_dialog_is_never_typed_into_and_only_the_one_seen_is_answered,
        long_texts_arrive_whole,
        several_lines_need_a_program_that_brackets,
        a_shell_takes_a_line_when_it_waits,
        a_command_is_typed_and_leaves_the_box,
        a_pane_is_as_alive_as_its_processes,
        a_moved_pane_is_found_and_a_gone_one_has_no_screen,
        b87_a_wait_ends_with_its_pane_and_not_with_a_move,
        a_screen_reads_the_same_in_colour,
        an_agent_that_herdr_knows_is_prompted_and_a_custom_one_is_not,
        pushes_in_a_row_are_said_once_each,
        many_panes_are_followed_by_one_look;
}

struct Scene<'a> {
    stage: &'a Stage,
    control: PaneControl,
    target: Target,
    log: PathBuf,
    runtime: tokio::runtime::Runtime,
}

impl<'a> Scene<'a> {
    fn new(stage: &'a Stage) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self {
            stage,
            control: PaneControl::new(stage.client().clone()),
            target: Target::new(stage.pane().clone()),
            log: stage.folder().join("boxes.log"),
            runtime,
        }
    }

    fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    fn screen(&self) -> String {
        self.run(self.control.read(&self.target, ReadOptions::default())).unwrap().text
    }

    fn shows(&self, text: &str) {
        let shown = until(PATIENCE, || self.screen().contains(text).then_some(()));
        assert!(shown.is_some(), "{text:?} does not show: {}", self.screen());
    }

    /// Types a command line into the shell, as a person would.
    fn shell(&self, line: &str) {
        assert!(self.stage.has_shell());
        let prompt = until(PATIENCE, || {
            let screen = self.screen();
            let last = screen.trim_end().lines().last()?;
            last.trim_end().ends_with(['$', '#']).then_some(())
        });
        assert!(prompt.is_some(), "no prompt: {}", self.screen());
        let params = json!({ "pane_id": self.stage.pane(), "text": format!("{line}\r") });
        self.stage.call("pane.send_text", &params);
    }

    fn boxes(stage: &'a Stage, options: &str) -> Self {
        let scene = Self::new(stage);
        let program = env!("CARGO_BIN_EXE_boxes");
        scene.shell(&format!("{program} {options} --log {}", scene.log.display()));
        scene.shows("? for shortcuts");
        scene
    }

    fn push(&self, text: &str) -> Pushed {
        self.push_as(text, "claude", None)
    }

    fn push_as(&self, text: &str, profile: &str, operation: Option<OperationId>) -> Pushed {
        self.try_push(text, profile, operation).unwrap()
    }

    fn try_push(
        &self,
        text: &str,
        profile: &str,
        operation: Option<OperationId>,
    ) -> Result<Pushed, Error> {
        let mut options = PushOptions::default().profile(profile);
        options.operation = operation;
        self.run(self.control.push(&self.target, text, &options))
    }

    /// What every Enter did.
    fn enters(&self) -> Vec<(String, String)> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let entry = |line: &str| {
            let entry: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| entry[name].as_str().unwrap().to_owned();
            (text("did"), text("text"))
        };
        log.lines().map(entry).collect()
    }
}

fn outcome(pushed: &Pushed) -> (Outcome, Option<Why>, u8) {
    (pushed.outcome, pushed.why, pushed.enters)
}

fn said(text: &str) -> (String, String) {
    ("said".to_owned(), text.to_owned())
}

fn a_text_goes_into_the_box_and_is_seen_above_it(stage: &Stage) {
    let scene = Scene::boxes(stage, "claude");
    let pushed = scene.push("fix the \u{1b}[201~tests\u{3}\n");
    assert_eq!(outcome(&pushed), (Outcome::Delivered, None, 1));
    assert!(pushed.guarded && !pushed.safe_to_retry());
    assert_eq!(scene.enters(), [said("fix the tests")]);
}

fn an_eaten_enter_is_pressed_once_more_and_a_repeat_types_nothing(stage: &Stage) {
    let scene = Scene::boxes(stage, "claude --eat 3");
    let id = OperationId::parse("job-1").unwrap();
    let pushed = scene.push_as("go on", "claude", Some(id.clone()));
    assert_eq!(outcome(&pushed), (Outcome::Pending, Some(Why::StillInBox), 2));
    let again = scene.push_as("go on", "claude", Some(id.clone()));
    assert_eq!(outcome(&again), (Outcome::Delivered, None, 4));
    let known = scene.push_as("go on", "claude", Some(id.clone()));
    assert_eq!(known, again);
    let eaten = ("eaten".to_owned(), "go on".to_owned());
    assert_eq!(scene.enters(), [eaten.clone(), eaten.clone(), eaten, said("go on")]);
    let other = scene.try_push("go back", "claude", Some(id)).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::OperationReused);
}

fn a_person_who_types_keeps_the_box(stage: &Stage) {
    let scene = Scene::boxes(stage, "claude --person-after fix");
    let pushed = scene.push("fix the tests");
    assert_eq!(outcome(&pushed), (Outcome::Held, Some(Why::NotWhatWasTyped), 0));
    assert!(pushed.typed);
    let next = scene.push("something else");
    assert_eq!(outcome(&next), (Outcome::Held, Some(Why::BoxNotEmpty), 0));
    assert!(next.safe_to_retry());
    scene.shows("fix the tests wait");
    assert!(scene.enters().is_empty());
}

fn a_dialog_is_never_typed_into_and_only_the_one_seen_is_answered(stage: &Stage) {
    let scene = Scene::boxes(stage, "claude --dialog-at 1");
    let before = scene.run(scene.control.read(&scene.target, ReadOptions::default())).unwrap();
    let first = scene.push("may I");
    // The text was said; behind the dialog nobody can see that the box is empty.
    assert_eq!(outcome(&first), (Outcome::Unverified, Some(Why::Dialog), 1));
    let held = scene.push("hello");
    assert_eq!(outcome(&held), (Outcome::Held, Some(Why::Dialog), 0));

    let answer = |seen| scene.run(scene.control.answer(&scene.target, seen, &[Key::enter()]));
    let refused = answer(before.digest.unwrap()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ScreenChanged);
    assert_eq!(scene.enters(), [said("may I")]);
    let dialog = scene.run(scene.control.read(&scene.target, ReadOptions::default())).unwrap();
    assert!(dialog.text.contains("Do you want to proceed?"));
    answer(dialog.digest.unwrap()).unwrap();
    scene.shows("? for shortcuts");
    assert_eq!(scene.enters()[1].0, "answered");
}

fn long_texts_arrive_whole(stage: &Stage) {
    let scene = Scene::boxes(stage, "claude");
    let texts =
        ["w".repeat(2668), "a line of many\n".repeat(340) + "end", "word ".repeat(4000) + "."];
    for text in &texts {
        assert_eq!(outcome(&scene.push(text)), (Outcome::Delivered, None, 1));
    }
    assert_eq!(scene.enters(), texts.each_ref().map(|text| said(text)));
    let params = json!({ "pane_id": stage.pane(), "keys": ["ctrl+d"] });
    stage.call("pane.send_keys", &params);
    fs::remove_file(&scene.log).unwrap();
    let codex = Scene::new(stage);
    codex.shell(&format!("{} codex --log {}", env!("CARGO_BIN_EXE_boxes"), codex.log.display()));
    codex.shows("100% context left");
    for text in &texts {
        let pushed = codex.push_as(text, "codex", None);
        assert_eq!(outcome(&pushed), (Outcome::Delivered, None, 1));
    }
    assert_eq!(codex.enters(), texts.each_ref().map(|text| said(text)));
}

fn several_lines_need_a_program_that_brackets(stage: &Stage) {
    let scene = Scene::boxes(stage, "raw");
    assert_eq!(outcome(&scene.push("one line")), (Outcome::Delivered, None, 1));
    for profile in ["shell", "none"] {
        let refused = scene.try_push("two\nlines", profile, None).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::SeveralLines);
    }
    let refused = scene.try_push("x", "nothing-like-it", None).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NoProfile);
    let refused = scene.try_push("\u{1b}\n", "claude", None).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::EmptyPrompt);
    assert_eq!(scene.enters(), [said("one line")]);
    let unguarded = scene.push_as("anything", "none", None);
    assert_eq!(outcome(&unguarded), (Outcome::Unverified, Some(Why::Unguarded), 1));
    assert!(!unguarded.guarded);
}

fn a_shell_takes_a_line_when_it_waits(stage: &Stage) {
    let scene = Scene::new(stage);
    assert!(stage.has_shell());
    let push = |text: &str| scene.push_as(text, "shell", None);
    until(PATIENCE, || scene.screen().trim_end().ends_with(['$', '#']).then_some(())).unwrap();
    assert_eq!(outcome(&push("echo pushed-$((40 + 2))")), (Outcome::Delivered, None, 1));
    scene.shows("pushed-42");
    let long = format!(": {}", "y".repeat(2666));
    assert_eq!(outcome(&push(&long)), (Outcome::Delivered, None, 1));
    assert_eq!(outcome(&push("sleep 30")), (Outcome::Delivered, None, 1));
    assert_eq!(outcome(&push("echo no")), (Outcome::Held, Some(Why::Busy), 0));
    let interrupt = herdr_pane_control::Intent::Interrupt;
    scene.run(scene.control.intend(&scene.target, interrupt, None)).unwrap();
    let params = json!({ "pane_id": stage.pane(), "text": "half a line" });
    until(PATIENCE, || scene.screen().trim_end().ends_with(['$', '#']).then_some(())).unwrap();
    stage.call("pane.send_text", &params);
    scene.shows("half a line");
    assert_eq!(outcome(&push("echo no")), (Outcome::Held, Some(Why::BoxNotEmpty), 0));
}

fn a_command_is_typed_and_leaves_the_box(stage: &Stage) {
    let scene = Scene::boxes(stage, "claude");
    let text = "/compact keep the plan";
    assert_eq!(outcome(&scene.push(text)), (Outcome::Delivered, None, 1));
    assert_eq!(scene.enters(), [said(text)]);
}

fn a_pane_is_as_alive_as_its_processes(stage: &Stage) {
    let scene = Scene::new(stage);
    assert!(stage.has_shell());
    let probe = || {
        let probe = scene.run(scene.control.probe(&scene.target)).unwrap();
        (probe.life, probe.evidence)
    };
    let probed = |wanted| until(PATIENCE, || (probe() == wanted).then_some(()));
    assert_eq!(probed((Life::Live, Evidence::Shell)), Some(()), "{:?}", probe());
    let tick = || scene.run(scene.control.tick(&scene.target)).unwrap().signal;
    assert_eq!(tick(), Signal::Unreadable(Missing::NoAgent));
    scene.shell("sleep 60");
    assert_eq!(probed((Life::Live, Evidence::Program)), Some(()), "{:?}", probe());
    for (state, signal) in [
        ("working", Signal::Working),
        ("blocked", Signal::Blocked),
        ("unknown", Signal::Unreadable(Missing::Unknown)),
        // Nobody has looked at this pane.
        ("idle", Signal::Unreadable(Missing::Done)),
    ] {
        stage.report_as(SOURCE, "stagehost", state, Some(super::micros()));
        assert_eq!((probe(), tick()), ((Life::Live, Evidence::Agent), signal));
    }
    // The program is gone, and its record stays.
    scene.run(scene.control.keys(&scene.target, &[Key::ctrl_c()])).unwrap();
    assert_eq!(probed((Life::Dead, Evidence::OnlyShell)), Some(()), "{:?}", probe());
    assert_eq!(tick(), Signal::Unreadable(Missing::NoProcess));
}

fn a_moved_pane_is_found_and_a_gone_one_has_no_screen(stage: &Stage) {
    let scene = Scene::new(stage);
    assert!(stage.has_shell());
    let target = scene.run(scene.control.probe(&scene.target)).unwrap().target().clone();
    let moved = move_away(stage);
    let probe = scene.run(scene.control.probe(&target)).unwrap();
    assert_eq!((probe.life, probe.target().pane().as_str()), (Life::Live, moved.as_str()));
    stage.call("pane.close", &json!({ "pane_id": moved }));
    let probe = scene.run(scene.control.probe(&target)).unwrap();
    assert_eq!((probe.life, probe.evidence), (Life::Dead, Evidence::PaneGone));
    let read = scene.run(scene.control.read(&target, ReadOptions::default())).unwrap_err();
    assert_eq!(read.kind(), ErrorKind::PaneGone);
    let push = scene.run(scene.control.push(&target, "x", &PushOptions::default())).unwrap_err();
    assert_eq!(push.kind(), ErrorKind::PaneGone);
    let tick = scene.run(scene.control.tick(&target)).unwrap();
    assert_eq!(tick.signal, Signal::Unreadable(Missing::PaneGone));
}

/// Moves the body's pane into a workspace of its own, and gives its new id.
fn move_away(stage: &Stage) -> String {
    let to = json!({ "type": "new_workspace" });
    let params = json!({ "pane_id": stage.pane(), "destination": to });
    let moved = stage.call("pane.move", &params);
    let pane = moved.pointer("/move_result/pane/pane_id").and_then(Value::as_str);
    pane.unwrap_or_else(|| panic!("no pane in {moved}")).to_owned()
}

fn b87_a_wait_ends_with_its_pane_and_not_with_a_move(stage: &Stage) {
    let scene = Scene::new(stage);
    stage.report_as(SOURCE, "stagehost", "working", Some(super::micros()));
    let wait = |deadline| WaitOptions::new([AgentStatus::IDLE], deadline);
    let short = wait(Duration::from_millis(400));
    let late = scene.run(scene.control.wait(&scene.target, &short)).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Timeout);

    let target = scene.run(scene.control.probe(&scene.target)).unwrap().target().clone();
    let blocked = WaitOptions::new([AgentStatus::BLOCKED], PATIENCE);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let scene = Scene::new(stage);
            scene.run(scene.control.wait(&target, &wait(PATIENCE)))
        });
        std::thread::sleep(Duration::from_millis(300));
        let moved = move_away(stage);
        std::thread::sleep(Duration::from_millis(600));
        let idle = json!({ "pane_id": moved, "source": SOURCE, "agent": "stagehost",
            "state": "idle", "seq": super::micros() });
        stage.call("pane.report_agent", &idle);
        // The pane is unseen, so its idle is `done`.
        let ended = waiting.join().unwrap().unwrap();
        assert_eq!(ended.pane_id.as_str(), moved);

        let waiting = scope.spawn(|| {
            let scene = Scene::new(stage);
            let ended = scene.run(scene.control.wait(&target, &blocked));
            (ended, Instant::now())
        });
        std::thread::sleep(Duration::from_millis(300));
        stage.call("pane.close", &json!({ "pane_id": moved }));
        let closed = Instant::now();
        let (ended, at) = waiting.join().unwrap();
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::PaneGone);
        assert!(at.saturating_duration_since(closed) < PATIENCE / 2, "it waited on");
    });
}

fn a_screen_reads_the_same_in_colour(stage: &Stage) {
    let scene = Scene::boxes(stage, "claude");
    let read = |options| scene.run(scene.control.read(&scene.target, options)).unwrap();
    let (plain, colour) = (read(ReadOptions::default()), read(ReadOptions::default().ansi()));
    assert!(plain.digest.is_some() && plain.digest == colour.digest);
    assert!(colour.text.contains("\u{1b}[2m") && !plain.text.contains('\u{1b}'));
    let last = read(ReadOptions::default().lines(2));
    assert!(last.truncated && last.digest.is_none());
    assert_eq!(last.text.lines().count(), 2);
    for source in [Source::Visible, Source::Recent, Source::RecentUnwrapped] {
        assert!(read(ReadOptions::of(source)).text.contains("an input box"));
    }
    let many = ReadOptions::of(Source::Recent).lines(1001);
    let refused = scene.run(scene.control.read(&scene.target, many)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
}

fn an_agent_that_herdr_knows_is_prompted_and_a_custom_one_is_not(stage: &Stage) {
    let scene = Scene::new(stage);
    let prompt = |text: &str, options: &PromptOptions| {
        scene.run(scene.control.prompt(&scene.target, text, options))
    };
    let none = prompt("x", &PromptOptions::default()).unwrap_err();
    assert_eq!(none.kind(), ErrorKind::NoAgent);
    // Herdr knows an agent by the name of its process.
    let program = stage.folder().join("claude");
    fs::copy(env!("CARGO_BIN_EXE_boxes"), &program).unwrap();
    scene.shell(&format!(
        "{} claude --dialog-at 2 --log {}",
        program.display(),
        scene.log.display()
    ));
    scene.shows("? for shortcuts");
    until(PATIENCE, || {
        let probe = scene.run(scene.control.probe(&scene.target)).unwrap();
        (probe.pane?.agent? == "claude").then_some(())
    })
    .expect("Herdr sees the agent");
    let empty = prompt("\n", &PromptOptions::default()).unwrap_err();
    assert_eq!(empty.kind(), ErrorKind::EmptyPrompt);
    let prompted = prompt("fix the tests", &PromptOptions::default()).unwrap();
    assert_eq!(prompted.way, Way::BoxEmptied);
    let params = json!({ "pane_id": stage.pane(), "text": "half a thought" });
    stage.call("pane.send_text", &params);
    scene.shows("half a thought");
    let held = prompt("again", &PromptOptions::default()).unwrap();
    assert_eq!(held.way, Way::Held);
    stage.call("pane.send_keys", &json!({ "pane_id": stage.pane(), "keys": ["ctrl+u"] }));
    let gone = until(PATIENCE, || (!scene.screen().contains("half a thought")).then_some(()));
    gone.unwrap();
    // The second text opens a dialog, and the server or the screen says so.
    let asked = prompt("and then", &PromptOptions::default().deadline(Duration::from_secs(3)));
    assert!(
        matches!(&asked, Ok(prompted) if prompted.way == Way::StatusChanged)
            || matches!(&asked, Err(error) if error.kind() == ErrorKind::PromptStalled),
        "{asked:?}"
    );
    let blocked = prompt("more", &PromptOptions::default()).unwrap_err();
    assert_eq!(blocked.kind(), ErrorKind::AgentBlocked);
    assert!(blocked.safe_to_retry());
    assert_eq!(scene.enters(), [said("fix the tests"), said("and then")]);
}

fn pushes_in_a_row_are_said_once_each(stage: &Stage) {
    let scene = Scene::boxes(stage, "claude --eat 2 --person-after person");
    let mut expected = Vec::new();
    for (number, text) in ["go on", "go on", "person", "go on", "go"].into_iter().enumerate() {
        let pushed = scene.push(text);
        match pushed.outcome {
            Outcome::Delivered => expected.push(text.to_owned()),
            // Both Enters were eaten; the operation goes on.
            Outcome::Pending => {
                assert_eq!(number, 0);
                let again = scene.push_as(text, "claude", Some(pushed.operation));
                assert_eq!(again.outcome, Outcome::Delivered);
                expected.push(text.to_owned());
            }
            Outcome::Held => {
                assert_eq!(text, "person");
                let params = json!({ "pane_id": stage.pane(), "keys": ["ctrl+u"] });
                stage.call("pane.send_keys", &params);
            }
            other => panic!("{other:?}: {:?}", pushed.why),
        }
    }
    let said = scene.enters().into_iter().filter(|(did, _)| did == "said");
    assert_eq!(said.map(|(_, text)| text).collect::<Vec<_>>(), expected);
}

fn many_panes_are_followed_by_one_look(stage: &Stage) {
    let scene = Scene::new(stage);
    let split = json!({ "target_pane_id": stage.pane(), "direction": "right", "focus": false });
    let other = stage.call("pane.split", &split)["pane"]["pane_id"].as_str().unwrap().to_owned();
    let targets = [scene.target.clone(), other.parse().unwrap()];
    let pane = stage.pane().as_str();
    let mut changes = scene.run(async { scene.control.changes(targets) });
    let mut first = [scene.run(changes.next()).unwrap(), scene.run(changes.next()).unwrap()];
    first.sort_by(|a, b| a.pane_id.cmp(&b.pane_id));
    assert_eq!(first.each_ref().map(|change| change.pane_id.as_str()), [pane, &other]);
    stage.report_as(SOURCE, "stagehost", "working", Some(super::micros()));
    let change = scene.run(changes.next()).unwrap();
    assert_eq!(change.pane_id.as_str(), pane);
    assert!(matches!(change.what, What::Status { status, .. } if status == AgentStatus::WORKING));
}

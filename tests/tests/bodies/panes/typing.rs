//! Typing into a pane: pushes, prompts and answers to dialogs.

use std::fs;
use std::time::Duration;

use e2e::stage::{PATIENCE, Stage, until};
use herdr_pane_control::{
    ErrorKind, Key, OperationId, Outcome, PromptOptions, PushOptions, Pushed, ReadOptions, Way, Why,
};
use serde_json::json;

use super::Scene;

e2e::bodies! {
    shared:
        a_text_goes_into_the_box_and_is_seen_above_it,
        an_eaten_enter_is_pressed_once_more_and_a_repeat_types_nothing,
        a_push_that_was_broken_off_after_its_enter_goes_on_from_there,
        a_person_who_types_keeps_the_box,
        a_dialog_is_never_typed_into_and_only_the_one_seen_is_answered,
        long_texts_arrive_whole,
        several_lines_need_a_program_that_brackets,
        a_shell_takes_a_line_when_it_waits,
        a_command_is_typed_and_leaves_the_box,
        an_agent_that_herdr_knows_is_prompted_and_a_custom_one_is_not,
        pushes_in_a_row_are_said_once_each;
}

fn outcome(pushed: &Pushed) -> (Outcome, Option<Why>, u8) {
    (pushed.outcome, pushed.why, pushed.enters)
}

fn said(text: &str) -> (String, String) {
    ("said".to_owned(), text.to_owned())
}

fn a_text_goes_into_the_box_and_is_seen_above_it(stage: &Stage) {
    let scene = Scene::input_box(stage, "claude");
    let pushed = scene.push("fix the \u{1b}[201~tests\u{3}\n");
    assert_eq!(outcome(&pushed), (Outcome::Delivered, None, 1));
    assert!(pushed.guarded && !pushed.safe_to_retry());
    assert_eq!(scene.enters(), [said("fix the tests")]);
}

fn an_eaten_enter_is_pressed_once_more_and_a_repeat_types_nothing(stage: &Stage) {
    let scene = Scene::input_box(stage, "claude --eat 3");
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

fn a_push_that_was_broken_off_after_its_enter_goes_on_from_there(stage: &Stage) {
    let scene = Scene::input_box(stage, "claude");
    let options = PushOptions::default().profile("claude");
    let options = options.operation(OperationId::parse("job-1").unwrap());
    let push = scene.control.push(&scene.target, "go on", &options);
    let entered = async {
        while scene.enters().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    scene.run(async {
        tokio::select! {
            _ = push => {}
            () = entered => {}
        }
    });
    let again = scene.run(scene.control.push(&scene.target, "go on", &options)).unwrap();
    assert_eq!(outcome(&again), (Outcome::Delivered, None, 1));
    assert_eq!(scene.enters(), [said("go on")]);
}

fn a_person_who_types_keeps_the_box(stage: &Stage) {
    let scene = Scene::input_box(stage, "claude --person-after fix");
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
    let scene = Scene::input_box(stage, "claude --dialog-at 1");
    let before = scene.run(scene.control.read(&scene.target, ReadOptions::default())).unwrap();
    let first = scene.push("may I");
    // The program took the text; the dialog hides whether the box is empty.
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
    let scene = Scene::input_box(stage, "claude");
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
    codex.shell(&format!(
        "{} codex --log {}",
        env!("CARGO_BIN_EXE_input_box"),
        codex.log.display()
    ));
    codex.shows("100% context left");
    for text in &texts {
        let pushed = codex.push_as(text, "codex", None);
        assert_eq!(outcome(&pushed), (Outcome::Delivered, None, 1));
    }
    assert_eq!(codex.enters(), texts.each_ref().map(|text| said(text)));
}

fn several_lines_need_a_program_that_brackets(stage: &Stage) {
    let scene = Scene::input_box(stage, "raw");
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
    let scene = Scene::input_box(stage, "claude");
    let text = "/compact keep the plan";
    assert_eq!(outcome(&scene.push(text)), (Outcome::Delivered, None, 1));
    assert_eq!(scene.enters(), [said(text)]);
}

fn an_agent_that_herdr_knows_is_prompted_and_a_custom_one_is_not(stage: &Stage) {
    let scene = Scene::new(stage);
    let prompt = |text: &str, options: &PromptOptions| {
        scene.run(scene.control.prompt(&scene.target, text, options))
    };
    let none = prompt("x", &PromptOptions::default()).unwrap_err();
    assert_eq!(none.kind(), ErrorKind::NoAgent);
    scene.known_agent("--dialog-at 2");
    let empty = prompt("\n", &PromptOptions::default()).unwrap_err();
    assert_eq!(empty.kind(), ErrorKind::EmptyPrompt);
    let mut once = PromptOptions::default();
    once.push.operation = Some(OperationId::parse("job-1").unwrap());
    assert_eq!(prompt("fix the tests", &once).unwrap().way, Way::BoxEmptied);
    let again = prompt("fix the tests", &once).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::OperationReused);
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
    let scene = Scene::input_box(stage, "claude --eat 2 --person-after person");
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

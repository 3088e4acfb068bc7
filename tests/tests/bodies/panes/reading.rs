//! Reading the screen of a pane, probing whether it lives, and waiting for its state.

use std::time::{Duration, Instant};

use e2e::stage::{PATIENCE, SOURCE, Stage, until};
use herdr_pane_control::{
    AgentStatus, ErrorKind, Evidence, Key, Life, Missing, PushOptions, ReadOptions, Signal, Source,
    WaitOptions, What,
};
use serde_json::{Value, json};

use super::Scene;
use crate::micros;

e2e::bodies! {
    shared:
        a_pane_is_as_alive_as_its_processes,
        a_moved_pane_is_found_and_a_gone_one_has_no_screen,
        b87_a_wait_ends_with_its_pane_and_not_with_a_move,
        a_screen_reads_the_same_in_colour,
        b85_an_agent_at_work_has_no_more_rows_than_it_shows,
        many_panes_are_followed_by_one_look;
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
        // The user has not looked at this pane, so its idle is `done`.
        ("idle", Signal::Unreadable(Missing::Done)),
    ] {
        stage.report_as(SOURCE, "stagehost", state, Some(micros()));
        assert_eq!((probe(), tick()), ((Life::Live, Evidence::Agent), signal));
    }
    // The program has ended, and its claim stays.
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
    stage.report_as(SOURCE, "stagehost", "working", Some(micros()));
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
            "state": "idle", "seq": micros() });
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
        assert!(
            at.saturating_duration_since(closed) < PATIENCE / 2,
            "the wait went on after the close"
        );
    });
}

fn a_screen_reads_the_same_in_colour(stage: &Stage) {
    let scene = Scene::input_box(stage, "claude");
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

fn b85_an_agent_at_work_has_no_more_rows_than_it_shows(stage: &Stage) {
    let scene = Scene::new(stage);
    scene.known_agent("");
    stage.report_as(SOURCE, "claude", "working", Some(micros()));
    let options = ReadOptions::of(Source::Recent).lines(500);
    let refused = scene.run(scene.control.read(&scene.target, options)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AgentNotIdle);
    assert!(scene.screen().contains("? for shortcuts"));
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
    stage.report_as(SOURCE, "stagehost", "working", Some(micros()));
    let change = scene.run(changes.next()).unwrap();
    assert_eq!(change.pane_id.as_str(), pane);
    assert!(matches!(change.what, What::Status { status, .. } if status == AgentStatus::WORKING));
}

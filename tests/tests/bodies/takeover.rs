//! Which reporter has the pane next, and what happens to a report that comes at a bad
//! moment.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use e2e::stage::{PATIENCE, Stage, until};
use fake_herdr::{Exchange, FakeHerdr};
use serde_json::json;

use super::shell::{Shell, is};

e2e::bodies! {
    shared:
        f03_a_waiting_reporter_gets_the_pane_without_an_event,
        f04_a_change_that_comes_as_the_pane_gets_free_is_sent,
        f11_an_agent_that_herdr_detects_below_a_wrapper_keeps_its_row,
        f46_a_hook_at_the_end_of_its_command_is_late_or_taken_and_leaves_nothing;
    own:
        f10_another_server_at_the_path_gets_nothing_of_a_pane_that_is_not_its_own,
        f47_hooks_on_a_frozen_server_fail_in_time;
}

/// The longest time until a waiting reporter has a pane that got free.
const TAKES_OVER: Duration = Duration::from_secs(2);

/// `run` as a background job of the pane's shell. It reads its events from a pipe.
struct Run {
    input: fs::File,
    said: PathBuf,
}

impl Run {
    fn start(stage: &Stage, shell: &Shell<'_>, agent: &str) -> Self {
        let said = stage.folder().join(format!("{agent}.said"));
        let pipe = stage.folder().join(format!("{agent}.pipe"));
        shell.line(&format!(
            "mkfifo {agent}.pipe; $hsr run --agent {agent} <{agent}.pipe 2>{agent}.said &"
        ));
        until(PATIENCE, || pipe.exists().then_some(())).expect("the shell makes the pipe");
        let input = fs::File::options().write(true).open(pipe).unwrap();
        Self { input, said }
    }

    fn tell(&mut self, event: &str) {
        writeln!(self.input, "{event}").unwrap();
    }

    fn says(&self, word: &str) {
        let said = || fs::read_to_string(&self.said).unwrap_or_default();
        let found = until(PATIENCE, || said().contains(word).then_some(()));
        found.unwrap_or_else(|| panic!("no {word}: {}", said()));
    }
}

const BEGINS: &str = r#"{"event": "agent_started"}"#;
const ASKS: &str = r#"{"event": "prompt_opened", "prompt_id": "1", "kind": "approval"}"#;

/// A reporter that owns the pane, and one that waits for it.
fn owner_and_waiter(stage: &Stage, shell: &Shell<'_>) -> (Run, Run) {
    let mut first = Run::start(stage, shell, "first");
    first.tell(BEGINS);
    stage.wait(is("first", "working"));
    let mut second = Run::start(stage, shell, "second");
    second.tell(BEGINS);
    second.says("deferred");
    (first, second)
}

fn f03_a_waiting_reporter_gets_the_pane_without_an_event(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f03") else { return };
    let (first, second) = owner_and_waiter(stage, &shell);
    drop(first);
    stage.wait_within(TAKES_OVER, is("second", "working"));
    drop(second);
    stage.wait_for_nothing();
}

fn f04_a_change_that_comes_as_the_pane_gets_free_is_sent(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f04") else { return };
    let (first, mut second) = owner_and_waiter(stage, &shell);
    drop(first);
    second.tell(ASKS);
    stage.wait_within(TAKES_OVER, is("second", "blocked"));
    drop(second);
    stage.wait_for_nothing();
}

fn f10_another_server_at_the_path_gets_nothing_of_a_pane_that_is_not_its_own(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f10") else { return };
    let mut bot = Run::start(stage, &shell, "bot");
    bot.tell(BEGINS);
    stage.wait(is("bot", "working"));
    // The old server goes on, so the event stream of the reporter does not end.
    let aside = stage.socket().with_extension("aside");
    fs::rename(stage.socket(), &aside).unwrap();
    let other = another_server(stage);
    bot.tell(ASKS);
    bot.says("foreign_pane");
    let wrote = |exchange: &Exchange| exchange.request.contains("pane.re");
    assert!(!other.log().iter().any(wrote), "{:?}", other.log());
    drop(other);
    fs::rename(&aside, stage.socket()).unwrap();
    stage.wait(is("bot", "blocked"));
    drop(bot);
    stage.wait_for_nothing();
}

/// A server at the same path, with a shell behind a pane of the same id.
fn another_server(stage: &Stage) -> FakeHerdr {
    let builder = FakeHerdr::builder().panes(0).program(["/bin/sh"]);
    let other = builder.socket_path(stage.socket()).start().unwrap();
    while other.observe(stage.pane().as_str()).is_none() {
        stage.call("workspace.create", &json!({ "cwd": stage.folder() }));
    }
    other
}

fn f11_an_agent_that_herdr_detects_below_a_wrapper_keeps_its_row(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f11") else { return };
    shell.line("cp $(command -v sh) npx; cp $(command -v cat) claude");
    fs::write(stage.folder().join("wrapped"), "./claude; exit").unwrap();
    shell.line("$hsr exec --state idle ./npx wrapped");
    // Until Herdr has detected the agent, the row is that of the report.
    let detected = |pane: &_| {
        let claude = ["idle", "done"].iter().any(|state| is("claude", state)(pane));
        claude
            && stage.call("agent.explain", &json!({"target": stage.pane()}))["explain"]["agent"]
                == "claude"
    };
    stage.wait(detected);
    // The agent ends with its input, and the wrapper with the agent.
    shell.keys("\u{4}");
    stage.wait_for_nothing();
}

fn f46_a_hook_at_the_end_of_its_command_is_late_or_taken_and_leaves_nothing(stage: &Stage) {
    const TIMES: usize = 12;
    let Some(shell) = Shell::open(stage, "f46") else { return };
    let hook = "($hsr state blocked --label q --strict 2>>said; echo $? >>codes) & exit 0";
    fs::write(stage.folder().join("ends"), hook).unwrap();
    for _ in 0..TIMES {
        assert_eq!(shell.run("$hsr exec --agent bot --state working sh ends").0, 0);
    }
    let codes = until(PATIENCE, || {
        let codes = fs::read_to_string(stage.folder().join("codes")).ok()?;
        (codes.lines().count() == TIMES).then_some(codes)
    });
    let said = fs::read_to_string(stage.folder().join("said")).unwrap_or_default();
    let codes = codes.unwrap_or_else(|| panic!("each hook ends: {said}"));
    assert!(codes.lines().all(|code| ["0", "4"].contains(&code)), "{codes}{said}");
    let late = codes.lines().filter(|code| *code == "4").count();
    assert_eq!(said.matches("late: ").count(), late, "{codes}{said}");
    stage.wait_for_nothing();
}

fn f47_hooks_on_a_frozen_server_fail_in_time(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f47") else { return };
    let three = r#"'{"event":"title_changed","title":"T"}' "#.repeat(3);
    let hooks = format!(
        ">ready; until [ -e go ]; do sleep .05; done\n\
         for n in 1 2 3 4 5; do ($hsr state working --strict 2>said$n; echo $? >code$n) & done\n\
         $hsr emit --strict {three} 2>said6; echo $? >code6; wait; >done\n"
    );
    fs::write(stage.folder().join("hooks"), hooks).unwrap();
    shell.line("sh hooks");
    shell.wait_for("ready");
    let thaw = stage.freeze();
    fs::write(stage.folder().join("go"), "").unwrap();
    shell.wait_for("done");
    drop(thaw);
    for number in 1..=6 {
        let read = |what: &str| {
            fs::read_to_string(stage.folder().join(format!("{what}{number}"))).unwrap()
        };
        let (code, said) = (read("code"), read("said"));
        assert_eq!(code.trim(), "3", "{said}");
        assert!(said.contains("does not answer within 1 s"), "{said}");
    }
}

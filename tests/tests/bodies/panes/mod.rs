//! Reading and driving panes, with real programs behind them: a shell, and
//! `input_box`, a program with an input box.

mod reading;
mod typing;

use std::fs;
use std::path::PathBuf;

use e2e::stage::{PATIENCE, Stage, until};
use herdr_pane_control::{
    Error, OperationId, PaneControl, PushOptions, Pushed, ReadOptions, Target,
};
use serde_json::{Value, json};

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
            log: stage.folder().join("input-box.log"),
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

    fn input_box(stage: &'a Stage, options: &str) -> Self {
        let scene = Self::new(stage);
        let program = env!("CARGO_BIN_EXE_input_box");
        scene.shell(&format!("{program} {options} --log {}", scene.log.display()));
        scene.shows("? for shortcuts");
        scene
    }

    /// Runs the program under the name of a known agent, and waits until Herdr has detected it.
    fn known_agent(&self, options: &str) {
        let program = self.stage.folder().join("claude");
        fs::copy(env!("CARGO_BIN_EXE_input_box"), &program).unwrap();
        let (program, log) = (program.display(), self.log.display());
        self.shell(&format!("{program} claude {options} --log {log}"));
        self.shows("? for shortcuts");
        until(PATIENCE, || {
            let probe = self.run(self.control.probe(&self.target)).unwrap();
            (probe.pane?.agent? == "claude").then_some(())
        })
        .expect("Herdr detects the agent");
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

    /// What the program did on every Enter, and with which text.
    fn enters(&self) -> Vec<(String, String)> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let entry = |line: &str| {
            let entry: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| entry[name].as_str().unwrap().to_owned();
            (text("did"), text("text"))
        };
        let enters = ["said", "eaten", "answered", "nothing"];
        log.lines().map(entry).filter(|(did, _)| enters.contains(&did.as_str())).collect()
    }
}

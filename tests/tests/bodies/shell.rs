//! The shell of a pane, into which a body types.

use std::cell::Cell;
use std::fs;

use e2e::stage::{PATIENCE, Stage, sidecar, skipped, until};
use herdr_proto::PaneInfo;
use serde_json::json;

/// The pane's shell, with `$hsr` and a runtime folder of its own.
pub(super) struct Shell<'a> {
    stage: &'a Stage,
    scripts: Cell<u32>,
}

impl<'a> Shell<'a> {
    /// `None`, with a message, if there is no shell behind the pane.
    pub(super) fn open(stage: &'a Stage, body: &str) -> Option<Self> {
        if !stage.has_shell() {
            skipped(body, "no process is behind the pane");
            return None;
        }
        let shell = Self { stage, scripts: Cell::default() };
        let setup = format!(
            "export XDG_RUNTIME_DIR='{0}' HOME='{0}' hsr='{1}'\ncd '{0}'\n",
            stage.folder().display(),
            sidecar().display()
        );
        fs::write(stage.folder().join("setup"), setup).unwrap();
        shell.line(&format!(". '{}/setup'", stage.folder().display()));
        Some(shell)
    }

    pub(super) fn line(&self, line: &str) {
        self.keys(&format!("{line}\n"));
    }

    pub(super) fn keys(&self, text: &str) {
        self.stage.call("pane.send_text", &json!({ "pane_id": self.stage.pane(), "text": text }));
    }

    /// Runs a script to its end. Returns its exit code and its output.
    pub(super) fn run(&self, script: &str) -> (i32, String) {
        let number = self.scripts.replace(self.scripts.get() + 1);
        let file = |ending: &str| self.stage.folder().join(format!("{number}.{ending}"));
        fs::write(file("sh"), script).unwrap();
        self.line(&format!(
            "sh {number}.sh >{number}.out 2>&1 </dev/null; echo $? >{number}.new; \
             mv {number}.new {number}.code"
        ));
        let code = until(PATIENCE, || fs::read_to_string(file("code")).ok());
        let said = fs::read_to_string(file("out")).unwrap_or_default();
        let code = code.unwrap_or_else(|| panic!("{script} does not end: {said}"));
        (code.trim().parse().unwrap(), said)
    }

    /// Waits until a script has made a file.
    pub(super) fn wait_for(&self, name: &str) {
        let there = until(PATIENCE, || self.stage.folder().join(name).exists().then_some(()));
        there.unwrap_or_else(|| panic!("there is no {name}: {:?}", self.stage.look()));
    }
}

pub(super) fn is(agent: &str, state: &str) -> impl Fn(&PaneInfo) -> bool {
    move |pane| pane.agent.as_deref() == Some(agent) && pane.agent_status.to_string() == state
}

/// Runs a command with a hook, checks that the hook's `blocked` shows, and lets the command
/// end.
pub(super) fn hooks_arrive(stage: &Stage, shell: &Shell<'_>, environment: &str) {
    let _ = fs::remove_file(stage.folder().join("seen"));
    let hook = "$hsr state blocked --label q; while ! [ -e seen ]; do sleep .1; done";
    shell.line(&format!("{environment} $hsr exec --agent bot --state idle sh -c '{hook}' 2>said"));
    let said = || fs::read_to_string(stage.folder().join("said")).unwrap_or_default();
    let shown = until(PATIENCE, || Some(stage.seen()).filter(is("bot", "blocked")));
    assert!(shown.is_some(), "{environment}: {} {:?}", said(), stage.seen());
    assert_eq!(said(), "", "{environment}");
    fs::write(stage.folder().join("seen"), "").unwrap();
    stage.wait_for_nothing();
}

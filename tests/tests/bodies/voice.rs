//! Whose voice it is: programs that are typed into the pane's own shell, and
//! who of them reports.

use std::cell::Cell;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use e2e::stage::{PATIENCE, Stage, shows, sidecar, skipped, until};
use herdr_proto::PaneInfo;
use serde_json::json;

e2e::bodies! {
    shared:
        f01_a_stranger_keeps_nobody_out,
        f02_a_process_of_another_pane_is_not_supervised,
        f05_a_hook_that_outlives_its_command_says_nothing,
        f05_a_stranger_that_knows_the_address_is_not_heard,
        f06_a_hook_of_another_server_speaks_for_its_own_pane,
        f07_a_command_in_a_command_is_kept_apart,
        f08_the_job_in_front_has_the_pane,
        f08_two_jobs_behind_do_not_fight,
        f08_so_has_a_host_that_reads_lines,
        f08_so_have_commands_that_report_once,
        f09_who_speaks_for_another_agent_has_no_effect,
        f42_whatever_the_runtime_folder_is_like_hooks_arrive,
        f43_a_folder_that_is_removed_is_made_again,
        f44_the_first_process_of_a_container_cleans_up,
        f45_ignored_signals_stay_ignored,
        f56_a_folder_that_another_user_made_first_is_left_alone;
}

/// The pane's shell, with `$hsr` and a runtime folder of its own.
pub(super) struct Shell<'a> {
    stage: &'a Stage,
    scripts: Cell<u32>,
}

impl<'a> Shell<'a> {
    /// None without a shell behind the pane, which is said.
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

    /// Types a line.
    pub(super) fn line(&self, line: &str) {
        self.keys(&format!("{line}\n"));
    }

    pub(super) fn keys(&self, text: &str) {
        self.stage.call("pane.send_text", &json!({ "pane_id": self.stage.pane(), "text": text }));
    }

    /// Runs a script to its end: its exit code, and what it says.
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

    /// Waits for a file that a script makes.
    pub(super) fn wait_for(&self, name: &str) {
        let there = until(PATIENCE, || self.stage.folder().join(name).exists().then_some(()));
        there.unwrap_or_else(|| panic!("there is no {name}: {:?}", self.stage.look()));
    }
}

pub(super) fn is(agent: &str, state: &str) -> impl Fn(&PaneInfo) -> bool {
    move |pane| pane.agent.as_deref() == Some(agent) && pane.agent_status.to_string() == state
}

fn f01_a_stranger_keeps_nobody_out(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f01") else { return };
    shell.line("setsid -f $hsr exec --agent stranger --state working sh -c '>up; exec sleep 30'");
    shell.wait_for("up");
    shell.line("$hsr exec --agent bot --state working sh -c 'read end'");
    stage.wait(is("bot", "working"));
    shell.line("");
    stage.wait_for_nothing();
}

fn f02_a_process_of_another_pane_is_not_supervised(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f02") else { return };
    let split = json!({"target_pane_id": stage.pane(), "direction": "right", "focus": false});
    let other = stage.call("pane.split", &split)["pane"]["pane_id"].clone();
    let other_shell = until(PATIENCE, || {
        let processes = stage.call("pane.process_info", &json!({ "pane_id": other }));
        processes["process_info"]["shell_pid"].as_u64().filter(|pid| *pid != 0)
    });
    // This test runs in no pane.
    let strangers = [u64::from(std::process::id()), other_shell.expect("it has a shell")];
    for stranger in strangers {
        let attach = format!("$hsr attach --pid {stranger} --agent bot --state working");
        let (code, said) = shell.run(&format!("{attach} --strict"));
        assert_eq!(code, 4, "{said}");
        assert!(said.contains("does not run in this pane"), "{said}");
        assert_eq!(shell.run(&attach).0, 0);
        // And nothing is held.
        hooks_arrive(stage, &shell, "");
    }
    stage.call("pane.close", &json!({ "pane_id": other }));
}

fn f05_a_hook_that_outlives_its_command_says_nothing(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f05") else { return };
    let hook =
        "sleep 1; $hsr state idle >said 2>&1; $hsr state idle --strict 2>why; echo $? >code; >late";
    let (code, said) =
        shell.run(&format!("$hsr exec --agent bot sh -c '$hsr state working; ({hook}) & exit 0'"));
    assert_eq!((code, said), (0, String::new()));
    shell.wait_for("late");
    let read = |name: &str| fs::read_to_string(stage.folder().join(name)).unwrap();
    assert_eq!((read("said"), read("code")), (String::new(), "4\n".to_owned()));
    assert!(read("why").contains("late: "), "{}", read("why"));
    stage.wait_for_nothing();
    // Neither does the next one in the pane hear it.
    let (code, said) = shell.run(
        "address=$($hsr exec --agent bot sh -c 'echo $HERDR_REPORT_SOCKET')\n\
         $hsr exec --agent next --state working sh -c \
         \"HERDR_REPORT_SOCKET=$address $hsr state blocked --strict; >said; sleep 30\" &\n\
         while ! [ -e said ]; do sleep .1; done",
    );
    assert_eq!(code, 0, "{said}");
    stage.wait(is("next", "working"));
}

fn f05_a_stranger_that_knows_the_address_is_not_heard(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f05") else { return };
    // A hook may be started in a session of its own, or lose its parent.
    fs::write(
        stage.folder().join("agent"),
        "echo $HERDR_REPORT_SOCKET >new; mv new address\n\
         setsid sh -c '$hsr title Ours'; (sleep .2; $hsr tokens a=b) &\n\
         >up; read end",
    )
    .unwrap();
    shell.line(
        "setsid -f sh -c 'while ! [ -e up ]; do sleep .1; done\n\
         HERDR_REPORT_SOCKET=$(cat address) $hsr state blocked --strict 2>said; echo $? >code'",
    );
    shell.line("$hsr exec --agent bot --state working sh agent");
    shell.wait_for("code");
    let read = |name: &str| fs::read_to_string(stage.folder().join(name)).unwrap();
    assert_eq!(read("code"), "4\n");
    assert!(read("said").contains("hears only what belongs to process"), "{}", read("said"));
    stage.wait(|pane| {
        is("bot", "working")(pane) && pane.title.is_some() && pane.tokens.contains_key("a")
    });
    shell.line("");
    stage.wait_for_nothing();
}

fn f06_a_hook_of_another_server_speaks_for_its_own_pane(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f06") else { return };
    let inner = fake_herdr::FakeHerdr::start().unwrap();
    let variables: Vec<String> =
        inner.env().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let hook =
        format!("env {} $hsr state blocked --label q --agent inner --strict", variables.join(" "));
    shell.line(&format!(
        "$hsr exec --agent outer --state working sh -c '{hook} >said 2>&1; >up; read end'"
    ));
    shell.wait_for("up");
    let said = fs::read_to_string(stage.folder().join("said")).unwrap();
    let shown = inner.wait_until(PATIENCE, |pane| pane.agent_status == "blocked");
    assert!(shown.is_ok(), "{said} {shown:?}");
    stage.wait(is("outer", "working"));
    shell.line("");
    stage.wait_for_nothing();
}

fn f07_a_command_in_a_command_is_kept_apart(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f07") else { return };
    fs::write(
        stage.folder().join("parent"),
        "$hsr exec --agent child sh -c \
         '$hsr title Child; $hsr state idle; $hsr release; $hsr state idle --strict' 2>said\n\
         >up; read end",
    )
    .unwrap();
    shell.line("$hsr exec --agent parent --state working sh parent");
    shell.wait_for("up");
    let said = fs::read_to_string(stage.folder().join("said")).unwrap();
    assert!(said.contains("deferred: this command runs in another one's"), "{said}");
    let pane = stage.wait(is("parent", "working"));
    assert_eq!(pane.title, None);
    // The hooks of the parent still arrive.
    shell.line("");
    stage.wait_for_nothing();
}

/// A is stopped by Ctrl-Z while `b` reports, and is back after `fg`.
fn hands_over(stage: &Stage, shell: &Shell<'_>, b: impl Fn()) {
    shell.line("$hsr exec --agent A --state working sleep 600");
    stage.wait(is("A", "working"));
    shell.keys("\u{1a}");
    stage.wait(|pane| pane.state_labels.values().any(|label| label == "suspended"));
    b();
    // B's is what shows, for as long as anybody looks.
    let mut looks = 0;
    while looks < 40 {
        assert_eq!(stage.seen().agent.as_deref(), Some("B"));
        looks += 1;
    }
}

fn is_back(stage: &Stage, shell: &Shell<'_>) {
    shell.line("fg");
    stage.wait(|pane| is("A", "working")(pane) && pane.state_labels.is_empty());
    shell.keys("\u{3}");
    shell.line("kill %1");
}

const B_NEEDS_YOU: &str = r#"$hsr state blocked --label "B needs you""#;

fn f08_the_job_in_front_has_the_pane(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f08") else { return };
    hands_over(stage, &shell, || {
        shell.line(&format!("$hsr exec --agent B sh -c '{B_NEEDS_YOU}; read end'"));
        stage.wait(is("B", "blocked"));
    });
    // Alone again, it is shown as suspended again.
    shell.line("");
    stage.wait(|pane| {
        pane.agent.as_deref() == Some("A")
            && pane.state_labels.values().any(|label| label == "suspended")
    });
    is_back(stage, &shell);
}

fn f08_two_jobs_behind_do_not_fight(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f08") else { return };
    shell.line("$hsr exec --agent A --state working sleep 600 &");
    stage.wait(is("A", "working"));
    shell.line("$hsr exec --agent B --state working sleep 600 &");
    // Longer than it asks for the pane at its start.
    let other = || Some(stage.seen()).filter(|pane| pane.agent.as_deref() != Some("A"));
    assert_eq!(until(Duration::from_millis(2500), other), None);
    shell.line("kill %1 %2");
    stage.wait_for_nothing();
}

fn f08_so_has_a_host_that_reads_lines(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f08") else { return };
    hands_over(stage, &shell, || {
        shell.line(
            "(echo '{\"event\":\"agent_started\"}'; while ! [ -e end ]; do sleep .1; done) \
             | $hsr run --agent B",
        );
        stage.wait(is("B", "working"));
    });
    fs::write(stage.folder().join("end"), "").unwrap();
    is_back(stage, &shell);
}

fn f08_so_have_commands_that_report_once(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f08") else { return };
    hands_over(stage, &shell, || {
        // A busy machine may take longer to let the pane go than a hook waits.
        shell.line("until $hsr state blocked --agent B --strict; do :; done");
        stage.wait(is("B", "blocked"));
    });
    is_back(stage, &shell);
}

fn f09_who_speaks_for_another_agent_has_no_effect(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f09") else { return };
    fs::write(
        stage.folder().join("agent"),
        "$hsr release --agent other; $hsr state idle --agent other; $hsr title No --source custom:no\n\
         $hsr release --agent other --strict; echo $? >code\n\
         $hsr state blocked --agent Bot\n\
         >up; read end",
    )
    .unwrap();
    shell.line("$hsr exec --agent Bot --state working sh agent 2>said");
    shell.wait_for("up");
    let said = fs::read_to_string(stage.folder().join("said")).unwrap();
    let told = r#"no effect: the pane's reporter speaks for agent "Bot", not "other""#;
    assert_eq!(said.matches(told).count(), 3, "{said}");
    assert!(said.contains("speaks for source"), "{said}");
    assert_eq!(fs::read_to_string(stage.folder().join("code")).unwrap(), "4\n");
    assert_eq!(stage.wait(is("Bot", "blocked")).title, None);
    shell.line("");
    stage.wait_for_nothing();
}

/// A command whose hook blocks, and that ends by itself once that is seen.
fn hooks_arrive(stage: &Stage, shell: &Shell<'_>, environment: &str) {
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

fn f42_whatever_the_runtime_folder_is_like_hooks_arrive(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f42") else { return };
    let temporary = stage.folder().join("t");
    fs::create_dir(&temporary).unwrap();
    fs::write(stage.folder().join("file"), "").unwrap();
    let temporary = format!("TMPDIR={}", temporary.display());
    let long = format!("/tmp/{}", "long".repeat(30));
    for folder in ["$PWD/file", "/proc", "/no/such/folder", &long, "relative", ""] {
        hooks_arrive(stage, &shell, &format!("env {temporary} XDG_RUNTIME_DIR={folder}"));
    }
    for environment in [
        "env -u XDG_RUNTIME_DIR -u HOME".to_owned(),
        format!("env -u XDG_RUNTIME_DIR TMPDIR={long}"),
        format!("env XDG_RUNTIME_DIR={} TMPDIR=/proc", "/proc"),
    ] {
        hooks_arrive(stage, &shell, &environment);
    }
    assert!(!fs::exists("/no").unwrap());
    fs::create_dir(stage.folder().join("mounted")).unwrap();
    for mount in [
        // Without /proc nothing tells of processes, and the address has to do.
        "none /proc",
        "-o ro none mounted",
        // Full: of bytes, and of files.
        "-o size=4k none mounted; head -c 9000 /dev/zero >mounted/full 2>/dev/null",
        "-o nr_inodes=1 none mounted",
    ] {
        let with = |command: &str| {
            format!("unshare -m sh -c 'mount -t tmpfs {mount}; exec \"$@\"' sh {command}")
        };
        if may("unshare -m true") {
            hooks_arrive(
                stage,
                &shell,
                &with(&format!("env {temporary} XDG_RUNTIME_DIR=$PWD/mounted")),
            );
        } else {
            skipped("f42 with a mounted folder", "this user may not mount one");
        }
    }
}

/// Whether this user may do that.
fn may(what: &str) -> bool {
    let status = Command::new("sh").args(["-c", what]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn f43_a_folder_that_is_removed_is_made_again(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f43") else { return };
    fs::write(
        stage.folder().join("agent"),
        "rm -r \"$XDG_RUNTIME_DIR/herdr-socket-report\"\n\
         $hsr state blocked --label 'still heard'; >up; read end",
    )
    .unwrap();
    shell.line("$hsr exec --agent bot --state working sh -c 'read go; . ./agent' 2>said");
    stage.wait(is("bot", "working"));
    shell.line("");
    shell.wait_for("up");
    assert_eq!(fs::read_to_string(stage.folder().join("said")).unwrap(), "");
    stage.wait(is("bot", "blocked"));
    shell.line("");
    stage.wait_for_nothing();
}

fn f44_the_first_process_of_a_container_cleans_up(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f44") else { return };
    // Also where the processes that /proc tells of are not the container's.
    for unshared in ["unshare -fp --mount-proc", "unshare -fp"] {
        if !may(&format!("{unshared} true")) {
            return skipped("f44", "this user may not make a namespace of processes");
        }
        first_process(stage, &shell, unshared);
    }
}

fn first_process(stage: &Stage, shell: &Shell<'_>, unshared: &str) {
    for name in ["up", "seen", "heard", "ended"] {
        let _ = fs::remove_file(stage.folder().join(name));
    }
    // What it leaves behind is collected, and its exit code is its own.
    fs::write(
        stage.folder().join("agent"),
        "trap '>heard' USR1; (sleep .1 &) ; kill -USR1 1\n\
         $hsr title Inside; >up\n\
         while ! [ -e heard ] || ! [ -e seen ]; do sleep .1; done; exit 7",
    )
    .unwrap();
    shell.line(&format!(
        "{unshared} $hsr exec --agent bot --state working sh agent 2>said; echo $? >code; >ended"
    ));
    shell.wait_for("up");
    stage.wait(|pane| is("bot", "working")(pane) && pane.title.as_deref() == Some("Inside"));
    fs::write(stage.folder().join("seen"), "").unwrap();
    shell.wait_for("ended");
    let read = |name: &str| fs::read_to_string(stage.folder().join(name)).unwrap();
    assert_eq!((read("code"), read("said")), ("7\n".to_owned(), String::new()));
    stage.wait_for_nothing();
    // The end by a signal, as shells say it; and the terminal's Ctrl-C.
    let (code, said) =
        shell.run(&format!("{unshared} $hsr exec --agent bot --state working sh -c 'kill -9 $$'"));
    assert_eq!(code, 137, "{said}");
    stage.wait_for_nothing();
    shell.line(&format!("{unshared} $hsr exec --agent bot --state working sleep 600"));
    stage.wait(is("bot", "working"));
    shell.keys("\u{3}");
    stage.wait_for_nothing();
    assert_eq!(shell.run("exit 3").0, 3);
}

fn f45_ignored_signals_stay_ignored(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f45") else { return };
    let (code, said) = shell.run(
        "trap '' INT HUP\n\
         $hsr tee --listen \"$PWD/s\" >/dev/null 2>&1 & tee=$!\n\
         (while ! [ -e end ]; do sleep .1; done) | $hsr run --agent bot & run=$!\n\
         while ! [ -e s ]; do sleep .1; done\n\
         pids=\"$tee $(pgrep -P $$ -f 'run --agent bot' || echo $run)\"\n\
         for signal in INT HUP; do kill -$signal $pids; done\n\
         sleep .5; kill -0 $tee && kill -0 $run && [ -S s ]; code=$?\n\
         >end; kill $tee; wait; exit $code",
    );
    assert_eq!(code, 0, "{said}");
}

fn f56_a_folder_that_another_user_made_first_is_left_alone(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f56") else { return };
    let user = rustix::process::geteuid().as_raw();
    let temporary = stage.folder().join("t");
    let theirs = temporary.join(format!("herdr-socket-report-{user}"));
    fs::create_dir_all(&theirs).unwrap();
    if std::os::unix::fs::chown(&theirs, Some(12345), None).is_err() {
        return skipped("f56", "this user cannot give a folder away");
    }
    let before = fs::metadata(&theirs).unwrap();
    let environment = format!("env -u XDG_RUNTIME_DIR TMPDIR={}", temporary.display());
    hooks_arrive(stage, &shell, &environment);
    let after = fs::metadata(&theirs).unwrap();
    assert_eq!(before.permissions(), after.permissions());
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0);
    assert!(temporary.join(format!("herdr-socket-report-{user}-2")).exists());
    assert!(!shows(&stage.seen(), "blocked"));
}

//! Several programs in one pane, and which of them may report for it. All of them are
//! started from the pane's own shell.

use std::fs;
use std::time::Duration;

use e2e::stage::{PATIENCE, Stage, until};
use serde_json::json;

use super::shell::{Shell, hooks_arrive, is};

e2e::bodies! {
    shared:
        f01_a_stranger_does_not_keep_others_out,
        f02_a_process_of_another_pane_is_not_supervised,
        f05_a_hook_that_outlives_its_command_reports_nothing,
        f05_a_stranger_that_knows_the_address_is_not_heard,
        f06_a_hook_on_another_server_reports_for_the_pane_of_that_server,
        f07_a_command_in_a_command_does_not_report,
        f08_the_foreground_job_has_the_pane,
        f08_two_background_jobs_do_not_fight,
        f08_a_foreground_host_that_reads_lines_has_the_pane,
        f08_one_shots_in_the_foreground_have_the_pane,
        f09_a_report_for_another_agent_has_no_effect;
}

fn f01_a_stranger_does_not_keep_others_out(stage: &Stage) {
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
        // The failed attempt holds nothing.
        hooks_arrive(stage, &shell, "");
    }
    stage.call("pane.close", &json!({ "pane_id": other }));
}

fn f05_a_hook_that_outlives_its_command_reports_nothing(stage: &Stage) {
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
    // The next command in the pane does not accept it either.
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

fn f06_a_hook_on_another_server_reports_for_the_pane_of_that_server(stage: &Stage) {
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

fn f07_a_command_in_a_command_does_not_report(stage: &Stage) {
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

/// Stops A by Ctrl-Z and runs `b`, which reports B. [`is_back`] brings A back.
fn hands_over(stage: &Stage, shell: &Shell<'_>, b: impl Fn()) {
    shell.line("$hsr exec --agent A --state working sleep 600");
    stage.wait(is("A", "working"));
    shell.keys("\u{1a}");
    stage.wait(|pane| pane.state_labels.values().any(|label| label == "suspended"));
    b();
    // From now on every look shows B.
    for _ in 0..40 {
        assert_eq!(stage.seen().agent.as_deref(), Some("B"));
    }
}

fn is_back(stage: &Stage, shell: &Shell<'_>) {
    shell.line("fg");
    stage.wait(|pane| is("A", "working")(pane) && pane.state_labels.is_empty());
    shell.keys("\u{3}");
    shell.line("kill %1");
}

const B_NEEDS_YOU: &str = r#"$hsr state blocked --label "B needs you""#;

fn f08_the_foreground_job_has_the_pane(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f08") else { return };
    hands_over(stage, &shell, || {
        shell.line(&format!("$hsr exec --agent B sh -c '{B_NEEDS_YOU}; read end'"));
        stage.wait(is("B", "blocked"));
    });
    // B has ended, so A is shown again, and as suspended.
    shell.line("");
    stage.wait(|pane| {
        pane.agent.as_deref() == Some("A")
            && pane.state_labels.values().any(|label| label == "suspended")
    });
    is_back(stage, &shell);
}

fn f08_two_background_jobs_do_not_fight(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f08") else { return };
    shell.line("$hsr exec --agent A --state working sleep 600 &");
    stage.wait(is("A", "working"));
    shell.line("$hsr exec --agent B --state working sleep 600 &");
    // Longer than B asks for the pane at its start.
    let other = || Some(stage.seen()).filter(|pane| pane.agent.as_deref() != Some("A"));
    assert_eq!(until(Duration::from_millis(2500), other), None);
    shell.line("kill %1 %2");
    stage.wait_for_nothing();
}

fn f08_a_foreground_host_that_reads_lines_has_the_pane(stage: &Stage) {
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

fn f08_one_shots_in_the_foreground_have_the_pane(stage: &Stage) {
    let Some(shell) = Shell::open(stage, "f08") else { return };
    hands_over(stage, &shell, || {
        // On a busy machine A may give the pane up later than a hook waits.
        shell.line("until $hsr state blocked --agent B --strict; do :; done");
        stage.wait(is("B", "blocked"));
    });
    is_back(stage, &shell);
}

fn f09_a_report_for_another_agent_has_no_effect(stage: &Stage) {
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
    let refusal = r#"no effect: the pane's reporter speaks for agent "Bot", not "other""#;
    assert_eq!(said.matches(refusal).count(), 3, "{said}");
    assert!(said.contains("speaks for source"), "{said}");
    assert_eq!(fs::read_to_string(stage.folder().join("code")).unwrap(), "4\n");
    assert_eq!(stage.wait(is("Bot", "blocked")).title, None);
    shell.line("");
    stage.wait_for_nothing();
}

//! `exec`: the process becomes the command, and the supervisor is not its child.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

use fake_herdr::FakeHerdr;
use rustix::process::{Signal, getpgid, kill_process};

use crate::pane::{Pane, Started, complaints, poll};
use crate::support::{PATIENCE, requests};

#[test]
fn the_command_is_the_process_and_has_no_child() {
    let pane = Pane::new();
    // The shell reads the list by itself, so the list has no child of its own.
    let list = "read -r children < /proc/$$/task/$$/children; echo [$children]";
    let list = if cfg!(target_os = "linux") { list } else { "echo []" };
    let mut started = pane.start(&["exec", "sh", "-c", &format!("echo $$; {list}; exit 7")]);
    assert_eq!(started.answer(), started.child.id().to_string());
    assert_eq!(started.answer(), "[]");
    assert_eq!(started.finish().code(), Some(7));
    assert_eq!(started.complaints(), "");
}

#[test]
fn the_end_by_a_signal_is_the_commands_own() {
    let pane = Pane::new();
    let status = pane.command(&["exec", "sh", "-c", "kill -SEGV $$"]).status().unwrap();
    assert_eq!(status.signal(), Some(Signal::SEGV.as_raw()));
}

#[test]
fn a_command_that_is_not_there_or_cannot_run_is_told_as_shells_do() {
    let pane = Pane::new();
    let file = pane.path().join("plain");
    std::fs::write(&file, "nothing").unwrap();
    let script = pane.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    for (command, code) in [
        ("no-such-command", 127),
        ("/no/such/file", 127),
        (file.to_str().unwrap(), 126),
        (script.to_str().unwrap(), 126),
        ("/", 126),
    ] {
        let output = pane.run(&["exec", "--", command]);
        assert_eq!(output.status.code(), Some(code), "{command}");
        assert!(complaints(&output).contains(command), "{}", complaints(&output));
    }
    assert_eq!(pane.run(&["exec"]).status.code(), Some(2));
    assert_eq!(pane.run(&["exec", "--state", "done", "true"]).status.code(), Some(2));
    assert_eq!(pane.run(&["exec", "--privacy", "often", "true"]).status.code(), Some(2));
}

#[test]
fn nothing_is_claimed_before_somebody_knows() {
    let pane = Pane::new();
    let mut started = pane.start(&["exec", "cat"]);
    pane.supervisor();
    started.line("x");
    assert_eq!(started.answer(), "x");
    assert_eq!(started.finish().code(), Some(0));
    assert_eq!(requests(&pane.herdr, "pane.report_agent").len(), 0);
    assert_eq!(requests(&pane.herdr, "pane.release_agent").len(), 0);
}

#[test]
fn a_state_is_said_at_once_and_under_the_commands_name() {
    let pane = Pane::new();
    let mut started = pane.start(&["exec", "--state", "working", "--", "cat", "-u"]);
    assert_eq!(pane.wait_status("working").agent.as_deref(), Some("cat"));
    assert_eq!(started.finish().code(), Some(0));
    pane.wait_clean();
    let last = pane.herdr.log().last().unwrap().request.clone();
    assert!(last.contains("pane.release_agent"), "{last}");

    let mut started = pane.start(&["exec", "--state", "idle", "--agent", "Pixie", "cat"]);
    assert_eq!(pane.wait(|seen| seen.agent.is_some()).agent.as_deref(), Some("Pixie"));
    started.finish();
    pane.wait_clean();
}

#[test]
fn what_was_said_at_the_start_holds_until_an_event_knows_better() {
    let pane = Pane::new();
    let mut started = pane.start(&["exec", "--state", "working", "cat"]);
    pane.wait_status("working");
    pane.quietly(&["title", "Still working"]);
    pane.wait(|seen| seen.title.is_some() && seen.agent_status == "working");
    pane.quietly(&["emit", r#"{"event": "agent_settled"}"#]);
    pane.wait(|seen| ["idle", "done"].contains(&seen.agent_status.as_str()));
    started.finish();
    pane.wait_clean();
}

#[test]
fn its_environment_names_the_control_socket_and_scrub_hides_the_rest() {
    let pane = Pane::new();
    let names = |arguments: &[&str]| {
        let output = pane.run(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        let mut names: Vec<String> = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, _)| name.to_owned())
            .filter(|name| name.starts_with("HERDR"))
            .collect();
        names.sort();
        names
    };
    let all = names(&["exec", "env"]);
    for name in ["HERDR_ENV", "HERDR_PANE_ID", "HERDR_SOCKET_PATH", "HERDR_REPORT_SOCKET"] {
        assert!(all.iter().any(|found| found == name), "{name} {all:?}");
    }
    assert_eq!(names(&["exec", "--scrub", "env"]), ["HERDR_REPORT_SOCKET"]);
}

#[test]
fn a_scrubbed_command_still_reaches_its_supervisor() {
    let pane = Pane::new();
    let binary = env!("CARGO_BIN_EXE_herdr-socket-report");
    let script = format!("read go; {binary} state working --strict; {binary} title Busy; cat");
    let mut started = pane.start(&["exec", "--scrub", "--agent", "box", "sh", "-c", &script]);
    // The command also runs before its supervisor is ready.
    pane.client();
    started.line("go");
    let seen = pane.wait(|seen| seen.title.is_some());
    assert_eq!((seen.agent.as_deref(), seen.agent_status.as_str()), (Some("box"), "working"));
    started.finish();
    pane.wait_clean();
}

#[test]
fn outside_herdr_and_switched_off_it_only_becomes_the_command() {
    let pane = Pane::new();
    let mut switched_off = pane.command(&["exec", "--state", "idle", "sh", "-c", "exit 3"]);
    switched_off.env("HERDR_REPORT_ENABLED", "false");
    let mut headless = pane.command(&["exec", "--state", "idle", "sh", "-c", "exit 3"]);
    headless.env("HERDR_REPORT_ROLE", "headless");
    let outside = pane.outside(&["exec", "--state", "idle", "sh", "-c", "exit 3"]);
    for mut command in [outside, switched_off, headless] {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(complaints(&output), "");
    }
    assert_eq!(pane.herdr.connections(), 0);
    assert!(!pane.leases().exists());
}

#[test]
fn the_supervisor_is_in_a_group_of_its_own_and_holds_no_pipe() {
    let pane = Pane::new();
    // The command closes its output. If the supervisor kept it open, reading would not end.
    let script = "echo up; exec >&- 2>&-; exec sleep 1000";
    let mut started = pane.start(&["exec", "--state", "working", "sh", "-c", script]);
    assert_eq!(started.answer(), "up");
    let supervisor = pane.supervisor();
    assert_eq!(getpgid(Some(supervisor)).unwrap(), supervisor);
    // `getpgid` and `getsid` do not work for processes outside a container.
    #[cfg(target_os = "linux")]
    {
        use crate::whose::{group_of, session_of};
        let (supervisor, command) =
            (supervisor.as_raw_nonzero().get().unsigned_abs(), started.child.id());
        assert_ne!(group_of(command), Some(supervisor));
        assert_eq!(session_of(command), session_of(supervisor));
    }
    assert_eq!(started.answer(), "", "its end");
    assert_eq!(started.complaints(), "", "its end");
    started.signal(Signal::KILL);
    started.finish();
    pane.wait_clean();
}

#[test]
fn the_supervisor_holds_nothing_that_the_command_inherits() {
    let pane = Pane::new();
    // The shell's descriptor 3 is the test's pipe, which the command closes.
    let binary = env!("CARGO_BIN_EXE_herdr-socket-report");
    let script = format!(
        "exec 3>&1 >/dev/null; exec {binary} exec --state working sh -c \
         'echo up >&3; exec 3>&-; exec sleep 1000'"
    );
    let environment = pane.command(&[]);
    let environment = environment.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).env_clear().envs(environment).current_dir(pane.path());
    let mut started = Started::of(shell);
    assert_eq!(started.answer(), "up");
    pane.wait_status("working");
    pane.supervisor();
    assert_eq!(started.answer(), "", "its end");
    started.signal(Signal::KILL);
    started.finish();
    pane.wait_clean();
}

#[test]
fn its_address_listens_before_the_command_starts() {
    let pane = Pane::new();
    let looks = "test -S \"$HERDR_REPORT_SOCKET\" && echo there; cat";
    let mut started = pane.start(&["exec", "--agent", "bot", "sh", "-c", looks]);
    assert_eq!(started.answer(), "there");
    started.finish();
}

#[test]
fn b14_a_killed_supervisor_leaves_the_command_unharmed_and_another_takes_over() {
    let pane = Pane::new();
    let mut started = pane.start(&["exec", "--state", "working", "cat"]);
    pane.wait_status("working");
    let supervisor = pane.supervisor();
    kill_process(supervisor, Signal::KILL).unwrap();
    pane.wait_unheld();
    started.line("still here");
    assert_eq!(started.answer(), "still here");
    let pid = started.child.id().to_string();
    pane.quietly(&["attach", "--pid", &pid, "--agent", "cat"]);
    assert_ne!(pane.supervisor(), supervisor);
    pane.quietly(&["state", "blocked"]);
    pane.wait_status("blocked");
    assert_eq!(started.finish().code(), Some(0));
    pane.wait_clean();
}

#[test]
fn b19_a_command_in_a_command_leaves_the_row_alone() {
    let pane = Pane::new();
    let binary = env!("CARGO_BIN_EXE_herdr-socket-report");
    let inner = format!("{binary} exec --state idle --agent inner sh -c 'exit 4'; echo $?; cat");
    let mut started =
        pane.start(&["exec", "--state", "working", "--agent", "outer", "sh", "-c", &inner]);
    assert_eq!(started.answer(), "4");
    assert_eq!(pane.wait_status("working").agent.as_deref(), Some("outer"));
    let reported = requests(&pane.herdr, "pane.report_agent");
    assert!(reported.iter().all(|report| report["agent"] == "outer"), "{reported:?}");
    started.finish();
    pane.wait_clean();
    assert_eq!(requests(&pane.herdr, "pane.release_agent").len(), 1);
}

#[test]
fn a_host_with_a_reporter_of_its_own_reports_through_its_supervisor() {
    let pane = Pane::new();
    let binary = env!("CARGO_BIN_EXE_herdr-socket-report");
    let mut host = pane.start(&["exec", "--agent", "host", binary, "run", "--agent", "inner"]);
    pane.supervisor();
    host.line(r#"{"event": "agent_started"}"#);
    host.line(r#"{"event": "title_changed", "title": "Inside"}"#);
    host.line(r#"{"event": "tokens_changed", "tokens": {"branch": "main"}}"#);
    let seen = pane.wait(|seen| seen.title.is_some() && !seen.tokens.is_empty());
    assert_eq!((seen.agent.as_deref(), seen.agent_status.as_str()), (Some("host"), "working"));
    host.signal(Signal::KILL);
    host.finish();
    pane.wait_clean();
    assert_eq!(requests(&pane.herdr, "pane.release_agent").len(), 1);
}

#[test]
fn one_command_after_the_other_each_shows() {
    let pane = Pane::new();
    for _ in 0..5 {
        let mut started = pane.start(&["exec", "--state", "working", "--agent", "quick", "cat"]);
        pane.wait_status("working");
        started.finish();
        pane.wait_clean();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn b29_a_stopped_command_is_shown_as_suspended() {
    let pane = Pane::new();
    let mut started = pane.start(&["exec", "--state", "working", "cat"]);
    pane.wait_status("working");
    started.signal(Signal::STOP);
    pane.wait(|seen| {
        seen.state_labels.get(&seen.agent_status).is_some_and(|label| label == "suspended")
    });
    started.signal(Signal::CONT);
    let seen = pane.wait_status("working");
    pane.wait(|seen| seen.state_labels.is_empty());
    assert_eq!(seen.agent.as_deref(), Some("cat"));
    started.finish();
    pane.wait_clean();
}

#[test]
fn an_agent_that_herdr_knows_keeps_the_state_that_herdr_sees() {
    let pane = Pane::new();
    let claude = pane.path().join("claude");
    let cat = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join("cat"))
        .find(|path| path.exists())
        .unwrap();
    std::os::unix::fs::symlink(cat, &claude).unwrap();
    let claude = claude.to_str().unwrap();
    let now = pane.herdr.now();
    let id = pane.herdr.pane_id().to_owned();
    pane.herdr.with_model(|model| model.agent_appears(now, &id, "claude", "working"));

    let mut started = pane.start(&["exec", claude]);
    pane.supervisor();
    pane.quietly(&["title", "Fix it", "--strict"]);
    pane.quietly(&["tokens", "branch=main", "old=x"]);
    pane.quietly(&["state", "blocked"]);
    pane.quietly(&["tokens", "old="]);
    let seen = pane.wait(|seen| seen.tokens.len() == 1 && seen.title.is_some());
    assert_eq!(seen.agent_status, "working", "Herdr's own");
    assert_eq!(seen.title.as_deref(), Some("Fix it"));

    // Failure B43: everything is reported again without an event.
    let held = pane.herdr.wait_for_log(PATIENCE, |log| {
        log.iter().any(|exchange| exchange.request.contains("events.subscribe"))
    });
    assert!(held, "it would not hear of the handoff");
    pane.herdr.live_handoff();
    let now = pane.herdr.now();
    pane.herdr.with_model(|model| model.agent_appears(now, &id, "claude", "working"));
    pane.wait(|seen| seen.title.as_deref() == Some("Fix it") && seen.tokens.contains_key("branch"));

    assert_eq!(started.finish().code(), Some(0));
    assert_eq!(started.complaints(), "");
    pane.wait(|seen| seen.title.is_none() && seen.tokens.is_empty());
    assert_eq!(requests(&pane.herdr, "pane.report_agent").len(), 0);
    assert_eq!(requests(&pane.herdr, "pane.release_agent").len(), 0);

    // An agent that is named explicitly is reported, with a warning.
    let mut started = pane.start(&["exec", "--agent", "claude", "--state", "blocked", claude]);
    pane.wait_status("blocked");
    started.finish();
    assert!(started.complaints().contains("Herdr knows an agent of this name"));
    pane.wait(|seen| seen.agent_status == "working");
}

#[test]
fn a_server_that_is_not_there_does_not_keep_the_command() {
    let pane = Pane::new();
    pane.herdr.fault(fake_herdr::Fault::Gone);
    let output = pane.run(&["exec", "--state", "working", "echo", "up"]);
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"up\n"[..]));
    assert_eq!(complaints(&output), "");
}

#[test]
fn variables_that_cannot_be_meant_are_told_once_and_the_command_runs() {
    let pane = Pane::of(FakeHerdr::start().unwrap());
    let mut command = pane.command(&["exec", "echo", "up"]);
    let output = command.env("HERDR_SOCKET_PATH", "relative").output().unwrap();
    assert_eq!(&output.stdout[..], b"up\n");
    assert!(complaints(&output).contains("HERDR_SOCKET_PATH"), "{}", complaints(&output));
}

/// A terminal with job control, like that of a shell in a pane.
#[test]
#[cfg(target_os = "linux")]
fn job_control_is_the_commands_own() {
    let pane = Pane::new();
    let binary = env!("CARGO_BIN_EXE_herdr-socket-report");
    let mut terminal = pane.command(&[]);
    let environment: Vec<_> = terminal
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    // Tests in the background ignore Ctrl-C, and their children inherit that.
    let hears = ["--default-signal=INT,QUIT"];
    let program = |name: &str| std::process::Command::new(name);
    terminal = if program("env").args(hears).arg("true").status().is_ok_and(|s| s.success()) {
        let mut terminal = program("env");
        terminal.args(hears).arg("script");
        terminal
    } else {
        program("script")
    };
    terminal.args(["-qfc", "sh -im", "/dev/null"]).env_clear().envs(environment);
    terminal.current_dir(pane.path());
    if std::process::Command::new("script").arg("--version").output().is_err() {
        return;
    }
    let mut terminal = Started::of(terminal);
    terminal.line(&format!("{binary} exec --state working --agent job cat"));
    pane.wait_status("working");
    let supervisor = pane.supervisor();
    // After Ctrl-Z the shell is in the foreground again.
    terminal.line("\u{1a}");
    pane.wait(|seen| seen.state_labels.values().any(|label| label == "suspended"));
    terminal.line("fg");
    pane.wait_status("working");
    pane.wait(|seen| seen.state_labels.is_empty());
    assert_eq!(pane.supervisor(), supervisor);
    // Ctrl-C ends only the command.
    terminal.line("\u{3}");
    pane.wait_clean();
    terminal.line("echo the-shell-$((40 + 2))");
    poll(|| terminal.answer().contains("the-shell-42").then_some(()));
    terminal.line("exit");
}

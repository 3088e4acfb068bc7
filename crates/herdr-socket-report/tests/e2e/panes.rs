//! `pane`: output and exit codes, on a fake that simulates a shell.

use std::fs;
use std::path::Path;

use fake_herdr::{FakeHerdr, PaneProcess};
use serde_json::{Value, json};

use crate::support::{Output, inside, sidecar};

fn pane(herdr: &FakeHerdr, arguments: &[&str]) -> Output {
    inside(herdr, &[&["pane"], arguments].concat()).run("")
}

fn told(herdr: &FakeHerdr, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = pane(herdr, &[arguments, &["--json"]].concat());
    let told = serde_json::from_str(&output.stdout);
    (output.code, told.unwrap_or_else(|_| panic!("{output:?}")))
}

/// Puts a waiting shell into the first pane.
fn with_shell(herdr: &FakeHerdr) {
    let shell = vec![PaneProcess::new(7, "sh")];
    assert!(herdr.with_model(|model| model.set_processes("w1:p1", Some(7), shell)));
}

#[test]
fn a_shell_is_read_and_pushed_to() {
    let herdr = FakeHerdr::builder().panes(2).start().unwrap();
    assert_eq!(pane(&herdr, &["probe"]).code, Some(6), "nothing is known of processes yet");
    with_shell(&herdr);
    let listed = pane(&herdr, &["list"]);
    assert_eq!(listed.stdout, "w1:p1\t-\tunknown\nw1:p2\t-\tunknown\n");
    assert_eq!(pane(&herdr, &["probe"]).stdout, "live: the shell waits\n");

    let (code, pushed) = told(&herdr, &["push", "echo hello", "--operation", "job-1"]);
    assert_eq!(
        (code, &pushed["outcome"], &pushed["enters"]),
        (Some(0), &json!("delivered"), &json!(1))
    );
    assert_eq!(pane(&herdr, &["read"]).stdout, "$ echo hello\n$\n");
    assert_eq!(pane(&herdr, &["push", "two\nlines"]).code, Some(4));
    assert_eq!(pane(&herdr, &["keys", "h", "i"]).code, Some(0));
    let (code, held) = told(&herdr, &["push", "echo no"]);
    assert_eq!((code, &held["why"]), (Some(6), &json!("box_not_empty")));
    assert_eq!((&held["typed"], &held["safe_to_retry"]), (&json!(false), &json!(true)));
    assert_eq!(pane(&herdr, &["keys", ":interrupt"]).code, Some(0));

    let (_, read) = told(&herdr, &["read"]);
    let digest = read["digest"].as_str().unwrap();
    assert_eq!(pane(&herdr, &["answer", digest, "x"]).code, Some(0));
    let (code, stale) = told(&herdr, &["answer", digest, "x"]);
    assert_eq!((code, &stale["error"]), (Some(4), &json!("screen_changed")));
    assert_eq!(pane(&herdr, &["read", "--lines", "1"]).stdout, "$ x\n");
}

#[test]
fn another_process_knows_an_operation() {
    let herdr = FakeHerdr::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let push = |text: &str| {
        let arguments = ["pane", "push", "--json", "--operation", "job-1", "--", text];
        let setup = inside(&herdr, &arguments);
        setup.env("XDG_RUNTIME_DIR", folder.path().to_str().unwrap()).run("")
    };
    let (first, again) = (push("echo once"), push("echo once"));
    assert_eq!((first.code, again.code), (Some(0), Some(0)));
    assert_eq!(first.stdout, again.stdout);
    assert_eq!(pane(&herdr, &["read"]).stdout.matches("echo once").count(), 1);
    assert_eq!(push("echo twice").code, Some(4));
}

#[test]
fn exit_codes_say_what_stands_in_the_way() {
    let herdr = FakeHerdr::start().unwrap();
    let code = |arguments: &[&str]| pane(&herdr, arguments).code;
    assert_eq!(code(&["probe", "--pane", "w9:p9"]), Some(8));
    assert_eq!(code(&["read", "--pane", "w9:p9"]), Some(8));
    assert_eq!(code(&["tick"]), Some(6));
    assert_eq!(code(&["wait", "--timeout", "5"]), Some(4));
    assert_eq!(code(&["keys", "C-u"]), Some(2));
    assert_eq!(code(&["list", "--pane", "w1:p1"]), Some(2));
    assert_eq!(code(&["push", "x", "--profile", "vi"]), Some(2));
    assert_eq!(code(&["wait", "--until", "calm"]), Some(2));
    assert_eq!(code(&["read", "--lines", "0"]), Some(2));
    let wrong = pane(&herdr, &["keys", "C-u"]).stderr;
    assert!(wrong.contains("Herdr's is \"ctrl+u\""), "{wrong}");
    let wrong = pane(&herdr, &["read", "w1:p1"]).stderr;
    assert!(wrong.contains("--pane names the pane"), "{wrong}");
    let wrong = pane(&herdr, &["keys", "clear-line"]).stderr;
    assert!(wrong.contains("it is written :clear-line"), "{wrong}");

    let outside = sidecar(&["pane", "read"]).run("");
    assert_eq!(outside.code, Some(2), "{outside:?}");
    let shared = inside(&herdr, &["pane", "read"]).env("HERDR_REPORT_SHARED", "1").run("");
    assert!(shared.code == Some(2) && shared.stderr.contains("has to name the pane"), "{shared:?}");
    let absent = sidecar(&["pane", "probe", "--pane", "w1:p1", "--socket", "none"]).run("");
    assert_eq!(absent.code, Some(3));
}

#[test]
fn an_agents_status_is_ticked_waited_for_and_watched() {
    let herdr = FakeHerdr::start().unwrap();
    let report = |state: &str| {
        let report = ["state", state, "--agent", "bot", "--strict"];
        assert_eq!(inside(&herdr, &report).run("").code, Some(0));
    };
    report("working");
    with_shell(&herdr);
    // Only the shell runs in this pane.
    assert_eq!(pane(&herdr, &["tick"]).stdout, "not readable: no process\n");
    assert_eq!(pane(&herdr, &["probe"]).code, Some(8));
    let mut watch = inside(&herdr, &["pane", "watch", "w1:p1"]).start();
    assert_eq!(watch.answer(), "w1:p1 bot working");
    assert_eq!(pane(&herdr, &["wait", "--timeout", "1"]).code, Some(9));
    report("blocked");
    assert_eq!(pane(&herdr, &["wait", "--timeout", "20"]).stdout, "blocked\n");
    assert_eq!(watch.answer(), "w1:p1 bot blocked");
    let refused = told(&herdr, &["prompt", "hello"]);
    assert_eq!((refused.0, &refused.1["error"]), (Some(4), &json!("custom_agent")));
}

#[test]
fn the_coordinators_of_the_guide_are_the_ones_that_are_run() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pane-control/examples");
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let guide = read(&examples.join("../../../docs/panes.md"));
    for example in ["coordinator.rs", "coordinator.sh"] {
        assert!(guide.contains(&read(&examples.join(example))), "{example} is not in the guide");
    }
    let herdr = FakeHerdr::start().unwrap();
    let mut shell = inside(&herdr, &[]);
    let mut command = std::process::Command::new("/bin/sh");
    command
        .arg(examples.join("coordinator.sh"))
        .arg("w1:p1")
        .envs(shell.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HERDR_SOCKET_REPORT", env!("CARGO_BIN_EXE_herdr-socket-report"));
    for stream in
        [std::process::Command::stdin, std::process::Command::stdout, std::process::Command::stderr]
    {
        stream(&mut command, std::process::Stdio::piped());
    }
    shell.command = command;
    let output = shell.run("echo one\necho two\n");
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(pane(&herdr, &["read"]).stdout, "$ echo one\n$ echo two\n$\n");
}

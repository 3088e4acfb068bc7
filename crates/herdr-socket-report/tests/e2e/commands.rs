//! The common behaviour of all commands: help, wrong arguments, no Herdr, no server, signals,
//! and closed outputs.

use std::process::Stdio;
use std::thread;

use fake_herdr::{FakeHerdr, Fault};
use rustix::process::Signal;

use crate::pane::{Pane, complaints};
use crate::support::{PATIENCE, inside, sidecar};

/// Every command with valid arguments.
const COMMANDS: [&[&str]; 22] = [
    &["run"],
    &["exec", "true"],
    &["attach", "--pid", "1"],
    &["emit", r#"{"event": "agent_started"}"#],
    &["state", "idle"],
    &["title", "T"],
    &["tokens", "branch=main"],
    &["labels", "idle=ready"],
    &["session", "s"],
    &["release"],
    &["hook", "claude", "Stop", "{}"],
    &["statusline", "claude"],
    &["init", "claude"],
    &["sidebar"],
    &["pane", "list"],
    &["watch", "--strict"],
    &["tee", "--listen", "t.sock"],
    &["doctor"],
    &["demo", "--live"],
    &["config", "show"],
    &["completions", "bash"],
    &["man"],
];

/// The commands that hooks call.
const HOOKS: [&str; 9] =
    ["emit", "state", "title", "tokens", "labels", "session", "release", "hook", "statusline"];

#[test]
fn each_has_a_line_in_the_overview_and_a_help_of_its_own() {
    let overview = sidecar(&["--help"]).run("").stdout;
    for command in COMMANDS {
        let name = command[0];
        assert!(overview.contains(&format!("\n  {name} ")), "{name}");
        for asked in [&[name, "--help"][..], &["help", name], &[name, "-h"]] {
            let output = sidecar(asked).run("");
            assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{asked:?}");
            let usage = format!("Usage: herdr-socket-report {name}");
            assert!(output.stdout.contains(&usage), "{asked:?}: {}", output.stdout);
        }
    }
    let names = overview.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = names.take_while(|line| !line.is_empty()).count();
    assert_eq!(names, COMMANDS.len() + 1, "and nothing else but help");
}

#[test]
fn the_help_of_what_reports_once_has_only_what_counts_for_it() {
    for command in HOOKS {
        let help = sidecar(&[command, "--help"]).run("").stdout;
        for flag in ["--settle-ms", "--display-name", "--metadata-ttl-s", "exec`"] {
            assert!(!help.contains(flag), "{command}: {flag}");
        }
        assert_eq!(help.contains("--confirm"), command == "state", "{command}");
        assert_eq!(help.contains("--ttl"), command != "release", "{command}");
    }
}

#[test]
fn wrong_arguments_name_the_program_and_what_is_wrong() {
    let herdr = FakeHerdr::start().unwrap();
    let one_more = COMMANDS
        .iter()
        .filter(|command| !["exec", "emit", "tokens", "labels", "man"].contains(&command[0]));
    let one_more = one_more.map(|command| {
        let words = match command[0] {
            // The text may be private.
            "hook" => "no more were expected",
            "statusline" => "unexpected argument 'number ",
            name if HOOKS.contains(&name) => "one too many",
            _ => "unexpected argument 'extra'",
        };
        ([*command, &["extra"]].concat(), words)
    });
    let flags = COMMANDS.iter().map(|command| {
        ([&[command[0], "--no-such"], &command[1..]].concat(), "unexpected argument '--no-such'")
    });
    let others = [
        (vec!["exec"], "<CMD>..."),
        (vec!["exec", "--privacy", "often", "true"], "expected text, tool or fixed"),
        (vec!["exec", "--state", "busy", "true"], "expected idle, working or blocked"),
        (vec!["attach"], "--pid <PID>"),
        (vec!["attach", "--pid", "4194305"], "no such process"),
        (vec!["attach", "--pid", "x"], "'x' for '--pid <PID>': expected a process id"),
        (vec!["attach", "--pid", "0"], "expected a process id"),
        (vec!["run", "--pid", "-3"], "expected a process id"),
        (vec!["supervisor"], "unrecognized subcommand 'supervisor'"),
        (vec!["attach", "--pid", "1", "--state", "busy"], "expected idle, working or blocked"),
        (vec!["run", "--socket"], "a value is required"),
        (vec!["state", "busy"], "argument 1 is not a state; expected idle, working or blocked"),
        (vec!["title"], "<TEXT>"),
        (vec!["tokens", "branch"], "argument 1 is not KEY=TEXT, for example branch=main"),
        (vec!["tokens", "a b=c"], "1 to 32 of A-Z a-z 0-9 _ -"),
        (
            vec!["labels", "busy=x"],
            "argument 1 does not begin with a state; expected idle, working, blocked, done or unknown",
        ),
        (vec!["emit", "{"], "expected an object such as {\"event\": \"agent_started\"}"),
        (vec!["emit", r#"{"event": "x"}"#], "unknown event `x`"),
        (vec!["emit", "{\"event\": \"release\"}\n{\"event\": \"release\"}"], "several JSON values"),
        (vec!["session"], "<ID>"),
        (vec!["title", "T", "--ttl", "0"], "from 1 to 86400"),
        (vec!["release", "--ttl", "9"], "it has no effect on this command"),
        (
            vec!["title", "T", "--label", "x"],
            "found\n\n  tip: it has no effect on this command\n\nFor",
        ),
        (vec!["tee"], "--listen <PATH>"),
        (vec!["tee", "--listen", "/"], "something that is not a socket is in the way"),
        (vec!["demo", "--pane", "w1:p1"], "no effect without --live"),
        (vec!["completions", "ksh"], "bash"),
        (vec!["man", "nothing"], "there is no command \"nothing\""),
        (vec!["config"], "show"),
        (vec!["config", "set"], "unrecognized subcommand 'set'"),
        (vec!["runn"], "a similar subcommand exists: 'run'"),
    ];
    let mut cases: Vec<(Vec<&str>, &str)> = one_more.chain(flags).collect();
    cases.extend(others);
    for (arguments, words) in cases {
        let hook = HOOKS.contains(&arguments[0]);
        let strict = [&[arguments[0], "--strict"], &arguments[1..]].concat();
        for (arguments, code) in [(arguments, if hook { 0 } else { 2 }), (strict, 2)]
            .into_iter()
            .take(1 + usize::from(hook))
        {
            let output = inside(&herdr, &arguments).run("");
            assert_eq!(output.code, Some(code), "{arguments:?}: {output:?}");
            assert_eq!(output.stdout, "", "{arguments:?}");
            assert!(output.stderr.contains(words), "{arguments:?}: {}", output.stderr);
            let named = output.stderr.starts_with("herdr-socket-report: ");
            assert!(named || arguments == ["config"], "{arguments:?}: {}", output.stderr);
        }
    }
    let told = herdr.log();
    let told = told.iter().filter(|exchange| exchange.request.contains("\"pane.re"));
    assert_eq!(told.count(), 0, "nothing was reported");
}

#[test]
fn outside_herdr_what_reports_is_quiet_and_what_looks_says_so() {
    let this = std::process::id().to_string();
    let commands = COMMANDS.iter().filter(|command| command[0] != "tee");
    for command in commands {
        let mut command = command.to_vec();
        if command[0] == "attach" {
            command[2] = &this;
        }
        let strict = [&[command[0], "--strict"], &command[1..]].concat();
        // A status line has nothing to report with this input.
        let hook = HOOKS.contains(&command[0]) && command[0] != "statusline";
        let takes_it = ["run", "attach"].contains(&command[0]) || hook;
        for arguments in [command, strict].into_iter().take(1 + usize::from(takes_it)) {
            let output = sidecar(&arguments).run("{\"event\": \"agent_started\"}\n");
            let strict = takes_it && arguments[1..].contains(&"--strict");
            let code = match arguments[0] {
                "watch" | "doctor" | "pane" => 3,
                "demo" => 2,
                _ if strict => 3,
                _ => 0,
            };
            assert_eq!(output.code, Some(code), "{arguments:?}: {output:?}");
            let quiet = !strict && !["watch", "demo", "pane"].contains(&arguments[0]);
            assert_eq!(output.stderr.is_empty(), quiet, "{arguments:?}: {}", output.stderr);
            let prints = ["doctor", "config", "completions", "man", "init", "sidebar"]
                .contains(&arguments[0]);
            assert_eq!(output.stdout.is_empty(), !prints, "{arguments:?}: {}", output.stdout);
        }
    }
}

#[test]
fn without_a_server_only_those_who_asked_are_failed() {
    let commands = COMMANDS.iter().filter(|command| !["tee", "attach"].contains(&command[0]));
    thread::scope(|scope| {
        for command in commands {
            scope.spawn(move || {
                let herdr = FakeHerdr::start().unwrap();
                herdr.fault(Fault::Gone);
                let run = |arguments: &[&str]| {
                    let output = inside(&herdr, arguments).run("{\"event\": \"agent_started\"}\n");
                    (output.code, output.stderr)
                };
                let (code, complaint) = run(command);
                let code_alone = match command[0] {
                    "watch" | "doctor" | "demo" | "pane" => 3,
                    _ => 0,
                };
                assert_eq!(code, Some(code_alone), "{command:?}: {complaint}");
                // A status line has nothing to report here.
                let silent = command[0] == "statusline";
                if command[0] == "run" || HOOKS.contains(&command[0]) && !silent {
                    assert!(
                        complaint.contains("there is no socket at"),
                        "{command:?}: {complaint}"
                    );
                    let strict = [&[command[0], "--strict"], &command[1..]].concat();
                    let (code, complaint) = run(&strict);
                    assert_eq!(code, Some(3), "{strict:?}: {complaint}");
                }
            });
        }
    });
}

#[test]
fn a_signal_ends_what_lasts_in_good_order() {
    let herdr = FakeHerdr::start().unwrap();
    let herdr = &herdr;
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut watch = inside(herdr, &["watch", "--json"]).start();
        let claim = inside(herdr, &["state", "working", "--strict"]).run("");
        assert_eq!(claim.code, Some(0), "{claim:?}");
        assert!(watch.answer().contains("\"appeared\""));
        watch.signal(signal);
        let output = watch.wait();
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{signal:?}: watch");

        let tee = inside(herdr, &["tee", "--listen", "t.sock"]);
        let socket = tee.folder.path().join("t.sock");
        let mut tee = tee.start();
        assert!(tee.complaint().contains("listening at"));
        tee.signal(signal);
        let gone = thread::spawn(move || {
            let end = std::time::Instant::now() + PATIENCE;
            while socket.exists() && std::time::Instant::now() < end {
                thread::yield_now();
            }
            !socket.exists()
        });
        assert_eq!(tee.wait().code, Some(0), "{signal:?}: tee");
        assert!(gone.join().unwrap(), "{signal:?}: its socket goes with it");

        let mut panes = inside(herdr, &["pane", "watch"]).start();
        assert!(panes.answer().starts_with("w1:p1 "));
        panes.signal(signal);
        let output = panes.wait();
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{signal:?}: pane watch");

        let mut demo = sidecar(&["demo", "--plain"]).start();
        while !demo.answer().contains("on it") {}
        demo.signal(signal);
        let output = demo.wait();
        assert_eq!(output.code, Some(0), "{signal:?}: demo: {output:?}");
        assert!(output.stdout.contains("of the demo remains.\n"), "{signal:?}: {}", output.stdout);
    }
}

#[test]
fn what_only_asks_ends_at_once_with_a_signal() {
    use std::os::unix::process::ExitStatusExt;

    for arguments in [&["doctor"][..], &["state", "working"]] {
        let pane = Pane::new();
        pane.herdr.fault(Fault::NeverAnswers);
        let mut asking = pane.start(arguments);
        assert!(pane.herdr.wait_for_log(PATIENCE, |log| !log.is_empty()));
        // SIGINT is ignored if the tests run in the background.
        asking.signal(Signal::TERM);
        assert_eq!(asking.finish().signal(), Some(Signal::TERM.as_raw()), "{arguments:?}");
    }
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let herdr = FakeHerdr::start().unwrap();
    for arguments in [
        &["--help"][..],
        &["completions", "zsh"],
        &["man", "run"],
        &["config", "show"],
        &["doctor"],
        &["doctor", "--json"],
    ] {
        let mut setup = inside(&herdr, arguments);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = setup.command.stdout(Stdio::from(writer)).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", complaints(&output));
        assert_eq!(complaints(&output), "", "{arguments:?}");
    }
}

#[test]
fn the_manual_says_how_each_ends() {
    let manual = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sidecar.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let section = manual.split("\n## ").find(|section| section.starts_with("Exit codes")).unwrap();
    for command in COMMANDS {
        assert!(section.contains(&format!("`{}", command[0])), "{}", command[0]);
    }
}

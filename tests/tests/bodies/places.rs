//! Unusual surroundings of a process: its runtime folder, its place in the process tree and
//! the signals that it inherits as ignored.

use std::fs;
use std::process::{Command, Stdio};

use e2e::stage::{Stage, shows, skipped};

use super::shell::{Shell, hooks_arrive, is};

e2e::bodies! {
    shared:
        f42_hooks_arrive_with_any_runtime_folder,
        f43_a_folder_that_is_removed_is_made_again,
        f44_the_first_process_of_a_container_cleans_up,
        f45_ignored_signals_stay_ignored,
        f56_a_folder_that_another_user_made_first_is_left_alone;
}

fn f42_hooks_arrive_with_any_runtime_folder(stage: &Stage) {
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
        // Without /proc no process can be checked, and the address alone counts.
        "none /proc",
        "-o ro none mounted",
        // One has no room for bytes, one no room for files.
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

/// Whether this user may run a command.
fn may(command: &str) -> bool {
    let status = Command::new("sh").args(["-c", command]).stderr(Stdio::null()).status();
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
    // The second container sees the /proc of the machine, not its own.
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
    // Its orphans are reaped, and its exit code is passed on.
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
    // A command that a signal ends has 128 + the signal as its exit code, as in shells.
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

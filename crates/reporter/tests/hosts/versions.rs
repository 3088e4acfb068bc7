//! Servers and programs of other versions.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use fake_herdr::{FakeHerdr, Profile};
use herdr_proto::ReportState;
use herdr_reporter::{AgentEvent, SessionStarted};
use serde_json::json;

use crate::processes::{Host, count, requests, runtime};
use crate::support::{AMPLE, builder, flushed};

#[test]
fn b78_a_herdr_program_that_is_gone_or_broken_does_not_matter() {
    let (herdr, runtime) = (FakeHerdr::start().unwrap(), runtime());
    let (bin, marker) = (runtime.path().join("bin"), runtime.path().join("started"));
    std::fs::create_dir(&bin).unwrap();
    let broken = bin.join("herdr");
    std::fs::write(&broken, format!("#!/bin/sh\n: >'{}'\nexit 1\n", marker.display())).unwrap();
    std::fs::set_permissions(&broken, Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(
        std::iter::once(bin.clone()).chain(std::env::split_paths(&path).collect::<Vec<_>>()),
    );
    for program in [bin.join("gone"), broken] {
        let mut command = Host::command("host", &herdr, runtime.path());
        command.env("PATH", path.as_ref().unwrap()).env("HERDR_BIN_PATH", &program);
        let mut host = Host::start(&mut command);
        assert_eq!(host.says(AMPLE).as_deref(), Some("active"));
        let title = program.file_name().unwrap().to_str().unwrap();
        host.title(title);
        let shown = herdr.wait_until(AMPLE, |pane| pane.title.as_deref() == Some(title));
        assert_eq!(shown.unwrap().agent.as_deref(), Some("host"));
        assert_eq!(host.end(), [""; 0], "no diagnostic");
        assert_eq!(herdr.observe("w1:p1").unwrap().agent, None);
    }
    assert!(!marker.exists(), "it was started");
}

fn serve(path: &Path, profile: Profile) -> FakeHerdr {
    FakeHerdr::builder().socket_path(path).profile(profile).start().unwrap()
}

fn resumes(herdr: &FakeHerdr) -> usize {
    let all = requests(herdr);
    all.iter().filter(|request| request["params"]["resume_argv"].is_array()).count()
}

#[test]
fn b82_what_a_server_can_do_is_asked_again_of_the_next_one() {
    let folder = runtime();
    let path = folder.path().join("herdr.sock");
    let herdr = serve(&path, Profile::herdr_0_8_2());
    let pane = builder(&herdr).start();
    let mut session = SessionStarted::new("s1");
    session.resume_argv = Some(vec!["host".into(), "--resume".into(), "s1".into()]);
    pane.record(AgentEvent::SessionStarted(session)).unwrap();
    pane.set_state(ReportState::Working);
    flushed(&pane);
    assert_eq!((count(&herdr, "ping"), resumes(&herdr)), (1, 0));
    drop(herdr);

    let profiles = [
        (Profile::herdr_0_9_3(), true),
        (Profile::herdr_0_9_0(), false),
        (Profile::herdr_0_9_3(), true),
    ];
    for (profile, takes) in profiles {
        let herdr = serve(&path, profile);
        herdr.wait_until(AMPLE, |pane| pane.agent_status == "working").unwrap();
        flushed(&pane);
        assert_eq!(count(&herdr, "ping"), 1, "{:?}", requests(&herdr));
        assert_eq!(resumes(&herdr) > 0, takes, "{:?}", requests(&herdr));
        let sent = requests(&herdr);
        let argv = sent.iter().map(|request| &request["params"]["resume_argv"]);
        for argv in argv.filter(|argv| !argv.is_null()) {
            assert_eq!(*argv, json!(["host", "--resume", "s1"]));
        }
    }
}

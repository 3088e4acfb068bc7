//! Two sidecars and one pane.

use fake_herdr::FakeHerdr;

use crate::support::{inside, now, requests, status, wait_clean};

const WORK: &str = r#"{"event": "agent_started"}"#;

#[test]
fn a_second_one_leaves_the_pane_to_the_first() {
    let herdr = FakeHerdr::start().unwrap();
    let shared = tempfile::tempdir().unwrap();
    let runtime = shared.path().to_str().unwrap();
    let setup = |agent| inside(&herdr, &["run", "--agent", agent]).env("XDG_RUNTIME_DIR", runtime);

    let mut first = setup("first").start();
    first.line(WORK);
    status(&herdr, "working");
    let mut second = setup("second").start();
    second.line(r#"{"event": "state_set", "state": "blocked"}"#);
    let complaint = second.complaint();
    assert!(complaint.contains("deferred: "), "{complaint}");
    assert_eq!(second.finish().code, Some(0));
    let pane = now(&herdr);
    assert_eq!((pane.agent.as_deref(), pane.agent_status.as_str()), (Some("first"), "working"));
    assert!(requests(&herdr, "pane.release_agent").is_empty());

    assert_eq!(first.finish().code, Some(0));
    wait_clean(&herdr, "the first");
}

#[test]
fn one_that_ends_before_it_gives_up_says_whose_the_pane_is() {
    let herdr = FakeHerdr::start().unwrap();
    let shared = tempfile::tempdir().unwrap();
    let runtime = shared.path().to_str().unwrap();
    let setup = |arguments: &[&str]| inside(&herdr, arguments).env("XDG_RUNTIME_DIR", runtime);
    let mut first = setup(&["run"]).start();
    first.line(WORK);
    status(&herdr, "working");
    for (arguments, code) in [(&["run"][..], 0), (&["run", "--strict"], 4)] {
        let second = setup(arguments).run(format!("{WORK}\n"));
        assert_eq!(second.code, Some(code), "{}", second.stderr);
        assert_eq!(second.stderr.matches("deferred: ").count(), 1, "{}", second.stderr);
    }
    assert_eq!(first.finish().code, Some(0));
}

#[test]
fn the_next_one_has_the_pane_at_once() {
    let herdr = FakeHerdr::start().unwrap();
    let shared = tempfile::tempdir().unwrap();
    let runtime = shared.path().to_str().unwrap();
    for _ in 0..5 {
        let mut sidecar = inside(&herdr, &["run"]).env("XDG_RUNTIME_DIR", runtime).start();
        sidecar.line(WORK);
        status(&herdr, "working");
        let output = sidecar.finish();
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
        wait_clean(&herdr, "the next");
    }
}

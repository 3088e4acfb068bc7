//! How a host can test what its users will see, with its own code, a fake Herdr, and the content of
//! the pane.
//!
//! `cargo run -p herdr-reporter --example tests_with_fake`

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::ffi::OsString;
use std::time::Duration;

use fake_herdr::FakeHerdr;
use herdr_reporter::{Config, Flushed, Handle, Prompt, Reporter};

/// The code under test. It takes a handle, which may report anywhere.
fn deploy(pane: &Handle, confirmed: impl FnOnce() -> bool) -> bool {
    let turn = pane.turn();
    let asked = turn.prompt(Prompt::approval("Deploy to staging?"));
    let go = confirmed();
    drop(asked);
    go
}

/// A reporter in the fake's pane. It does not read the variables of this process, so a test that is
/// run in a real pane does not touch that pane.
fn reporter(herdr: &FakeHerdr) -> Reporter {
    let variables = herdr.env();
    let lookup = move |name: &str| {
        let found = variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| OsString::from(value))
    };
    let mut config = Config::default();
    // The leases are next to the socket, so that nothing outside the test's folder is touched.
    config.runtime_folder = herdr.socket_path().parent().map(|folder| folder.join("leases"));
    Reporter::builder("deployer").environment(lookup).config(config).start()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let herdr = FakeHerdr::start()?;
    let pane = reporter(&herdr);

    let went = deploy(&pane, || {
        // The state that Herdr shows while the person thinks.
        assert_eq!(pane.flush(Duration::from_secs(5)), Flushed::Delivered);
        let seen = herdr.observe(herdr.pane_id()).expect("the pane is there");
        assert_eq!(seen.agent_status, "blocked");
        assert_eq!(seen.state_labels["blocked"], "Deploy to staging?");
        true
    });
    assert!(went);
    herdr.wait_until(Duration::from_secs(5), |pane| pane.agent_status == "idle")?;
    herdr.live_handoff(); // the server forgets everything; the reporter says it again
    herdr.wait_until(Duration::from_secs(5), |pane| pane.agent_status == "idle")?;

    drop(pane);
    let after = herdr.observe(herdr.pane_id()).expect("the pane is there");
    assert_eq!((after.agent, after.title), (None, None));
    println!("shown as it should be, in {} requests", herdr.log().len());
    Ok(())
}

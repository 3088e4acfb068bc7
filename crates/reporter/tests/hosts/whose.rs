//! Whether the agent runs in the pane, with real processes (failure B34).

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use fake_herdr::{FakeHerdr, PaneProcess};
use herdr_reporter::sidecar::LeaseFile;
use herdr_reporter::{
    Config, DiagnosticKind, Ended, Endpoint, Flushed, PaneId, Reporter, Status, UnverifiedPane,
};

use crate::processes::skipped;
use crate::support::{AMPLE, BUDGET, builder, config, flushed};

/// A process that leads its own session, as a pane's shell does. It ends when this is dropped.
pub(crate) struct Shell(Child);

impl Shell {
    pub(crate) fn start(in_pane_of: Option<&FakeHerdr>) -> Self {
        let mut command = Command::new("setsid");
        command.args(["sh", "-c", "echo; read line"]);
        herdr_reporter::scrub(&mut command);
        command.envs(in_pane_of.map(FakeHerdr::env).unwrap_or_default());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // The process prints its line once it is in the new session.
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
        Self(child)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn is_behind(&self, herdr: &FakeHerdr) {
        put_behind(herdr, self.0.id());
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn put_behind(herdr: &FakeHerdr, shell: u32) {
    let foreground = vec![PaneProcess::new(shell, "sh")];
    assert!(herdr.with_model(|model| model.set_processes("w1:p1", Some(shell), foreground)));
}

fn start(herdr: &FakeHerdr, change: impl FnOnce(&mut Config)) -> Reporter {
    let mut config = config(herdr.socket_path());
    change(&mut config);
    builder(herdr).config(config).start()
}

pub(crate) fn lease(herdr: &FakeHerdr) -> LeaseFile {
    let pane = PaneId::parse("w1:p1").unwrap();
    LeaseFile::of_pane(&config(herdr.socket_path()), &Endpoint::new(herdr.socket_path(), pane))
}

fn denying(config: &mut Config) {
    config.unverified_pane = UnverifiedPane::Deny;
}

fn claims(herdr: &FakeHerdr, pane: &Reporter) {
    let _turn = pane.turn();
    pane.set_title("ours");
    flushed(pane);
    let seen = herdr.observe("w1:p1").unwrap();
    assert_eq!((seen.agent_status.as_str(), seen.title.as_deref()), ("working", Some("ours")));
    assert_eq!(pane.diagnostics().try_recv(), None);
}

/// Checks that nothing is claimed whatever the host does, and that one diagnostic says why.
fn claims_nothing(herdr: &FakeHerdr, pane: Reporter) {
    let before = herdr.observe("w1:p1").unwrap();
    let mut diagnostics = pane.diagnostics();
    for n in 0..3 {
        let _turn = pane.turn();
        pane.set_title(format!("title {n}")).set_token("n", n.to_string());
        assert_eq!(pane.flush(AMPLE), Flushed::NotReporting(Status::ForeignPane));
    }
    assert_eq!(pane.status(), Status::ForeignPane);
    assert!(lease(herdr).try_take().unwrap().is_some(), "the lease is left to others");
    assert_eq!(pane.close(BUDGET), Ended::NothingToRelease);
    let raised: Vec<_> = std::iter::from_fn(|| diagnostics.recv_timeout(AMPLE)).collect();
    assert_eq!(
        raised.iter().map(|diagnostic| diagnostic.kind).collect::<Vec<_>>(),
        [DiagnosticKind::ForeignPane]
    );
    assert_eq!(herdr.observe("w1:p1").unwrap(), before);
    let writes = herdr.log().into_iter().filter(|exchange| {
        exchange.request.contains("pane.report") || exchange.request.contains("pane.release")
    });
    assert_eq!(writes.count(), 0);
}

/// The leader of this process's session: the sixth field of its `stat`, which is 0 if the leader is
/// in another namespace.
fn own_session() -> u32 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap().parse().unwrap()
}

#[test]
fn b34_a_pane_whose_shell_leads_our_session_is_ours() {
    let herdr = FakeHerdr::start().unwrap();
    let session = own_session();
    if session == 0 {
        return skipped("this process's session has its leader elsewhere");
    }
    put_behind(&herdr, session);
    claims(&herdr, &start(&herdr, denying));
}

#[test]
fn b34_a_pane_whose_shell_leads_the_agents_session_is_the_agents() {
    let herdr = FakeHerdr::start().unwrap();
    let shell = Shell::start(None);
    shell.is_behind(&herdr);
    let mut denying_config = config(herdr.socket_path());
    denying(&mut denying_config);
    let pane = builder(&herdr).config(denying_config).process(shell.pid()).start();
    claims(&herdr, &pane);
}

#[test]
fn b34_a_pane_of_another_session_of_this_server_is_proven_foreign() {
    let herdr = FakeHerdr::start().unwrap();
    let shell = Shell::start(Some(&herdr));
    shell.is_behind(&herdr);
    claims_nothing(&herdr, start(&herdr, |_| {}));
}

#[test]
fn b34_any_pane_needs_no_proof() {
    let herdr = FakeHerdr::start().unwrap();
    let shell = Shell::start(Some(&herdr));
    shell.is_behind(&herdr);
    claims(&herdr, &start(&herdr, |config| config.any_pane = true));
}

#[test]
fn b34_a_shell_of_another_server_proves_nothing() {
    let (herdr, other) = (FakeHerdr::start().unwrap(), FakeHerdr::start().unwrap());
    for elsewhere in [None, Some(&other)] {
        let shell = Shell::start(elsewhere);
        shell.is_behind(&herdr);
        claims(&herdr, &start(&herdr, |_| {}));
    }
}

#[test]
fn b34_a_pane_without_proof_is_not_claimed_if_that_is_denied() {
    let herdr = FakeHerdr::start().unwrap();
    let shell = Shell::start(None);
    shell.is_behind(&herdr);
    claims_nothing(&herdr, start(&herdr, denying));
}

//! Where end-to-end bodies run: each has a pane of its own on a server, which is `fake-herdr`
//! in this process or the program that `HERDR_BIN` names.
//!
//! A body does not know which one it is. Where servers differ in their abilities, it asks
//! ([`Stage::has_shell`], [`Stage::requests`]). [`bodies!`](crate::bodies) makes both tests of
//! each body.

mod bodies;
mod diagnostics;
mod look;
mod poll;
mod program;
mod server;
mod sidecar;
mod watch;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use fake_herdr::FakeHerdr;
use herdr_proto::{Call, ErrorCode, PaneGet, PaneId, ProcessInfoGet};
use herdr_reporter::{Builder, Config, Reporter};
use herdr_socket_transport::{Client, Endpoint};
use serde_json::{Value, json};
use tempfile::TempDir;

use server::{Kind, Server};

pub use diagnostics::Diagnostics;
pub use look::shows;
pub use poll::{PATIENCE, pace, until};
pub use program::HERDR_BIN;
pub use server::{Refused, Thaw};
pub use sidecar::{Sidecar, sidecar};
pub use watch::Watch;

/// The label that bodies report under. Herdr knows no agent of this name.
pub const AGENT: &str = "stagehost";

/// The source that belongs to [`AGENT`].
pub const SOURCE: &str = "custom:stagehost";

/// Whether bodies share a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// One server for all bodies that run.
    Shared,
    /// A server of its own, for a body that restarts it, hands it off or stops it.
    Own,
}

/// A pane for one body, in a workspace that is removed afterwards.
#[derive(Debug)]
pub struct Stage {
    server: Arc<Server>,
    workspace: String,
    pane: PaneId,
    folder: TempDir,
}

impl Stage {
    /// A pane on the fake.
    ///
    /// # Panics
    ///
    /// If the server cannot be started. All methods panic if it does not answer.
    pub fn fake(share: Share) -> Self {
        Self::on(&Kind::Fake, share)
    }

    /// A pane on the program that `HERDR_BIN` names. Without one, prints that the body is
    /// skipped and returns `None`.
    ///
    /// # Panics
    ///
    /// If the program does not start.
    pub fn live(share: Share, body: &str) -> Option<Self> {
        static SKIP_NOTICE: Once = Once::new();
        let Some(bin) = program::named() else {
            // The output of a test is printed only if the test fails.
            SKIP_NOTICE.call_once(|| {
                let why = "the live tests are skipped: HERDR_BIN names no program";
                let _ = writeln!(std::io::stderr(), "{why}");
            });
            skipped(body, "HERDR_BIN names no program");
            return None;
        };
        Some(Self::on(&Kind::Program(bin), share))
    }

    /// A pane on the program at this path.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn of(program: &Path, share: Share) -> Self {
        Self::on(&Kind::Program(program.to_owned()), share)
    }

    /// The program that `HERDR_BIN` names, or the fake's program.
    ///
    /// # Panics
    ///
    /// If the fake's program cannot be built.
    pub fn program() -> PathBuf {
        program::named().unwrap_or_else(sidecar::fake_herdr)
    }

    fn on(kind: &Kind, share: Share) -> Self {
        let server = match share {
            Share::Shared => Server::shared(kind),
            Share::Own => Server::start(kind),
        };
        let (workspace, pane) = server.make_workspace("body", false);
        let pane = PaneId::parse(pane).expect("the server's pane ids are pane ids");
        let folder = program::folder("herdr-body").expect("a folder for leases");
        Self { server, workspace, pane, folder }
    }

    /// The program that `HERDR_BIN` names, with nothing open. Its socket exists as long as the
    /// returned value.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn unopened() -> Option<Unopened> {
        Some(Unopened(Server::unopened(&Kind::Program(program::named()?))))
    }

    /// The pane's id.
    pub fn pane(&self) -> &PaneId {
        &self.pane
    }

    /// The pane's workspace.
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// The path of the server's socket.
    pub fn socket(&self) -> &Path {
        self.server.socket()
    }

    /// The client that the stage uses.
    pub fn client(&self) -> &Client {
        self.server.client()
    }

    /// A folder that is removed with the stage.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The fake, for bodies that set faults.
    pub fn as_fake(&self) -> Option<&FakeHerdr> {
        self.server.fake()
    }

    /// A started reporter for the pane under [`AGENT`].
    pub fn reporter(&self) -> Reporter {
        self.reporter_with(|_| {})
    }

    /// As [`reporter`](Self::reporter), with other settings.
    ///
    /// # Panics
    ///
    /// If the reporter is inert.
    pub fn reporter_with(&self, change: impl FnOnce(&mut Config)) -> Reporter {
        let reporter = self.builder(AGENT, change).start();
        assert!(reporter.is_active());
        reporter
    }

    /// A builder for a reporter with another label.
    pub fn builder(&self, agent: &str, change: impl FnOnce(&mut Config)) -> Builder {
        let mut config = Config::default();
        // The test does not run in the pane that it reports on.
        config.any_pane = true;
        // The fake's log is counted, and a copy would count twice.
        config.hedge = self.as_fake().is_none();
        config.runtime_folder = Some(self.folder.path().join("leases"));
        change(&mut config);
        let endpoint = Endpoint::new(self.socket(), self.pane.clone());
        Reporter::builder(agent).config(config).endpoint(endpoint)
    }

    /// The sidecar on this pane under [`AGENT`], with more arguments.
    pub fn sidecar(&self, more: &[&str]) -> Sidecar {
        let socket = self.socket().to_string_lossy();
        let at =
            ["--any-pane", "--agent", AGENT, "--socket", &socket, "--pane", self.pane.as_str()];
        Sidecar::start(self.folder.path(), &[&at, more].concat())
    }

    /// Makes a request with any method.
    ///
    /// # Errors
    ///
    /// If the server refuses it.
    pub fn try_call(&self, method: &str, params: &Value) -> Result<Value, Refused> {
        self.server.call(method, params)
    }

    /// Makes a request that must not be refused.
    ///
    /// # Panics
    ///
    /// If it is refused.
    pub fn call(&self, method: &str, params: &Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|code| panic!("{method} {params}: {code:?}"))
    }

    /// Makes a typed request.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub fn ask<C: Call>(&self, call: &C) -> Result<C::Reply, herdr_socket_transport::Error> {
        self.server.ask(call)
    }

    /// Reports a state as another program would, or as an earlier run of the same host.
    pub fn report_as(&self, source: &str, agent: &str, state: &str, seq: Option<u64>) {
        let mut params =
            json!({ "pane_id": self.pane, "source": source, "agent": agent, "state": state });
        if let Some(seq) = seq {
            params["seq"] = seq.into();
        }
        self.call("pane.report_agent", &params);
    }

    /// Whether there is a process behind the pane, as on a real server. It may start a moment
    /// after the pane is created.
    ///
    /// # Panics
    ///
    /// If there is no answer.
    pub fn has_shell(&self) -> bool {
        let shell = || {
            let reply = self.read(&ProcessInfoGet::new(self.pane.clone())).expect("a pane");
            reply.process_info.shell_pid
        };
        until(Duration::from_secs(5), shell).is_some()
    }

    /// The requests about this pane that the server has received, if it can be asked.
    ///
    /// # Panics
    ///
    /// If one is not JSON.
    pub fn requests(&self) -> Option<Vec<Value>> {
        let log = self.as_fake()?.log().into_iter();
        let requests =
            log.map(|exchange| serde_json::from_str(&exchange.request).expect("a request is JSON"));
        Some(
            requests
                .filter(|line: &Value| line["params"]["pane_id"] == self.pane.as_str())
                .collect(),
        )
    }

    /// Stops the server and starts it again at the same path.
    pub fn restart(&self) {
        self.server.restart();
    }

    /// Stops the server for good.
    pub fn stop(&self) {
        self.server.stop();
    }

    /// Freezes the server until the returned value is dropped.
    pub fn freeze(&self) -> Thaw<'_> {
        self.server.freeze()
    }

    /// Hands the panes over to a new server process, if this server can do that, and returns
    /// how long it took. On a busy machine it may fail; then the old process continues, and it
    /// is tried again.
    ///
    /// # Panics
    ///
    /// If it fails for another reason, or every time.
    pub fn hand_off(&self) -> Option<Duration> {
        let handed_off = until(PATIENCE, || {
            let start = Instant::now();
            match self.try_call("server.live_handoff", &json!({})) {
                Ok(_) => Some(Some(start.elapsed())),
                Err(Refused(code)) if code == "unsupported_in_app_mode" => Some(None),
                Err(Refused(code)) if code == "handoff_failed" => None,
                Err(code) => panic!("server.live_handoff: {code:?}"),
            }
        });
        handed_off.expect("a handoff succeeds")
    }

    /// Creates the workspace again if the server has not kept it over a restart.
    ///
    /// # Panics
    ///
    /// If its pane gets another id.
    pub fn restore(&self) {
        let lost = until(PATIENCE, || match self.ask(&PaneGet::new(self.pane.clone())) {
            Ok(_) => Some(false),
            Err(error) => (error.rejection()?.code == ErrorCode::PANE_NOT_FOUND).then_some(true),
        });
        if lost.expect("the server says whether it has the pane") {
            self.server.make_workspace("focused", true);
            let (_, pane) = self.server.make_workspace("body", false);
            assert_eq!(pane, self.pane.as_str(), "a fresh server counts from the start");
        }
    }
}

/// A server of its own with nothing open.
#[derive(Debug)]
pub struct Unopened(Server);

impl Unopened {
    /// The path of the server's socket.
    pub fn socket(&self) -> &Path {
        self.0.socket()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The body may have stopped the server or moved the pane away.
        let _ = self.server.attempt("workspace.close", &json!({ "workspace_id": self.workspace }));
    }
}

/// Reports that a body, or a part of one, was not run.
#[expect(clippy::print_stderr, reason = "a test says what it left out")]
pub fn skipped(body: &str, why: &str) {
    eprintln!("{body} is skipped: {why}");
}

//! Where end-to-end bodies run: a pane of their own on a server that is
//! `fake-herdr` in this process or, if `HERDR_BIN` names a program, that one.
//!
//! A body knows neither: it asks the server, and where servers differ in what
//! they can do it asks for that ([`Stage::has_shell`], [`Stage::requests`]).
//! [`bodies!`](crate::bodies) makes both tests of each.

mod bodies;
mod look;
mod poll;
mod program;
mod server;
mod sidecar;
mod told;
mod watch;

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use fake_herdr::FakeHerdr;
use herdr_proto::{Call, ErrorCode, PaneGet, PaneId, ProcessInfoGet};
use herdr_reporter::{Builder, Config, Reporter};
use herdr_socket_transport::{Client, Endpoint};
use serde_json::{Value, json};
use tempfile::TempDir;

use server::{Kind, Server};

pub use look::shows;
pub use poll::{PATIENCE, pace, until};
pub use program::HERDR_BIN;
pub use server::{Refused, Thaw};
pub use sidecar::{Sidecar, sidecar};
pub use told::Told;
pub use watch::Watch;

/// The label that bodies report under; no agent that Herdr knows.
pub const AGENT: &str = "stagehost";

/// The source that goes with [`AGENT`].
pub const SOURCE: &str = "custom:stagehost";

/// Whether bodies share a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// One for all that run.
    Shared,
    /// One of its own, for a body that restarts it, hands it off or stops it.
    Own,
}

/// A pane of a body's own, in a workspace that is removed with it.
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
    /// If the server cannot be started; so do all methods here if it does not
    /// answer.
    pub fn fake(share: Share) -> Self {
        Self::on(&Kind::Fake, share)
    }

    /// A pane on the program that `HERDR_BIN` names; without one it says so and
    /// gives none.
    ///
    /// # Panics
    ///
    /// If the program does not start.
    pub fn live(share: Share, body: &str) -> Option<Self> {
        static TOLD: Once = Once::new();
        let Some(bin) = program::named() else {
            // A test's own output shows only if it fails.
            TOLD.call_once(|| {
                let why = "the live tests are skipped: HERDR_BIN names no program";
                let _ = writeln!(std::io::stderr(), "{why}");
            });
            skipped(body, "HERDR_BIN names no program");
            return None;
        };
        Some(Self::on(&Kind::Program(bin), share))
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

    /// The program that `HERDR_BIN` names, with nothing open; its socket lives as
    /// long as what is given.
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

    /// Where the server listens.
    pub fn socket(&self) -> &Path {
        self.server.socket()
    }

    /// The client that the stage itself uses.
    pub fn client(&self) -> &Client {
        self.server.client()
    }

    /// A folder that is removed with the stage.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The fake itself, where the body has to make something go wrong.
    pub fn as_fake(&self) -> Option<&FakeHerdr> {
        self.server.fake()
    }

    /// A pane's reporter under [`AGENT`], started.
    pub fn reporter(&self) -> Reporter {
        self.reporter_with(|_| {})
    }

    /// The same with other settings.
    ///
    /// # Panics
    ///
    /// If it is inert.
    pub fn reporter_with(&self, change: impl FnOnce(&mut Config)) -> Reporter {
        let reporter = self.builder(AGENT, change).start();
        assert!(reporter.is_active());
        reporter
    }

    /// A reporter of another label or start.
    pub fn builder(&self, agent: &str, change: impl FnOnce(&mut Config)) -> Builder {
        let mut config = Config::default();
        // The test does not run in the pane that it reports on.
        config.any_pane = true;
        config.runtime_folder = Some(self.folder.path().join("leases"));
        change(&mut config);
        let endpoint = Endpoint::new(self.socket(), self.pane.clone());
        Reporter::builder(agent).config(config).endpoint(endpoint)
    }

    /// The sidecar on this pane, under [`AGENT`], with more arguments.
    pub fn sidecar(&self, more: &[&str]) -> Sidecar {
        let socket = self.socket().to_string_lossy();
        let at =
            ["--any-pane", "--agent", AGENT, "--socket", &socket, "--pane", self.pane.as_str()];
        Sidecar::start(self.folder.path(), &[&at, more].concat())
    }

    /// Makes a request of any method.
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
    /// If it is.
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

    /// Reports a state as somebody else would, or as an earlier run of the same
    /// host.
    pub fn report_as(&self, source: &str, agent: &str, state: &str, seq: Option<u64>) {
        let mut params =
            json!({ "pane_id": self.pane, "source": source, "agent": agent, "state": state });
        if let Some(seq) = seq {
            params["seq"] = seq.into();
        }
        self.call("pane.report_agent", &params);
    }

    /// Whether a process is behind the pane, as on a real server. It may start
    /// a moment after its pane.
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

    /// The requests about this pane that the server got, if it can be asked.
    ///
    /// # Panics
    ///
    /// If one is not JSON, which none of ours is.
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

    /// Stops the server and starts it again, at the same path.
    pub fn restart(&self) {
        self.server.restart();
    }

    /// Stops the server for good.
    pub fn stop(&self) {
        self.server.stop();
    }

    /// Freezes the server until what this gives goes.
    pub fn freeze(&self) -> Thaw<'_> {
        self.server.freeze()
    }

    /// Hands the panes over to a new server, if this one can, and says how long
    /// that took. A busy machine may make it fail; the server that was there
    /// serves on then, and it is tried again.
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

    /// Makes a workspace again in the place of one that the server has not kept
    /// over a restart.
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

/// A server of its own on which nothing was opened yet.
#[derive(Debug)]
pub struct Unopened(Server);

impl Unopened {
    /// Where it listens.
    pub fn socket(&self) -> &Path {
        self.0.socket()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The body may have stopped the server, or moved the pane away.
        let _ = self.server.attempt("workspace.close", &json!({ "workspace_id": self.workspace }));
    }
}

/// Says that a body, or a part of one, was not run here.
#[expect(clippy::print_stderr, reason = "a test says what it left out")]
pub fn skipped(body: &str, why: &str) {
    eprintln!("{body} is skipped: {why}");
}

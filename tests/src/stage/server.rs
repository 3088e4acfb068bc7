//! A server on which bodies run: the fake in this process, or a program.

use std::error::Error as _;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use fake_herdr::{FakeHerdr, Fault};
use herdr_proto::{Call, PaneId, Ping};
use herdr_socket_transport::{Client, Error, Options};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::program::Program;
use super::watch::Watch;

/// The time limit for a request of the stage. A server that has just started accepts requests
/// before it processes them, and one that hands over answers when its successor is ready.
const PATIENCE: Duration = Duration::from_secs(40);

/// The kind of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// `fake-herdr` in this process.
    Fake,
    /// The program at this path.
    Program(PathBuf),
}

/// A running server. It is removed completely when the last body on it ends, even by a panic.
pub(super) struct Server {
    kind: Kind,
    host: Host,
    client: Client,
    /// A client with [`PATIENCE`] as its deadline.
    patient: Client,
    runtime: Runtime,
}

enum Host {
    Fake { herdr: FakeHerdr, work: TempDir },
    Program(Mutex<Program>),
}

/// The code with which the server refused a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused(pub String);

impl Server {
    /// Starts a server.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub(super) fn start(kind: &Kind) -> Arc<Self> {
        let server = Self::unopened(kind);
        // This workspace keeps the focus, so the panes of bodies are not seen.
        server.make_workspace("focused", true);
        Arc::new(server)
    }

    /// Starts a server with nothing open.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    pub(super) fn unopened(kind: &Kind) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let (host, socket) = match kind {
            Kind::Fake => {
                let herdr = FakeHerdr::builder().panes(0).program(["/bin/sh"]).start();
                let herdr = herdr.expect("the fake starts");
                let socket = herdr.socket_path().to_owned();
                let work = tempfile::tempdir().expect("a folder for its panes");
                (Host::Fake { herdr, work }, socket)
            }
            Kind::Program(bin) => {
                let program = Program::start(bin)
                    .unwrap_or_else(|error| panic!("{} does not start: {error}", bin.display()));
                let socket = program.socket();
                (Host::Program(Mutex::new(program)), socket)
            }
        };
        let patient = Client::new(socket.clone(), Options::default().deadline(PATIENCE));
        let client = Client::new(socket, Options::default());
        let server = Self { kind: kind.clone(), host, client, patient, runtime };
        server.await_ready();
        server
    }

    /// The server that the bodies of this process share. It exists as long as one of them runs.
    pub(super) fn shared(kind: &Kind) -> Arc<Self> {
        static SHARED: Mutex<Vec<Weak<Server>>> = Mutex::new(Vec::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.retain(|server| server.strong_count() > 0);
        let running = shared.iter().filter_map(Weak::upgrade).find(|server| server.kind == *kind);
        running.unwrap_or_else(|| {
            let server = Self::start(kind);
            shared.push(Arc::downgrade(&server));
            server
        })
    }

    pub(super) fn fake(&self) -> Option<&FakeHerdr> {
        match &self.host {
            Host::Fake { herdr, .. } => Some(herdr),
            Host::Program(_) => None,
        }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn socket(&self) -> &Path {
        self.client.socket()
    }

    /// Makes a request with any method.
    ///
    /// # Panics
    ///
    /// If there is no answer.
    pub(super) fn call(&self, method: &str, params: &Value) -> Result<Value, Refused> {
        let reply = self.attempt(method, params);
        let reply = reply.unwrap_or_else(|error| panic!("{method}: {error}: {:?}", error.source()));
        let mut reply: Value = serde_json::from_slice(&reply).expect("a reply is JSON");
        match reply["error"]["code"].as_str() {
            Some(code) => Err(Refused(code.to_owned())),
            None => Ok(reply["result"].take()),
        }
    }

    /// Makes a request that may get no answer.
    pub(super) fn attempt(&self, method: &str, params: &Value) -> Result<Bytes, Error> {
        let request = json!({ "id": "stage", "method": method, "params": params });
        let line = format!("{request}\n");
        self.runtime.block_on(self.patient.exchange(line.as_bytes()))
    }

    /// Makes a typed request.
    pub(super) fn ask<C: Call>(&self, call: &C) -> Result<C::Reply, Error> {
        self.runtime.block_on(self.client.call(call))
    }

    pub(super) fn watch(&self, pane: &PaneId) -> Watch {
        Watch::start(self.client.socket(), pane)
    }

    /// Creates a workspace and returns its id and that of its pane.
    pub(super) fn make_workspace(&self, label: &str, focus: bool) -> (String, String) {
        let params = json!({ "cwd": self.work(), "label": label, "focus": focus });
        let made = self.call("workspace.create", &params).expect("a workspace can be made");
        let id = |object: &str, field: &str| {
            let id = made[object][field].as_str();
            id.unwrap_or_else(|| panic!("no {field} in {made}")).to_owned()
        };
        (id("workspace", "workspace_id"), id("root_pane", "pane_id"))
    }

    /// Stops the server and starts it again at the same path with the state it kept.
    pub(super) fn restart(&self) {
        match &self.host {
            Host::Fake { herdr, .. } => herdr.restart(),
            Host::Program(program) => {
                self.stop_program(program);
                let mut program = program.lock().unwrap_or_else(PoisonError::into_inner);
                program.spawn().expect("it starts again");
                program.await_ready(|| self.answers());
            }
        }
    }

    /// Stops the server. Afterwards nothing answers at its path.
    pub(super) fn stop(&self) {
        match &self.host {
            Host::Fake { herdr, .. } => {
                herdr.stopper().stop();
                herdr.wait();
            }
            Host::Program(program) => self.stop_program(program),
        }
    }

    fn stop_program(&self, program: &Mutex<Program>) {
        let pid = self.serving();
        // An error is ignored: the server may already have ended.
        let _ = self.attempt("server.stop", &json!({}));
        let mut program = program.lock().unwrap_or_else(PoisonError::into_inner);
        program.await_end(pid, || self.answers());
    }

    /// Stops the server like a stopped process: it accepts connections and answers none, until
    /// the returned value is dropped.
    pub(super) fn freeze(&self) -> Thaw<'_> {
        let frozen = match &self.host {
            Host::Fake { herdr, .. } => {
                herdr.fault(Fault::Frozen);
                None
            }
            Host::Program(_) => self.serving(),
        };
        if let Some(pid) = frozen {
            let _ = kill_process(pid, Signal::STOP);
        }
        Thaw { server: self, frozen }
    }

    /// The process that answers, which after a handoff is not the one that was started.
    fn serving(&self) -> Option<Pid> {
        let ping = b"{\"id\":\"stage\",\"method\":\"ping\",\"params\":{}}\n";
        let serving = self.runtime.block_on(self.client.exchange_with(ping));
        Pid::from_raw(i32::try_from(serving.ok()?.1.pid()?).ok()?)
    }

    fn await_ready(&self) {
        if let Host::Program(program) = &self.host {
            let mut program = program.lock().unwrap_or_else(PoisonError::into_inner);
            program.await_ready(|| self.answers());
        }
    }

    fn answers(&self) -> bool {
        self.ask(&Ping::default()).is_ok()
    }

    fn work(&self) -> PathBuf {
        match &self.host {
            Host::Fake { work, .. } => work.path().to_owned(),
            Host::Program(program) => program.lock().unwrap_or_else(PoisonError::into_inner).work(),
        }
    }
}

/// A frozen server. It continues when this is dropped.
#[must_use = "the server goes on when this goes"]
#[derive(Debug)]
pub struct Thaw<'a> {
    server: &'a Server,
    frozen: Option<Pid>,
}

impl Drop for Thaw<'_> {
    fn drop(&mut self) {
        if let Some(herdr) = self.server.fake() {
            herdr.clear_faults();
        } else if let Some(pid) = self.frozen {
            let _ = kill_process(pid, Signal::CONT);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Host::Program(program) = &self.host {
            self.stop_program(program);
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("kind", &self.kind).finish_non_exhaustive()
    }
}

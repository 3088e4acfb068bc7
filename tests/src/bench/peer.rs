//! Who delivers one report: a plain client, ours, and those of others.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use herdr_socket_transport::{Client, Options};
use rustix::process::Pid;
use tokio::runtime::Runtime;

/// The system's, as a shim in front of it would cost time of its own.
pub(super) const PYTHON_PROGRAM: &str = "/usr/bin/python3";

/// Python's client: a line of its input is a request, and a line of its output
/// says how many nanoseconds that took.
pub(super) const PYTHON: &str = r#"
import socket, sys, time
for line in sys.stdin.buffer:
    began = time.perf_counter_ns()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(sys.argv[1])
        server.sendall(line)
        reply = b""
        while not reply.endswith(b"\n"):
            reply += server.recv(65536) or b"\n"
    print(time.perf_counter_ns() - began, flush=True)
"#;

/// Node's, the same way.
const NODE: &str = r#"
const net = require("node:net");
const input = require("node:readline").createInterface({ input: process.stdin });
input.on("line", (line) => {
  const began = process.hrtime.bigint();
  const server = net.connect(process.argv[1], () => server.write(line + "\n"));
  server.once("data", () => {
    server.destroy();
    console.log(String(process.hrtime.bigint() - began));
  });
});
"#;

const PING: &[u8] = b"{\"id\":\"1\",\"method\":\"ping\",\"params\":{}}\n";

/// After so many copies a fresh client takes over: a minute's copies are limited,
/// and here are the requests of many minutes of a host.
const BUDGETED: u64 = 50;

/// Delivers one request line, and says how long it took from connecting to the
/// reply.
pub(super) enum Peer {
    /// Connect, write, read, and nothing else.
    Plain(PathBuf),
    /// Our exchange.
    Exchange { runtime: Runtime, client: Client, hedged: bool, copies: u64 },
    /// A client in another language, which runs all the time.
    Script { name: &'static str, child: Child, input: ChildStdin, output: BufReader<ChildStdout> },
}

impl Peer {
    pub(super) fn exchange(socket: &Path, hedged: bool) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = Client::new(socket, Options::default());
        Ok(Self::Exchange { runtime, client, hedged, copies: 0 })
    }

    /// Those whose language is installed.
    pub(super) fn scripts(socket: &Path) -> Vec<Self> {
        let programs = [("Python", PYTHON_PROGRAM, "-c", PYTHON), ("Node", "node", "-e", NODE)];
        let start =
            |(name, program, flag, script)| Self::script(name, program, flag, script, socket);
        programs.into_iter().filter_map(start).collect()
    }

    fn script(
        name: &'static str,
        program: &str,
        flag: &str,
        script: &str,
        socket: &Path,
    ) -> Option<Self> {
        let mut command = Command::new(program);
        command.arg(flag).arg(script).arg(socket).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().ok()?;
        let (input, output) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        let mut peer = Self::Script { name, child, input, output };
        // It is started by the time that it has answered once.
        peer.deliver(PING).ok().map(|_| peer)
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Plain(_) => "a plain blocking client",
            Self::Exchange { hedged: false, .. } => "our exchange",
            Self::Exchange { .. } => "our exchange with hedges",
            Self::Script { name, .. } => name,
        }
    }

    pub(super) fn deliver(&mut self, line: &[u8]) -> anyhow::Result<Duration> {
        let began = Instant::now();
        match self {
            Self::Plain(socket) => {
                let mut server = UnixStream::connect(socket)?;
                server.write_all(line)?;
                let mut reply = [0; 4096];
                while !reply.contains(&b'\n') {
                    ensure!(server.read(&mut reply)? > 0, "no answer");
                }
            }
            Self::Exchange { runtime, client, hedged: false, .. } => {
                runtime.block_on(client.exchange(line))?;
            }
            Self::Exchange { runtime, client, copies, .. } => {
                runtime.block_on(client.exchange_repeatable(line))?;
                let took = began.elapsed();
                if client.copies_sent() >= BUDGETED {
                    *copies += client.copies_sent();
                    *client = Client::new(client.socket(), *client.options());
                }
                return Ok(took);
            }
            Self::Script { input, output, .. } => {
                input.write_all(line)?;
                let mut took = String::new();
                output.read_line(&mut took)?;
                let nanos = took.trim().parse().context("a script that says how long it took")?;
                return Ok(Duration::from_nanos(nanos));
            }
        }
        Ok(began.elapsed())
    }

    /// How many copies it has sent.
    pub(super) fn copies(&self) -> Option<u64> {
        match self {
            Self::Exchange { client, hedged: true, copies, .. } => {
                Some(copies + client.copies_sent())
            }
            _ => None,
        }
    }

    /// What a program of this language alone takes of the memory.
    pub(super) fn child(&self) -> Option<&Child> {
        match self {
            Self::Script { child, .. } => Some(child),
            _ => None,
        }
    }
}

/// The process of the server at this socket.
pub(super) fn server(socket: &Path) -> anyhow::Result<Pid> {
    let Peer::Exchange { runtime, client, .. } = &Peer::exchange(socket, false)? else {
        unreachable!("it was made so");
    };
    let (_, peer) = runtime.block_on(client.exchange_with(PING))?;
    let pid = peer.pid().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    pid.context("the server's process cannot be seen")
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Self::Script { child, .. } = self {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

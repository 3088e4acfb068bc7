//! The clients that deliver a report: a plain one, ours, and clients in other languages.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use herdr_socket_transport::{Client, Options};
use rustix::process::Pid;
use tokio::runtime::Runtime;

/// The system's Python. A version manager's wrapper would add to the time.
pub(super) const PYTHON_PROGRAM: &str = "/usr/bin/python3";

/// A client in Python. For each request line on stdin it prints how many nanoseconds the
/// delivery took.
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

/// The same client for Node.
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

/// After so many copies a new client takes over. A client has a budget of copies for a minute,
/// and the benchmark makes the requests of many minutes of a host.
const COPIES_PER_CLIENT: u64 = 50;

/// A client.
pub(super) enum Peer {
    /// Connects, writes and reads, and nothing else.
    Plain(PathBuf),
    /// The client of `herdr-socket-transport`, with or without hedges.
    Exchange { runtime: Runtime, client: Client, hedged: bool, copies: u64 },
    /// A client in another language, whose process makes all requests.
    Script { name: &'static str, child: Child, input: ChildStdin, output: BufReader<ChildStdout> },
}

impl Peer {
    pub(super) fn exchange(socket: &Path, hedged: bool) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = Client::new(socket, Options::default());
        Ok(Self::Exchange { runtime, client, hedged, copies: 0 })
    }

    /// The clients in other languages, if these are installed.
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
        // The first answer shows that the process has started.
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

    /// Delivers one request line. Returns the time from connecting to the reply.
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
                if client.copies_sent() >= COPIES_PER_CLIENT {
                    *copies += client.copies_sent();
                    *client = Client::new(client.socket(), *client.options());
                }
                return Ok(took);
            }
            Self::Script { input, output, .. } => {
                input.write_all(line)?;
                let mut took = String::new();
                output.read_line(&mut took)?;
                let nanos = took.trim().parse().context("a client printed no time")?;
                return Ok(Duration::from_nanos(nanos));
            }
        }
        Ok(began.elapsed())
    }

    /// The number of copies sent; `None` without hedges.
    pub(super) fn copies(&self) -> Option<u64> {
        match self {
            Self::Exchange { client, hedged: true, copies, .. } => {
                Some(copies + client.copies_sent())
            }
            _ => None,
        }
    }

    /// The process of a client in another language.
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
        unreachable!("`Peer::exchange` makes an exchange");
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

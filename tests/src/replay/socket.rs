//! A server behind a socket as a target.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::json;
use tempfile::TempDir;

use super::run::request;
use super::target::Target;

/// The longest wait for an answer. The server itself gives up after 5 s.
const ANSWER: Duration = Duration::from_secs(10);

/// The longest answer that is read.
const ANSWER_MAX: usize = 1 << 20;

/// How late a busy machine may deliver.
const GRACE: Duration = Duration::from_secs(5);

/// The longest time between two requests that belong together.
const LAG: Duration = Duration::from_millis(50);

/// The longest time between two looks at a stream while there are others.
const LOOK: Duration = Duration::from_millis(20);

/// The server at a path, in real time.
#[derive(Debug)]
pub struct SocketTarget {
    path: PathBuf,
    longest_wait: Duration,
    streams: BTreeMap<String, Held>,
    began: Instant,
    /// The folder of the programs that are played in the panes.
    programs: Option<TempDir>,
}

#[derive(Debug)]
struct Held {
    connection: UnixStream,
    received: Vec<u8>,
    eof: bool,
}

impl SocketTarget {
    /// The server at this path.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            longest_wait: Duration::MAX,
            streams: BTreeMap::new(),
            began: Instant::now(),
            programs: None,
        }
    }

    /// Limits the waits of scripts. Scripts let a recorded server finish the replay of its
    /// history, which a fresh one does not have.
    #[must_use]
    pub fn waiting_at_most(mut self, longest: Duration) -> Self {
        self.longest_wait = longest;
        self
    }

    fn connect(&self) -> anyhow::Result<UnixStream> {
        let connection = UnixStream::connect(&self.path)
            .with_context(|| format!("cannot connect to {}", self.path.display()))?;
        connection.set_read_timeout(Some(ANSWER))?;
        connection.set_write_timeout(Some(ANSWER))?;
        Ok(connection)
    }

    fn held(&mut self, stream: &str) -> anyhow::Result<&mut Held> {
        self.streams.get_mut(stream).with_context(|| format!("stream {stream} was not opened"))
    }
}

impl Target for SocketTarget {
    fn exchange(&mut self, bytes: &[u8]) -> anyhow::Result<Option<String>> {
        let mut connection = self.connect()?;
        // If the server closes early, the write fails. What the server sent before that is
        // still read.
        let _ = connection.write_all(bytes);
        let mut received = Vec::new();
        read_line(&mut connection, &mut received)?;
        Ok(first_line(&mut received))
    }

    fn open(&mut self, stream: &str, line: &[u8]) -> anyhow::Result<Option<String>> {
        let mut connection = self.connect()?;
        connection.write_all(line)?;
        let mut received = Vec::new();
        let eof = read_line(&mut connection, &mut received)?;
        let reply = first_line(&mut received);
        connection.set_read_timeout(Some(LOOK))?;
        self.streams.insert(stream.to_owned(), Held { connection, received, eof });
        Ok(reply)
    }

    fn write(&mut self, stream: &str, bytes: &[u8]) -> anyhow::Result<()> {
        self.held(stream)?.connection.write_all(bytes)?;
        Ok(())
    }

    fn half_close(&mut self, stream: &str) -> anyhow::Result<()> {
        self.held(stream)?.connection.shutdown(Shutdown::Write)?;
        Ok(())
    }

    fn wait(&mut self, time: Duration) -> anyhow::Result<()> {
        let end = Instant::now() + time.min(self.longest_wait);
        loop {
            for held in self.streams.values_mut().filter(|held| !held.eof) {
                held.eof = read_once(&mut held.connection, &mut held.received)?;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            if self.streams.values().all(|held| held.eof) {
                std::thread::sleep(left);
            }
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn begin(&mut self, pane: &str, agent: &str) -> anyhow::Result<()> {
        let folder = match &self.programs {
            Some(folder) => folder.path(),
            None => self.programs.insert(tempfile::tempdir()?).path(),
        };
        let program = folder.join(agent);
        if !program.exists() {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let sleep = std::env::split_paths(&path).map(|folder| folder.join("sleep"));
            let sleep = sleep.into_iter().find(|sleep| sleep.exists()).context("no sleep here")?;
            std::fs::copy(sleep, &program)?;
        }
        let text = format!("{} 600\n", program.display());
        let params = json!({ "pane_id": pane, "text": text });
        self.exchange(&request("t", "pane.send_text", &params)).map(|_| ())
    }

    fn end(&mut self, pane: &str) -> anyhow::Result<()> {
        let params = json!({ "pane_id": pane, "keys": ["ctrl+c"] });
        self.exchange(&request("t", "pane.send_keys", &params)).map(|_| ())
    }

    fn lag(&self) -> Duration {
        LAG
    }

    fn grace(&self) -> Duration {
        GRACE
    }

    fn take(&mut self, stream: &str) -> (Vec<String>, bool) {
        let Some(held) = self.streams.get_mut(stream) else {
            return (Vec::new(), true);
        };
        let lines = std::iter::from_fn(|| first_line(&mut held.received)).collect();
        (lines, held.eof)
    }
}

/// Reads until there is a whole line or the connection ends; `true` at the end.
fn read_line(connection: &mut UnixStream, received: &mut Vec<u8>) -> anyhow::Result<bool> {
    while !received.contains(&b'\n') {
        let before = received.len();
        if read_once(connection, received)? {
            return Ok(true);
        }
        anyhow::ensure!(received.len() > before, "no answer within {ANSWER:?}");
        anyhow::ensure!(received.len() <= ANSWER_MAX, "an answer of over {ANSWER_MAX} bytes");
    }
    Ok(false)
}

/// Reads what is there, waiting as long as the connection's timeout; `true` at the end.
fn read_once(connection: &mut UnixStream, received: &mut Vec<u8>) -> anyhow::Result<bool> {
    let mut buffer = [0; 4096];
    match connection.read(&mut buffer) {
        Ok(0) => Ok(true),
        Ok(read) => {
            received.extend_from_slice(&buffer[..read]);
            Ok(false)
        }
        Err(error) => match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => Ok(false),
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Ok(true),
            _ => Err(error.into()),
        },
    }
}

/// Takes the first complete line.
fn first_line(received: &mut Vec<u8>) -> Option<String> {
    let end = received.iter().position(|byte| *byte == b'\n')?;
    let line: Vec<u8> = received.drain(..=end).collect();
    Some(String::from_utf8_lossy(&line[..end]).into_owned())
}

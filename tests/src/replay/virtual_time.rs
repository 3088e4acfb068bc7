//! The pure model as a target. Time passes only when a script says so.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use fake_herdr::{Answer, Folders, Model, Profile, Stream};

use super::target::Target;

/// A fresh model with its own clock.
#[derive(Debug, Default)]
pub struct VirtualTarget {
    model: Model,
    now: Duration,
    streams: BTreeMap<String, Held>,
}

#[derive(Debug)]
struct Held {
    /// `None` if the connection is closed.
    stream: Option<Stream>,
    lines: Vec<String>,
}

impl VirtualTarget {
    /// A Herdr 0.8.2 at its start.
    pub fn new() -> Self {
        Self::default()
    }

    /// A Herdr 0.8.2 with nothing open.
    pub fn empty() -> Self {
        let mut folders = Folders::default();
        folders.home = std::env::var("HOME").unwrap_or(folders.home);
        folders.name = |path| {
            let path = Path::new(path);
            let name = path.file_name().unwrap_or(path.as_os_str()).to_str()?.to_owned();
            path.is_dir().then_some(name)
        };
        Self { model: Model::empty(Profile::default()).with_folders(folders), ..Self::default() }
    }

    fn held(&mut self, stream: &str) -> anyhow::Result<&mut Held> {
        self.streams.get_mut(stream).with_context(|| format!("stream {stream} was not opened"))
    }
}

impl Target for VirtualTarget {
    fn exchange(&mut self, bytes: &[u8]) -> anyhow::Result<Option<String>> {
        // Without a newline the server waits until it gives up.
        if !bytes.contains(&b'\n') {
            return Ok(None);
        }
        Ok(self.model.request(self.now, bytes).line().map(str::to_owned))
    }

    fn open(&mut self, stream: &str, line: &[u8]) -> anyhow::Result<Option<String>> {
        let (reply, held) = match self.model.request(self.now, line) {
            Answer::Stream { reply, stream } => (Some(reply), Some(stream)),
            answer => (answer.line().map(str::to_owned), None),
        };
        self.streams.insert(stream.to_owned(), Held { stream: held, lines: Vec::new() });
        Ok(reply)
    }

    fn write(&mut self, stream: &str, _bytes: &[u8]) -> anyhow::Result<()> {
        // Any byte from the client ends a stream.
        self.held(stream)?.stream = None;
        Ok(())
    }

    fn half_close(&mut self, stream: &str) -> anyhow::Result<()> {
        self.held(stream)?.stream = None;
        Ok(())
    }

    fn wait(&mut self, time: Duration) -> anyhow::Result<()> {
        let end = self.now + time;
        loop {
            let due = self
                .streams
                .values_mut()
                .filter(|held| held.stream.as_ref().is_some_and(|stream| stream.due() <= end))
                .min_by_key(|held| held.stream.as_ref().map(Stream::due));
            let Some(Held { stream: Some(stream), lines }) = due else {
                break;
            };
            lines.extend(self.model.tick(stream.due(), stream));
        }
        for held in self.streams.values_mut() {
            held.stream.take_if(|stream| stream.ended());
        }
        self.now = end;
        Ok(())
    }

    fn now(&self) -> Duration {
        self.now
    }

    fn begin(&mut self, pane: &str, agent: &str) -> anyhow::Result<()> {
        self.model.agent_begins(self.now, pane, agent, "idle");
        Ok(())
    }

    fn end(&mut self, pane: &str) -> anyhow::Result<()> {
        self.model.agent_ends(self.now, pane);
        Ok(())
    }

    fn lag(&self) -> Duration {
        Duration::ZERO
    }

    fn grace(&self) -> Duration {
        Duration::ZERO
    }

    fn take(&mut self, stream: &str) -> (Vec<String>, bool) {
        let Some(held) = self.streams.get_mut(stream) else {
            return (Vec::new(), true);
        };
        (std::mem::take(&mut held.lines), held.stream.is_none())
    }
}

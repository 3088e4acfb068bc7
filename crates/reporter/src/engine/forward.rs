//! Reporting through the supervisor of this process.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, timeout_at};

use super::Shared;
use crate::activity::Snapshot;
use crate::machine::{Counters, Ended, Step};
use crate::status::Status;

/// A supervisor that takes nothing for so long is as good as gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// How forwarding ended.
pub(super) enum Forwarded {
    /// The host closed its reporter.
    Closed(Ended),
    /// The supervisor is gone; the lease is free or soon will be.
    SupervisorGone,
}

/// A connection to the supervisor's control socket.
///
/// `exec` and `attach` start a supervisor that owns the pane of the process it
/// watches and outlives it. A reporter inside that process says what it wants
/// shown as event lines, the newest state only, and the supervisor does the
/// rest.
pub(super) struct Forwarder<'a> {
    shared: &'a Shared,
    read: OwnedReadHalf,
    write: OwnedWriteHalf,
    /// What the supervisor was told last.
    told: Option<Snapshot>,
}

impl<'a> Forwarder<'a> {
    pub(super) async fn connect(shared: &'a Shared, socket: PathBuf) -> io::Result<Self> {
        let (read, write) = UnixStream::connect(socket).await?.into_split();
        Ok(Self { shared, read, write, told: None })
    }

    pub(super) async fn run(mut self) -> Forwarded {
        let mut ignored = [0; 1024];
        loop {
            let changes = self.shared.take_facts();
            if changes.retire {
                return Forwarded::Closed(Ended::NothingToRelease);
            }
            if let Some(until) = changes.close {
                return Forwarded::Closed(self.close(Instant::from_std(until)).await);
            }
            if self.tell(changes.wanted).await.is_err() {
                return Forwarded::SupervisorGone;
            }
            // What was written is the supervisor's to deliver.
            let told = Step { quiet: true, ..Step::default() };
            let (none, status) = (Counters::default(), Status::Reporting);
            self.shared.publish(&told, none, status, changes.asked);
            tokio::select! {
                () = self.shared.changed() => {}
                // Output lines are for clients that want them.
                read = self.read.read(&mut ignored) => {
                    if !read.is_ok_and(|bytes| bytes > 0) {
                        return Forwarded::SupervisorGone;
                    }
                }
            }
        }
    }

    async fn tell(&mut self, wanted: Option<Snapshot>) -> io::Result<()> {
        let lines = lines(self.told.as_ref(), wanted.as_ref());
        self.told = wanted;
        self.write(&lines, Instant::now() + PATIENCE).await
    }

    /// Gives the row back; the supervisor keeps the pane for the process.
    async fn close(mut self, until: Instant) -> Ended {
        if self.told.is_none() {
            return Ended::NothingToRelease;
        }
        let lines = [json!({"event": "release"}), json!({"event": "flush", "id": FLUSH})];
        if self.write(&lines, until).await.is_err() {
            return Ended::NotReleased;
        }
        let mut answers = Vec::new();
        let flushed = format!("\"flushed\":\"{FLUSH}\"");
        let answered = async {
            while !String::from_utf8_lossy(&answers).contains(&flushed) {
                answers.drain(..answers.len().saturating_sub(flushed.len()));
                if self.read.read_buf(&mut answers).await? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Ok::<(), io::Error>(())
        };
        match timeout_at(until, answered).await {
            Ok(Ok(())) => Ended::Released,
            _ => Ended::NotReleased,
        }
    }

    async fn write(&mut self, lines: &[Value], until: Instant) -> io::Result<()> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, line)?;
            text.push(b'\n');
        }
        timeout_at(until, self.write.write_all(&text)).await?
    }
}

/// The flush by which a close knows that the release went out.
const FLUSH: &str = "herdr-reporter-close";

/// The event lines that lead from what was told to what is wanted.
fn lines(told: Option<&Snapshot>, wanted: Option<&Snapshot>) -> Vec<Value> {
    let Some(wanted) = wanted else {
        return told.map(|_| json!({"event": "release"})).into_iter().collect();
    };
    let mut lines = Vec::new();
    let session = |snapshot: &Snapshot| (snapshot.session.clone(), snapshot.resend);
    if told.map(session) != Some(session(wanted)) {
        lines.extend(wanted.session.as_ref().and_then(session_line));
    }
    let said = |snapshot: &Snapshot| (snapshot.state, snapshot.reason.clone());
    if told.map(said) != Some(said(wanted)) {
        lines.push(json!({
            "event": "state_set",
            "state": wanted.state.as_str(),
            "label": wanted.reason,
        }));
    }
    let title = told.and_then(|told| told.presentation.title.as_ref());
    if title != wanted.presentation.title.as_ref() {
        lines.push(json!({"event": "title_changed", "title": wanted.presentation.title}));
    }
    let labels = |snapshot: &Snapshot| {
        let labels = snapshot.presentation.labels.iter();
        labels.map(|(state, text)| (state.as_str().to_owned(), json!(text))).collect()
    };
    let tokens = |snapshot: &Snapshot| {
        snapshot.tokens.iter().map(|(key, text)| (key.to_string(), json!(text))).collect()
    };
    for (event, field, told, wanted) in [
        ("labels_changed", "labels", told.map(labels), labels(wanted)),
        ("tokens_changed", "tokens", told.map(tokens), tokens(wanted)),
    ] {
        let changed = changes(&told.unwrap_or_default(), wanted);
        if !changed.is_empty() {
            lines.push(json!({"event": event, field: changed}));
        }
    }
    lines
}

fn session_line(session: &crate::activity::Session) -> Option<Value> {
    let id = session.id.as_ref()?;
    Some(json!({
        "event": "session_started",
        "session_id": id,
        "session_path": session.path,
        "resume_argv": session.resume_argv,
    }))
}

/// What is new or other, and null for what is gone.
fn changes(told: &Map<String, Value>, mut wanted: Map<String, Value>) -> Map<String, Value> {
    let gone: Vec<String> = told.keys().filter(|key| !wanted.contains_key(*key)).cloned().collect();
    wanted.retain(|key, text| told.get(key) != Some(text));
    wanted.extend(gone.into_iter().map(|key| (key, Value::Null)));
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sidecar::{Activity, EventLine};
    use crate::{AgentEvent, Config, Prompt, SessionStarted};

    fn fold(activity: &mut Activity, lines: &[Value]) {
        for line in lines {
            let line = EventLine::parse(line.to_string().as_bytes()).unwrap();
            let Some(EventLine::Event(event)) = line else { panic!("{line:?}") };
            activity.apply(event).unwrap();
        }
    }

    #[test]
    fn the_supervisor_comes_to_want_what_the_host_wants() {
        let config = Config { reason_label: crate::ReasonLabel::Off, ..Config::default() };
        let (mut host, mut supervisor) = (Activity::default(), Activity::default());
        let mut told = None;
        let mut session = SessionStarted::new("s");
        session.model = Some("m".into());
        let token = |key: &str, text: Option<&str>| {
            AgentEvent::tokens_changed([(key.to_owned(), text.map(str::to_owned))])
        };
        let steps = [
            AgentEvent::SessionStarted(session),
            AgentEvent::agent_started(),
            token("a", Some("1")),
            token("b", Some("2")),
            AgentEvent::prompt_opened("p", Prompt::approval("Run it?")).of_agent(None),
            token("a", None),
            AgentEvent::title_changed(Some("T".into())),
            AgentEvent::prompt_closed("p"),
            AgentEvent::title_changed(None),
            AgentEvent::agent_settled(),
            AgentEvent::Release,
        ];
        for step in steps {
            host.apply(step).unwrap();
            let wanted = host.snapshot(&config);
            fold(&mut supervisor, &lines(told.as_ref(), wanted.as_ref()));
            let seen = supervisor.snapshot(&config);
            let shown = |snapshot: Option<Snapshot>| {
                snapshot.map(|s| (s.state, s.reason, s.presentation, s.tokens))
            };
            assert_eq!(shown(seen), shown(wanted.clone()));
            told = wanted;
        }
    }

    #[test]
    fn nothing_is_said_twice() {
        let mut host = Activity::default();
        host.apply(AgentEvent::SessionStarted(SessionStarted::new("s"))).unwrap();
        let wanted = host.snapshot(&Config::default());
        assert!(!lines(None, wanted.as_ref()).is_empty());
        assert!(lines(wanted.as_ref(), wanted.as_ref()).is_empty());
    }
}

//! Reporting through the supervisor of this process.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use herdr_proto::PresentationText;
use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, timeout_at};

use super::Shared;
use crate::activity::{Session, Snapshot};
use crate::config::{Config, ReasonLabel};
use crate::event::{AgentEvent, SessionStarted};
use crate::machine::{Counters, Ended, Step};
use crate::status::Status;

/// A supervisor that reads nothing for this long counts as gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// The id of the flush whose answer shows that the release was delivered.
const CLOSE_FLUSH: &str = "herdr-reporter-close";

pub(super) enum Forwarded {
    /// The host closed its reporter.
    Closed(Ended),
    /// The supervisor is gone, and the lease is free or soon will be.
    SupervisorGone,
}

/// A connection to the supervisor's control socket.
///
/// `exec` and `attach` start a supervisor that owns the pane of the process it watches and outlives
/// that process. A reporter inside the process writes what the pane should show as events, and the
/// supervisor does the rest. Only the newest state is written.
pub(super) struct Forwarder<'a> {
    shared: &'a Shared,
    output: Lines<BufReader<OwnedReadHalf>>,
    input: OwnedWriteHalf,
    /// What the supervisor was last asked to show.
    sent: Option<Snapshot>,
}

impl<'a> Forwarder<'a> {
    pub(super) async fn connect(shared: &'a Shared, socket: PathBuf) -> io::Result<Self> {
        let (output, input) = UnixStream::connect(socket).await?.into_split();
        Ok(Self { shared, output: BufReader::new(output).lines(), input, sent: None })
    }

    pub(super) async fn run(mut self) -> Forwarded {
        // The supervisor makes labels of the reasons.
        let config = Config { reason_label: ReasonLabel::Off, ..self.shared.config.clone() };
        loop {
            let changes = self.shared.take_changes(&config, true);
            if changes.retire {
                return Forwarded::Closed(Ended::NothingToRelease);
            }
            if let Some(until) = changes.close {
                return Forwarded::Closed(self.close(Instant::from_std(until)).await);
            }
            let events = events(self.sent.as_ref(), changes.wanted.as_ref());
            self.sent = changes.wanted;
            if self.write(&events, Instant::now() + WRITE_TIMEOUT).await.is_err() {
                return Forwarded::SupervisorGone;
            }
            // Delivering what was written is the supervisor's task.
            let step = Step { quiet: true, ..Step::default() };
            self.shared.publish(&step, Counters::default(), Status::Reporting, changes.last_flush);
            tokio::select! {
                () = self.shared.changed() => {}
                // Nothing here needs the output lines.
                line = self.output.next_line() => {
                    if !matches!(line, Ok(Some(_))) {
                        return Forwarded::SupervisorGone;
                    }
                }
            }
        }
    }

    /// Gives the row back; the supervisor keeps the pane for the process.
    async fn close(mut self, until: Instant) -> Ended {
        if self.sent.is_none() {
            return Ended::NothingToRelease;
        }
        let lines = [json!({"event": "release"}), json!({"event": "flush", "id": CLOSE_FLUSH})];
        if self.write(&lines, until).await.is_err() {
            return Ended::NotReleased;
        }
        let answer = format!("\"flushed\":\"{CLOSE_FLUSH}\"");
        let flushed = async {
            while let Ok(Some(line)) = self.output.next_line().await {
                if line.contains(&answer) {
                    return Ended::Released;
                }
            }
            Ended::NotReleased
        };
        timeout_at(until, flushed).await.unwrap_or(Ended::NotReleased)
    }

    async fn write(&mut self, lines: &[impl Serialize], until: Instant) -> io::Result<()> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, line)?;
            text.push(b'\n');
        }
        timeout_at(until, self.input.write_all(&text)).await?
    }
}

impl Shared {
    /// What was sent to the supervisor has to be sent again.
    pub(super) fn resend(&self) {
        self.lock().changed = true;
        self.engine.notify_one();
    }
}

/// The events that lead from what was sent to what is wanted.
fn events(sent: Option<&Snapshot>, wanted: Option<&Snapshot>) -> Vec<AgentEvent> {
    let Some(wanted) = wanted else {
        return sent.map(|_| AgentEvent::Release).into_iter().collect();
    };
    let mut events = Vec::new();
    let session = |snapshot: &Snapshot| (snapshot.session.clone(), snapshot.resend);
    if sent.map(session) != Some(session(wanted)) {
        events.extend(wanted.session.as_ref().and_then(session_event));
    }
    let state = |snapshot: &Snapshot| (snapshot.state, snapshot.reason.clone());
    if sent.map(state) != Some(state(wanted)) {
        let reason = wanted.reason.as_ref().map(ToString::to_string);
        events.push(AgentEvent::state_set(wanted.state, reason));
    }
    let title = wanted.presentation.title.as_ref();
    if sent.and_then(|sent| sent.presentation.title.as_ref()) != title {
        events.push(AgentEvent::title_changed(title.map(ToString::to_string)));
    }
    let labels = changes(sent.map(|sent| &sent.presentation.labels), &wanted.presentation.labels);
    if !labels.is_empty() {
        events.push(AgentEvent::LabelsChanged { labels });
    }
    let tokens = changes(sent.map(|sent| &sent.tokens), &wanted.tokens);
    if !tokens.is_empty() {
        let tokens = tokens.into_iter().map(|(key, text)| (String::from(key), text));
        events.push(AgentEvent::tokens_changed(tokens));
    }
    events
}

fn session_event(session: &Session) -> Option<AgentEvent> {
    Some(AgentEvent::SessionStarted(SessionStarted {
        session_path: session.path.clone().map(String::from),
        resume_argv: session.resume_argv.clone().map(Vec::from),
        ..SessionStarted::new(session.id.clone()?)
    }))
}

/// The texts that are new or different, and `None` for those that are gone.
fn changes<K: Ord + Clone>(
    sent: Option<&BTreeMap<K, PresentationText>>,
    wanted: &BTreeMap<K, PresentationText>,
) -> BTreeMap<K, Option<String>> {
    let nothing = BTreeMap::new();
    let sent = sent.unwrap_or(&nothing);
    let gone = sent.keys().filter(|key| !wanted.contains_key(*key)).map(|key| (key.clone(), None));
    let new = wanted.iter().filter(|(key, text)| sent.get(*key) != Some(*text));
    gone.chain(new.map(|(key, text)| (key.clone(), Some(text.to_string())))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prompt;
    use crate::sidecar::{Activity, EventLine};

    /// Folds the events as the supervisor reads them.
    fn fold(activity: &mut Activity, events: &[AgentEvent]) {
        for event in events {
            let line = EventLine::parse(&serde_json::to_vec(event).unwrap()).unwrap();
            let Some(EventLine::Event(event)) = line else { panic!("{line:?}") };
            activity.apply(event).unwrap();
        }
    }

    #[test]
    fn the_supervisor_wants_what_the_host_wants() {
        let config = Config { reason_label: ReasonLabel::Off, ..Config::default() };
        let (mut host, mut supervisor) = (Activity::default(), Activity::default());
        let mut sent = None;
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
            fold(&mut supervisor, &events(sent.as_ref(), wanted.as_ref()));
            let seen = supervisor.snapshot(&config);
            let shown = |snapshot: Option<Snapshot>| {
                snapshot.map(|s| (s.state, s.reason, s.presentation, s.tokens))
            };
            assert_eq!(shown(seen), shown(wanted.clone()));
            sent = wanted;
        }
    }

    #[test]
    fn nothing_is_sent_twice() {
        let mut host = Activity::default();
        host.apply(AgentEvent::SessionStarted(SessionStarted::new("s"))).unwrap();
        let wanted = host.snapshot(&Config::default());
        assert!(!events(None, wanted.as_ref()).is_empty());
        assert!(events(wanted.as_ref(), wanted.as_ref()).is_empty());
    }
}

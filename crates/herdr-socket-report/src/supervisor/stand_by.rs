//! A guard that leaves the state to Herdr and shows only a title and tokens.

use std::collections::BTreeMap;
use std::fs::File;
use std::future::pending;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use herdr_proto::{AgentLabel, PresentationText, ReportState, TokenKey};
use herdr_reporter::{Activity, AgentEvent, Config, Flushed, LeaseFile, Refused, source_for};
use herdr_socket_transport::Endpoint;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::server::Server;
use crate::direct::{Direct, Guard, Problem};
use crate::settings::Settings;
use crate::wait::wait_for;

/// How long a start waits for a holder of the lease that may just be ending.
const PATIENCE: Duration = Duration::from_secs(2);
/// Reports are at least this far apart; the last value always goes.
const PACE: Duration = Duration::from_millis(100);
/// After a report that failed.
const AGAIN: Duration = Duration::from_secs(2);

/// Shows titles and tokens from a thread of its own.
pub(super) struct StandBy {
    bystander: Bystander,
    /// Hangs up when the thread has ended.
    ended: Receiver<()>,
}

/// A way to tell it. Clones tell the same.
#[derive(Clone)]
pub(crate) struct Bystander(Arc<Shared>);

struct Shared {
    config: Config,
    state: Mutex<State>,
    changed: Notify,
    delivered: Notify,
}

#[derive(Default)]
struct State {
    activity: Activity,
    /// Counts changes …
    told: u64,
    /// … and how many of them are delivered.
    shown: u64,
    closing: bool,
    over: bool,
}

/// What is to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Shown {
    title: Option<PresentationText>,
    tokens: BTreeMap<TokenKey, PresentationText>,
}

impl StandBy {
    /// Starts for the agent with this process id; `None` if another process
    /// has the pane.
    pub(super) fn start(
        settings: &Settings,
        pane: &Endpoint,
        lease: &LeaseFile,
        pid: Option<u32>,
    ) -> Option<Self> {
        let held = take(lease).ok()?;
        let agent = AgentLabel::normalize(&settings.agent)?;
        let config = settings.config.clone();
        let source = config.source.clone().unwrap_or_else(|| source_for(&agent));
        let direct = Direct::new(pane, source, agent, config.metadata_ttl, &config);
        let server = Server::at(pane, config.allow_foreign_socket);
        // There is nothing to show while there is no state, and here there is
        // never one of ours.
        let mut state = State::default();
        let idle = AgentEvent::StateSet { state: ReportState::Idle, label: None };
        let _ = state.activity.apply(idle);
        let shared = Shared {
            config,
            state: Mutex::new(state),
            changed: Notify::new(),
            delivered: Notify::new(),
        };
        let bystander = Bystander(Arc::new(shared));
        let (say_ended, ended) = mpsc::channel();
        let shows = bystander.clone();
        thread::Builder::new()
            .name("stand-by".to_owned())
            .spawn(move || {
                shows.run(&direct, server, pid);
                drop((held, say_ended));
            })
            .ok()?;
        Some(Self { bystander, ended })
    }

    pub(super) fn handle(&self) -> Bystander {
        self.bystander.clone()
    }

    /// Takes everything off, within `budget`.
    pub(super) fn close(self, budget: Duration) {
        self.bystander.lock().closing = true;
        self.bystander.0.changed.notify_one();
        let _ = self.ended.recv_timeout(budget);
    }
}

impl Bystander {
    /// Records a batch as one change.
    pub(crate) fn record_all(&self, events: Vec<AgentEvent>) -> Vec<(usize, Refused)> {
        let mut state = self.lock();
        let events = events.into_iter().enumerate();
        let refused = events
            .filter_map(|(place, event)| Some((place, state.activity.apply(event).err()?)))
            .collect();
        state.told += 1;
        drop(state);
        self.0.changed.notify_one();
        refused
    }

    /// Waits until everything before it is delivered.
    pub(crate) async fn flush(&self, limit: Duration) -> Flushed {
        let ticket = self.lock().told;
        let done = self.until(|state| state.shown >= ticket || state.over);
        match timeout(limit, done).await {
            Ok(()) if self.lock().shown >= ticket => Flushed::Delivered,
            Ok(()) => Flushed::Inactive,
            Err(_) => Flushed::TimedOut,
        }
    }

    async fn until(&self, done: impl Fn(&State) -> bool) {
        loop {
            let mut waiting = std::pin::pin!(self.0.delivered.notified());
            waiting.as_mut().enable();
            if done(&self.lock()) {
                return;
            }
            waiting.await;
        }
    }

    fn run(&self, direct: &Direct, server: Server, pid: Option<u32>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        match runtime {
            Ok(runtime) => runtime.block_on(self.show(direct, server, pid)),
            Err(error) => tracing::warn!(%error, "titles and tokens cannot be shown"),
        }
        self.lock().over = true;
        self.0.delivered.notify_waiters();
    }

    async fn show(&self, direct: &Direct, mut server: Server, pid: Option<u32>) {
        let refresh = self.0.config.metadata_ttl.as_duration() / 3;
        let mut shown = Shown::default();
        let mut refreshed = Instant::now();
        let mut failed = false;
        let mut ours = false;
        let mut lost = false;
        loop {
            let something = shown != Shown::default();
            let wait = match (failed, something) {
                (true, _) => Some(AGAIN),
                (false, true) => Some(refresh.saturating_sub(refreshed.elapsed())),
                (false, false) => None,
            };
            tokio::select! {
                () = self.0.changed.notified() => {}
                () = until(wait) => {}
                () = server.gone() => {
                    // Another one has nothing of ours, and may have given the
                    // pane's id to somebody else (failures B43 and B32).
                    lost = true;
                    ours = false;
                }
            }
            let (wanted, told, closing) = self.wanted();
            if closing {
                // Nobody is left to be told if it fails.
                let _ = bring(direct, &mut shown, &Shown::default(), false).await;
                return;
            }
            if !ours && wanted != Shown::default() {
                match direct.check_place(&self.0.config, pid).await {
                    Ok(()) => ours = true,
                    Err(Problem::Foreign | Problem::Unproven) => continue,
                    Err(_) => {
                        failed = true;
                        continue;
                    }
                }
            }
            let again = failed || lost || (something && refreshed.elapsed() >= refresh);
            failed = bring(direct, &mut shown, &wanted, again).await.is_err();
            if !failed {
                lost = false;
                if shown != Shown::default() {
                    server.hold().await;
                }
                if again || !something {
                    refreshed = Instant::now();
                }
                self.lock().shown = told;
                self.0.delivered.notify_waiters();
            }
            sleep(PACE).await;
        }
    }

    fn wanted(&self) -> (Shown, u64, bool) {
        let state = self.lock();
        let snapshot = state.activity.snapshot(&self.0.config);
        let shown = snapshot
            .map(|snapshot| Shown { title: snapshot.presentation.title, tokens: snapshot.tokens });
        (shown.unwrap_or_default(), state.told, state.closing)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Brings what is shown to what is wanted; all of it `again`, if what was shown
/// may be gone.
async fn bring(
    direct: &Direct,
    shown: &mut Shown,
    wanted: &Shown,
    again: bool,
) -> Result<(), Problem> {
    if wanted.title != shown.title || (again && wanted.title.is_some()) {
        direct.title(wanted.title.clone(), Guard::Agent).await?;
        shown.title.clone_from(&wanted.title);
    }
    let gone = shown.tokens.keys().filter(|key| !wanted.tokens.contains_key(*key));
    let mut patch: BTreeMap<_, _> = gone.map(|key| (key.clone(), None)).collect();
    let new =
        wanted.tokens.iter().filter(|(key, text)| again || shown.tokens.get(*key) != Some(*text));
    patch.extend(new.map(|(key, text)| (key.clone(), Some(text.clone()))));
    if !patch.is_empty() {
        direct.tokens(&patch).await?;
        shown.tokens.clone_from(&wanted.tokens);
    }
    Ok(())
}

/// Another process has the lease.
struct Taken;

/// Takes the lease, waiting for a holder that may just be ending. A folder
/// that cannot be written to keeps nobody from reporting.
fn take(lease: &LeaseFile) -> Result<Option<File>, Taken> {
    let held = wait_for(PATIENCE, || match lease.try_take() {
        Ok(None) => None,
        Ok(held) => Some(held),
        Err(error) => {
            tracing::warn!(%error, "no lease can be kept");
            Some(None)
        }
    });
    held.ok_or(Taken)
}

async fn until(wait: Option<Duration>) {
    match wait {
        Some(wait) => sleep(wait).await,
        None => pending().await,
    }
}

use std::future::{Future, pending};
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use herdr_proto::ProcessInfo;
use herdr_socket_transport::{
    Client, Endpoint, ErrorKind, HeldStream, Peer, SocketIdentity, inode,
};
use tokio::time::{Instant, sleep_until};

use super::failure::failure;
#[cfg(unix)]
use super::forward::{Forwarded, Forwarder};
use super::rescue::Will;
use super::shared::Shared;
use super::tenure::Tenure;
use crate::machine::{
    Answer, Ended, Failure, Identity, Input, Lease, Now, PaneMachine, Request, Step,
};

/// How often the path is looked at for another socket, while something of ours
/// may be on the server. A held stream of a server that lives on without its
/// path would not tell.
const SOCKET_LOOK: Duration = Duration::from_secs(2);
/// After a held stream could not be opened, the next try waits for this long.
const HOLD_AGAIN: Duration = Duration::from_secs(2);
/// A held stream that lived for longer was a good one.
const HOLD_GOOD: Duration = Duration::from_secs(10);
/// After the second brief one in a row the next waits for this long, doubling …
const HOLD_BRIEF: Duration = Duration::from_millis(100);
/// … up to this. Each end makes everything go out again.
const HOLD_BRIEF_CAP: Duration = Duration::from_secs(60);
/// What the machine's end leaves of the host's budget for the way back.
const RETURN_TIME: Duration = Duration::from_millis(10);
/// Half of this a retired engine waits for the answer to what is in flight: a
/// request that is taken after the successor's could bring an old row back.
const RETIRE: Duration = Duration::from_millis(800);

type Exchange = Pin<Box<dyn Future<Output = Result<(Answer, Peer), Failure>>>>;
type Opening = Pin<Box<dyn Future<Output = Result<HeldStream, herdr_socket_transport::Error>>>>;

/// Executes what the machine says and tells it what happened.
pub(super) struct Engine<'a> {
    shared: &'a Shared,
    machine: PaneMachine,
    client: Client,
    will: &'a Will,
    tenure: Tenure,
    /// The pane as the environment has it.
    endpoint: Endpoint,
    agent: Option<u32>,
    started: Instant,
    in_flight: Option<Exchange>,
    hold: Hold,
    /// How many held streams in a row ended soon after they began.
    brief_holds: u32,
    /// The socket that was asked last.
    asked: Option<SocketIdentity>,
    has_asked: bool,
    /// The socket that the last answer, or the first failure, came from.
    socket: Option<SocketIdentity>,
    /// When the path was looked at last.
    looked: Instant,
    wake: Option<Duration>,
    ended: Option<Ended>,
    closing: bool,
}

/// The connection whose end is the news that the server went away.
enum Hold {
    /// Not wanted, or not before this moment.
    Off(Option<Instant>),
    Opening(Opening),
    Open(HeldStream, Instant),
}

/// What the engine was woken by.
#[expect(clippy::large_enum_variant, reason = "one at a time, and moved once")]
enum Woken {
    News,
    Answered(Result<(Answer, Peer), Failure>),
    Time,
    LeaseDue,
    Opened(Result<HeldStream, herdr_socket_transport::Error>),
    ServerGone,
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        machine: PaneMachine,
        client: Client,
        tenure: Tenure,
        endpoint: Endpoint,
        agent: Option<u32>,
        will: &'a Will,
    ) -> Self {
        Self {
            shared,
            machine,
            client,
            will,
            tenure,
            endpoint,
            agent,
            started: Instant::now(),
            in_flight: None,
            hold: Hold::Off(None),
            brief_holds: 0,
            asked: None,
            has_asked: false,
            socket: None,
            looked: Instant::now(),
            wake: None,
            ended: None,
            closing: false,
        }
    }

    pub(super) async fn run(mut self) -> Ended {
        if let Some(legacy) = self.tenure.succeed().await {
            self.machine.inherit(legacy);
        }
        if self.tenure.is_held() {
            self.shared.set_lease(Lease::Held);
        } else {
            self.step(Input::Lease(Lease::Sought));
        }
        loop {
            if let Some(ended) = self.ended {
                self.shared.leave(self.machine.predecessor_claim(), self.tenure.give_up());
                return ended;
            }
            match self.woken().await {
                Woken::News => self.take_news().await,
                Woken::LeaseDue => self.try_lease().await,
                Woken::Time => self.time(),
                Woken::Answered(answer) => {
                    self.in_flight = None;
                    let fine = answer.is_ok();
                    self.answered(answer);
                    if fine || self.socket.is_none() {
                        // After a failure, another one at this path is worth
                        // another try.
                        self.socket = self.asked;
                    }
                    if fine {
                        self.open_hold();
                    }
                }
                Woken::Opened(Ok(stream)) => {
                    self.hold = Hold::Open(stream, Instant::now());
                    self.look_at_socket();
                }
                Woken::Opened(Err(error)) if is_absence(&error) => {
                    // It answered a moment ago, so it has just gone.
                    self.hold = self.after_hold();
                    self.step(Input::ServerChanged);
                }
                Woken::Opened(Err(_)) => {
                    self.brief_holds = 0;
                    self.hold = Hold::Off(Some(Instant::now() + HOLD_AGAIN));
                }
                Woken::ServerGone => {
                    self.hold = self.after_hold();
                    self.step(Input::ServerChanged);
                }
            }
        }
    }

    async fn woken(&mut self) -> Woken {
        let wake = self.next_wake();
        let lease = at_once_or(self.tenure.next_try());
        let answered = async {
            match &mut self.in_flight {
                Some(exchange) => exchange.await,
                None => pending().await,
            }
        };
        let held = async {
            match &mut self.hold {
                Hold::Off(_) => pending().await,
                Hold::Opening(opening) => Woken::Opened(opening.await),
                Hold::Open(stream, _) => {
                    stream.ended().await;
                    Woken::ServerGone
                }
            }
        };
        tokio::select! {
            biased;
            answer = answered => Woken::Answered(answer),
            () = self.shared.news() => Woken::News,
            held = held => held,
            () = lease => Woken::LeaseDue,
            () = wake => Woken::Time,
        }
    }

    fn next_wake(&self) -> impl Future<Output = ()> + use<> {
        let flush = self.shared.next_flush_timeout().map(Instant::from_std);
        let wake = self.wake.and_then(|wake| self.started.checked_add(wake));
        let hold = match self.hold {
            // A failed try is repeated beside an answer, but a server that
            // ended a stream is there, and the next end should be news too.
            Hold::Off(again) if self.brief_holds > 0 => again,
            _ => None,
        };
        let look = self.has_asked.then(|| self.looked + SOCKET_LOOK);
        until([wake, hold, flush, look].into_iter().flatten().min())
    }

    async fn take_news(&mut self) {
        let news = self.shared.take_news();
        if news.retire {
            self.step(Input::Lease(Lease::Denied));
            self.step(Input::Close { budget: RETIRE });
            return;
        }
        // A close sends nothing pending, so what is wanted does not matter then.
        if news.changed && news.close.is_none() {
            self.step(Input::Wanted(news.wanted.map(Box::new)));
            if self.tenure.may_try() {
                self.try_lease().await;
            }
        }
        if self.ended.is_some() {
            return;
        }
        if let Some(deadline) = news.close.filter(|_| !self.closing) {
            self.closing = true;
            // Nothing is opened any more that could reach the server after the
            // release.
            self.hold = Hold::Off(None);
            let budget = deadline.saturating_duration_since(std::time::Instant::now());
            self.step(Input::Close { budget: budget.saturating_sub(RETURN_TIME) });
        } else if news.flush {
            self.step(Input::Flush);
        }
    }

    async fn try_lease(&mut self) {
        if let Some(legacy) = self.tenure.inherit() {
            self.machine.inherit(legacy);
        }
        #[cfg(unix)]
        if self.forward().await {
            if self.ended.is_some() {
                return;
            }
            self.shared.set_lease(Lease::Sought);
            return self.step(Input::Lease(Lease::Sought));
        }
        let lease = if self.tenure.is_held() {
            Lease::Held
        } else {
            self.tenure.try_take(self.shared).await
        };
        #[cfg(unix)]
        if lease != Lease::Held {
            self.tenure.ask_for_it(&self.endpoint, self.agent).await;
        }
        self.shared.set_lease(lease);
        self.step(Input::Lease(lease));
    }

    /// If this process has a supervisor, reports through it for as long as it
    /// lives; whether it did.
    #[cfg(unix)]
    async fn forward(&mut self) -> bool {
        let Some(socket) = self.tenure.own_supervisor() else { return false };
        let Ok(forwarder) = Forwarder::connect(self.shared, socket).await else { return false };
        match forwarder.run().await {
            Forwarded::Closed(ended) => self.ended = Some(ended),
            Forwarded::SupervisorGone => {
                self.tenure.be_patient_again();
                // What is wanted goes out again, on our own.
                self.shared.tell_again();
            }
        }
        true
    }

    fn answered(&mut self, answer: Result<(Answer, Peer), Failure>) {
        let answer = match answer {
            Ok((Answer::Processes(info), peer)) => {
                let verdict = self.judge(&info, peer);
                self.step(Input::Answered(Ok(Answer::Processes(info))));
                self.step(Input::Identity(verdict));
                return;
            }
            other => other.map(|(answer, _)| answer),
        };
        self.step(Input::Answered(answer));
    }

    #[cfg(unix)]
    fn judge(&self, info: &ProcessInfo, peer: Peer) -> Identity {
        super::identity::judge_identity(info, self.agent, self.client.socket(), peer)
    }

    #[cfg(not(unix))]
    fn judge(&self, _: &ProcessInfo, _: Peer) -> Identity {
        let _ = self.agent;
        Identity::Unprovable
    }

    fn time(&mut self) {
        #[cfg(unix)]
        self.tenure.keep_in_place();
        if self.look_at_socket() {
            return;
        }
        if self.brief_holds > 0 {
            self.open_hold();
        }
        self.step(Input::Timer);
    }

    /// Whether another socket is at the path than the one that was asked last.
    fn look_at_socket(&mut self) -> bool {
        self.looked = Instant::now();
        let now = inode(self.client.socket());
        if now.is_none() || now == self.socket || !self.has_asked {
            return false;
        }
        self.socket = now;
        self.hold = Hold::Off(None);
        self.step(Input::ServerChanged);
        true
    }

    /// When to open the next held stream. A handoff ends one that may be young,
    /// and so may the next; a server that ends every one must not be asked, and
    /// sent everything again, in a loop.
    fn after_hold(&mut self) -> Hold {
        let good = matches!(&self.hold, Hold::Open(_, since) if since.elapsed() >= HOLD_GOOD);
        self.brief_holds = if good { 0 } else { self.brief_holds.saturating_add(1) };
        Hold::Off(self.brief_holds.checked_sub(2).map(|doublings| {
            let wait = HOLD_BRIEF.saturating_mul(1 << doublings.min(16));
            Instant::now() + wait.min(HOLD_BRIEF_CAP)
        }))
    }

    fn step(&mut self, input: Input) {
        let step = self.machine.step(self.now(), input);
        self.shared.publish(&step, self.machine.counters());
        let Step { abandon, request, wake, ended, .. } = step;
        if abandon {
            self.in_flight = None;
        }
        if let Some(request) = request {
            self.will.note(&request.call);
            self.has_asked = true;
            self.asked = inode(self.client.socket());
            self.in_flight = Some(Box::pin(exchange(self.client.clone(), request)));
        }
        self.wake = wake;
        self.ended = ended;
    }

    fn open_hold(&mut self) {
        let may = match &self.hold {
            Hold::Off(again) => again.is_none_or(|again| again <= Instant::now()),
            _ => false,
        };
        if may && !self.closing {
            let client = self.client.clone();
            self.hold = Hold::Opening(Box::pin(async move { client.hold().await }));
        }
    }

    fn now(&self) -> Now {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        Now::new(self.started.elapsed(), micros)
    }
}

/// Whether nobody is there.
fn is_absence(error: &herdr_socket_transport::Error) -> bool {
    matches!(error.kind(), ErrorKind::NoSuchSocket | ErrorKind::Refused)
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

/// As `until`, and without the timer's millisecond where the time has come: it
/// would be lost at every start.
async fn at_once_or(at: Option<Instant>) {
    if at.is_none_or(|at| at > Instant::now()) {
        until(at).await;
    }
}

pub(crate) async fn exchange(client: Client, request: Request) -> Result<(Answer, Peer), Failure> {
    let line = request.call.encode("r")?;
    let client = client.with_deadline(request.deadline);
    let (reply, peer) = client.exchange_with(&line).await.map_err(|error| failure(&error))?;
    let answer = request.call.decode(&reply)?;
    #[cfg(unix)]
    if let Answer::Processes(info) = &answer {
        super::identity::await_shell(info, peer).await;
    }
    Ok((answer, peer))
}

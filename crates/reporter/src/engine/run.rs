use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use herdr_proto::PaneId;
use herdr_socket_transport::{Client, Endpoint, Peer, SocketIdentity, inode};
use tokio::time::{Instant, sleep_until};

use super::failure::failure;
use super::hold::{Hold, HoldChange};
use super::lease::PaneLease;
use super::panic_release::PanicRelease;
use super::shared::Shared;
use crate::config::UnverifiedPane;
use crate::machine::{
    Answer, Claim, Counters, Ended, Failure, FailureKind, Identity, Input, Lease, Now, PaneCall,
    PaneMachine, Request, Step,
};
use crate::status::Status;

/// How often the path is looked at for another socket while no held stream
/// would tell that the server went away …
const SOCKET_LOOK: Duration = Duration::from_secs(2);
/// … and while one would. A server that lives on without its path does not end
/// it, but every request looks at the path, too.
const SOCKET_LOOK_HELD: Duration = Duration::from_secs(60);
/// What the machine's end leaves of the host's budget for the way back.
const RETURN_TIME: Duration = Duration::from_millis(10);
/// Half of this a retired engine waits for the answer to what is in flight: a
/// request that is taken after the successor's could bring an old row back.
const RETIRE: Duration = Duration::from_millis(800);

/// What became of a request, and who answered it.
pub(crate) type Outcome = (Result<Answer, Failure>, Option<Peer>);

/// A request that is out.
struct Flight {
    /// The pane whose processes were asked for, if that was the question.
    identifies: Option<PaneId>,
    outcome: Pin<Box<dyn Future<Output = Outcome>>>,
}

/// Executes what the machine says and tells it what happened.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Engine<'a> {
    pub(super) shared: &'a Shared,
    pub(super) machine: PaneMachine,
    pub(super) client: Client,
    release: &'a PanicRelease,
    pub(super) lease: PaneLease,
    /// What the lease was to the machine last.
    pub(super) lease_state: Lease,
    pub(super) any_pane: bool,
    pub(super) allows_unprovable: bool,
    /// The pane that is ours as far as is known.
    pub(super) pane: PaneId,
    /// It was proven to be somebody else's.
    pub(super) foreign: bool,
    /// The pane as the environment has it.
    pub(super) endpoint: Endpoint,
    pub(super) agent: Option<u32>,
    /// The pane's processes, if they were asked for before the machine does, and
    /// of which socket.
    pub(super) processes: Option<(Outcome, Option<SocketIdentity>)>,
    started: Instant,
    in_flight: Option<Flight>,
    hold: Hold,
    /// The socket that was asked last.
    asked: Option<SocketIdentity>,
    has_asked: bool,
    /// The socket that the last answer, or the first failure, came from …
    socket: Option<SocketIdentity>,
    /// … and who answered.
    peer: Option<Peer>,
    /// Nobody answers.
    unreachable: bool,
    /// When the path was looked at last.
    looked: Instant,
    wake: Option<Duration>,
    /// Up to which flush the machine knows everything.
    flushes: u64,
    pub(super) ended: Option<Ended>,
    closing: bool,
    #[cfg(test)]
    pub(super) probe: std::rc::Rc<super::wake_ups::Probe>,
}

/// What the engine was woken by.
#[expect(clippy::large_enum_variant, reason = "one at a time, and moved once")]
enum Woken {
    Host,
    Answered(Outcome),
    Time,
    LeaseDue,
    Held(HoldChange),
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        claim: Claim,
        client: Client,
        lease: PaneLease,
        endpoint: Endpoint,
        agent: Option<u32>,
        release: &'a PanicRelease,
    ) -> Self {
        Self {
            shared,
            client,
            release,
            lease,
            lease_state: Lease::Held,
            any_pane: claim.any_pane,
            allows_unprovable: claim.unverified_pane == UnverifiedPane::Allow,
            pane: claim.pane.clone(),
            foreign: false,
            machine: PaneMachine::new(claim),
            endpoint,
            agent,
            processes: None,
            started: Instant::now(),
            in_flight: None,
            hold: Hold::off(),
            asked: None,
            has_asked: false,
            socket: None,
            peer: None,
            unreachable: false,
            looked: Instant::now(),
            wake: None,
            flushes: 0,
            ended: None,
            closing: false,
            #[cfg(test)]
            probe: std::rc::Rc::default(),
        }
    }

    /// The machine is free to ask whose pane it is from the beginning; the lease
    /// comes with the answer, and reports after it.
    pub(super) async fn run(mut self) -> Ended {
        if let Some(claim) = self.lease.succeed().await {
            self.machine.inherit(claim);
        }
        if self.lease.is_settled() {
            self.shared.set_lease(Lease::Held);
        }
        loop {
            if let Some(ended) = self.ended {
                self.shared.leave(self.machine.predecessor_claim(), self.lease.hand_over());
                return ended;
            }
            match self.woken().await {
                Woken::Host => self.take_changes().await,
                Woken::LeaseDue => self.try_lease().await,
                Woken::Time => {
                    #[cfg(unix)]
                    self.lease.keep_in_place();
                    self.look_at_socket();
                    self.step(Input::Timer);
                }
                Woken::Answered((answer, peer)) => self.answered(answer, peer).await,
                Woken::Held(HoldChange::Opened) => drop(self.look_at_socket()),
                Woken::Held(HoldChange::NotOpened) => {}
                Woken::Held(HoldChange::ServerGone) => {
                    self.socket = inode(self.client.socket());
                    self.asked = self.socket;
                    self.server_changed();
                }
            }
        }
    }

    async fn woken(&mut self) -> Woken {
        #[cfg(test)]
        self.probe.waits(self.in_flight.is_some());
        let wake = self.next_wake();
        let lease = at_once_or(self.lease.next_try());
        let answered = async {
            match &mut self.in_flight {
                Some(flight) => flight.outcome.as_mut().await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            answer = answered => Woken::Answered(answer),
            () = self.shared.changed() => Woken::Host,
            held = self.hold.changed() => Woken::Held(held),
            () = lease => Woken::LeaseDue,
            () = wake => Woken::Time,
        }
    }

    fn next_wake(&self) -> impl Future<Output = ()> + use<> {
        let wake = self.wake.and_then(|wake| self.started.checked_add(wake));
        let every = if self.hold.is_open() { SOCKET_LOOK_HELD } else { SOCKET_LOOK };
        let look = self.has_asked.then(|| self.looked + every);
        until([wake, self.hold.next_try(), look].into_iter().flatten().min())
    }

    async fn take_changes(&mut self) {
        let changes = self.shared.take_changes();
        if changes.retire {
            self.feed(Input::Lease(Lease::Denied));
            self.feed(Input::Close { budget: RETIRE });
            return;
        }
        let wants = changes.wanted.is_some() || changes.lease_awaited;
        if wants && self.lease.is_unsought() && changes.close.is_none() {
            self.prepare(&changes).await;
            if self.ended.is_some() {
                return;
            }
        }
        self.flushes = changes.asked;
        // A close sends nothing pending, so what is wanted does not matter then.
        if changes.changed && changes.close.is_none() {
            self.step(Input::Wanted(changes.wanted.map(Box::new)));
        }
        if let Some(deadline) = changes.close.filter(|_| !self.closing) {
            self.closing = true;
            // Nothing is opened any more that could reach the server after the
            // release.
            self.hold.close();
            let budget = deadline.saturating_duration_since(std::time::Instant::now());
            self.feed(Input::Close { budget: budget.saturating_sub(RETURN_TIME) });
        } else if changes.flush {
            self.step(Input::Flush);
        }
    }

    async fn answered(&mut self, answer: Result<Answer, Failure>, peer: Option<Peer>) {
        let identified = self.in_flight.take().and_then(|flight| flight.identifies);
        let fine = answer.is_ok();
        self.unreachable = answer.as_ref().is_err_and(|failure| !is_answer(failure));
        let other = peer.is_some()
            && ((self.socket.is_some() && self.asked != self.socket)
                || (self.peer.is_some() && peer != self.peer));
        if other {
            self.hold.close();
            self.server_changed();
        }
        if peer.is_some() {
            self.peer = peer;
            self.socket = self.asked;
        } else {
            // After a failure, another one at this path is worth another try.
            self.socket = self.socket.or(self.asked);
        }
        let verdict = match (&answer, peer) {
            (Ok(Answer::Processes(info)), Some(peer)) => Some(self.judge(info, peer)),
            // It does not tell.
            (Err(failure), _) if is_answer(failure) => Some(Identity::Unprovable),
            _ => None,
        };
        if let (Some(pane), Some(verdict), false) = (identified, verdict, other) {
            self.identified(pane, verdict).await;
        }
        let proves = fine && matches!(answer, Ok(Answer::Processes(_)));
        self.feed(Input::Answered(answer));
        if let Some(verdict) = verdict.filter(|_| proves) {
            self.feed(Input::Identity(verdict));
        }
        if fine && !self.closing {
            self.hold.open(&self.client);
        }
    }

    /// Whether another socket is at the path than the one that answered last.
    pub(super) fn look_at_socket(&mut self) -> bool {
        self.looked = Instant::now();
        let now = inode(self.client.socket());
        if now.is_none() || now == self.socket.or(self.asked) || !self.has_asked {
            return false;
        }
        self.socket = now;
        self.hold.close();
        self.server_changed();
        true
    }

    /// Another server knows nothing of us, and the pane may be somebody else's
    /// there.
    fn server_changed(&mut self) {
        self.peer = None;
        self.processes = None;
        self.feed(Input::ServerChanged);
    }

    /// Whatever happens may send something, and before that the path is looked
    /// at: what is meant for one server must not go to another.
    fn step(&mut self, input: Input) {
        if self.socket.is_some() {
            self.look_at_socket();
        }
        if self.hold.next_try().is_some() && !self.closing {
            self.hold.open(&self.client);
        }
        self.feed(input);
    }

    pub(super) fn feed(&mut self, input: Input) {
        let step = self.machine.step(self.now(), input);
        let counters = Counters { copies: self.client.copies_sent(), ..self.machine.counters() };
        self.shared.publish(&step, counters, self.status(), self.flushes);
        let Step { abandon, request, wake, ended, .. } = step;
        if abandon {
            self.in_flight = None;
        }
        if let Some(request) = request {
            self.send(request);
        }
        self.wake = wake;
        self.ended = ended;
    }

    fn send(&mut self, request: Request) {
        let Request { call, deadline } = request;
        self.release.note(&call);
        self.has_asked = true;
        self.asked = inode(self.client.socket());
        let identifies = match &call {
            PaneCall::Processes(get) => get.pane_id.clone(),
            _ => None,
        };
        let known = self
            .processes
            .take_if(|(_, asked)| identifies.as_ref() == Some(&self.pane) && *asked == self.asked);
        let outcome: Pin<Box<dyn Future<Output = Outcome>>> = match known {
            Some((outcome, _)) => Box::pin(ready(outcome)),
            None => Box::pin(exchange(self.client.clone(), call, deadline)),
        };
        self.in_flight = Some(Flight { identifies, outcome });
    }

    pub(super) fn status(&self) -> Status {
        if self.foreign {
            Status::ForeignPane
        } else if self.lease_state == Lease::Denied {
            Status::Deferred { to: self.lease.owner() }
        } else if self.unreachable {
            Status::WaitingForServer
        } else if self.machine.state_left_to().is_some() {
            Status::StateLeftToHerdr
        } else {
            Status::Reporting
        }
    }

    fn now(&self) -> Now {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        Now::new(self.started.elapsed(), micros)
    }
}

/// Whether the server has taken the request and answered, if not as hoped.
fn is_answer(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Rejected(_) | FailureKind::Malformed)
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

pub(crate) async fn exchange(client: Client, call: PaneCall, deadline: Duration) -> Outcome {
    let (client, line) = match call.encode("r") {
        Ok(line) => (client.with_deadline(deadline), line),
        Err(failure) => return (Err(failure), None),
    };
    let exchanged = if call.is_repeatable() {
        client.exchange_repeatable(&line).await
    } else {
        client.exchange_with(&line).await
    };
    match exchanged {
        Ok((reply, peer)) => {
            let answer = call.decode(&reply);
            #[cfg(unix)]
            if let Ok(Answer::Processes(info)) = &answer {
                super::identity::await_shell(info, peer).await;
            }
            (answer, Some(peer))
        }
        Err(error) => (Err(failure(&error)), None),
    }
}

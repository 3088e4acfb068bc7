use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use herdr_socket_transport::{Client, Endpoint, inode};
use tokio::time::{Instant, sleep_until};

use super::Plan;
use super::exchange::{Outcome, exchange};
#[cfg(unix)]
use super::forward::{Forwarded, Forwarder};
use super::hold::{Hold, HoldChange};
use super::identity::judge_identity;
use super::lease::PaneLease;
use super::server::Server;
use super::shared::Shared;
use crate::clock;
use crate::lease::LeaseFile;
use crate::machine::{
    Counters, Ended, Failure, FailureKind, Input, Lease, PaneMachine, Request, Step,
};
use crate::status::Status;

/// How often the engine checks for another socket at the path while no held stream is open.
const PATH_CHECK: Duration = Duration::from_secs(2);
/// How often it checks while a held stream is open. A server that has lost its path but still runs
/// does not end the stream; each request checks the path as well.
const PATH_CHECK_HELD: Duration = Duration::from_secs(60);
/// The part of the host's budget that is kept for the way back to the caller.
const RETURN_TIME: Duration = Duration::from_millis(10);
/// The budget of a retired engine. For half of it the engine waits for the answer to its request in
/// flight: if the server applied that request after one of the successor's, an old row could come
/// back.
const RETIRED_BUDGET: Duration = Duration::from_millis(800);
/// How long the release may take after the engine has panicked.
const LAST_RELEASE: Duration = Duration::from_millis(500);

/// Does what the machine says, and gives it what has happened.
pub(super) struct Engine<'a> {
    shared: &'a Shared,
    machine: PaneMachine,
    client: Client,
    lease: PaneLease,
    /// The pane as the environment has it.
    endpoint: Endpoint,
    agent: Option<u32>,
    started: Instant,
    in_flight: Option<Pin<Box<dyn Future<Output = Outcome>>>>,
    hold: Hold,
    server: Server,
    unreachable: bool,
    wake: Option<Duration>,
    /// The last flush before which the machine has all changes.
    last_flush: u64,
    ended: Option<Ended>,
    closing: bool,
    #[cfg(test)]
    pub(super) probe: std::rc::Rc<super::wake_ups::Probe>,
}

#[expect(clippy::large_enum_variant, reason = "one at a time, and moved once")]
enum Woken {
    Host,
    Answered(Outcome),
    Time,
    LeaseDue,
    Held(HoldChange),
}

impl<'a> Engine<'a> {
    pub(super) fn new(shared: &'a Shared, plan: Plan, predecessor: Option<Arc<Shared>>) -> Self {
        let Plan { claim, client, endpoint, agent } = plan;
        let lease = LeaseFile::of_pane(&shared.config, &endpoint);
        Self {
            shared,
            server: Server::at(client.socket().to_path_buf()),
            client,
            lease: PaneLease::new(lease, predecessor),
            machine: PaneMachine::new(claim),
            endpoint,
            agent,
            started: Instant::now(),
            in_flight: None,
            hold: Hold::off(),
            unreachable: false,
            wake: None,
            last_flush: 0,
            ended: None,
            closing: false,
            #[cfg(test)]
            probe: std::rc::Rc::default(),
        }
    }

    /// Runs until the reporter has ended. The machine first asks for the pane's processes. After
    /// the answer the engine asks for the lease, and nothing is reported before it has the lease.
    pub(super) async fn run(&mut self) -> Ended {
        if let Some(claim) = self.lease.wait_and_inherit().await {
            self.machine.inherit(claim);
        }
        self.set_lease(if self.lease.is_settled() { Lease::Held } else { Lease::Sought });
        loop {
            if let Some(ended) = self.ended {
                let claim = self.machine.predecessor_claim();
                self.shared.leave_to_successor(claim, self.lease.hand_over());
                return ended;
            }
            match self.woken().await {
                Woken::Host => self.take_changes().await,
                Woken::LeaseDue => self.try_lease().await,
                Woken::Time => {
                    #[cfg(unix)]
                    self.lease.keep_in_place();
                    self.check_path();
                    self.step(Input::Timer);
                }
                Woken::Answered(outcome) => self.answered(outcome),
                Woken::Held(change) => self.hold_changed(change),
            }
        }
    }

    /// Releases the pane after [`run`](Self::run) has panicked.
    pub(super) async fn release_after_a_panic(&mut self) -> Ended {
        self.in_flight = None;
        let Some(release) = self.machine.last_release() else { return Ended::NothingToRelease };
        match self.client.with_deadline(LAST_RELEASE).call(&release).await {
            Ok(_) => Ended::ReleasedUncleared,
            Err(_) => Ended::NotReleased,
        }
    }

    async fn woken(&mut self) -> Woken {
        #[cfg(test)]
        self.probe.waits(self.in_flight.is_some());
        let wake = self.next_wake();
        let lease = at_once_or(self.lease.next_try());
        let answered = async {
            match &mut self.in_flight {
                Some(flight) => flight.as_mut().await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            outcome = answered => Woken::Answered(outcome),
            () = self.shared.changed() => Woken::Host,
            held = self.hold.changed() => Woken::Held(held),
            () = lease => Woken::LeaseDue,
            () = wake => Woken::Time,
        }
    }

    fn next_wake(&self) -> impl Future<Output = ()> + use<> {
        let wake = self.wake.and_then(|wake| self.started.checked_add(wake));
        let interval = if self.hold.is_open() { PATH_CHECK_HELD } else { PATH_CHECK };
        let check = self.server.last_checked().map(|last| last + interval);
        until([wake, self.hold.next_try(), check].into_iter().flatten().min())
    }

    async fn take_changes(&mut self) {
        let changes = self.shared.take_changes(&self.shared.config, false);
        if changes.retire {
            self.feed(Input::Lease(Lease::Denied));
            self.feed(Input::Close { budget: RETIRED_BUDGET });
            return;
        }
        if let Some(deadline) = changes.close {
            self.last_flush = changes.last_flush;
            // After a close nothing new is reported, so the wanted snapshot does not matter.
            if !std::mem::replace(&mut self.closing, true) {
                // From now on no stream is opened, since it could reach the server after the
                // release.
                self.hold.close();
                let budget = deadline.saturating_duration_since(std::time::Instant::now());
                self.feed(Input::Close { budget: budget.saturating_sub(RETURN_TIME) });
            }
            return;
        }
        let wants = changes.wanted.is_some() || changes.lease_awaited;
        if wants && self.lease.is_unsought() && self.forward().await && self.ended.is_some() {
            return;
        }
        if changes.lease_awaited {
            self.step(Input::AwaitLease);
        }
        // From now on the flush is done once the machine has nothing left to do.
        self.last_flush = changes.last_flush;
        if changes.changed {
            self.step(Input::Wanted(changes.wanted.map(Box::new)));
        }
        if changes.flush {
            self.step(Input::Flush);
        }
    }

    async fn try_lease(&mut self) {
        if let Some(claim) = self.lease.inherit() {
            self.machine.inherit(claim);
        }
        // On another server the pane may not be ours, so that is asked first.
        if self.check_path() || self.forward().await {
            return;
        }
        let lease = self.lease.try_take(self.shared).await;
        #[cfg(unix)]
        if lease != Lease::Held {
            self.lease.ask_for_it(&self.endpoint, self.agent).await;
        }
        if let Some(left) = self.lease.left_behind().filter(|_| lease == Lease::Held) {
            self.machine.take_off(left);
        }
        self.set_lease(lease);
    }

    fn set_lease(&mut self, lease: Lease) {
        self.shared.set_lease(lease);
        self.feed(Input::Lease(lease));
    }

    /// If this process has a supervisor, reports through it as long as it lives. Returns whether
    /// there was one.
    #[cfg(unix)]
    async fn forward(&mut self) -> bool {
        let Some(socket) = self.lease.own_supervisor() else { return false };
        let Ok(forwarder) = Forwarder::connect(self.shared, socket).await else { return false };
        match forwarder.run().await {
            Forwarded::Closed(ended) => self.ended = Some(ended),
            Forwarded::SupervisorGone => {
                self.lease.give_up();
                self.set_lease(Lease::Sought);
                // This engine now reports by itself.
                self.shared.resend();
            }
        }
        true
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_async, reason = "the Unix one waits")]
    async fn forward(&mut self) -> bool {
        let _ = &self.endpoint;
        false
    }

    fn answered(&mut self, (answer, peer): Outcome) {
        self.in_flight = None;
        let succeeded = answer.is_ok();
        self.unreachable = answer.as_ref().is_err_and(|failure| !is_answer(failure));
        if self.server.answers(peer) {
            self.hold.close();
            self.feed(Input::ServerChanged);
        }
        self.feed(Input::Answered(answer));
        if succeeded && !self.closing {
            self.hold.open(&self.client);
        }
    }

    fn hold_changed(&mut self, change: HoldChange) {
        match change {
            HoldChange::Opened { to } => {
                if self.server.check() {
                    // The stream belongs to the old server unless it was opened to the socket that
                    // is at the path now.
                    if to != inode(self.client.socket()) {
                        self.hold.close();
                    }
                    self.feed(Input::ServerChanged);
                }
            }
            HoldChange::NotOpened => {}
            HoldChange::ServerGone => {
                self.server.gone();
                self.feed(Input::ServerChanged);
            }
        }
    }

    /// Whether another server is at the path. If so, the machine is told to start over: that server
    /// knows nothing of our reports, and its pane with this id may not be ours.
    fn check_path(&mut self) -> bool {
        let replaced = self.server.check();
        if replaced {
            self.hold.close();
            self.feed(Input::ServerChanged);
        }
        replaced
    }

    /// Gives an input to the machine. That may send a request, so the path is checked first: a
    /// request that is meant for one server must not go to another.
    fn step(&mut self, input: Input) {
        if self.server.is_known() {
            self.check_path();
        }
        if self.hold.next_try().is_some() && !self.closing {
            self.hold.open(&self.client);
        }
        self.feed(input);
    }

    fn feed(&mut self, input: Input) {
        let answered = matches!(input, Input::Answered(_));
        let step = self.machine.step(clock::now(self.started.elapsed()), input);
        if answered || step.request.is_some() {
            // This is done before the request is sent: the process may be killed before the answer
            // comes.
            self.lease.note(self.machine.leavings());
        }
        let counters = Counters { copies: self.client.copies_sent(), ..self.machine.counters() };
        self.shared.publish(&step, counters, self.status(), self.last_flush);
        let Step { abandon, request, wake, ended, .. } = step;
        if abandon {
            self.in_flight = None;
        }
        if let Some(Request { call, deadline, .. }) = request {
            self.server.asks();
            let client = self.client.clone();
            self.in_flight =
                Some(Box::pin(exchange(client, call, deadline, self.agent, judge_identity)));
        }
        self.wake = wake;
        self.ended = ended;
        match self.machine.may_have_pane() {
            Some(true) => self.lease.seek(),
            None if self.lease.is_settled() => {}
            _ if self.lease.is_unsought() => {}
            _ => {
                self.lease.give_up();
                self.feed(Input::Lease(Lease::Sought));
            }
        }
    }

    fn status(&self) -> Status {
        if self.machine.may_have_pane() == Some(false) {
            Status::ForeignPane
        } else if self.machine.lease() == Lease::Denied {
            Status::Deferred { to: self.lease.owner() }
        } else if self.unreachable {
            Status::WaitingForServer
        } else if self.machine.state_left_to().is_some() {
            Status::StateLeftToHerdr
        } else {
            Status::Reporting
        }
    }
}

/// Whether the failure is an answer of the server.
fn is_answer(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Rejected(_) | FailureKind::Malformed)
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

/// As [`until`], but returns at once if the time has come: a timer takes a millisecond even then,
/// which would delay every start.
async fn at_once_or(at: Option<Instant>) {
    if at.is_none_or(|at| at > Instant::now()) {
        until(at).await;
    }
}

//! A pane machine, the model that it reports to, and what goes on between.

use std::collections::VecDeque;
use std::time::Duration;

use fake_herdr::{Answer as Served, Model, Observation};
use herdr_proto::{AgentLabel, PaneId, SourceId};
use herdr_reporter::machine::{
    Answer, Claim, Failure, FailureKind, Identity, Input, Mode, Now, PaneCall, PaneMachine,
    Request, Step,
};
use herdr_reporter::sidecar::Activity;
use herdr_reporter::{AgentEvent, Config, Counters, Diagnostic, Ended, Receipt};
use serde_json::{Value, json};

use crate::events;

pub(crate) const PANE: &str = "w1:p1";
pub(crate) const SOURCE: &str = "custom:host";
pub(crate) const AGENT: &str = "host";
/// Where the wall clock starts, in microseconds.
pub(crate) const EPOCH: u64 = 1_700_000_000_000_000;

/// Where the agent runs, as far as the processes of this machine tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Home {
    /// In this pane.
    Pane(String),
    /// In no pane of this server.
    Elsewhere,
    /// Nobody can tell.
    Untold,
}

/// What becomes of the request in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Taken and answered.
    Served,
    /// Taken; the answer is lost.
    Unanswered,
    /// Not answered in time, and taken later ([`World::thaw`]).
    Frozen,
    /// Nobody there.
    Unreachable,
    /// The connection breaks before anything is taken.
    Broken,
    /// Taken and answered just before it would be given up.
    Late,
    /// Taken and answered before what was frozen earlier.
    Overtakes,
    /// Answered with `ok`, and not taken; reads are answered truly.
    Pretended,
    /// Not taken, and refused with this code.
    Refused(&'static str),
    /// Answered with what is no reply.
    Nonsense,
}

/// As late as an answer may be (a request is given up after 1.5 s).
const LATE: Duration = Duration::from_millis(1400);

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct World {
    pub(crate) model: Model,
    pub(crate) machine: PaneMachine,
    pub(crate) activity: Activity,
    pub(crate) config: Config,
    pub(crate) home: Home,
    pub(crate) elapsed: Duration,
    /// Microseconds by which the wall clock is off.
    pub(crate) clock_off: i64,
    pub(crate) in_flight: Option<Request>,
    pub(crate) wake: Option<Duration>,
    pub(crate) quiet: bool,
    pub(crate) ended: Option<Ended>,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Every request line as it was sent.
    pub(crate) sent: Vec<Value>,
    /// A report of the state may have been taken since the last release before
    /// the end.
    pub(crate) claimed: bool,
    closing: bool,
    /// Metadata that is reported once has no number and no guard.
    unnumbered: bool,
    frozen: VecDeque<Vec<u8>>,
    /// The last number of the state's mark, and of the metadata's.
    last_seqs: [u64; 2],
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Config::default(), Model::new())
    }

    /// A world in which nobody asks whose pane it is.
    pub(crate) fn with(mut config: Config, model: Model) -> Self {
        config.any_pane = true;
        Self::at(Home::Untold, config, model)
    }

    /// A world in which the agent works and has said a title and a token;
    /// nothing of it is served yet.
    pub(crate) fn decorated() -> Self {
        let mut world = Self::new();
        world.tell(events::started());
        world.tell(events::title("T"));
        world.tell(events::token("branch", Some("main")));
        world
    }

    /// The same, when all of it is on the pane.
    pub(crate) fn shown() -> Self {
        let mut world = Self::decorated();
        world.serve_for(Duration::from_secs(1));
        world
    }

    pub(crate) fn at(home: Home, config: Config, model: Model) -> Self {
        let claim = Claim::new(
            PaneId::parse(PANE).unwrap(),
            SourceId::parse(SOURCE).unwrap(),
            AgentLabel::parse(AGENT).unwrap(),
            &config,
        );
        Self::of(claim, home, config, model)
    }

    pub(crate) fn of(claim: Claim, home: Home, config: Config, model: Model) -> Self {
        let unnumbered = matches!(claim.mode, Mode::Once(_));
        Self {
            model,
            machine: PaneMachine::new(claim),
            activity: Activity::default(),
            config,
            home,
            elapsed: Duration::ZERO,
            clock_off: 0,
            in_flight: None,
            wake: None,
            quiet: true,
            ended: None,
            receipts: Vec::new(),
            diagnostics: Vec::new(),
            sent: Vec::new(),
            claimed: false,
            closing: false,
            unnumbered,
            frozen: VecDeque::new(),
            last_seqs: [0; 2],
        }
    }

    pub(crate) fn tell(&mut self, event: AgentEvent) {
        let gives_back = event == AgentEvent::Release;
        self.activity.apply(event).unwrap();
        let wanted = self.activity.snapshot(&self.config).map(Box::new);
        // As the shell does: who has not said anything gives nothing back.
        if wanted.is_some() || gives_back {
            self.step(Input::Wanted(wanted));
        }
    }

    pub(crate) fn step(&mut self, input: Input) {
        if self.ended.is_some() {
            return;
        }
        self.closing |= matches!(input, Input::Close { .. });
        let Step { abandon, request, receipts, diagnostics, wake, quiet, ended, .. } =
            self.machine.step(self.now(), input);
        if abandon {
            // On a real socket an abandoned request may yet arrive.
            if let Some(request) = self.in_flight.take() {
                self.frozen.push_back(request.call.encode("t").unwrap());
            }
        }
        if let Some(request) = request {
            assert!(self.in_flight.is_none(), "one request in flight");
            self.note(&request.call);
            self.in_flight = Some(request);
        }
        self.receipts.extend(receipts);
        self.diagnostics.extend(diagnostics);
        self.wake = wake;
        self.quiet = quiet;
        self.ended = ended;
        assert!(self.counters().add_up(), "{:?}", self.counters());
    }

    /// Lets the request in flight meet its fate, in one millisecond.
    pub(crate) fn resolve(&mut self, fate: Fate) {
        self.elapsed += Duration::from_millis(1);
        let Some(Request { call, deadline, .. }) = self.in_flight.take() else { return };
        let line = call.encode("t").unwrap();
        match call {
            PaneCall::Report(_) if !matches!(fate, Fate::Refused(_) | Fate::Unreachable) => {
                self.claimed = true;
            }
            PaneCall::Release(_) if matches!(fate, Fate::Served | Fate::Overtakes) => {
                self.claimed &= self.closing;
            }
            _ => {}
        }
        let failure = |kind| Input::Answered(Err(Failure::new(kind, "a test's fault")));
        let input = match fate {
            Fate::Served => {
                let answer = self.serve(&call, &line);
                return self.answer(answer);
            }
            Fate::Late => {
                self.elapsed += LATE;
                let answer = self.serve(&call, &line);
                return self.answer(answer);
            }
            Fate::Overtakes => {
                let answer = self.ask(&call, &line);
                return self.answer(answer);
            }
            Fate::Pretended if is_read(&call) => {
                let answer = self.ask(&call, &line);
                return self.answer(answer);
            }
            Fate::Pretended => Input::Answered(Ok(Answer::Ack)),
            Fate::Refused(code) => {
                let error = json!({"id": "t", "error": {"code": code, "message": "m"}});
                return self.answer(call.decode(error.to_string().as_bytes()));
            }
            Fate::Unanswered => {
                let _ = self.serve(&call, &line);
                self.elapsed += deadline;
                failure(FailureKind::Timeout)
            }
            Fate::Frozen => {
                self.frozen.push_back(line);
                self.elapsed += deadline;
                failure(FailureKind::Timeout)
            }
            Fate::Nonsense => {
                let nonsense = json!({"id": "t", "result": {"type": "nonsense"}}).to_string();
                return self.answer(Err(call.decode(nonsense.as_bytes()).err().unwrap_or_else(
                    || Failure::new(FailureKind::Malformed, "a test's nonsense"),
                )));
            }
            Fate::Unreachable => failure(FailureKind::Unreachable),
            Fate::Broken => failure(FailureKind::Broken),
        };
        self.step(input);
    }

    /// What a frozen server received it applies when it goes on, before
    /// anything newer.
    pub(crate) fn thaw(&mut self) {
        while let Some(line) = self.frozen.pop_front() {
            self.model.request(self.elapsed, &line);
        }
    }

    /// What a server has received and not taken goes with its process.
    pub(crate) fn lose_what_is_frozen(&mut self) {
        self.frozen.clear();
    }

    /// Time passes; timers that fall into it fire, and nothing is answered.
    pub(crate) fn pass(&mut self, time: Duration) {
        let until = self.elapsed + time;
        while let Some(wake) = self.wake.filter(|wake| *wake <= until && self.ended.is_none()) {
            self.elapsed = self.elapsed.max(wake);
            self.wake = None;
            self.step(Input::Timer);
        }
        self.elapsed = until;
    }

    /// Time passes on a healthy server.
    pub(crate) fn serve_for(&mut self, time: Duration) {
        self.meet_for(time, |_| Fate::Served);
    }

    /// Time passes, and each request meets the fate that it is given.
    pub(crate) fn meet_for(&mut self, time: Duration, mut fate: impl FnMut(&PaneCall) -> Fate) {
        let until = self.elapsed + time;
        while self.ended.is_none() {
            if let Some(request) = &self.in_flight {
                let fate = fate(&request.call);
                self.resolve(fate);
                if self.elapsed > until {
                    break;
                }
            } else if let Some(wake) = self.wake.filter(|wake| *wake <= until) {
                self.elapsed = self.elapsed.max(wake);
                self.wake = None;
                self.step(Input::Timer);
            } else {
                break;
            }
        }
        self.elapsed = self.elapsed.max(until);
    }

    /// Closes on a healthy server and says how it went.
    pub(crate) fn close(&mut self) -> Ended {
        self.step(Input::Close { budget: Duration::from_millis(500) });
        self.serve_for(Duration::from_secs(1));
        self.ended.expect("a close ends")
    }

    pub(crate) fn pane(&self) -> Observation {
        self.seen(PANE)
    }

    pub(crate) fn seen(&self, pane: &str) -> Observation {
        self.model.observe(self.elapsed, pane).expect("the pane is there")
    }

    pub(crate) fn counters(&self) -> Counters {
        self.machine.counters()
    }

    /// Somebody else's request.
    pub(crate) fn foreign(&mut self, method: &str, mut params: Value) {
        params["pane_id"] = PANE.into();
        self.foreign_call(method, &params);
    }

    /// Somebody else's request, whichever pane it is about.
    pub(crate) fn foreign_call(&mut self, method: &str, params: &Value) {
        let line = json!({"id": "f", "method": method, "params": params}).to_string() + "\n";
        self.model.request(self.elapsed, line.as_bytes());
    }

    pub(crate) fn methods(&self) -> Vec<&str> {
        self.sent.iter().map(|line| line["method"].as_str().unwrap()).collect()
    }

    pub(crate) fn sent_to(&self, method: &str) -> impl Iterator<Item = &Value> {
        self.sent.iter().filter(move |line| line["method"] == method).map(|line| &line["params"])
    }

    /// What the shell of the machine would find out.
    fn verdict(&self, answer: &Result<Answer, Failure>) -> Option<Identity> {
        let Ok(Answer::Processes(info)) = answer else { return None };
        Some(match &self.home {
            Home::Pane(home) if *home == info.pane_id.as_str() => Identity::Proven,
            Home::Untold => Identity::Unprovable,
            _ => Identity::Foreign,
        })
    }

    /// An answer arrives, and what the shell finds out by it.
    pub(crate) fn answer(&mut self, answer: Result<Answer, Failure>) {
        self.in_flight = None;
        let verdict = self.verdict(&answer);
        self.step(Input::Answered(answer));
        if let Some(verdict) = verdict {
            self.step(Input::Identity(verdict));
        }
    }

    fn serve(&mut self, call: &PaneCall, line: &[u8]) -> Result<Answer, Failure> {
        self.thaw();
        self.ask(call, line)
    }

    fn ask(&mut self, call: &PaneCall, line: &[u8]) -> Result<Answer, Failure> {
        match self.model.request(self.elapsed, line) {
            Served::Reply(reply) => call.decode(reply.as_bytes()),
            other => panic!("a request of ours was answered with {other:?}"),
        }
    }

    /// Checks what must hold of every request, and keeps it.
    fn note(&mut self, call: &PaneCall) {
        let line: Value = serde_json::from_slice(&call.encode("t").unwrap()).unwrap();
        let params = &line["params"];
        let method = line["method"].as_str().unwrap();
        let last = &mut self.last_seqs[usize::from(method == "pane.report_metadata")];
        if let Some(seq) = params["seq"].as_u64() {
            let retry = seq == *last && self.sent.contains(&line);
            assert!(seq > *last || retry, "seq {seq} after {last}");
            *last = seq;
        } else {
            let reads = ["pane.get", "pane.list", "pane.process_info", "agent.explain"];
            let once = method == "pane.report_metadata" && self.unnumbered;
            assert!(reads.contains(&method) || once, "everything but reads is sequenced");
        }
        if line["method"] == "pane.report_metadata" {
            let tokens = params["tokens"].as_object();
            assert!(tokens.is_none_or(|tokens| tokens.len() <= 16));
            if tokens.is_none() {
                let left_to_herdr = self.machine.state_left_to().is_some();
                let of_a_one_shot = params["source"].as_str().unwrap().ends_with(".reason");
                let guarded = params["applies_to_source"] == params["source"];
                assert!(self.unnumbered || left_to_herdr || of_a_one_shot || guarded, "{params}");
            } else {
                assert!(params["title"].is_null(), "tokens go alone");
            }
        }
        self.sent.push(line);
    }

    fn now(&self) -> Now {
        let micros = EPOCH + u64::try_from(self.elapsed.as_micros()).unwrap();
        Now::new(self.elapsed, micros.saturating_add_signed(self.clock_off))
    }
}

fn is_read(call: &PaneCall) -> bool {
    !matches!(
        call,
        PaneCall::Report(_) | PaneCall::Metadata(_) | PaneCall::Release(_) | PaneCall::Clear(_)
    )
}

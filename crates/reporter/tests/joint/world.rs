//! A pane machine and the model that it reports to, joined without a socket.

use std::collections::VecDeque;
use std::time::Duration;

use fake_herdr::{Model, Observation};
use herdr_proto::{AgentLabel, PaneId, SourceId};
use herdr_reporter::machine::{
    Answer, Claim, Failure, Identity, Input, Now, PaneCall, PaneMachine, Request, Step,
};
use herdr_reporter::sidecar::{Activity, Leavings};
use herdr_reporter::{
    AgentEvent, Config, Counters, Diagnostic, DiagnosticKind, Ended, Outcome, Part, Receipt,
};
use serde_json::{Value, json};

use crate::events;

pub(crate) const PANE: &str = "w1:p1";
pub(crate) const SOURCE: &str = "custom:host";
pub(crate) const AGENT: &str = "host";
pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
/// How long an ending may take.
pub(crate) const CLOSE_BUDGET: Duration = Duration::from_millis(500);
/// Where the wall clock starts, in microseconds.
pub(crate) const EPOCH: u64 = 1_700_000_000_000_000;

/// Where the agent runs, as far as the processes of this machine show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Home {
    /// In this pane.
    Pane(String),
    /// In no pane of this server.
    Elsewhere,
    /// The processes do not show it.
    Unknown,
}

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
    /// A report of the state may have been applied, and was not released before the end began.
    pub(crate) claimed: bool,
    pub(crate) closing: bool,
    /// A one-shot reports, and its metadata has no sequence number and no guard.
    one_shot: bool,
    /// The requests that a frozen server has received and not applied.
    pub(crate) frozen: VecDeque<Vec<u8>>,
    /// The last sequence number of the state's mark, and of the metadata's.
    last_seqs: [u64; 2],
    /// What the engine has noted in the lease's file.
    pub(crate) noted: Leavings,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Config::default(), Model::new())
    }

    /// A world in which the processes of the pane are not asked for.
    pub(crate) fn with(mut config: Config, model: Model) -> Self {
        config.any_pane = true;
        Self::at(Home::Unknown, config, model)
    }

    /// A world in which the agent works, which is on the pane.
    pub(crate) fn working() -> Self {
        let mut world = Self::new();
        world.record_and_serve(events::started());
        world
    }

    /// The next run on the pane of an earlier one.
    pub(crate) fn after(earlier: &mut Self) -> Self {
        let mut world = Self::with(Config::default(), std::mem::take(&mut earlier.model));
        world.elapsed = earlier.elapsed;
        world
    }

    /// A world in which the agent works and has said a title and a token. Nothing is served yet.
    pub(crate) fn decorated() -> Self {
        let mut world = Self::new();
        world.record(events::started());
        world.record(events::title("T"));
        world.record(events::token("branch", Some("main")));
        world
    }

    /// The same, once all of it is on the pane.
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
            config.clone(),
        );
        Self::of(claim, home, config, model)
    }

    pub(crate) fn of(claim: Claim, home: Home, config: Config, model: Model) -> Self {
        let one_shot = claim.once.is_some();
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
            one_shot,
            frozen: VecDeque::new(),
            last_seqs: [0; 2],
            noted: Leavings::default(),
        }
    }

    pub(crate) fn record(&mut self, event: AgentEvent) {
        let gives_back = event == AgentEvent::Release;
        self.activity.apply(event).unwrap();
        let wanted = self.activity.snapshot(&self.config).map(Box::new);
        // As in the engine, a host that has not said anything yet does not give the pane back.
        if wanted.is_some() || gives_back {
            self.step(Input::Wanted(wanted));
        }
    }

    pub(crate) fn record_and_serve(&mut self, event: AgentEvent) {
        self.record(event);
        self.serve_for(SECOND);
    }

    pub(crate) fn step(&mut self, input: Input) {
        if self.ended.is_some() {
            return;
        }
        self.closing |= matches!(input, Input::Close { .. });
        let answered = matches!(input, Input::Answered(_));
        let Step { abandon, request, receipts, diagnostics, wake, quiet, ended, .. } =
            self.machine.step(self.now(), input);
        if abandon {
            // On a real socket an abandoned request may still arrive.
            if let Some(request) = self.in_flight.take() {
                self.frozen.push_back(request.call.encode("t").unwrap());
            }
        }
        // A one-shot has no lease to note anything in.
        if !self.one_shot && (answered || request.is_some()) {
            self.noted = self.machine.leavings();
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
        self.assert_tokens_are_noted();
    }

    /// If the process were killed now, the next run would know each of its tokens on the pane.
    fn assert_tokens_are_noted(&self) {
        if self.one_shot {
            return;
        }
        let Some(pane) = self.model.observe(self.elapsed, PANE) else { return };
        let noted = serde_json::to_value(&self.noted).unwrap();
        for (key, text) in &pane.tokens {
            let mut sent = self.sent_to("pane.report_metadata");
            if sent.any(|params| params["tokens"][key] == **text) {
                assert!(!noted["tokens"][key].is_null(), "{key} is not in {noted}");
            }
        }
    }

    /// Closes on a healthy server.
    pub(crate) fn close(&mut self) -> Ended {
        self.begin_close();
        self.serve_for(SECOND);
        self.ended.expect("a close ends")
    }

    pub(crate) fn begin_close(&mut self) {
        self.step(Input::Close { budget: CLOSE_BUDGET });
    }

    /// The kinds of the diagnostics so far.
    pub(crate) fn raised(&self) -> Vec<DiagnosticKind> {
        self.diagnostics.iter().map(|diagnostic| diagnostic.kind).collect()
    }

    /// The outcomes in the receipts of a part so far.
    pub(crate) fn outcomes(&self, part: Part) -> Vec<Outcome> {
        self.receipts.iter().filter(|it| it.of == part).map(|it| it.outcome).collect()
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

    /// Another reporter's request for our pane.
    pub(crate) fn foreign(&mut self, method: &str, mut params: Value) {
        params["pane_id"] = PANE.into();
        self.foreign_call(method, &params);
    }

    /// Another reporter's request for any pane.
    pub(crate) fn foreign_call(&mut self, method: &str, params: &Value) {
        let line = json!({"id": "f", "method": method, "params": params}).to_string() + "\n";
        self.model.request(self.elapsed, line.as_bytes());
    }

    /// Opens a pane next to ours and returns its id.
    pub(crate) fn split(&mut self) -> String {
        let before = self.model.pane_ids();
        let params = json!({"target_pane_id": PANE, "direction": "right"});
        self.foreign_call("pane.split", &params);
        self.model.pane_ids().into_iter().find(|id| !before.contains(id)).unwrap()
    }

    /// Another process of the server takes the panes over.
    pub(crate) fn hand_off(&mut self) {
        self.model.live_handoff(self.elapsed);
        self.step(Input::ServerChanged);
    }

    pub(crate) fn methods(&self) -> Vec<&str> {
        self.sent.iter().map(|line| line["method"].as_str().unwrap()).collect()
    }

    pub(crate) fn sent_to(&self, method: &str) -> impl Iterator<Item = &Value> {
        self.sent.iter().filter(move |line| line["method"] == method).map(|line| &line["params"])
    }

    /// What the engine would find out from the processes of a pane.
    fn verdict(&self, answer: &Result<Answer, Failure>) -> Option<Identity> {
        let Ok(Answer::Processes(info)) = answer else { return None };
        Some(match &self.home {
            Home::Pane(home) if *home == info.pane_id.as_str() => Identity::Proven,
            Home::Unknown => Identity::Unprovable,
            _ => Identity::Foreign,
        })
    }

    /// An answer arrives, after the engine has judged the processes in it.
    pub(crate) fn answer(&mut self, answer: Result<Answer, Failure>) {
        self.in_flight = None;
        let verdict = self.verdict(&answer);
        self.step(Input::Answered(verdict.map(Answer::Identity).map_or(answer, Ok)));
    }

    /// Checks what must hold for every request, and keeps it.
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
            let once = method == "pane.report_metadata" && self.one_shot;
            assert!(reads.contains(&method) || once, "everything but reads is sequenced");
        }
        if line["method"] == "pane.report_metadata" {
            let tokens = params["tokens"].as_object();
            assert!(tokens.is_none_or(|tokens| tokens.len() <= 16));
            if tokens.is_none() {
                let left_to_herdr = self.machine.state_left_to().is_some();
                let of_a_one_shot = params["source"].as_str().unwrap().ends_with(".reason");
                let guarded = params["applies_to_source"] == params["source"];
                assert!(self.one_shot || left_to_herdr || of_a_one_shot || guarded, "{params}");
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

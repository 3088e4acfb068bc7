//! Properties that hold after any sequence of requests.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::time::Duration;

use fake_herdr::{Answer, Model, Profile};
use proptest::prelude::*;
use serde_json::{Value, json};

const PANES: [&str; 3] = ["w1:p1", "w1:p2", "w2:p1"];
const SOURCES: [&str; 8] = [
    "custom:a",
    "custom:b",
    "",
    "herdr:claude",
    "herdr:codex",
    "herdr:pi",
    "herdr:opencode",
    "herdr:qwen",
];
const AGENTS: [&str; 9] =
    ["bot", "Docs Bot", "claude", "claude-code", "codex", "pi", "opencode", "qwen", " "];

#[derive(Debug, Clone)]
enum Step {
    Request(Value),
    Appear(&'static str, &'static str),
    Exit,
    Move,
}

fn pick(from: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(from)
}

fn seq() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (0u64..40).prop_map(Value::from),
        2 => Just(Value::Null),
        1 => Just(Value::from(u64::MAX)),
    ]
}

fn tokens() -> impl Strategy<Value = Value> {
    proptest::collection::btree_map(
        "[a-z]{1,2}|k[0-9]{1,2}| |é",
        proptest::option::of(".{0,4}"),
        0..18,
    )
    .prop_map(|tokens| json!(tokens))
}

fn report() -> impl Strategy<Value = Value> {
    (pick(&PANES), pick(&SOURCES), pick(&AGENTS), 0..7usize, seq(), any::<bool>()).prop_map(
        |(pane, source, agent, state, seq, session)| {
            let state = ["idle", "working", "blocked", "unknown", "done", "Working", "idle"][state];
            let mut params = json!({
                "pane_id": pane, "source": source, "agent": agent, "state": state, "seq": seq,
            });
            if session {
                params["agent_session_id"] = "s-1".into();
                params["agent_session_path"] = "/tmp/s".into();
            }
            json!({ "id": "t", "method": "pane.report_agent", "params": params })
        },
    )
}

fn session() -> impl Strategy<Value = Value> {
    let starts = &["startup", "resume", "clear", "compact", "new", "fork", "select", "odd"];
    (pick(&PANES), pick(&SOURCES), pick(&AGENTS), 0..3u8, pick(starts), seq()).prop_map(
        |(pane, source, agent, id, start, seq)| {
            json!({ "id": "t", "method": "pane.report_agent_session", "params": {
                "pane_id": pane, "source": source, "agent": agent, "seq": seq,
                "agent_session_id": format!("s-{id}"), "session_start_source": start,
            }})
        },
    )
}

fn metadata() -> impl Strategy<Value = Value> {
    let guards = (proptest::option::of(pick(&AGENTS)), proptest::option::of(pick(&SOURCES)));
    let texts = (proptest::option::of(".{0,90}"), proptest::option::of(".{0,3}"), tokens());
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let ttl = proptest::option::of(prop_oneof![0u64..200, Just(86_400_000u64)]);
    (pick(&PANES), pick(&SOURCES), guards, texts, flags, seq(), ttl).prop_map(
        |(pane, source, (agent, applies), (title, label, tokens), flags, seq, ttl)| {
            let labels = label.map(|label| json!({ "working": label, "done": "x" }));
            json!({ "id": "t", "method": "pane.report_metadata", "params": {
                "pane_id": pane, "source": source, "agent": agent, "applies_to_source": applies,
                "title": title, "state_labels": labels.unwrap_or_else(|| json!({})),
                "tokens": tokens, "clear_title": flags.0 && flags.1,
                "clear_state_labels": flags.1 && flags.2, "clear_display_agent": flags.2,
                "seq": seq, "ttl_ms": ttl,
            }})
        },
    )
}

fn ending() -> impl Strategy<Value = Value> {
    (pick(&PANES), proptest::option::of(pick(&SOURCES)), pick(&AGENTS), seq(), any::<bool>())
        .prop_map(|(pane, source, agent, seq, clear)| {
            let method = if clear { "pane.clear_agent_authority" } else { "pane.release_agent" };
            let params = json!({ "pane_id": pane, "source": source, "agent": agent, "seq": seq });
            json!({ "id": "t", "method": method, "params": params })
        })
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let request = prop_oneof![6 => report(), 5 => metadata(), 2 => session(), 3 => ending()];
    let step = prop_oneof![
        20 => request.prop_map(Step::Request),
        1 => (pick(&AGENTS), pick(&["idle", "working", "blocked", "unknown"]))
            .prop_map(|(agent, state)| Step::Appear(agent, state)),
        1 => Just(Step::Exit),
        1 => Just(Step::Move),
    ];
    proptest::collection::vec((0u64..80, step), 1..60)
}

/// A change by the user or of the whole server.
#[derive(Debug, Clone)]
enum Disruption {
    Split(&'static str),
    Close(&'static str),
    Type(&'static str, String),
    Handoff,
}

fn disruption() -> impl Strategy<Value = Disruption> {
    prop_oneof![
        3 => pick(&PANES).prop_map(Disruption::Split),
        2 => pick(&PANES).prop_map(Disruption::Close),
        2 => (pick(&PANES), any::<String>()).prop_map(|(pane, text)| Disruption::Type(pane, text)),
        1 => Just(Disruption::Handoff),
    ]
}

struct Run {
    model: Model,
    now: Duration,
}

impl Run {
    fn new(profile: Profile) -> Self {
        let mut model = Model::with_profile(profile);
        model.split_pane(Duration::ZERO, "w1:p1");
        Self { model, now: Duration::ZERO }
    }

    fn act(&mut self, wait: u64, step: &Step) -> String {
        self.now += Duration::from_millis(wait);
        match step {
            Step::Request(request) => {
                let answer = self.model.request(self.now, request.to_string().as_bytes());
                assert!(matches!(answer, Answer::Reply(_)), "{request}");
                answer.line().unwrap_or_default().to_owned()
            }
            Step::Appear(agent, state) => {
                self.model.agent_appears(self.now, "w1:p1", agent, state).to_string()
            }
            Step::Exit => self.model.agent_exits(self.now, "w1:p1").to_string(),
            Step::Move => self.model.move_pane(self.now, "w1:p2").unwrap_or_default(),
        }
    }

    fn disrupt(&mut self, disruption: &Disruption) {
        match disruption {
            Disruption::Split(pane) => _ = self.model.split_pane(self.now, pane),
            Disruption::Close(pane) => _ = self.model.close_pane(self.now, pane),
            Disruption::Handoff => self.model.live_handoff(self.now),
            Disruption::Type(pane, text) => {
                let params = json!({ "pane_id": pane, "text": text });
                let request = json!({ "id": "t", "method": "pane.send_text", "params": params });
                self.act(0, &Step::Request(request));
            }
        }
    }

    /// Everything that readers can see.
    fn snapshot(&mut self) -> String {
        let request = br#"{"id":"s","method":"session.snapshot","params":{}}"#;
        self.model.request(self.now, request).line().unwrap().to_owned()
    }

    fn marks(&self) -> Vec<Option<u64>> {
        let all = PANES.iter().flat_map(|pane| SOURCES.iter().map(move |source| (pane, source)));
        all.flat_map(|(pane, source)| {
            [self.model.mark(pane, source), self.model.metadata_mark(pane, source)]
        })
        .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Only the end of an agent's process and a new full-lifecycle session reset a mark.
    #[test]
    fn a_report_never_lowers_a_mark(steps in steps()) {
        let mut run = Run::new(Profile::default());
        for (wait, step) in steps {
            let before = run.marks();
            run.act(wait, &step);
            if matches!(step, Step::Exit | Step::Appear(..)) {
                continue;
            }
            let may_reset = step_source(&step).is_some_and(|source| ["herdr:pi", "herdr:opencode"].contains(&source));
            for (before, after) in before.iter().zip(run.marks()) {
                prop_assert!(may_reset || after >= *before, "{before:?} became {after:?} by {step:?}");
            }
        }
    }

    #[test]
    fn tokens_never_exceed_32(steps in steps()) {
        let mut run = Run::new(Profile::default());
        for (wait, step) in steps {
            run.act(wait, &step);
            for pane in PANES {
                if let Some(seen) = run.model.observe(run.now, pane) {
                    prop_assert!(seen.tokens.len() <= 32);
                    let long = |text: &Option<String>| {
                        text.as_ref().is_some_and(|text| text.chars().count() > 80 || text.chars().any(char::is_control))
                    };
                    prop_assert!(!long(&seen.title) && !long(&seen.display_agent));
                }
            }
        }
    }

    /// The source of a claim can always end it with a fresh number, unless it is one of
    /// Herdr's own integrations.
    #[test]
    fn a_release_by_the_holder_ends_the_claim(steps in steps()) {
        let mut run = Run::new(Profile::default());
        for (wait, step) in steps {
            run.act(wait, &step);
        }
        for pane in PANES {
            let Some((source, agent)) = run.model.authority(pane) else { continue };
            let fresh = run.model.mark(pane, &source).map_or(Some(0), |mark| mark.checked_add(1));
            let Some(seq) = fresh else { continue };
            if herdr_proto::integration(&source, &agent).is_some() {
                continue;
            }
            let params = json!({ "pane_id": pane, "source": source, "agent": agent, "seq": seq });
            let release = json!({ "id": "t", "method": "pane.release_agent", "params": params });
            run.act(0, &Step::Request(release));
            prop_assert_eq!(run.model.authority(pane), None);
        }
    }

    #[test]
    fn the_same_input_gives_the_same_output(steps in steps()) {
        let run_all = || {
            let mut run = Run::new(Profile::default());
            let replies: Vec<String> = steps.iter().map(|(wait, step)| run.act(*wait, step)).collect();
            (replies, run.snapshot(), run.model.last_event())
        };
        prop_assert_eq!(run_all(), run_all());
    }

    /// The passing of time adds nothing, changes a text only to an older one, and does not
    /// change agent, status and session.
    #[test]
    fn ttl_only_removes(steps in steps(), later in 0u64..400) {
        let mut run = Run::new(Profile::default());
        let has_processes = steps.iter().any(|(_, step)| matches!(step, Step::Appear(..) | Step::Exit));
        for (wait, step) in steps {
            run.act(wait, &step);
        }
        if has_processes {
            // The detector looks at a process until some seconds after it has begun or
            // ended.
            run.now += Duration::from_secs(10);
        }
        run.snapshot();
        for pane in PANES {
            let Some(before) = run.model.observe(run.now, pane) else { continue };
            let after = run.model.observe(run.now + Duration::from_millis(later), pane).unwrap();
            prop_assert_eq!((&before.agent, &before.agent_status), (&after.agent, &after.agent_status));
            prop_assert_eq!(&before.agent_session, &after.agent_session);
            for (key, value) in &after.tokens {
                prop_assert_eq!(before.tokens.get(key), Some(value));
            }
            prop_assert!(before.title.is_some() || after.title.is_none());
            prop_assert!(after.state_labels.keys().all(|key| before.state_labels.contains_key(key)));
        }
        // Letting the time pass shows the same as observing a later time.
        let ahead = run.model.observe(run.now + Duration::from_millis(later), "w1:p1");
        run.now += Duration::from_millis(later);
        run.snapshot();
        prop_assert_eq!(ahead, run.model.observe(run.now, "w1:p1"));
    }

    /// On every server answers are JSON, and the data of a pane is bounded.
    #[test]
    fn every_server_stays_within_its_bounds(steps in steps(), disruptions in proptest::collection::vec(disruption(), 1..8)) {
        for profile in
            [Profile::herdr_0_8_2(), Profile::herdr_0_9_0(), Profile::herdr_0_9_3(), Profile::tuios()]
        {
            let mut run = Run::new(profile);
            let every = steps.len() / disruptions.len() + 1;
            for (disruption, steps) in disruptions.iter().zip(steps.chunks(every)) {
                run.disrupt(disruption);
                for (wait, step) in steps {
                    let reply = run.act(*wait, step);
                    let is_json = serde_json::from_str::<Value>(&reply).is_ok();
                    prop_assert!(is_json || !matches!(step, Step::Request(_)), "{reply}");
                }
                for pane in run.model.pane_ids() {
                    let seen = run.model.observe(run.now, &pane).expect("a listed pane is there");
                    prop_assert!(seen.tokens.len() <= 32);
                    prop_assert!(seen.title.is_none_or(|title| title.chars().count() <= 80));
                }
            }
        }
    }

    /// No line that a client sends makes the model panic.
    #[test]
    fn any_bytes_are_answered_or_not(lines in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..20)) {
        for profile in [Profile::herdr_0_8_2(), Profile::herdr_0_9_3()] {
            let mut model = Model::with_profile(profile);
            for line in &lines {
                model.request(Duration::ZERO, line);
            }
            prop_assert_eq!(model.pane_ids(), ["w1:p1"]);
        }
    }
}

fn step_source(step: &Step) -> Option<&str> {
    match step {
        Step::Request(request) => request["params"]["source"].as_str(),
        _ => None,
    }
}

//! What an event costs, from its line to the requests that follow from it, without a thread or a
//! socket.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::path::Path;
use std::time::Duration;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use herdr_proto::{AgentLabel, ErrorCode, PaneId, SourceId};
use herdr_reporter::machine::{
    Answer, Claim, Failure, FailureKind, Input, Now, PaneCall, PaneMachine,
};
use herdr_reporter::sidecar::{Activity, EventLine};
use herdr_reporter::{AgentEvent, Config};

fn main() {
    divan::main();
}

/// The lines of every recorded session, one session after the other.
fn lines() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|kind| kind == "jsonl")).collect();
    files.sort();
    let texts = files.into_iter().map(|file| std::fs::read(file).unwrap());
    texts
        .flat_map(|text| text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>())
        .collect()
}

fn events() -> Vec<AgentEvent> {
    let lines = lines().into_iter();
    lines
        .filter_map(|line| match EventLine::parse(&line) {
            Ok(Some(EventLine::Event(event))) => Some(event),
            _ => None,
        })
        .collect()
}

#[divan::bench]
fn read_lines(bencher: Bencher<'_, '_>) {
    let lines = lines();
    let bytes: usize = lines.iter().map(Vec::len).sum();
    bencher
        .counter(ItemsCount::new(lines.len()))
        .counter(BytesCount::new(bytes))
        .bench_local(|| lines.iter().filter(|line| EventLine::parse(line).is_ok()).count());
}

#[divan::bench]
fn fold(bencher: Bencher<'_, '_>) {
    let events = events();
    bencher
        .counter(ItemsCount::new(events.len()))
        .with_inputs(|| events.clone())
        .bench_local_values(|events| {
            let mut activity = Activity::default();
            events.into_iter().filter_map(|event| activity.apply(event).err()).count()
        });
}

#[divan::bench]
fn fold_and_say_what_is_to_be_shown(bencher: Bencher<'_, '_>) {
    let (events, config) = (events(), Config::default());
    bencher
        .counter(ItemsCount::new(events.len()))
        .with_inputs(|| events.clone())
        .bench_local_values(|events| {
            let mut activity = Activity::default();
            let snapshots = events.into_iter().filter_map(|event| {
                let _ = activity.apply(event);
                activity.snapshot(&config)
            });
            snapshots.count()
        });
}

/// The machine gets each event ten milliseconds after the one before, and each request is answered.
#[divan::bench]
fn fold_and_report(bencher: Bencher<'_, '_>) {
    let (events, config) = (events(), Config::default());
    bencher
        .counter(ItemsCount::new(events.len()))
        .with_inputs(|| events.clone())
        .bench_local_values(|events| {
            let mut claim = Claim::new(
                PaneId::parse("w1:p1").unwrap(),
                SourceId::parse("custom:host").unwrap(),
                AgentLabel::parse("host").unwrap(),
                config.clone(),
            );
            claim.config.any_pane = true;
            let (mut machine, mut activity) = (PaneMachine::new(claim), Activity::default());
            let (mut requests, mut time) = (0_u32, Duration::ZERO);
            for event in events {
                let _ = activity.apply(event);
                time += Duration::from_millis(10);
                let micros = 1_700_000_000_000_000 + u64::try_from(time.as_micros()).unwrap();
                let now = Now::new(time, micros);
                let wanted = activity.snapshot(&config).map(Box::new);
                let mut step = machine.step(now, Input::Wanted(wanted));
                while let Some(request) = step.request {
                    requests += 1;
                    step = machine.step(now, Input::Answered(answer(&request.call)));
                }
            }
            requests
        });
}

/// A server that accepts every report and refuses every read.
fn answer(call: &PaneCall) -> Result<Answer, Failure> {
    match call {
        PaneCall::Report(_) | PaneCall::Metadata(_) | PaneCall::Release(_) => Ok(Answer::Ack),
        _ => {
            let unknown = ErrorCode::from("unknown_method");
            Err(Failure::new(FailureKind::Rejected(unknown), "it shows no pane"))
        }
    }
}

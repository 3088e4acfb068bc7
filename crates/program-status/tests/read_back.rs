//! What is written is what a terminal understands, by another author's reader
//! of the same specification, however hostile the texts are.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use herdr_program_status::limits::{MESSAGE_MAX, RECORDS_MIN, SEQUENCE_MAX, TITLE_MAX};
use herdr_program_status::{AppName, BlockedKind, RecordId, Report, State};
use proptest::prelude::*;
use termstate_core::Terminator;
use termstate_core::scan::{Event, Scanner};
use termstate_store::{Record, Store};
use unicode_segmentation::UnicodeSegmentation as _;

/// Feeds a terminal's records with everything that the reports write.
fn terminal(store: &mut Store, reports: &[Report]) {
    let mut bytes = Vec::new();
    for report in reports {
        let before = bytes.len();
        report.write_to(&mut bytes);
        assert!(bytes.len() - before <= SEQUENCE_MAX);
    }
    let mut read = 0;
    let mut scanner = Scanner::new();
    scanner.feed(&bytes, |event| match event {
        Event::Sequence { message, terminator: Terminator::St } => {
            store.apply(&message.unwrap());
            read += 1;
        }
        other => panic!("{other:?}"),
    });
    assert!(scanner.is_ground());
    assert_eq!(read, reports.len());
}

/// The record that a report is to leave behind.
fn record(report: &Report) -> Option<Record> {
    let state = match report.state()? {
        State::Idle => termstate_core::State::Idle,
        State::Working => termstate_core::State::Working,
        State::Done => termstate_core::State::Done,
        State::Blocked => termstate_core::State::Blocked,
        State::Error => termstate_core::State::Error,
        other => panic!("{other:?}"),
    };
    let kind = report.kind().map(|kind| match kind {
        BlockedKind::Permission => termstate_core::Kind::Permission,
        BlockedKind::Question => termstate_core::Kind::Question,
        BlockedKind::Auth => termstate_core::Kind::Auth,
        other => panic!("{other:?}"),
    });
    Some(Record {
        state,
        kind,
        progress: report.progress(),
        app: report.app().map(ToString::to_string),
        title: report.title().map(str::to_owned),
        msg: report.message().map(str::to_owned),
    })
}

/// Texts with everything that may not reach a terminal, and too long ones.
fn text() -> impl Strategy<Value = Option<String>> {
    let piece = prop_oneof![
        4 => any::<String>(),
        2 => "[ -~]{0,60}",
        1 => Just("\u{1b}]7501;state=clear\u{1b}\\".to_owned()),
        1 => Just("\u{9b}31m\u{202e}\u{200d}\n".to_owned()),
        1 => ("[a-zé👩]", 0..900_usize).prop_map(|(unit, times)| unit.repeat(times)),
        1 => (0..1200_usize).prop_map(|marks| format!("a{}", "\u{301}".repeat(marks))),
    ];
    proptest::option::of(proptest::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat()))
}

fn id() -> impl Strategy<Value = RecordId> {
    // Few segments, so that records meet and lie below each other.
    let near = proptest::collection::vec("[ab]|ab", 0..4);
    let any = proptest::collection::vec("[A-Za-z0-9_.+-]{1,32}", 0..9);
    prop_oneof![near, any].prop_filter_map("too long", |segments| match segments.as_slice() {
        [] => Some(RecordId::root()),
        segments => RecordId::parse(segments.join("/")).ok(),
    })
}

fn report() -> impl Strategy<Value = Report> {
    let states = [State::Idle, State::Working, State::Done, State::Blocked, State::Error];
    let kinds = [BlockedKind::Permission, BlockedKind::Question, BlockedKind::Auth];
    let state = proptest::sample::select(states.to_vec());
    let kind = proptest::option::of(proptest::sample::select(kinds.to_vec()));
    let progress = proptest::option::of(0..=100_u8);
    let app = proptest::option::of("[A-Za-z0-9_.+-]{1,32}");
    let set = (state, id(), kind, progress, app, text(), text()).prop_map(
        |(state, id, kind, progress, app, title, message)| {
            let mut report = Report::builder(state).id(id);
            if let Some(kind) = kind.filter(|_| state == State::Blocked) {
                report = report.kind(kind);
            }
            let moves = matches!(state, State::Working | State::Blocked);
            if let Some(percent) = progress.filter(|_| moves) {
                report = report.progress(percent);
            }
            if let Some(app) = app {
                report = report.app(AppName::parse(app).unwrap());
            }
            if let Some(title) = title {
                report = report.title(&title);
            }
            if let Some(message) = message {
                report = report.message(&message);
            }
            report.build().unwrap()
        },
    );
    prop_oneof![4 => set, 1 => id().prop_map(Report::clear)]
}

proptest! {
    #[test]
    fn a_terminal_keeps_what_was_reported(reports in proptest::collection::vec(report(), 1..12)) {
        let mut store = Store::with_capacity(RECORDS_MIN);
        terminal(&mut store, &reports);

        // The same by this crate's own words: each report replaces its record,
        // and a clear takes what its id contains.
        let mut expected: Vec<(RecordId, Record)> = Vec::new();
        for report in &reports {
            let cleared = report.state().is_none();
            expected.retain(|(id, _)| id != report.id() && !(cleared && report.id().contains(id)));
            expected.extend(record(report).map(|record| (report.id().clone(), record)));
        }
        expected.sort_by(|(a, _), (b, _)| a.cmp(b));
        let kept: Vec<(RecordId, Record)> = store
            .iter()
            .map(|(id, record)| {
                let id = id.map_or_else(RecordId::root, |id| RecordId::parse(id).unwrap());
                (id, record.clone())
            })
            .collect();
        prop_assert_eq!(kept, expected);
    }

    #[test]
    fn a_text_is_one_line_within_its_limit(text in text()) {
        let text = text.unwrap_or_default();
        let report = Report::builder(State::Idle).title(&text).message(&text).build().unwrap();
        let clean = herdr_proto::strip_controls(&text);
        for (kept, max) in [(report.title(), TITLE_MAX), (report.message(), MESSAGE_MAX)] {
            let kept = kept.unwrap_or_default();
            prop_assert!(kept.len() <= max);
            prop_assert!(!kept.chars().any(char::is_control));
            if clean.len() <= max {
                prop_assert_eq!(kept, &clean);
            } else {
                let kept = kept.strip_suffix('…').unwrap();
                prop_assert!(clean.starts_with(kept));
                let mut clusters = clean.grapheme_indices(true).map(|(at, cluster)| (at, cluster.len()));
                let whole = clusters.next().is_none_or(|(_, first)| first <= max - 3);
                prop_assert!(!whole || clusters.any(|(at, _)| at == kept.len()));
            }
            let again = Report::builder(State::Idle).message(kept).build().unwrap();
            prop_assert_eq!(again.message().unwrap_or_default(), kept);
        }
    }
}

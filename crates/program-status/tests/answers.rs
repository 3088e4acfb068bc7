//! The answers are found in whatever else the terminal sends, and nothing else
//! is lost or moved.

use herdr_program_status::{Answer, AnswerFilter, BlockedKind, Capabilities, QUERY, State};
use proptest::prelude::*;

const ECHO: &[u8] = b"\x1b]7501;?\x1b\\";
const ATTRIBUTES: &[u8] = b"\x1b[?62;22c";

/// The filter after this input, and what it handed on of it.
fn filter<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (AnswerFilter, Vec<u8>) {
    let (mut filter, mut rest) = (AnswerFilter::new(), Vec::new());
    for chunk in chunks {
        filter.feed(chunk, &mut rest);
    }
    (filter, rest)
}

fn supported(filter: &AnswerFilter) -> Capabilities {
    match filter.answer() {
        Some(Answer::Supported(capabilities)) => capabilities.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_query_is_the_specifications_with_a_bound() {
    assert_eq!(QUERY, [ECHO, b"\x1b[c"].concat());
}

#[test]
fn an_echo_before_the_attributes_is_support() {
    let (mut filter, mut rest) = filter([ECHO]);
    let all = supported(&filter);
    for state in [State::Idle, State::Working, State::Done, State::Blocked, State::Error] {
        assert!(all.accepts_state(state));
    }
    for kind in [BlockedKind::Permission, BlockedKind::Question, BlockedKind::Auth] {
        assert!(all.accepts_kind(kind));
    }
    assert!(!filter.is_complete());
    filter.feed(ATTRIBUTES, &mut rest);
    assert!(filter.is_complete());
    assert_eq!(supported(&filter), all);
    assert!(rest.is_empty());
}

#[test]
fn attributes_alone_are_no_support() {
    for attributes in [ATTRIBUTES, b"\x1b[?6c", b"\x1b[?1;2c"] {
        let (filter, rest) = filter([attributes]);
        assert_eq!(filter.answer(), Some(&Answer::Unsupported));
        assert!(filter.is_complete() && rest.is_empty());
    }
}

#[test]
fn an_answer_may_list_what_the_terminal_accepts() {
    for (answer, states, kinds) in [
        (&b"\x1b]7501;?:states=idle,working,done,blocked,error:kinds=permission,question,auth\x1b\\"[..], 5, 3),
        (b"\x1b]7501;?:states=idle, done:kinds=auth\x07", 2, 1),
        (b"\x1b]7501;?:kinds=\x1b\\", 5, 0),
        (b"\x1b]7501;? : states = error,paused : v=2 : junk\x1b\\", 1, 3),
        (b"\x1b]7501;?\x07", 5, 3),
    ] {
        let (filter, rest) = filter([answer]);
        let found = supported(&filter);
        let all = [State::Idle, State::Working, State::Done, State::Blocked, State::Error];
        let count = all.iter().filter(|state| found.accepts_state(**state)).count();
        assert_eq!(count, states, "{}", answer.escape_ascii());
        let all = [BlockedKind::Permission, BlockedKind::Question, BlockedKind::Auth];
        let count = all.iter().filter(|kind| found.accepts_kind(**kind)).count();
        assert_eq!(count, kinds, "{}", answer.escape_ascii());
        assert!(rest.is_empty());
    }
}

#[test]
fn the_escape_key_is_handed_on_when_the_input_pauses() {
    let (mut filter, mut rest) = filter([&b"a\x1b"[..]]);
    assert_eq!(rest, b"a");
    filter.release(&mut rest);
    assert_eq!(rest, b"a\x1b");
    filter.feed(b"[A", &mut rest);
    assert_eq!(rest, b"a\x1b[A");
    filter.feed(ECHO, &mut rest);
    assert_eq!((rest.as_slice(), filter.answer().is_some()), (&b"a\x1b[A"[..], true));
}

#[test]
fn what_only_looks_like_an_answer_is_handed_on() {
    for input in [
        // Keys, a cursor position, other attributes, a mode, a report, colours.
        &b"\x1b[A\x1bOP\x1b[c\x1b[12;40R\x1b[>1;10;0c\x1b[=1c"[..],
        b"\x1b[?2026;2$y\x1b[?1u\x1b[?62;22x\x1b\x1b\x1b[Z",
        b"\x1b]7501;state=idle\x1b\\\x1b]11;rgb:0/0/0\x07\x1b]75010;?\x07\x1b]7501;\x07",
        b"\x1b]7501;?\x18\x1b]7501;?\n\x1b[200~paste \xe5\xae\x89\x1b[201~",
    ] {
        let (filter, rest) = filter([input]);
        assert_eq!(filter.answer(), None, "{}", input.escape_ascii());
        assert_eq!(rest, input);
    }
}

#[test]
fn an_answer_that_breaks_off_hides_none_after_it() {
    let (broken, rest) = filter([&b"\x1b]7501;?:states=idle"[..], ECHO]);
    supported(&broken);
    assert_eq!(rest, b"\x1b]7501;?:states=idle");
    let (bounded, rest) = filter([&b"\x1b]7501;?"[..], ATTRIBUTES]);
    assert_eq!(bounded.answer(), Some(&Answer::Unsupported));
    assert_eq!(rest, b"\x1b]7501;?");
}

#[test]
fn an_endless_answer_is_not_kept() {
    let endless = [&b"\x1b]7501;?"[..], &[b'x'; 10_000]].concat();
    let (filter, rest) = filter([endless.as_slice()]);
    assert_eq!(rest, endless);
    assert_eq!(filter.answer(), None);
}

#[test]
fn only_the_first_attributes_are_ours_and_a_late_answer_counts() {
    let (mut filter, mut rest) = filter([ATTRIBUTES, ATTRIBUTES]);
    assert_eq!(rest, ATTRIBUTES);
    filter.feed(ECHO, &mut rest);
    supported(&filter);
    assert_eq!(rest, ATTRIBUTES);
}

/// What a user types and a terminal sends besides the answers. None of it ends
/// with the beginning of an answer.
fn keys() -> impl Strategy<Value = Vec<u8>> {
    let key = prop_oneof![
        proptest::collection::vec(any::<u8>().prop_filter("escape", |byte| *byte != 0x1b), 1..8),
        Just(b"\x1b[A".to_vec()),
        Just(b"\x1b\x1bx".to_vec()),
        Just(b"\x1b[?1;2$y".to_vec()),
        Just(b"\x1b]7501;?\x1b]7501;?:states=idle\x1b[B".to_vec()),
        Just(b"\x1b[200~\x1b]7501;state=done\x1b\\\x1b[201~".to_vec()),
    ];
    proptest::collection::vec(key, 0..6).prop_map(|keys| keys.concat())
}

proptest! {
    #[test]
    fn only_the_answers_are_taken_however_the_input_is_split(
        keys in [keys(), keys(), keys()],
        echo in proptest::sample::select(&[ECHO, b"\x1b]7501;?:kinds=auth:x=1\x07"][..]),
        answered: bool,
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let [first, second, third] = &keys;
        let echo = if answered { echo } else { b"" };
        let input = [first, echo, second, ATTRIBUTES, third].concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(input.len())).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut start = 0;
        for end in cuts.into_iter().chain([input.len()]) {
            chunks.push(&input[start..end]);
            start = end;
        }
        let (filter, rest) = filter(chunks);
        prop_assert_eq!(rest, keys.concat());
        prop_assert!(filter.is_complete());
        prop_assert_eq!(matches!(filter.answer(), Some(Answer::Supported(_))), answered);
    }

    #[test]
    fn no_byte_is_lost_or_moved(pieces in proptest::collection::vec(prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        proptest::sample::select(&b"\x1b\x1b]7501;?[c\\:\x07"[..]).prop_map(|byte| vec![byte]),
        Just(ECHO[..ECHO.len() - 1].to_vec()),
        Just(ATTRIBUTES[..ATTRIBUTES.len() - 1].to_vec()),
    ], 0..40)) {
        let input = pieces.concat();
        let (mut filter, mut rest) = filter([input.as_slice()]);
        filter.release(&mut rest);
        if filter.answer().is_none() {
            prop_assert_eq!(rest, input);
        } else {
            // What was handed on is the input with whole answers left out.
            let mut left = input.iter();
            prop_assert!(rest.iter().all(|byte| left.any(|other| other == byte)));
        }
    }
}

//! Texts are clean before they are sent: the server keeps them unchanged, and
//! nothing in them moves a cursor or hides (failures B46, B49, B51).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use herdr_proto::limits::TEXT_MAX_SCALARS;
use herdr_proto::{PresentationText, strip_controls};
use proptest::prelude::*;
use regex_syntax::hir::{Class, HirKind};
use support::{as_the_server_keeps_it, rough_text};

/// The characters of a Unicode property.
fn property(name: &str) -> Vec<RangeInclusive<char>> {
    let class = regex_syntax::parse(&format!(r"\p{{{name}}}")).unwrap();
    match class.into_kind() {
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().map(|range| range.start()..=range.end()).collect()
        }
        other => panic!("a class of characters, not {other:?}"),
    }
}

fn holds(ranges: &[RangeInclusive<char>], c: char) -> bool {
    ranges.iter().any(|range| range.contains(&c))
}

/// What Unicode calls invisible, without the joiner and the variation selectors.
fn hidden(c: char) -> bool {
    static IGNORABLE: LazyLock<Vec<RangeInclusive<char>>> =
        LazyLock::new(|| property("Default_Ignorable_Code_Point"));
    holds(&IGNORABLE, c) && !joins(c)
}

/// Kept though invisible.
fn joins(c: char) -> bool {
    static SELECTORS: LazyLock<Vec<RangeInclusive<char>>> =
        LazyLock::new(|| property("Variation_Selector"));
    c == '\u{200d}' || holds(&SELECTORS, c)
}

fn normal(text: &str) -> Option<String> {
    PresentationText::normalize(text).map(|text| text.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_sent_is_what_is_stored(text in prop_oneof![rough_text(), any::<String>()]) {
        if let Some(clean) = normal(&text) {
            prop_assert_eq!(as_the_server_keeps_it(&clean), clean.as_str());
        }
    }

    #[test]
    fn a_clean_text_stays_as_it_is(text in prop_oneof![rough_text(), any::<String>()]) {
        if let Some(clean) = normal(&text) {
            prop_assert_eq!(normal(&clean), Some(clean));
        }
    }

    #[test]
    fn a_clean_text_has_1_to_80_scalars(text in prop_oneof![rough_text(), any::<String>()]) {
        if let Some(clean) = normal(&text) {
            prop_assert!((1..=TEXT_MAX_SCALARS).contains(&clean.chars().count()));
            prop_assert!(!clean.trim().is_empty());
        }
    }

    #[test]
    fn nothing_in_a_clean_text_controls_or_hides(text in rough_text()) {
        for clean in [normal(&text).unwrap_or_default(), strip_controls(&text)] {
            for c in clean.chars() {
                prop_assert!(!c.is_control(), "{:?}", c);
                prop_assert!(!matches!(c, '\u{2028}' | '\u{2029}'), "{:?}", c);
                prop_assert!(!hidden(c), "{:?}", c);
            }
        }
    }

    #[test]
    fn a_plain_text_is_kept_or_cut_with_a_mark(text in "[!-~]([ -~]{0,118}[!-~])?") {
        let clean = normal(&text).unwrap();
        if text.len() <= TEXT_MAX_SCALARS {
            prop_assert_eq!(clean, text);
        } else {
            let kept = clean.strip_suffix('…').unwrap();
            prop_assert!(text.starts_with(kept));
            prop_assert!(text[kept.len()..TEXT_MAX_SCALARS - 1].trim().is_empty());
        }
    }

    #[test]
    fn uncut_and_cut_agree(text in rough_text()) {
        let uncut = strip_controls(&text);
        prop_assert_eq!(normal(&text), normal(&uncut));
        if uncut.chars().count() <= TEXT_MAX_SCALARS {
            prop_assert_eq!(normal(&text).unwrap_or_default(), uncut);
        }
    }
}

#[test]
fn b46_sequences_go_whole_and_words_stay_apart() {
    for (raw, clean) in [
        ("\u{1b}[31mred\u{1b}[0m\nline2\ttab", "red line2 tab"),
        ("\u{1b}[38;2;1;2;3mx", "x"),
        ("\u{1b}[?25l\u{1b}[ qx", "x"),
        ("\u{1b}]0;window title\u{7}after", "after"),
        ("\u{1b}]8;;https://example.org\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
        ("\u{1b}P1$r0m\u{1b}\\after", "after"),
        ("\u{1b}Xsos\u{1b}\\\u{1b}^pm\u{1b}\\\u{1b}_apc\u{1b}\\a", "a"),
        ("\u{9b}1mx\u{9d}0;t\u{9c}y\u{90}q\u{9c}z", "xyz"),
        ("a\u{1b}(Bb\u{1b}cc\u{1b} Fd", "abcd"),
        ("\u{1b}\u{1b}[1mx", "x"),
        ("two\r\n\r\nlines", "two lines"),
        ("a  b \n c  ", "a  b c"),
        ("bell\u{7}bell\u{85}line\u{2028}line", "bell bell line line"),
        (" \u{200b}\u{200d}\u{fe0f} ", ""),
        ("a\n\u{fe0f}b \u{200d}", "a b"),
    ] {
        assert_eq!(normal(raw).unwrap_or_default(), clean, "{raw:?}");
    }
}

#[test]
fn b46_an_unfinished_sequence_takes_what_a_terminal_would_take() {
    for (raw, clean) in [
        ("tail\u{1b}", "tail"),
        ("tail\u{1b}[", "tail"),
        ("tail\u{1b}[3", "tail"),
        ("\u{1b}[3日", "日"),
        ("open\u{1b}]0;never ends", "open"),
        ("open\u{1b}]0;never ends\u{1b}", "open"),
        ("\u{1b}]0;x\u{1b}[31mred", "red"),
        ("\u{9d}0;x\u{1b}[31mred", "red"),
        ("\u{1b}]0;x\u{18}cancelled", "cancelled"),
    ] {
        assert_eq!(strip_controls(raw), clean, "{raw:?}");
    }
}

#[test]
fn a_million_sequences_in_each_other_need_no_stack() {
    assert_eq!(strip_controls(&"\u{1b}]".repeat(1_000_000)), "");
    assert_eq!(strip_controls(&"\u{9d}\u{1b}P".repeat(1_000_000)), "");
}

#[test]
fn a_cut_leaves_no_blank_before_its_mark_and_cuts_one_cluster_if_it_must() {
    assert_eq!(normal(&format!("{} y z", "x".repeat(78))), Some("x".repeat(78) + "…"));
    let zalgo = format!("a{}", "\u{301}".repeat(200));
    assert_eq!(normal(&zalgo).unwrap().chars().count(), 80);
}

#[test]
fn b49_everything_that_unicode_calls_invisible_goes_but_joiners() {
    let mut seen = 0;
    for c in property("Default_Ignorable_Code_Point").into_iter().flatten() {
        let clean = normal(&format!("a{c}b")).unwrap();
        let wanted = if joins(c) { format!("a{c}b") } else { "ab".to_owned() };
        assert_eq!(clean, wanted, "{}", c.escape_unicode());
        seen += 1;
    }
    assert!(seen > 4_000, "the property names {seen}");
}

#[test]
fn b49_what_can_be_seen_stays() {
    // Every 31st of all characters, so that each block is met.
    for c in ('\u{21}'..=char::MAX).step_by(31) {
        let seen = !c.is_control()
            && !c.is_whitespace()
            && !matches!(c, '\u{fff9}'..='\u{fffb}')
            && !hidden(c);
        if seen {
            assert_eq!(normal(&format!("a{c}")), Some(format!("a{c}")), "{}", c.escape_unicode());
        }
    }
}

#[test]
fn b49_emoji_stay_whole() {
    for emoji in ["👩\u{200d}👩\u{200d}👧\u{200d}👦", "❤\u{fe0f}", "🇩🇪", "👍🏽", "1\u{fe0f}\u{20e3}"]
    {
        assert_eq!(normal(emoji).as_deref(), Some(emoji));
        let many = emoji.repeat(80);
        let cut = normal(&many).unwrap();
        let kept = cut.strip_suffix('…').unwrap();
        assert!(kept.len().is_multiple_of(emoji.len()) && many.starts_with(kept), "{cut}");
    }
}

#[test]
fn b51_private_use_glyphs_pass() {
    assert_eq!(normal("\u{e0b0} \u{f0001}").as_deref(), Some("\u{e0b0} \u{f0001}"));
}

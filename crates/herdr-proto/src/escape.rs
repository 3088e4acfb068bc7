//! Terminal escape sequences (ECMA-48), found so that they can be left out.

use std::iter::Peekable;
use std::str::Chars;

const ESC: char = '\u{1b}';

/// Whether `c` begins an escape sequence; then `chars` stands behind it.
pub(crate) fn skip_sequence(c: char, chars: &mut Peekable<Chars<'_>>) -> bool {
    match c {
        ESC => skip_escape(chars),
        '\u{9b}' => skip_control_sequence(chars),
        '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => {
            if skip_string(chars) == StringEnd::Escape {
                skip_escape(chars);
            }
        }
        _ => return false,
    }
    true
}

/// The rest of a sequence after its escape character, and of those that follow
/// because an escape cut a string short. A loop, since a hostile text can hold
/// a million of them.
fn skip_escape(chars: &mut Peekable<Chars<'_>>) {
    loop {
        match chars.peek() {
            Some('[') => {
                chars.next();
                return skip_control_sequence(chars);
            }
            Some(']' | 'P' | 'X' | '^' | '_') => {
                chars.next();
                if skip_string(chars) == StringEnd::Complete {
                    return;
                }
            }
            _ => {
                while chars.next_if(|c| matches!(c, ' '..='/')).is_some() {}
                chars.next_if(|c| matches!(c, '0'..='~'));
                return;
            }
        }
    }
}

/// CSI: parameters and intermediates, then one final byte.
fn skip_control_sequence(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

#[derive(PartialEq)]
enum StringEnd {
    /// By its terminator, by a cancel, or by the end of the text.
    Complete,
    /// By an escape that begins another sequence.
    Escape,
}

/// OSC, DCS, SOS, PM, APC: everything up to BEL or the string terminator; a
/// terminal swallows the rest of an unfinished one, and so do we.
fn skip_string(chars: &mut Peekable<Chars<'_>>) -> StringEnd {
    for c in chars.by_ref() {
        match c {
            '\u{7}' | '\u{9c}' | '\u{18}' | '\u{1a}' => return StringEnd::Complete,
            ESC => break,
            _ => {}
        }
    }
    // At the end of the text there is no `\` either, and nothing left to skip.
    if chars.peek().is_none() || chars.next_if_eq(&'\\').is_some() {
        StringEnd::Complete
    } else {
        StringEnd::Escape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a text without its sequences.
    fn left(text: &str) -> String {
        let mut out = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if !skip_sequence(c, &mut chars) {
                out.push(c);
            }
        }
        out
    }

    #[test]
    fn sequences_go_whole() {
        for (raw, clean) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[38;2;1;2;3mx", "x"),
            ("\u{1b}[?25l\u{1b}[ qx", "x"),
            ("\u{1b}]0;window\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}Pq#0;2\u{1b}\\a", "a"),
            ("\u{1b}Xsos\u{1b}\\\u{1b}^pm\u{1b}\\\u{1b}_apc\u{1b}\\a", "a"),
            ("\u{9b}1mx\u{9d}0;t\u{9c}y\u{90}q\u{9c}z", "xyz"),
            ("a\u{1b}(Bb\u{1b}cc\u{1b} Fd", "abcd"),
            ("\u{1b}\u{1b}[1mx", "x"),
        ] {
            assert_eq!(left(raw), clean, "{raw:?}");
        }
    }

    #[test]
    fn unfinished_ones_take_what_a_terminal_would_take() {
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
            assert_eq!(left(raw), clean, "{raw:?}");
        }
    }

    #[test]
    fn a_million_strings_in_each_other_need_no_stack() {
        assert_eq!(left(&"\u{1b}]".repeat(1_000_000)), "");
        assert_eq!(left(&"\u{9d}\u{1b}P".repeat(1_000_000)), "");
    }
}

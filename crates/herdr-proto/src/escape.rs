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

//! Finding terminal escape sequences (ECMA-48), so that they can be removed.

use std::iter::Peekable;
use std::str::Chars;

const ESC: char = '\u{1b}';

/// Whether `c` begins an escape sequence. If so, the sequence is consumed from `chars`.
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

/// Skips a sequence after its escape character, and further sequences if an escape character
/// ends a string early. This is a loop and not a recursion, because a hostile text can contain
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

/// Skips a CSI sequence: parameters and intermediates, then one final byte.
fn skip_control_sequence(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

#[derive(PartialEq)]
enum StringEnd {
    /// The string ended with its terminator, a cancel character or the end of the text.
    Complete,
    /// An escape character ended the string and begins another sequence.
    Escape,
}

/// Skips an OSC, DCS, SOS, PM or APC string up to BEL or the string terminator. An unfinished
/// string extends to the end of the text, as it does in a terminal.
fn skip_string(chars: &mut Peekable<Chars<'_>>) -> StringEnd {
    for c in chars.by_ref() {
        match c {
            '\u{7}' | '\u{9c}' | '\u{18}' | '\u{1a}' => return StringEnd::Complete,
            ESC => break,
            _ => {}
        }
    }
    // At the end of the text there is no `\` and nothing more to skip.
    if chars.peek().is_none() || chars.next_if_eq(&'\\').is_some() {
        StringEnd::Complete
    } else {
        StringEnd::Escape
    }
}

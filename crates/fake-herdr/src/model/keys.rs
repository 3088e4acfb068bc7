//! Key names of `pane.send_keys` and `pane.send_input` (protocol 2.2).

/// The bytes that a key sends in a terminal with default modes; `None` if the name is
/// not a key. A prefix binding is not a key.
pub(crate) fn encode(name: &str) -> Option<Vec<u8>> {
    let name = match name.trim() {
        "C-c" | "c-c" => "ctrl+c",
        "+" => "plus",
        other => other,
    };
    let mut modifiers = Modifiers::default();
    let mut key = None;
    for part in name.split('+').map(str::trim) {
        match part.to_lowercase().as_str() {
            "ctrl" | "control" => modifiers.ctrl = true,
            "alt" | "option" | "meta" => modifiers.alt = true,
            "shift" => modifiers.shift = true,
            // These change nothing in the bytes of a terminal.
            "cmd" | "command" | "super" | "hyper" => {}
            _ if key.is_none() && !part.is_empty() => key = Some(part),
            _ => return None,
        }
    }
    let key = key?;
    let bytes = match named(&key.to_lowercase(), modifiers) {
        Some(bytes) => bytes,
        None => character(key, modifiers)?,
    };
    Some(if modifiers.alt && !bytes.starts_with(b"\x1b[1;") {
        [b"\x1b".as_slice(), &bytes].concat()
    } else {
        bytes
    })
}

#[derive(Debug, Clone, Copy, Default)]
struct Modifiers {
    ctrl: bool,
    alt: bool,
    shift: bool,
}

impl Modifiers {
    /// The number that xterm sends for these modifiers; 1 means none.
    fn code(self) -> u8 {
        1 + u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.ctrl)
    }
}

/// The bytes of a key with a name. Herdr has no names for Home, End, Delete, Insert
/// and the page keys.
fn named(key: &str, modifiers: Modifiers) -> Option<Vec<u8>> {
    const SIGNS: [(&str, &str); 14] = [
        ("minus", "-"),
        ("comma", ","),
        ("period", "."),
        ("slash", "/"),
        ("backslash", "\\"),
        ("quote", "'"),
        ("double_quote", "\""),
        ("double-quote", "\""),
        ("semicolon", ";"),
        ("colon", ":"),
        ("percent", "%"),
        ("ampersand", "&"),
        ("backtick", "`"),
        ("plus", "+"),
    ];
    if let Some((_, sign)) = SIGNS.iter().find(|(name, _)| *name == key) {
        return Some(sign.as_bytes().to_vec());
    }
    Some(match key {
        "enter" | "return" => b"\r".to_vec(),
        "esc" | "escape" => b"\x1b".to_vec(),
        "tab" if modifiers.shift => b"\x1b[Z".to_vec(),
        "tab" => b"\t".to_vec(),
        "backspace" | "bs" => b"\x7f".to_vec(),
        "space" if modifiers.ctrl => vec![0],
        "space" => b" ".to_vec(),
        "up" => cursor('A', modifiers),
        "down" => cursor('B', modifiers),
        "right" => cursor('C', modifiers),
        "left" => cursor('D', modifiers),
        _ => {
            // Herdr accepts any number; only the first twelve send bytes.
            let number: u8 = key.strip_prefix('f')?.parse().ok()?;
            let tails = [
                "OP", "OQ", "OR", "OS", "[15~", "[17~", "[18~", "[19~", "[20~", "[21~", "[23~",
                "[24~",
            ];
            let tail = number.checked_sub(1).and_then(|place| tails.get(usize::from(place)));
            tail.map(|tail| format!("\x1b{tail}").into_bytes()).unwrap_or_default()
        }
    })
}

fn cursor(letter: char, modifiers: Modifiers) -> Vec<u8> {
    match modifiers.code() {
        1 => format!("\x1b[{letter}"),
        code => format!("\x1b[1;{code}{letter}"),
    }
    .into_bytes()
}

fn character(key: &str, modifiers: Modifiers) -> Option<Vec<u8>> {
    let mut characters = key.chars();
    let character = characters.next().filter(|_| characters.next().is_none())?;
    if modifiers.ctrl {
        let upper = character.to_ascii_uppercase();
        // A character without a control code is typed unchanged.
        return Some(match u8::try_from(upper).ok().filter(|byte| (b'@'..=b'_').contains(byte)) {
            Some(byte) => vec![byte & 0x1f],
            None => character.to_string().into_bytes(),
        });
    }
    let character = if modifiers.shift { character.to_ascii_uppercase() } else { character };
    Some(character.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_are_written_with_a_plus() {
        for (name, bytes) in [
            ("ctrl+u", &b"\x15"[..]),
            ("ctrl+h", b"\x08"),
            ("C-c", b"\x03"),
            ("c-c", b"\x03"),
            ("+", b"+"),
            ("a", b"a"),
            ("A", b"A"),
            ("shift+a", b"A"),
            ("alt+x", b"\x1bx"),
            ("enter", b"\r"),
            ("Escape", b"\x1b"),
            ("shift+tab", b"\x1b[Z"),
            ("ctrl+left", b"\x1b[1;5D"),
            ("Up", b"\x1b[A"),
            ("slash", b"/"),
            ("F5", b"\x1b[15~"),
            ("f99", b""),
        ] {
            assert_eq!(encode(name).as_deref(), Some(bytes), "{name}");
        }
        let unknown = "ctrl-u C-u M-x BSpace BTab PPage Home End Delete Insert PageUp PageDown \
                       backtab prefix+h nokey f256 a+b ctrl+ ctrl";
        for name in unknown.split_whitespace().chain([""]) {
            assert_eq!(encode(name), None, "{name}");
        }
    }
}

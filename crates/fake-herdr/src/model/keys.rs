//! Key names of `pane.send_keys` and `pane.send_input` (protocol 2.2).

/// The bytes that a key sends in a terminal with the default modes; `None` for
/// a name that is no key, also for a prefix binding.
pub(crate) fn encode(name: &str) -> Option<Vec<u8>> {
    let name = name.trim();
    let name = match name {
        "C-c" | "c-c" => "ctrl+c",
        "+" => return Some(b"+".to_vec()),
        other => other,
    };
    let mut parts: Vec<&str> = name.split('+').map(str::trim).collect();
    let key = parts.pop().filter(|key| !key.is_empty())?;
    let mut modifiers = Modifiers::default();
    for part in parts {
        match part.to_ascii_lowercase().as_str() {
            "ctrl" | "control" => modifiers.ctrl = true,
            "alt" | "option" | "meta" => modifiers.alt = true,
            "shift" => modifiers.shift = true,
            _ => return None,
        }
    }
    let bytes = match named(&key.to_ascii_lowercase(), modifiers) {
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

fn named(key: &str, modifiers: Modifiers) -> Option<Vec<u8>> {
    Some(match key {
        "enter" | "return" => b"\r".to_vec(),
        "esc" | "escape" => b"\x1b".to_vec(),
        "tab" | "backtab" if modifiers.shift || key == "backtab" => b"\x1b[Z".to_vec(),
        "tab" => b"\t".to_vec(),
        "backspace" | "bs" => b"\x7f".to_vec(),
        "space" if modifiers.ctrl => vec![0],
        "space" => b" ".to_vec(),
        "plus" => b"+".to_vec(),
        "minus" => b"-".to_vec(),
        "up" => cursor('A', modifiers),
        "down" => cursor('B', modifiers),
        "right" => cursor('C', modifiers),
        "left" => cursor('D', modifiers),
        "home" => cursor('H', modifiers),
        "end" => cursor('F', modifiers),
        "insert" => b"\x1b[2~".to_vec(),
        "delete" | "del" => b"\x1b[3~".to_vec(),
        "pageup" | "page_up" | "pgup" => b"\x1b[5~".to_vec(),
        "pagedown" | "page_down" | "pgdn" => b"\x1b[6~".to_vec(),
        _ => {
            let number: usize = key.strip_prefix('f')?.parse().ok()?;
            let tail = [
                "OP", "OQ", "OR", "OS", "[15~", "[17~", "[18~", "[19~", "[20~", "[21~", "[23~",
                "[24~",
            ]
            .get(number.checked_sub(1)?)?;
            format!("\x1b{tail}").into_bytes()
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
        let upper = u8::try_from(character.to_ascii_uppercase()).ok()?;
        return (b'@'..=b'_').contains(&upper).then(|| vec![upper & 0x1f]);
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
            ("shift+a", b"A"),
            ("alt+x", b"\x1bx"),
            ("enter", b"\r"),
            ("shift+tab", b"\x1b[Z"),
            ("ctrl+left", b"\x1b[1;5D"),
            ("F5", b"\x1b[15~"),
        ] {
            assert_eq!(encode(name).as_deref(), Some(bytes), "{name}");
        }
        for name in ["ctrl-u", "C-u", "", "ctrl+", "prefix+h", "nokey", "f13", "f0", "a+b"] {
            assert_eq!(encode(name), None, "{name}");
        }
    }
}

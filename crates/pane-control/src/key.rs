//! Keys by Herdr 0.8.2's names.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind};

/// A key that Herdr knows and really presses.
///
/// For some names the server answers `ok` and then writes nothing or another key: `f13` and
/// above, `super+a`, `ctrl+1`. This type refuses those, and all names that the server refuses.
///
/// ```
/// use herdr_pane_control::Key;
///
/// assert_eq!("Ctrl + U".parse::<Key>()?.as_str(), "ctrl+u");
/// let refused = "C-u".parse::<Key>().unwrap_err();
/// assert_eq!(refused.to_string(), r#""C-u" is tmux's name; Herdr's is "ctrl+u""#);
/// # Ok::<(), herdr_pane_control::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key(String);

impl Key {
    /// Enter.
    pub fn enter() -> Self {
        Self::known("enter")
    }

    /// Escape.
    pub fn escape() -> Self {
        Self::known("esc")
    }

    /// `ctrl+c`.
    pub fn ctrl_c() -> Self {
        Self::known("ctrl+c")
    }

    /// The key with this name, which must be Herdr's first name for it.
    pub(crate) fn known(name: &'static str) -> Self {
        Self(name.to_owned())
    }

    /// Herdr's name for the key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names of keys in tmux, and Herdr's names for them.
const TMUX_KEYS: [(&str, &str); 6] = [
    ("BSpace", "backspace"),
    ("BTab", "shift+tab"),
    ("Bspace", "backspace"),
    ("Btab", "shift+tab"),
    ("CR", "enter"),
    ("NL", "ctrl+j"),
];
const TMUX_MODIFIERS: [(&str, &str); 6] =
    [("C-", "ctrl"), ("c-", "ctrl"), ("M-", "alt"), ("m-", "alt"), ("S-", "shift"), ("^", "ctrl")];

/// Keys for which 0.8.2 has no name.
const MISSING: [&str; 16] = [
    "home",
    "end",
    "insert",
    "ins",
    "ic",
    "delete",
    "del",
    "dc",
    "pageup",
    "page_up",
    "pgup",
    "ppage",
    "pagedown",
    "page_down",
    "pgdn",
    "npage",
];

/// Named keys. Herdr's first name for each comes before its other names.
const NAMED: [&[&str]; 22] = [
    &["enter", "return"],
    &["esc", "escape"],
    &["tab"],
    &["backspace", "bs"],
    &["space"],
    &["up"],
    &["down"],
    &["left"],
    &["right"],
    &["plus", "+"],
    &["minus"],
    &["comma"],
    &["period"],
    &["slash"],
    &["backslash"],
    &["quote"],
    &["double_quote", "double-quote"],
    &["semicolon"],
    &["colon"],
    &["percent"],
    &["ampersand"],
    &["backtick"],
];

impl FromStr for Key {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        parse(name.trim())
            .map(Self)
            .map_err(|problem| Error::new(ErrorKind::InvalidInput, format!("{name:?} {problem}")))
    }
}

fn parse(name: &str) -> Result<String, String> {
    if name.is_empty() {
        return Err("is not a key; a key is for example enter, ctrl+u or a".to_owned());
    }
    // Two of tmux's names are also Herdr's.
    if matches!(name, "C-c" | "c-c") {
        return Ok("ctrl+c".to_owned());
    }
    if let Some(ours) = from_tmux(name) {
        return Err(match chord(&ours) {
            Ok(ours) => format!("is tmux's name; Herdr's is {ours:?}"),
            Err(problem) => format!("is tmux's name; in Herdr's spelling, {ours:?}, it {problem}"),
        });
    }
    chord(name)
}

/// Herdr's name for a key that is written in tmux's way.
fn from_tmux(name: &str) -> Option<String> {
    let mut modifiers = String::new();
    let mut rest = name;
    while let Some((prefix, ours)) = TMUX_MODIFIERS
        .iter()
        .find(|(prefix, _)| rest.strip_prefix(prefix).is_some_and(|key| !key.is_empty()))
    {
        modifiers.push_str(ours);
        modifiers.push('+');
        rest = &rest[prefix.len()..];
    }
    let named = TMUX_KEYS.iter().find(|(tmux, _)| *tmux == rest).map(|(_, ours)| *ours);
    (named.is_some() || !modifiers.is_empty())
        .then(|| modifiers + &named.map_or_else(|| rest.to_lowercase(), str::to_owned))
}

fn chord(name: &str) -> Result<String, String> {
    let (before, key) = match name.strip_suffix("++").or_else(|| name.strip_suffix("+ +")) {
        Some(before) => (before, "plus"),
        None if name == "+" => ("", "plus"),
        None => name.rsplit_once('+').unwrap_or(("", name)),
    };
    let (mut ctrl, mut alt, mut shift) = (false, false, false);
    for modifier in before.split('+').map(|part| part.trim().to_lowercase()) {
        match modifier.as_str() {
            "ctrl" | "control" => ctrl = true,
            "alt" | "option" | "meta" => alt = true,
            "shift" => shift = true,
            "" if before.is_empty() => {}
            "cmd" | "command" | "super" | "hyper" => {
                return Err(format!(
                    "has {modifier}, which Herdr leaves out: it types the bare key"
                ));
            }
            "prefix" => return Err("is a binding of Herdr's own, not a key for a program".into()),
            _ => return Err("has a modifier that is not ctrl, alt or shift".to_owned()),
        }
    }
    let key = plain(key.trim(), ctrl)?;
    let modifiers = [(ctrl, "ctrl+"), (alt, "alt+"), (shift, "shift+")];
    let written: String = modifiers.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
    Ok(written + &key)
}

fn plain(key: &str, ctrl: bool) -> Result<String, String> {
    let lower = key.to_lowercase();
    if MISSING.contains(&lower.as_str()) {
        return Err("is a key that Herdr 0.8.2 cannot press: it has no name for it".to_owned());
    }
    if lower == "backtab" {
        return Err("is not a name of Herdr's; write \"shift+tab\"".to_owned());
    }
    let mut characters = key.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        let control = matches!(character.to_ascii_lowercase(), 'a'..='z' | '[' | '\\' | ']' | '_');
        return match character {
            _ if character.is_control() => Err("is a control character".to_owned()),
            _ if ctrl && !control => {
                Err("has no control character: Herdr would type the bare key".to_owned())
            }
            _ if ctrl => Ok(lower),
            _ => Ok(key.to_owned()),
        };
    }
    if let Some(name) = NAMED.iter().find(|names| names.contains(&lower.as_str())) {
        return Ok(name[0].to_owned());
    }
    match lower.strip_prefix('f').map(str::parse::<u8>) {
        Some(Ok(number @ 1..=12)) => Ok(format!("f{number}")),
        Some(Ok(_)) => Err("is a function key that Herdr does not press; it has f1 to f12".into()),
        _ => Err("is not a key of Herdr's; it has characters, enter, esc, tab, backspace, space, \
                  up, down, left, right, f1 to f12, with ctrl+, alt+ and shift+"
            .to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn herdrs_names_are_taken_and_written_one_way() {
        for (name, ours) in [
            ("Enter", "enter"),
            ("return", "enter"),
            ("Escape", "esc"),
            ("ctrl+u", "ctrl+u"),
            ("Control+Shift+U", "ctrl+shift+u"),
            ("meta+x", "alt+x"),
            ("C-c", "ctrl+c"),
            ("c-c", "ctrl+c"),
            ("+", "plus"),
            ("alt++", "alt+plus"),
            ("A", "A"),
            ("é", "é"),
            ("-", "-"),
            ("^", "^"),
            ("F12", "f12"),
            ("f05", "f5"),
            ("shift+tab", "shift+tab"),
            (" up ", "up"),
        ] {
            assert_eq!(name.parse::<Key>().unwrap().as_str(), ours, "{name}");
        }
    }

    #[test]
    fn other_names_are_refused_with_the_right_one_or_the_reason() {
        for (name, said) in [
            ("C-u", "Herdr's is \"ctrl+u\""),
            ("M-x", "Herdr's is \"alt+x\""),
            ("C-M-x", "Herdr's is \"ctrl+alt+x\""),
            ("^U", "Herdr's is \"ctrl+u\""),
            ("BSpace", "Herdr's is \"backspace\""),
            ("BTab", "Herdr's is \"shift+tab\""),
            ("C-Up", "Herdr's is \"ctrl+up\""),
            ("S-Home", "cannot press"),
            ("PPage", "cannot press"),
            ("Home", "cannot press"),
            ("ctrl+Delete", "cannot press"),
            ("PageDown", "cannot press"),
            ("f13", "f1 to f12"),
            ("f99", "f1 to f12"),
            ("f0", "f1 to f12"),
            ("f4294967296", "f1 to f12"),
            ("super+a", "types the bare key"),
            ("ctrl+1", "type the bare key"),
            ("prefix+h", "binding"),
            ("backtab", "shift+tab"),
            ("ctrl+", "is not a key"),
            ("a+b", "modifier"),
            ("", "is not a key"),
            ("\u{1b}", "control character"),
            ("enter enter", "is not a key"),
        ] {
            let error = name.parse::<Key>().unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}

//! A setting's value once it is known to be allowed.

use std::fmt;

use herdr_proto::StateKey;

/// A value that its setting allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// On or off.
    Switch(bool),
    /// One of a choice.
    Word(&'static str),
    /// Free text.
    Text(String),
    /// A number in the setting's unit.
    Number(u64),
    /// Several texts.
    List(Vec<String>),
    /// The text of one state. Several make up one setting.
    Label(StateKey, String),
}

impl Value {
    /// Whether it is on. The other kinds are not.
    pub(crate) fn switch(&self) -> bool {
        matches!(self, Self::Switch(true))
    }

    /// The word of a choice; empty for the other kinds.
    pub(crate) fn word(&self) -> &'static str {
        if let Self::Word(word) = self { word } else { "" }
    }

    /// The text; empty for the other kinds.
    pub(crate) fn text(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }

    /// The number; 0 for the other kinds.
    pub(crate) fn number(&self) -> u64 {
        if let Self::Number(number) = self { *number } else { 0 }
    }

    /// The texts; none for the other kinds.
    pub(crate) fn list(&self) -> &[String] {
        if let Self::List(list) = self { list } else { &[] }
    }

    /// Which part of a setting it is, where a setting has parts.
    pub(crate) fn part(&self) -> Option<StateKey> {
        if let Self::Label(state, _) = self { Some(*state) } else { None }
    }
}

impl fmt::Display for Value {
    /// As it stands in a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // JSON's texts are TOML's, too, but for one character, and they never
        // take more than a line.
        let text = |text: &str| serde_json::json!(text).to_string().replace('\u{7f}', "\\u007f");
        match self {
            Self::Switch(on) => write!(f, "{on}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Word(word) => f.write_str(&text(word)),
            Self::Text(value) | Self::Label(_, value) => f.write_str(&text(value)),
            Self::List(list) => {
                let list: Vec<_> = list.iter().map(|item| text(item)).collect();
                write!(f, "[{}]", list.join(", "))
            }
        }
    }
}

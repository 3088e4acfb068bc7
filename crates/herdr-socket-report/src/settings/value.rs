//! A setting's value once it is known to be allowed, and where it came from.

use std::fmt;

use herdr_proto::StateKey;

use super::table::Setting;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Switch(bool),
    Text(String),
    Number(u64),
    List(Vec<String>),
    /// The text of one state. Several make up one setting.
    Label(StateKey, String),
}

#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    pub(crate) setting: &'static Setting,
    pub(crate) value: Value,
    /// A line of a file, a variable or a flag; `None` if it is built in.
    pub(crate) origin: Option<String>,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // JSON's texts are TOML's, too, but for one character, and they never
        // take more than a line.
        let text = |text: &String| serde_json::json!(text).to_string().replace('\u{7f}', "\\u007f");
        match self {
            Self::Switch(on) => write!(f, "{on}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(value) | Self::Label(_, value) => f.write_str(&text(value)),
            Self::List(list) => {
                write!(f, "[{}]", list.iter().map(text).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

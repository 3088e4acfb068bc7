//! The kinds of settings: how a value is read from a text or a file, and what it is then.

use std::fmt;

use herdr_proto::{AgentLabel, PresentationText, SourceId, StateKey};
use toml::de::DeValue;

use super::Settings;
use super::table::Setting;
use crate::text::{alternatives, shown};

/// A word of a choice and its effect on the settings.
type Word = (&'static str, fn(&mut Settings));

/// The kind of a setting, with its effect on the settings.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Switch(fn(&mut Settings, bool)),
    Choice(&'static [Word]),
    Name(fn(&mut Settings, &str)),
    Source(fn(&mut Settings, &str)),
    Text(fn(&mut Settings, &str)),
    /// A whole number: minimum, maximum and unit.
    Number(u64, u64, &'static str, fn(&mut Settings, u64)),
    List(fn(&mut Settings, &[String])),
    StateLabels,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Switch(bool),
    Text(String),
    Number(u64),
    List(Vec<String>),
    /// The text of one state. Several of them make up one setting.
    Label(StateKey, String),
}

#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    pub(crate) setting: &'static Setting,
    pub(crate) value: Value,
    /// The line of a file, the variable or the flag it comes from; `None` for a built-in value.
    pub(crate) origin: Option<String>,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A text of JSON is also one of TOML, except for one character, and always fits on one
        // line.
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

impl Kind {
    /// The words of a choice; empty for other kinds.
    pub(crate) fn words(self) -> Vec<&'static str> {
        match self {
            Self::Choice(words) => words.iter().map(|(word, _)| *word).collect(),
            _ => Vec::new(),
        }
    }

    fn expected(self) -> String {
        let expected = match self {
            Self::Switch(_) => "true or false",
            Self::Choice(_) => &alternatives(&self.words()),
            Self::Name(_) => "a short name such as my-agent",
            Self::Source(_) => "1 to 80 of A-Z a-z 0-9 : . _ -",
            Self::Text(_) => "a text",
            Self::Number(min, max, unit, _) => {
                &format!("a whole number from {min} to {max} ({unit})")
            }
            Self::List(_) => "a list of texts",
            Self::StateLabels => &format!("texts for {}", states()),
        };
        format!("is not allowed; expected {expected}")
    }

    /// The placeholder for the value in a flag's help.
    pub(crate) fn placeholder(self) -> String {
        match self {
            Self::Choice(_) => return self.words().join("|"),
            Self::Switch(_) => "true|false",
            Self::Name(_) | Self::Source(_) => "NAME",
            Self::Text(_) => "TEXT",
            Self::Number(..) => "N",
            Self::List(_) => "TEXT,...",
            Self::StateLabels => "STATE=TEXT,...",
        }
        .to_owned()
    }

    /// Puts a value into the settings.
    pub(crate) fn set(self, settings: &mut Settings, value: &Value) {
        match (self, value) {
            (Self::Switch(set), Value::Switch(on)) => set(settings, *on),
            (Self::Choice(words), Value::Text(word)) => {
                words.iter().filter(|(known, _)| known == word).for_each(|(_, set)| set(settings));
            }
            (Self::Name(set) | Self::Source(set) | Self::Text(set), Value::Text(text)) => {
                set(settings, text);
            }
            (Self::Number(.., set), Value::Number(number)) => set(settings, *number),
            (Self::List(set), Value::List(list)) => set(settings, list),
            (Self::StateLabels, Value::Label(state, label)) => {
                settings.config.state_labels.insert(*state, label.clone());
            }
            _ => {}
        }
    }

    /// Reads the value of a variable or a flag. Lists are divided by commas.
    pub(crate) fn read_text(self, text: &str) -> Result<Vec<Value>, (String, String)> {
        let value = match self {
            Self::Switch(_) => match text {
                "true" | "1" => Some(Value::Switch(true)),
                "false" | "0" => Some(Value::Switch(false)),
                _ => None,
            },
            Self::Number(..) => self.number(text.parse().ok()),
            Self::List(_) => Some(Value::List(pieces(text).map(str::to_owned).collect())),
            Self::StateLabels => return labels(text),
            _ => return self.word(text).map(|value| vec![value]),
        };
        value.map(|value| vec![value]).ok_or_else(|| (shown(text), self.expected()))
    }

    /// Reads the value in a file. State labels are read one by one by [`read_label`].
    pub(crate) fn read_toml(self, value: &DeValue<'_>) -> Result<Value, (String, String)> {
        let read = match (self, value) {
            (Self::Switch(_), DeValue::Boolean(on)) => Some(Value::Switch(*on)),
            (Self::Number(..), DeValue::Integer(digits)) => {
                self.number(u64::from_str_radix(digits.as_str(), digits.radix()).ok())
            }
            (Self::List(_), DeValue::Array(items)) => {
                let texts = items.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
                texts.collect::<Option<_>>().map(Value::List)
            }
            (
                Self::Choice(_) | Self::Name(_) | Self::Source(_) | Self::Text(_),
                DeValue::String(text),
            ) => return self.word(text),
            _ => None,
        };
        read.ok_or_else(|| {
            let found = match value {
                DeValue::String(text) => shown(text),
                DeValue::Integer(digits) => digits.as_str().to_owned(),
                DeValue::Float(digits) => digits.as_str().to_owned(),
                DeValue::Boolean(on) => on.to_string(),
                DeValue::Datetime(date) => date.to_string(),
                DeValue::Array(_) => "[...]".to_owned(),
                DeValue::Table(_) => "{...}".to_owned(),
            };
            (found, self.expected())
        })
    }

    fn word(self, text: &str) -> Result<Value, (String, String)> {
        let fits = match self {
            Self::Choice(words) => words.iter().any(|(word, _)| *word == text),
            Self::Name(_) => AgentLabel::parse(text).is_ok(),
            Self::Source(_) => SourceId::parse(text).is_ok(),
            _ => true,
        };
        if fits {
            return Ok(Value::Text(text.to_owned()));
        }
        let expected = match (text, &self.words()[..]) {
            ("cli", ["socket"]) => "is refused: this client speaks to the socket and never runs \
                                    the program; expected socket"
                .to_owned(),
            _ => self.expected(),
        };
        Err((shown(text), expected))
    }

    fn number(self, number: Option<u64>) -> Option<Value> {
        let Self::Number(min, max, ..) = self else { return None };
        number.filter(|number| (min..=max).contains(number)).map(Value::Number)
    }
}

/// Reads one state label; `None` if the text is blank.
pub(crate) fn read_label(state: &str, text: &str) -> Result<Option<Value>, (String, String)> {
    let key = StateKey::ALL.into_iter().find(|key| key.as_str() == state);
    let expected = || (shown(state), format!("is not a state; expected {}", states()));
    let key = key.ok_or_else(expected)?;
    let blank = PresentationText::normalize(text).is_none();
    Ok((!blank).then(|| Value::Label(key, text.to_owned())))
}

fn states() -> String {
    alternatives(&StateKey::ALL.map(StateKey::as_str))
}

fn labels(text: &str) -> Result<Vec<Value>, (String, String)> {
    let mut labels = Vec::new();
    for piece in pieces(text) {
        let (state, label) = piece.split_once('=').ok_or_else(|| {
            (shown(piece), "is not STATE=TEXT, for example blocked=Needs you".to_owned())
        })?;
        labels.extend(read_label(state.trim(), label.trim())?);
    }
    Ok(labels)
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|piece| !piece.is_empty())
}

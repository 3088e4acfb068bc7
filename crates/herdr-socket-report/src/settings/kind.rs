//! What a setting takes, and how it is read from a text or a file.

use herdr_proto::{AgentLabel, PresentationText, SourceId, StateKey};
use toml::de::DeValue;

use super::value::Value;
use crate::text::{alternatives, shown};

/// What a setting takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// On or off.
    Switch,
    /// One of these words. Some others are refused with a reason of their own.
    Choice { words: &'static [&'static str], refused: &'static [(&'static str, &'static str)] },
    /// An agent's name.
    Agent,
    /// A source's name.
    Source,
    /// Any text.
    Text,
    /// A whole number.
    Number { min: u64, max: u64, unit: &'static str },
    /// Several texts.
    List,
    /// A text for each of some states.
    StateLabels,
}

/// Why a value is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfit {
    /// The value as far as it can be shown.
    pub(crate) found: String,
    /// What is wrong with it and what is allowed.
    pub(crate) why: String,
}

impl Unfit {
    fn new(found: impl Into<String>, why: impl Into<String>) -> Self {
        Self { found: found.into(), why: why.into() }
    }
}

impl Kind {
    /// A choice without refused words.
    pub(crate) const fn words(words: &'static [&'static str]) -> Self {
        Self::Choice { words, refused: &[] }
    }

    /// What is allowed, to follow "expected".
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Switch => "true or false".to_owned(),
            Self::Choice { words, .. } => alternatives(words),
            Self::Agent => "a short name such as my-agent".to_owned(),
            Self::Source => "1 to 80 of A-Z a-z 0-9 : . _ -".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::Number { min, max, unit } => {
                format!("a whole number from {min} to {max} ({unit})")
            }
            Self::List => "a list of texts".to_owned(),
            Self::StateLabels => format!("texts for {}", alternatives(&STATES)),
        }
    }

    /// What stands for its value in a flag's help.
    pub(crate) fn placeholder(self) -> String {
        match self {
            Self::Choice { words, .. } => return words.join("|"),
            Self::Switch => "true|false",
            Self::Agent | Self::Source => "NAME",
            Self::Text => "TEXT",
            Self::Number { .. } => "N",
            Self::List => "TEXT,...",
            Self::StateLabels => "STATE=TEXT,...",
        }
        .to_owned()
    }

    /// Whether several texts make up one value.
    pub(crate) const fn is_many(self) -> bool {
        matches!(self, Self::List | Self::StateLabels)
    }

    /// Reads what a variable or a flag says. Lists are divided by commas.
    pub(crate) fn read_text(self, text: &str) -> Result<Vec<Value>, Unfit> {
        let value = match self {
            Self::Switch => match text {
                "true" | "1" => Value::Switch(true),
                "false" | "0" => Value::Switch(false),
                _ => return Err(self.unfit(text)),
            },
            Self::Number { .. } => {
                self.number(text.parse().ok()).ok_or_else(|| self.unfit(text))?
            }
            Self::List => Value::List(pieces(text).map(str::to_owned).collect()),
            Self::StateLabels => return labels(text),
            Self::Choice { .. } | Self::Agent | Self::Source | Self::Text => self.texts(text)?,
        };
        Ok(vec![value])
    }

    /// Reads what a file says. The entries of state labels are read one by one,
    /// see [`read_label`](Self::read_label).
    pub(crate) fn read_toml(self, value: &DeValue<'_>) -> Result<Value, Unfit> {
        match (self, value) {
            (Self::Switch, DeValue::Boolean(on)) => Some(Value::Switch(*on)),
            (Self::Number { .. }, DeValue::Integer(digits)) => {
                self.number(u64::from_str_radix(digits.as_str(), digits.radix()).ok())
            }
            (Self::List, DeValue::Array(items)) => items
                .iter()
                .map(|item| item.get_ref().as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .map(Value::List),
            (
                Self::Choice { .. } | Self::Agent | Self::Source | Self::Text,
                DeValue::String(text),
            ) => return self.texts(text),
            _ => None,
        }
        .ok_or_else(|| Unfit::new(shown_toml(value), self.allowed()))
    }

    /// Reads one entry of state labels; a blank one is `None`.
    pub(crate) fn read_label(state: &str, text: &str) -> Result<Option<Value>, Unfit> {
        let key = StateKey::ALL.into_iter().find(|key| key.as_str() == state);
        let key = key.ok_or_else(|| {
            Unfit::new(shown(state), format!("is not a state; expected {}", alternatives(&STATES)))
        })?;
        let blank = PresentationText::normalize(text).is_none();
        Ok((!blank).then(|| Value::Label(key, text.to_owned())))
    }

    fn texts(self, text: &str) -> Result<Value, Unfit> {
        match self {
            Self::Choice { words, refused } => {
                if let Some((_, reason)) = refused.iter().find(|(word, _)| *word == text) {
                    let why = format!("is refused: {reason}; expected {}", self.expected());
                    return Err(Unfit::new(shown(text), why));
                }
                let word = words.iter().find(|word| **word == text);
                word.map(|word| Value::Word(word)).ok_or_else(|| self.unfit(text))
            }
            Self::Agent => AgentLabel::parse(text)
                .map(|_| Value::Text(text.to_owned()))
                .map_err(|_| self.unfit(text)),
            Self::Source => SourceId::parse(text)
                .map(|_| Value::Text(text.to_owned()))
                .map_err(|_| self.unfit(text)),
            _ => Ok(Value::Text(text.to_owned())),
        }
    }

    fn number(self, number: Option<u64>) -> Option<Value> {
        let Self::Number { min, max, .. } = self else { return None };
        number.filter(|number| (min..=max).contains(number)).map(Value::Number)
    }

    fn unfit(self, text: &str) -> Unfit {
        Unfit::new(shown(text), self.allowed())
    }

    fn allowed(self) -> String {
        format!("is not allowed; expected {}", self.expected())
    }
}

const STATES: [&str; 5] = ["idle", "working", "blocked", "done", "unknown"];

fn labels(text: &str) -> Result<Vec<Value>, Unfit> {
    let mut labels = Vec::new();
    for piece in pieces(text) {
        let (state, label) = piece.split_once('=').ok_or_else(|| {
            Unfit::new(shown(piece), "is not STATE=TEXT, for example blocked=Needs you")
        })?;
        labels.extend(Kind::read_label(state.trim(), label.trim())?);
    }
    Ok(labels)
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|piece| !piece.is_empty())
}

fn shown_toml(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => shown(text),
        DeValue::Integer(digits) => digits.as_str().to_owned(),
        DeValue::Float(digits) => digits.as_str().to_owned(),
        DeValue::Boolean(on) => on.to_string(),
        DeValue::Datetime(date) => date.to_string(),
        DeValue::Array(_) => "[...]".to_owned(),
        DeValue::Table(_) => "{...}".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_or_refused_with_what_is_allowed() {
        let verify = Kind::words(&["never", "always"]);
        let number = Kind::Number { min: 1, max: 10, unit: "seconds" };
        assert_eq!(Kind::Switch.read_text("1").unwrap(), [Value::Switch(true)]);
        assert_eq!(verify.read_text("never").unwrap(), [Value::Word("never")]);
        assert_eq!(number.read_text("10").unwrap(), [Value::Number(10)]);
        assert_eq!(
            Kind::List.read_text("a, b,,").unwrap(),
            [Value::List(vec!["a".into(), "b".into()])]
        );
        for (kind, text, why) in [
            (Kind::Switch, "yes", "is not allowed; expected true or false"),
            (verify, "often", "is not allowed; expected never or always"),
            (number, "0", "is not allowed; expected a whole number from 1 to 10 (seconds)"),
            (number, "11", "is not allowed; expected a whole number from 1 to 10 (seconds)"),
            (number, "1.5", "is not allowed; expected a whole number from 1 to 10 (seconds)"),
            (Kind::Agent, " ", "is not allowed; expected a short name such as my-agent"),
            (Kind::Source, "a b", "is not allowed; expected 1 to 80 of A-Z a-z 0-9 : . _ -"),
            (
                Kind::StateLabels,
                "busy=x",
                "is not a state; expected idle, working, blocked, done or unknown",
            ),
        ] {
            assert_eq!(kind.read_text(text).unwrap_err().why, why, "{text}");
        }
    }

    #[test]
    fn blank_labels_are_ignored() {
        let labels = Kind::StateLabels.read_text("idle= , blocked=Needs you").unwrap();
        assert_eq!(labels, [Value::Label(StateKey::Blocked, "Needs you".into())]);
    }

    #[test]
    fn what_is_shown_of_a_value_is_short_and_clean() {
        let found =
            Kind::Switch.read_text(&format!("\u{1b}[31m{}", "x".repeat(500))).unwrap_err().found;
        assert!(found.len() < 80 && !found.contains('\u{1b}'), "{found}");
    }
}

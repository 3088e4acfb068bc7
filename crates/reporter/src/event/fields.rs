//! The fields of an event line, taken by name and type.

use std::borrow::Cow;
use std::collections::BTreeMap;

use herdr_proto::{ReportState, StateKey};

use super::near::{nearest, shown};
use super::value::Value;
use super::{EventId, ID_MAX_BYTES, LineError, PromptKind, TurnOutcome};

/// Every field that some event has, so that none is taken for another one written wrong.
const KNOWN: &str = "agent_id context_window id kind label labels message model outcome percent \
                     prompt_id provider ready reason resume_argv running session_id session_path \
                     settles state timeout_ms title tokens tool tool_id used waiting";

/// The fields of one event. A wrong one is told by name and type only; the value may be private.
pub(super) struct Fields<'a> {
    pub(super) event: &'static str,
    fields: Vec<(Cow<'a, str>, Value<'a>)>,
}

/// What a field may hold, in words, and how it is read.
pub(super) struct Kind<T> {
    expected: &'static str,
    read: fn(Value<'_>) -> Result<T, Wrong>,
}

/// Why a value is not what a field may hold.
pub(super) enum Wrong {
    /// It is of another type, whose name this is.
    Type(&'static str),
    /// It is of the right type, and what is wrong about it.
    Value(String),
    /// As `Value`, with what would be right.
    Other(String, &'static str),
}

impl<'a> Fields<'a> {
    pub(super) fn of(fields: Vec<(Cow<'a, str>, Value<'a>)>) -> Self {
        Self { event: "", fields }
    }

    /// The field of this name; the last of them, as in most readers of JSON.
    pub(super) fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let value = self.fields.iter_mut().rfind(|(field, _)| field == name);
        value.map(|(_, value)| std::mem::replace(value, Value::Null))
    }

    fn is(&self, name: &str, what: fn(&Value<'_>) -> bool) -> bool {
        let value = self.fields.iter().rfind(|(field, _)| field == name);
        value.is_some_and(|(_, value)| what(value))
    }

    /// A field that may be absent; `null` is absent.
    pub(super) fn optional<T>(
        &mut self,
        name: &'static str,
        Kind { expected, read }: Kind<T>,
    ) -> Result<Option<T>, LineError> {
        debug_assert!(KNOWN.split(' ').any(|known| known == name), "{name}");
        let Some(value) = self.take(name).filter(|value| !matches!(value, Value::Null)) else {
            return Ok(None);
        };
        read(value).map(Some).map_err(|wrong| match wrong {
            // There a number is right, only not this one.
            Wrong::Type("a number") if expected.contains("whole number") => {
                self.problem(name, "is another number", expected)
            }
            Wrong::Type(other) => self.problem(name, format!("is {other}"), expected),
            Wrong::Value(problem) => self.problem(name, problem, expected),
            Wrong::Other(problem, expected) => self.problem(name, problem, expected),
        })
    }

    pub(super) fn required<T>(
        &mut self,
        name: &'static str,
        kind: Kind<T>,
    ) -> Result<T, LineError> {
        let expected = kind.expected;
        self.optional(name, kind)?.ok_or_else(|| self.missing(name, expected))
    }

    /// A field that has to be there, though it may be `null`.
    pub(super) fn nullable<T>(
        &mut self,
        name: &'static str,
        kind: Kind<T>,
    ) -> Result<Option<T>, LineError> {
        if self.is(name, |_| true) {
            return self.optional(name, kind);
        }
        let or_null = if kind.expected.ends_with("null") { "" } else { " or null" };
        Err(self.missing(name, format!("{}{or_null}", kind.expected)))
    }

    /// Whose event it is: the main agent's if nothing is said.
    pub(super) fn agent(&mut self) -> Result<EventId, LineError> {
        Ok(self.optional("agent_id", ID)?.map(EventId::from).unwrap_or_default())
    }

    /// As [`agent`](Self::agent), but an explicit `null` is nobody.
    pub(super) fn agent_or_nobody(&mut self) -> Result<Option<EventId>, LineError> {
        if self.is("agent_id", |value| matches!(value, Value::Null)) {
            return Ok(None);
        }
        self.agent().map(Some)
    }

    fn missing(&self, field: &'static str, expected: impl Into<String>) -> LineError {
        let names = self.fields.iter().map(|(name, _)| &**name);
        let unknown = names.filter(|name| !KNOWN.split(' ').any(|known| known == *name));
        let problem = match nearest(field, unknown) {
            Some(written) => format!("is missing, but `{}` is there", shown(written)),
            None => "is missing".to_owned(),
        };
        self.problem(field, problem, expected)
    }

    fn problem(
        &self,
        field: &'static str,
        problem: impl Into<String>,
        expected: impl Into<String>,
    ) -> LineError {
        let (problem, expected) = (problem.into(), expected.into());
        LineError::Field { event: self.event, field, problem, expected }
    }
}

impl From<Value<'_>> for Wrong {
    fn from(value: Value<'_>) -> Self {
        Self::Type(value.type_name())
    }
}

pub(super) const TEXT: Kind<String> = Kind { expected: "a text", read: text };

fn text(value: Value<'_>) -> Result<String, Wrong> {
    if let Value::Text(text) = value { Ok(text.into_owned()) } else { Err(value.into()) }
}

/// A name for people; of a long one the beginning.
pub(super) const NAME: Kind<String> = Kind {
    expected: TEXT.expected,
    read: |value| {
        let mut text = text(value)?;
        let most = text.len().min(ID_MAX_BYTES);
        let cut = (0..=most).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(cut.unwrap_or_default());
        Ok(text)
    },
};

/// An id; a number is one, too.
pub(super) const ID: Kind<String> = Kind {
    expected: "a text or a number",
    read: |value| match value {
        Value::Text(id) if id.len() > ID_MAX_BYTES => {
            Err(Wrong::Other(format!("has {} bytes", id.len()), "up to 1024 bytes"))
        }
        Value::Text(id) => Ok(id.into_owned()),
        Value::Number(id) => Ok(id.to_string()),
        other => Err(other.into()),
    },
};

/// An id that is only given back.
pub(super) const ANY_ID: Kind<serde_json::Value> = Kind {
    expected: ID.expected,
    read: |value| match value {
        Value::Text(id) => Ok(id.into()),
        Value::Number(id) => Ok(id.into()),
        other => Err(other.into()),
    },
};

pub(super) const FLAG: Kind<bool> = Kind {
    expected: "true or false",
    read: |value| if let Value::Flag(flag) = value { Ok(flag) } else { Err(value.into()) },
};

pub(super) const NUMBER: Kind<u64> = Kind { expected: "a whole number from 0 on", read: whole };

/// JavaScript hosts may write a whole number as `1e3` or `5.0`.
fn whole(value: Value<'_>) -> Result<u64, Wrong> {
    const EXACT_UP_TO: f64 = 9_007_199_254_740_992.0;
    let Value::Number(value) = value else { return Err(value.into()) };
    let whole = |number: &f64| number.fract() == 0.0 && (0.0..=EXACT_UP_TO).contains(number);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, not negative and within 2^53"
    )]
    let from_float = || value.as_f64().filter(whole).map(|number| number as u64);
    value.as_u64().or_else(from_float).ok_or(Wrong::Type("a number"))
}

pub(super) const PERCENT: Kind<u8> = Kind {
    expected: "a whole number from 0 to 100, or null",
    read: |value| {
        let percent = u8::try_from(whole(value)?).ok().filter(|percent| *percent <= 100);
        percent.ok_or_else(|| Wrong::Value("is over 100".to_owned()))
    },
};

pub(super) const TEXTS: Kind<Vec<String>> = Kind {
    expected: "a list of texts",
    read: |value| {
        let Value::List(items) = value else { return Err(value.into()) };
        let text = |(place, item): (usize, Value<'_>)| match item {
            Value::Text(text) => Ok(text.into_owned()),
            Value::Number(number) => Ok(number.to_string()),
            other => Err(Wrong::Value(format!("has {} in place {place}", other.type_name()))),
        };
        (1..).zip(items).map(text).collect()
    },
};

type Texts<K> = BTreeMap<K, Option<String>>;

pub(super) const TEXT_MAP: Kind<Texts<String>> =
    Kind { expected: "an object of texts and nulls", read: text_map };

fn text_map(value: Value<'_>) -> Result<Texts<String>, Wrong> {
    let Value::Object(map) = value else { return Err(value.into()) };
    let text = |(key, value): (Cow<'_, str>, Value<'_>)| match value {
        Value::Null => Ok((key.into_owned(), None)),
        Value::Text(text) => Ok((key.into_owned(), Some(text.into_owned()))),
        Value::Number(number) => Ok((key.into_owned(), Some(number.to_string()))),
        other => Err(Wrong::Value(format!("has {} under `{}`", other.type_name(), shown(&key)))),
    };
    map.into_iter().map(text).collect()
}

pub(super) const LABELS: Kind<Texts<StateKey>> = Kind {
    expected: TEXT_MAP.expected,
    read: |value| {
        const STATES: &str = "only idle, working, blocked, done and unknown";
        let label = |(word, text): (String, _)| {
            let key = StateKey::ALL.into_iter().find(|key| key.as_str() == word);
            let problem = || format!("has `{}`, which is not a state", shown(&word));
            Ok((key.ok_or_else(|| Wrong::Other(problem(), STATES))?, text))
        };
        text_map(value)?.into_iter().map(label).collect()
    },
};

pub(super) const STATE: Kind<ReportState> = Kind {
    expected: "idle, working or blocked",
    read: |value| match text(value)?.as_str() {
        "idle" => Ok(ReportState::Idle),
        "working" => Ok(ReportState::Working),
        "blocked" => Ok(ReportState::Blocked),
        _ => Err(Wrong::Value("is not a state".to_owned())),
    },
};

pub(super) const PROMPT: Kind<PromptKind> = Kind {
    expected: "approval, question or auth",
    read: |value| {
        Ok(match text(value)?.as_str() {
            "approval" => PromptKind::Approval,
            "question" => PromptKind::Question,
            "auth" => PromptKind::Auth,
            _ => PromptKind::Other,
        })
    },
};

/// How a turn ended; a word of a later version is as good as none.
pub(super) const OUTCOME: Kind<Option<TurnOutcome>> = Kind {
    expected: TEXT.expected,
    read: |value| {
        Ok(match text(value)?.as_str() {
            "done" => Some(TurnOutcome::Done),
            "error" => Some(TurnOutcome::Error),
            "cancelled" => Some(TurnOutcome::Cancelled),
            _ => None,
        })
    },
};

//! Reads the fields of an event line by name and type.

use std::borrow::Cow;
use std::collections::BTreeMap;

use herdr_proto::{ReportState, StateKey};

use super::names::{nearest, shown};
use super::value::Value;
use super::{EventId, ID_MAX_BYTES, LineError, PromptKind, TurnOutcome};

/// The fields of all events, so that no field is mistaken for a misspelled one.
const KNOWN: &str = "agent_id context_window id kind label labels message model outcome percent \
                     prompt_id provider ready reason resume_argv running session_id session_path \
                     settles state timeout_ms title tokens tool tool_id used waiting";

/// The fields of one event. An error names the field and the type, but not the value, which may be
/// private.
pub(super) struct Fields<'a> {
    pub(super) event: &'static str,
    fields: Vec<(Cow<'a, str>, Value<'a>)>,
}

/// A type of field: what is expected, in words, and how the value is read.
pub(super) struct Kind<T> {
    expected: &'static str,
    read: fn(Value<'_>) -> Result<T, Problem>,
}

/// Why a value is not accepted.
pub(super) struct Problem {
    problem: String,
    /// What is expected, if that differs from [`Kind::expected`].
    expected: Option<&'static str>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(fields: Vec<(Cow<'a, str>, Value<'a>)>) -> Self {
        Self { event: "", fields }
    }

    /// Takes the value of a field. If a name is repeated, the last value counts, as in most JSON
    /// parsers.
    pub(super) fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let value = self.fields.iter_mut().rfind(|(field, _)| field == name);
        value.map(|(_, value)| std::mem::replace(value, Value::Null))
    }

    fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.fields.iter().rfind(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// Takes a field that may be absent or `null`.
    pub(super) fn optional<T>(
        &mut self,
        name: &'static str,
        Kind { expected, read }: Kind<T>,
    ) -> Result<Option<T>, LineError> {
        debug_assert!(is_known(name), "{name}");
        let Some(value) = self.take(name).filter(|value| !matches!(value, Value::Null)) else {
            return Ok(None);
        };
        read(value).map(Some).map_err(|problem| {
            self.error(name, problem.problem, problem.expected.unwrap_or(expected))
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

    /// Takes a field that must be there, but may be `null`.
    pub(super) fn nullable<T>(
        &mut self,
        name: &'static str,
        kind: Kind<T>,
    ) -> Result<Option<T>, LineError> {
        if self.get(name).is_some() {
            return self.optional(name, kind);
        }
        let or_null = if kind.expected.ends_with("null") { "" } else { " or null" };
        Err(self.missing(name, format!("{}{or_null}", kind.expected)))
    }

    /// Takes the agent of the event. The default is the main agent.
    pub(super) fn agent(&mut self) -> Result<EventId, LineError> {
        Ok(self.optional("agent_id", ID)?.map(EventId::from).unwrap_or_default())
    }

    /// As [`agent`](Self::agent), but an explicit `null` means no agent.
    pub(super) fn agent_or_none(&mut self) -> Result<Option<EventId>, LineError> {
        if matches!(self.get("agent_id"), Some(Value::Null)) {
            return Ok(None);
        }
        self.agent().map(Some)
    }

    fn missing(&self, field: &'static str, expected: impl Into<String>) -> LineError {
        let names = self.fields.iter().map(|(name, _)| &**name);
        let unknown = names.filter(|name| !is_known(name));
        let problem = match nearest(field, unknown) {
            Some(written) => format!("is missing, but `{}` is there", shown(written)),
            None => "is missing".to_owned(),
        };
        self.error(field, problem, expected)
    }

    fn error(
        &self,
        field: &'static str,
        problem: String,
        expected: impl Into<String>,
    ) -> LineError {
        LineError::Field { event: self.event, field, problem, expected: expected.into() }
    }
}

fn is_known(name: &str) -> bool {
    KNOWN.split(' ').any(|known| known == name)
}

impl From<String> for Problem {
    fn from(problem: String) -> Self {
        Self { problem, expected: None }
    }
}

impl From<Value<'_>> for Problem {
    fn from(value: Value<'_>) -> Self {
        format!("is {}", value.type_name()).into()
    }
}

pub(super) const TEXT: Kind<String> = Kind { expected: "a text", read: text };

fn text(value: Value<'_>) -> Result<String, Problem> {
    if let Value::Text(text) = value { Ok(text.into_owned()) } else { Err(value.into()) }
}

/// Many programs write ids and other texts that are numbers without quotes.
fn text_or_number(value: Value<'_>) -> Result<String, Value<'_>> {
    match value {
        Value::Text(text) => Ok(text.into_owned()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(other),
    }
}

/// A name for people. A long name is cut.
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

pub(super) const ID: Kind<String> = Kind {
    expected: "a text or a number",
    read: |value| {
        let id = text_or_number(value)?;
        if id.len() > ID_MAX_BYTES {
            let problem = format!("has {} bytes", id.len());
            return Err(Problem { problem, expected: Some("up to 1024 bytes") });
        }
        Ok(id)
    },
};

/// The id of a flush, which the answer repeats.
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

/// Reads a whole number, which some programs write as `1e3` or `5.0`.
fn whole(value: Value<'_>) -> Result<u64, Problem> {
    const EXACT_UP_TO: f64 = 9_007_199_254_740_992.0;
    let Value::Number(value) = value else { return Err(value.into()) };
    let whole = |number: &f64| number.fract() == 0.0 && (0.0..=EXACT_UP_TO).contains(number);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, not negative and within 2^53"
    )]
    let from_float = || value.as_f64().filter(whole).map(|number| number as u64);
    value.as_u64().or_else(from_float).ok_or_else(|| "is another number".to_owned().into())
}

pub(super) const PERCENT: Kind<u8> = Kind {
    expected: "a whole number from 0 to 100, or null",
    read: |value| {
        let percent = u8::try_from(whole(value)?).ok().filter(|percent| *percent <= 100);
        percent.ok_or_else(|| "is over 100".to_owned().into())
    },
};

pub(super) const TEXTS: Kind<Vec<String>> = Kind {
    expected: "a list of texts",
    read: |value| {
        let Value::List(items) = value else { return Err(value.into()) };
        let text = |(place, item): (usize, Value<'_>)| {
            text_or_number(item)
                .map_err(|item| format!("has {} in place {place}", item.type_name()).into())
        };
        (1..).zip(items).map(text).collect()
    },
};

type Texts<K> = BTreeMap<K, Option<String>>;

pub(super) const TEXT_MAP: Kind<Texts<String>> =
    Kind { expected: "an object of texts and nulls", read: text_map };

fn text_map(value: Value<'_>) -> Result<Texts<String>, Problem> {
    let Value::Object(map) = value else { return Err(value.into()) };
    let text = |(key, value): (Cow<'_, str>, Value<'_>)| {
        let text = match value {
            Value::Null => Ok(None),
            value => text_or_number(value).map(Some),
        };
        let problem =
            |value: Value<'_>| format!("has {} under `{}`", value.type_name(), shown(&key));
        Ok((key.to_string(), text.map_err(problem)?))
    };
    map.into_iter().map(text).collect()
}

pub(super) const LABELS: Kind<Texts<StateKey>> = Kind {
    expected: TEXT_MAP.expected,
    read: |value| {
        const STATES: &str = "only idle, working, blocked, done and unknown";
        let label = |(word, text): (String, _)| {
            let key = StateKey::ALL.into_iter().find(|key| key.as_str() == word);
            let key = key.ok_or_else(|| Problem {
                problem: format!("has `{}`, which is not a state", shown(&word)),
                expected: Some(STATES),
            });
            Ok((key?, text))
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
        _ => Err("is not a state".to_owned().into()),
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

/// How a turn ended. A word that this version does not know counts as absent.
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

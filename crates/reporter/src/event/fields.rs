//! The fields of an event line, taken by name and type.

use std::collections::BTreeMap;

use herdr_proto::{ReportState, StateKey};
use serde_json::{Map, Value};

use super::near::{nearest, shown};
use super::{EventId, ID_MAX_BYTES, LineError, PromptKind, TurnOutcome};

/// Every field that some event has, so that none is taken for another one
/// written wrong.
const KNOWN: &str = "agent_id context_window id kind label labels message model outcome percent \
                     prompt_id provider ready reason resume_argv running session_id session_path \
                     settles state timeout_ms title tokens tool tool_id used waiting";

/// The fields of one event. A wrong one is told by name and type only; the
/// value may be private.
pub(super) struct Fields<'a> {
    event: &'static str,
    fields: &'a mut Map<String, Value>,
}

pub(super) trait Field: Sized {
    const EXPECTED: &'static str;

    fn read(value: Value) -> Result<Self, Wrong>;
}

/// Why a value is not what a field may hold.
pub(super) enum Wrong {
    /// It is of another type.
    Type(Value),
    /// It is of the right type, and what is wrong about it.
    Value(String),
    /// As `Value`, with what would be right.
    Other(String, &'static str),
}

impl<'a> Fields<'a> {
    pub(super) fn new(event: &'static str, fields: &'a mut Map<String, Value>) -> Self {
        Self { event, fields }
    }

    /// A field that may be absent; `null` is absent.
    pub(super) fn optional<T: Field>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, LineError> {
        debug_assert!(KNOWN.split(' ').any(|known| known == name), "{name}");
        let Some(value) = self.fields.remove(name).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        T::read(value).map(Some).map_err(|wrong| {
            let (problem, expected) = match wrong {
                // There a number is right, only not this one.
                Wrong::Type(Value::Number(_)) if T::EXPECTED.contains("whole number") => {
                    ("is another number".to_owned(), T::EXPECTED)
                }
                Wrong::Type(value) => (format!("is {}", kind_of(&value)), T::EXPECTED),
                Wrong::Value(problem) => (problem, T::EXPECTED),
                Wrong::Other(problem, expected) => (problem, expected),
            };
            LineError::Field { event: self.event, field: name, problem, expected: expected.into() }
        })
    }

    pub(super) fn required<T: Field>(&mut self, name: &'static str) -> Result<T, LineError> {
        self.optional(name)?.ok_or_else(|| self.missing(name, T::EXPECTED))
    }

    /// A field that has to be there, though it may be `null`.
    pub(super) fn nullable<T: Field>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, LineError> {
        if self.fields.contains_key(name) {
            return self.optional(name);
        }
        let or_null = if T::EXPECTED.ends_with("null") { "" } else { " or null" };
        Err(self.missing(name, format!("{}{or_null}", T::EXPECTED)))
    }

    /// Whose event it is: the main agent's if nothing is said.
    pub(super) fn agent(&mut self) -> Result<EventId, LineError> {
        Ok(self.optional("agent_id")?.unwrap_or_default())
    }

    /// As [`agent`](Self::agent), but an explicit `null` is nobody.
    pub(super) fn agent_or_nobody(&mut self) -> Result<Option<EventId>, LineError> {
        if self.fields.get("agent_id").is_some_and(Value::is_null) {
            return Ok(None);
        }
        self.agent().map(Some)
    }

    fn missing(&self, field: &'static str, expected: impl Into<String>) -> LineError {
        let names = self.fields.keys().map(String::as_str);
        let unknown = names.filter(|name| !KNOWN.split(' ').any(|known| known == *name));
        let problem = match nearest(field, unknown) {
            Some(written) => format!("is missing, but `{}` is there", shown(written)),
            None => "is missing".to_owned(),
        };
        LineError::Field { event: self.event, field, problem, expected: expected.into() }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl Field for String {
    const EXPECTED: &'static str = "a text";

    fn read(value: Value) -> Result<Self, Wrong> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(Wrong::Type(other)),
        }
    }
}

/// A name for people; of a long one the beginning.
pub(super) struct Name(pub(super) String);

impl Field for Name {
    const EXPECTED: &'static str = String::EXPECTED;

    fn read(value: Value) -> Result<Self, Wrong> {
        let mut text = String::read(value)?;
        let most = text.len().min(ID_MAX_BYTES);
        let cut = (0..=most).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(cut.unwrap_or_default());
        Ok(Self(text))
    }
}

/// An id as text; a number is one, too.
pub(super) struct IdText(pub(super) String);

impl Field for IdText {
    const EXPECTED: &'static str = "a text or a number";

    fn read(value: Value) -> Result<Self, Wrong> {
        match value {
            Value::String(id) if id.len() > ID_MAX_BYTES => {
                Err(Wrong::Other(format!("has {} bytes", id.len()), "up to 1024 bytes"))
            }
            Value::String(id) => Ok(Self(id)),
            Value::Number(id) => Ok(Self(id.to_string())),
            other => Err(Wrong::Type(other)),
        }
    }
}

impl Field for EventId {
    const EXPECTED: &'static str = IdText::EXPECTED;

    fn read(value: Value) -> Result<Self, Wrong> {
        IdText::read(value).map(|id| id.0.into())
    }
}

/// An id that is only given back.
pub(super) struct AnyId(pub(super) Value);

impl Field for AnyId {
    const EXPECTED: &'static str = IdText::EXPECTED;

    fn read(value: Value) -> Result<Self, Wrong> {
        if value.is_string() || value.is_number() {
            Ok(Self(value))
        } else {
            Err(Wrong::Type(value))
        }
    }
}

impl Field for bool {
    const EXPECTED: &'static str = "true or false";

    fn read(value: Value) -> Result<Self, Wrong> {
        value.as_bool().ok_or(Wrong::Type(value))
    }
}

impl Field for u64 {
    const EXPECTED: &'static str = "a whole number from 0 on";

    /// JavaScript hosts may write a whole number as `1e3` or `5.0`.
    fn read(value: Value) -> Result<Self, Wrong> {
        const EXACT_UP_TO: f64 = 9_007_199_254_740_992.0;
        let whole = |number: f64| number.fract() == 0.0 && (0.0..=EXACT_UP_TO).contains(&number);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, not negative and within 2^53"
        )]
        let from_float =
            || value.as_f64().filter(|number| whole(*number)).map(|number| number as Self);
        value.as_u64().or_else(from_float).ok_or(Wrong::Type(value))
    }
}

pub(super) struct Percent(pub(super) u8);

impl Field for Percent {
    const EXPECTED: &'static str = "a whole number from 0 to 100, or null";

    fn read(value: Value) -> Result<Self, Wrong> {
        let percent = u8::try_from(u64::read(value)?).ok().filter(|percent| *percent <= 100);
        percent.map(Self).ok_or_else(|| Wrong::Value("is over 100".to_owned()))
    }
}

impl Field for Vec<String> {
    const EXPECTED: &'static str = "a list of texts";

    fn read(value: Value) -> Result<Self, Wrong> {
        let Value::Array(items) = value else { return Err(Wrong::Type(value)) };
        let text = |(place, item): (usize, Value)| match item {
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(number.to_string()),
            other => Err(Wrong::Value(format!("has {} in place {place}", kind_of(&other)))),
        };
        (1..).zip(items).map(text).collect()
    }
}

impl Field for BTreeMap<String, Option<String>> {
    const EXPECTED: &'static str = "an object of texts and nulls";

    fn read(value: Value) -> Result<Self, Wrong> {
        let Value::Object(map) = value else { return Err(Wrong::Type(value)) };
        let text = |(key, value): (String, Value)| match value {
            Value::Null => Ok((key, None)),
            Value::String(text) => Ok((key, Some(text))),
            Value::Number(number) => Ok((key, Some(number.to_string()))),
            other => Err(Wrong::Value(format!("has {} under `{}`", kind_of(&other), shown(&key)))),
        };
        map.into_iter().map(text).collect()
    }
}

impl Field for BTreeMap<StateKey, Option<String>> {
    const EXPECTED: &'static str = <BTreeMap<String, Option<String>>>::EXPECTED;

    fn read(value: Value) -> Result<Self, Wrong> {
        const STATES: &str = "only idle, working, blocked, done and unknown";
        let texts = <BTreeMap<String, Option<String>>>::read(value)?;
        let state = |(word, text): (String, _)| {
            let key = StateKey::ALL.into_iter().find(|key| key.as_str() == word);
            let problem = || format!("has `{}`, which is not a state", shown(&word));
            Ok((key.ok_or_else(|| Wrong::Other(problem(), STATES))?, text))
        };
        texts.into_iter().map(state).collect()
    }
}

impl Field for ReportState {
    const EXPECTED: &'static str = "idle, working or blocked";

    fn read(value: Value) -> Result<Self, Wrong> {
        let word = String::read(value)?;
        let mut states = [Self::Idle, Self::Working, Self::Blocked].into_iter();
        let state = states.find(|state| state.as_str() == word);
        state.ok_or_else(|| Wrong::Value("is not a state".to_owned()))
    }
}

impl Field for PromptKind {
    const EXPECTED: &'static str = "approval, question or auth";

    fn read(value: Value) -> Result<Self, Wrong> {
        Ok(match String::read(value)?.as_str() {
            "approval" => Self::Approval,
            "question" => Self::Question,
            "auth" => Self::Auth,
            _ => Self::Other,
        })
    }
}

/// How a turn ended; a word of a later version is as good as none.
impl Field for Option<TurnOutcome> {
    const EXPECTED: &'static str = String::EXPECTED;

    fn read(value: Value) -> Result<Self, Wrong> {
        Ok(match String::read(value)?.as_str() {
            "done" => Some(TurnOutcome::Done),
            "error" => Some(TurnOutcome::Error),
            "cancelled" => Some(TurnOutcome::Cancelled),
            _ => None,
        })
    }
}

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::near::{nearest, shown};
use super::{EventId, ID_MAX_BYTES, LineProblem};

/// What an id may be.
const ID: &str = "a text or a number";
const FLAG: &str = "true or false";

/// Every field that some event has, so that none is taken for another one
/// written wrong.
const KNOWN: [&str; 27] = [
    "agent_id",
    "context_window",
    "id",
    "kind",
    "label",
    "labels",
    "message",
    "model",
    "outcome",
    "percent",
    "prompt_id",
    "provider",
    "ready",
    "reason",
    "resume_argv",
    "running",
    "session_id",
    "session_path",
    "settles",
    "state",
    "timeout_ms",
    "title",
    "tokens",
    "tool",
    "tool_id",
    "used",
    "waiting",
];

/// The fields of one event, taken by name and type. A wrong one is told by
/// name and type only; the value may be private.
pub(super) struct Fields<'a> {
    kind: &'static str,
    fields: &'a mut Map<String, Value>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(kind: &'static str, fields: &'a mut Map<String, Value>) -> Self {
        Self { kind, fields }
    }

    /// A field that may be absent; `null` is absent.
    fn take(&mut self, name: &'static str) -> Option<Value> {
        debug_assert!(KNOWN.contains(&name), "{name}");
        self.fields.remove(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, LineProblem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, &other, "a text")),
        }
    }

    /// A text that has to be there, though it may be `null`.
    pub(super) fn nullable_text(
        &mut self,
        name: &'static str,
    ) -> Result<Option<String>, LineProblem> {
        if !self.fields.contains_key(name) {
            return Err(self.missing(name, "a text or null"));
        }
        self.text(name)
    }

    pub(super) fn id(&mut self, name: &'static str) -> Result<EventId, LineProblem> {
        self.id_text(name).map(EventId::from)
    }

    /// An id as text; a number is one, too.
    pub(super) fn id_text(&mut self, name: &'static str) -> Result<String, LineProblem> {
        match self.optional_id(name)? {
            Some(id) => Ok(id),
            None => Err(self.missing(name, ID)),
        }
    }

    fn optional_id(&mut self, name: &'static str) -> Result<Option<String>, LineProblem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(id)) => self.check_id(name, id).map(Some),
            Some(Value::Number(id)) => Ok(Some(id.to_string())),
            Some(other) => Err(self.wrong(name, &other, ID)),
        }
    }

    /// An id that is only given back.
    pub(super) fn any_id(&mut self, name: &'static str) -> Result<Value, LineProblem> {
        match self.take(name) {
            Some(id @ (Value::String(_) | Value::Number(_))) => Ok(id),
            Some(other) => Err(self.wrong(name, &other, ID)),
            None => Ok(Value::Null),
        }
    }

    /// A name for people; of a long one the beginning.
    pub(super) fn name(&mut self, name: &'static str) -> Result<String, LineProblem> {
        let mut text = self.text(name)?.ok_or_else(|| self.missing(name, "a text"))?;
        let most = text.len().min(ID_MAX_BYTES);
        let cut = (0..=most).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(cut.unwrap_or_default());
        Ok(text)
    }

    /// One of a few words, as `expected` says; which one is for the caller.
    pub(super) fn word(
        &mut self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<String, LineProblem> {
        match self.take(name) {
            Some(Value::String(word)) => Ok(word),
            Some(other) => Err(self.wrong(name, &other, expected)),
            None => Err(self.missing(name, expected)),
        }
    }

    /// Whose event it is: the main agent's if nothing is said.
    pub(super) fn agent(&mut self) -> Result<EventId, LineProblem> {
        Ok(self.optional_id("agent_id")?.map(EventId::from).unwrap_or_default())
    }

    /// As [`agent`](Self::agent), but an explicit `null` is nobody.
    pub(super) fn agent_or_nobody(&mut self) -> Result<Option<EventId>, LineProblem> {
        if self.fields.get("agent_id").is_some_and(Value::is_null) {
            return Ok(None);
        }
        self.agent().map(Some)
    }

    pub(super) fn number(&mut self, name: &'static str) -> Result<Option<u64>, LineProblem> {
        let Some(value) = self.take(name) else { return Ok(None) };
        whole(&value).map(Some).ok_or_else(|| self.wrong(name, &value, "a whole number from 0 on"))
    }

    pub(super) fn required_number(&mut self, name: &'static str) -> Result<u64, LineProblem> {
        self.number(name)?.ok_or_else(|| self.missing(name, "a whole number from 0 on"))
    }

    /// A number that has to be there, though it may be `null`.
    pub(super) fn nullable_number(
        &mut self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Option<u64>, LineProblem> {
        if !self.fields.contains_key(name) {
            return Err(self.missing(name, expected));
        }
        self.number(name)
    }

    pub(super) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, LineProblem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(self.wrong(name, &other, FLAG)),
        }
    }

    pub(super) fn required_flag(&mut self, name: &'static str) -> Result<bool, LineProblem> {
        self.flag(name)?.ok_or_else(|| self.missing(name, FLAG))
    }

    pub(super) fn texts(&mut self, name: &'static str) -> Result<Option<Vec<String>>, LineProblem> {
        let expected = "a list of texts";
        match self.take(name) {
            None => Ok(None),
            Some(Value::Array(items)) => (1..)
                .zip(items)
                .map(|(place, item)| match item {
                    Value::String(text) => Ok(text),
                    Value::Number(number) => Ok(number.to_string()),
                    other => {
                        let problem = format!("has {} in place {place}", kind_of(&other));
                        Err(self.problem(name, problem, expected))
                    }
                })
                .collect::<Result<_, _>>()
                .map(Some),
            Some(other) => Err(self.wrong(name, &other, expected)),
        }
    }

    pub(super) fn text_map(
        &mut self,
        name: &'static str,
    ) -> Result<BTreeMap<String, Option<String>>, LineProblem> {
        let expected = "an object of texts and nulls";
        match self.take(name) {
            None => Err(self.missing(name, expected)),
            Some(Value::Object(map)) => map
                .into_iter()
                .map(|(key, value)| match value {
                    Value::Null => Ok((key, None)),
                    Value::String(text) => Ok((key, Some(text))),
                    Value::Number(number) => Ok((key, Some(number.to_string()))),
                    other => {
                        let problem = format!("has {} under `{}`", kind_of(&other), shown(&key));
                        Err(self.problem(name, problem, expected))
                    }
                })
                .collect(),
            Some(other) => Err(self.wrong(name, &other, expected)),
        }
    }

    pub(super) fn problem(
        &self,
        field: &'static str,
        problem: impl Into<String>,
        expected: &'static str,
    ) -> LineProblem {
        LineProblem::Field { event: self.kind, field, problem: problem.into(), expected }
    }

    fn missing(&self, field: &'static str, expected: &'static str) -> LineProblem {
        let unknown = self.fields.keys().filter(|key| !KNOWN.contains(&key.as_str()));
        let problem = match nearest(field, unknown.map(String::as_str)) {
            Some(written) => format!("is missing, but `{}` is there", shown(written)),
            None => "is missing".to_owned(),
        };
        self.problem(field, problem, expected)
    }

    fn wrong(&self, field: &'static str, value: &Value, expected: &'static str) -> LineProblem {
        let kind = match kind_of(value) {
            // There a number is right, only not this one.
            "a number" if expected.contains("whole number") => "another number",
            kind => kind,
        };
        self.problem(field, format!("is {kind}"), expected)
    }

    fn check_id(&self, name: &'static str, id: String) -> Result<String, LineProblem> {
        if id.len() <= ID_MAX_BYTES {
            return Ok(id);
        }
        Err(self.problem(name, format!("has {} bytes", id.len()), "up to 1024 bytes"))
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

/// JavaScript hosts may write a whole number as `1e3` or `5.0`.
fn whole(value: &Value) -> Option<u64> {
    const EXACT_UP_TO: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        let fits = number.fract() == 0.0 && (0.0..=EXACT_UP_TO).contains(&number);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, not negative and within 2^53"
        )]
        fits.then_some(number as u64)
    })
}

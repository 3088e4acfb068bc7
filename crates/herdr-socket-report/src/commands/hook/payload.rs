//! The JSON object that an agent gives a hook. A field of a wrong type counts
//! as absent, and what nobody asks for is not even parsed: tool results are
//! long.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// The object's fields.
#[derive(Debug, Default)]
pub(super) struct Payload<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Payload<'a> {
    /// `None` if it is not an object.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }

    /// The first of these fields that is there and not null. A text that holds
    /// an object counts as the object: some agents write arguments so.
    pub(super) fn value(&self, names: &[&str]) -> Option<Value> {
        let parsed = |name: &&str| serde_json::from_str::<Value>(self.0.get(*name)?.get()).ok();
        let found = names.iter().filter_map(parsed).find(|value| !value.is_null())?;
        let inner = found.as_str().filter(|text| text.starts_with('{'));
        Some(inner.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(found))
    }

    /// The first of these fields that is a text with something in it.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        let parsed = |name: &&str| serde_json::from_str::<String>(self.0.get(*name)?.get()).ok();
        names.iter().filter_map(parsed).find(|text| !text.trim().is_empty())
    }

    /// Whether this field is true.
    pub(super) fn is(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| value.get() == "true")
    }
}

//! The JSON object that an agent gives a hook. A field of the wrong type counts as absent.
//! Fields that are not used are not parsed, because results of tools are long.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// The fields of the object.
#[derive(Debug, Default)]
pub(super) struct Payload<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Payload<'a> {
    /// `None` if the text is not a JSON object.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }

    /// The first of these fields that is present and not null. A text that contains an object
    /// counts as the object, because some agents write arguments that way.
    pub(super) fn value(&self, names: &[&str]) -> Option<Value> {
        let parsed = |name: &&str| serde_json::from_str::<Value>(self.0.get(*name)?.get()).ok();
        let found = names.iter().filter_map(parsed).find(|value| !value.is_null())?;
        let inner = found.as_str().filter(|text| text.starts_with('{'));
        Some(inner.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(found))
    }

    /// The first of these fields that is a text and not blank.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        let parsed = |name: &&str| serde_json::from_str::<String>(self.0.get(*name)?.get()).ok();
        names.iter().filter_map(parsed).find(|text| !text.trim().is_empty())
    }

    /// Whether this field is true.
    pub(super) fn is(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| value.get() == "true")
    }
}

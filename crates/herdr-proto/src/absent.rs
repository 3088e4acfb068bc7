//! Defaults for values that are absent.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// Reads `null` as the default. Herdr omits a field that is not set (protocol §2.1), but other
/// servers of this API may send `null` for it.
pub(crate) fn null<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads a map of texts. A `null` map is empty, and an entry that is `null` counts as absent.
pub(crate) fn null_texts<'de, D>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error>
where
    D: Deserializer<'de>,
{
    let texts: BTreeMap<String, Option<String>> = null(deserializer)?;
    Ok(texts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect())
}

/// Reads a value of the wrong type as the default.
pub(crate) fn other_type<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let said = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(said).unwrap_or_default())
}

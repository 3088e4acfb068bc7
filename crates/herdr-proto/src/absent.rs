//! What counts as not said.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// The default for `null`. Herdr leaves out what it has not (protocol §2.1);
/// other servers of this API may send `null`, which says the same.
pub(crate) fn null<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The same for texts by name and for each of them: one that is null is not
/// there.
pub(crate) fn null_texts<'de, D>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error>
where
    D: Deserializer<'de>,
{
    let texts: BTreeMap<String, Option<String>> = null(deserializer)?;
    Ok(texts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect())
}

/// The default for a value that is not of the type it should be.
pub(crate) fn other_type<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let said = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(said).unwrap_or_default())
}

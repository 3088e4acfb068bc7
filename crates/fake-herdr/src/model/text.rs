//! How the server normalises and checks text before it stores it (protocol 5.6, D6
//! and 6.1).

use std::collections::BTreeMap;

use herdr_proto::limits;

use super::failure::Failure;

/// Normalises a title, display name, status text or token value: it is trimmed, loses
/// control characters and is cut at 80 scalars. `None` if nothing is left.
pub(crate) fn presentation(raw: &str) -> Option<String> {
    let kept: String = raw
        .trim()
        .chars()
        .filter(|character| !character.is_control())
        .take(limits::TEXT_MAX_SCALARS)
        .collect();
    let kept = kept.trim();
    (!kept.is_empty()).then(|| kept.to_owned())
}

/// Normalises an agent label: the canonical name of a known agent, otherwise the
/// trimmed text.
pub(crate) fn label(raw: &str) -> Result<String, Failure> {
    let trimmed = raw.trim();
    if trimmed.is_empty() {
        return Err(Failure::new("invalid_agent", "the agent label is empty"));
    }
    Ok(herdr_proto::canonical_label(trimmed).map_or_else(|| trimmed.to_owned(), str::to_owned))
}

/// Checks the source of a metadata report. The other methods take any text.
pub(crate) fn metadata_source(raw: &str) -> Result<String, Failure> {
    let trimmed = raw.trim();
    let fits = !trimmed.is_empty()
        && trimmed.len() <= limits::SOURCE_MAX
        && trimmed.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":._-".contains(&byte));
    if fits {
        Ok(trimmed.to_owned())
    } else {
        Err(Failure::new(
            "invalid_metadata_source",
            "a metadata source has 1 to 80 of A-Z a-z 0-9 : . _ -",
        ))
    }
}

/// Normalises the text of each status. Blank texts are dropped; an unknown status is
/// refused.
pub(crate) fn state_labels(
    raw: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, Failure> {
    let mut kept = BTreeMap::new();
    for (status, text) in raw {
        let status = status.trim().to_ascii_lowercase();
        if !["idle", "working", "blocked", "done", "unknown"].contains(&status.as_str()) {
            return Err(Failure::new("invalid_state_label", format!("no such status: {status}")));
        }
        if let Some(text) = presentation(text) {
            kept.insert(status, text);
        }
    }
    Ok(kept)
}

/// Checks a token patch. `None` removes a token, and so does a value of which nothing
/// is left.
pub(crate) fn tokens(
    raw: &BTreeMap<String, Option<String>>,
) -> Result<BTreeMap<String, Option<String>>, Failure> {
    if raw.len() > limits::TOKENS_PER_REPORT {
        return Err(Failure::new(
            "invalid_metadata_token",
            format!("a report carries at most {} tokens", limits::TOKENS_PER_REPORT),
        ));
    }
    raw.iter()
        .map(|(key, value)| {
            let fits = (1..=limits::TOKEN_KEY_MAX).contains(&key.len())
                && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
            if fits {
                Ok((key.clone(), value.as_deref().and_then(presentation)))
            } else {
                Err(Failure::new(
                    "invalid_metadata_token",
                    "a token key has 1 to 32 of A-Z a-z 0-9 _ -",
                ))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_scalars_after_control_characters_are_dropped() {
        assert_eq!(presentation("  a\nb\tc\u{7}d  ").as_deref(), Some("abcd"));
        assert_eq!(presentation("\u{1b}[31mred\u{1b}[0m").as_deref(), Some("[31mred[0m"));
        assert_eq!(presentation(" \n "), None);
        let long = format!("{} tail", "x".repeat(79));
        assert_eq!(presentation(&long), Some("x".repeat(79)), "trimmed again after the cut");
    }

    #[test]
    fn an_unknown_status_is_refused_and_a_blank_text_dropped() {
        let labels = |status: &str, text: &str| {
            state_labels(&BTreeMap::from([(status.to_owned(), text.to_owned())]))
        };
        assert_eq!(
            labels(" Working ", " x ").unwrap(),
            BTreeMap::from([("working".into(), "x".into())])
        );
        assert!(labels("idle", " ").unwrap().is_empty());
        assert_eq!(labels("busy", "x").unwrap_err().code, "invalid_state_label");
    }
}

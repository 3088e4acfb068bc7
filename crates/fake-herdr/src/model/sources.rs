//! Herdr's own integrations, and the checks of a session reference
//! (protocol 6.2, B1, B2 and B8).

use herdr_proto::{Integration, limits};
use serde::{Deserialize, Serialize};

use super::state::parse_word;

pub(crate) fn is_official(source: &str, label: &str) -> bool {
    herdr_proto::integration(source, label).is_some()
}

pub(crate) fn is_full_lifecycle(source: &str, label: &str) -> bool {
    herdr_proto::integration(source, label) == Some(Integration::FullLifecycle)
}

/// A1: the state of these pairs is read from the screen.
pub(crate) fn is_screen_read(source: &str, label: &str) -> bool {
    herdr_proto::integration(source, label) == Some(Integration::ScreenRead)
}

/// A2 and B6: of these pairs only the session is used. qwen is screen-read too.
pub(crate) fn is_identity_only(source: &str, label: &str) -> bool {
    herdr_proto::integration(source, label) == Some(Integration::IdentityOnly)
        || (source, label) == ("herdr:qwen", "qwen")
}

/// The agent that this official source belongs to.
pub(crate) fn agent_of_source(source: &str) -> Option<&'static str> {
    herdr_proto::integrations()
        .find(|(official, _, _)| *official == source)
        .map(|(_, agent, _)| agent)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SessionKind {
    Id,
    Path,
}

/// A reference to a session that its agent can resume.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionRef {
    pub(crate) kind: SessionKind,
    pub(crate) value: String,
}

impl SessionRef {
    fn id(value: &str) -> Option<Self> {
        let fits = !value.is_empty()
            && value.len() <= limits::SESSION_ID_MAX
            && !value.chars().any(char::is_control);
        fits.then(|| Self { kind: SessionKind::Id, value: value.to_owned() })
    }

    fn path(value: &str) -> Option<Self> {
        let fits = value.starts_with('/')
            && value.len() <= limits::SESSION_PATH_MAX
            && !value.chars().any(char::is_control);
        fits.then(|| Self { kind: SessionKind::Path, value: value.to_owned() })
    }

    /// B1: only an official pair has a session. Only pi and omp use paths, and they
    /// prefer a path to an id.
    pub(crate) fn from_report(
        source: &str,
        label: &str,
        id: Option<&str>,
        path: Option<&str>,
    ) -> Option<Self> {
        if !is_official(source, label) {
            return None;
        }
        let path = path.filter(|_| matches!(label, "pi" | "omp"));
        path.and_then(Self::path).or_else(|| id.and_then(Self::id))
    }
}

/// Why an agent started a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StartSource {
    Startup,
    Resume,
    Clear,
    Compact,
    Branch,
    New,
    Fork,
    Select,
}

impl StartSource {
    /// Reads a start source; an unknown one counts as absent.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        parse_word(text.trim())
    }

    /// B2 and B7: every start source except `branch` announces a session.
    pub(crate) fn announces(start: Option<Self>) -> bool {
        start.is_some_and(|start| start != Self::Branch)
    }
}

/// B8: whether this start may replace the session id that the pair already has.
pub(crate) fn replaces_session(source: &str, start: Option<StartSource>) -> bool {
    use StartSource::{Branch, Clear, Compact, Fork, New, Resume, Select, Startup};

    let allowed: &[StartSource] = match source {
        "herdr:claude" => &[Clear, Resume, Compact],
        "herdr:codex" => &[Startup, Clear, Resume, Compact],
        "herdr:mastracode" => &[Startup],
        "herdr:hermes" => &[Startup, New, Resume],
        "herdr:opencode" => &[Select],
        "herdr:pi" => &[New, Resume, Fork],
        "herdr:omp" => &[Startup, New, Resume, Fork],
        "herdr:qwen" => &[Startup, Clear, Resume, Compact, Branch],
        "herdr:antigravity_cli" => return start.is_none(),
        _ => &[],
    };
    start.is_some_and(|start| allowed.contains(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_official_only_with_its_own_label() {
        assert!(is_official("herdr:antigravity_cli", "agy"));
        assert!(!is_official("herdr:pi", "prime-agent"));
        assert!(!is_official("custom:pi", "pi"));
        assert_eq!(agent_of_source("herdr:antigravity_cli"), Some("agy"));
        assert!(is_identity_only("herdr:qwen", "qwen") && is_screen_read("herdr:qwen", "qwen"));
    }

    #[test]
    fn session_references_are_checked() {
        let too_long = "x".repeat(513);
        let session = |source, label, id, path| SessionRef::from_report(source, label, id, path);
        assert_eq!(session("custom:a", "pi", Some("s"), None), None);
        assert_eq!(session("herdr:claude", "claude", Some(""), None), None);
        assert_eq!(session("herdr:claude", "claude", Some("a\nb"), None), None);
        assert_eq!(session("herdr:claude", "claude", None, Some("/tmp/s")), None);
        assert_eq!(session("herdr:claude", "claude", Some(too_long.as_str()), None), None);
        assert!(session("herdr:claude", "claude", Some(&too_long[1..]), None).is_some());
        let path = session("herdr:omp", "omp", Some("s"), Some("/tmp/s")).unwrap();
        assert_eq!((path.kind, path.value.as_str()), (SessionKind::Path, "/tmp/s"));
        let id = session("herdr:pi", "pi", Some("s"), Some("rel/s")).unwrap();
        assert_eq!((id.kind, id.value.as_str()), (SessionKind::Id, "s"));
    }

    #[test]
    fn start_sources_that_replace_a_session() {
        assert!(replaces_session("herdr:claude", Some(StartSource::Clear)));
        assert!(!replaces_session("herdr:claude", Some(StartSource::Startup)));
        assert!(!replaces_session("herdr:claude", None));
        assert!(replaces_session("herdr:codex", Some(StartSource::Startup)));
        for never in ["copilot", "devin", "droid", "qodercli", "cursor", "grok", "kimi", "kilo"] {
            assert!(!replaces_session(&format!("herdr:{never}"), Some(StartSource::New)));
        }
        assert!(replaces_session("herdr:antigravity_cli", None));
        assert!(!StartSource::announces(StartSource::parse("branch")));
        assert!(StartSource::announces(StartSource::parse(" select ")));
        assert_eq!(StartSource::parse("nonsense"), None);
    }
}

//! Under which name a reporter reports, and which names it must not use.

use herdr_proto::{AgentLabel, Integration, SourceId, integration, limits};

use crate::lease::stable_hash;

/// The source for an agent's label: `custom:` and the label in lower case,
/// anything outside a source's alphabet as `-`. A label with none of the
/// alphabet gets a hash, so that two of them do not share a source.
///
/// ```
/// use herdr_proto::AgentLabel;
/// let source = herdr_reporter::sidecar::source_for(&AgentLabel::parse("My Agent")?);
/// assert_eq!(source.as_str(), "custom:my-agent");
/// # Ok::<(), herdr_proto::InvalidValue>(())
/// ```
pub fn source_for(label: &AgentLabel) -> SourceId {
    const PREFIX: &str = "custom:";
    let lower = label.as_str().to_lowercase();
    let name = if lower.chars().any(|c| c.is_ascii_alphanumeric()) {
        let allowed = |c: char| SourceId::allows(c) && c != ':';
        lower
            .chars()
            .map(|c| if allowed(c) { c } else { '-' })
            .take(limits::SOURCE_MAX - PREFIX.len())
            .collect()
    } else {
        format!("{:016x}", stable_hash(&[lower.as_bytes()]))
    };
    SourceId::parse(format!("{PREFIX}{name}"))
        .unwrap_or_else(|_| unreachable!("only allowed characters, and not too many"))
}

/// What Herdr will make of a source and a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceNotice {
    /// One of Herdr's own pairs. A report would be ignored, or lock the pane
    /// for everybody, so it is refused (failures B36, B39).
    Official(Integration),
    /// Herdr asks others not to use its prefix.
    HerdrPrefix,
    /// Herdr knows an agent of this name, looks for its process, and drops or
    /// overrides what it does not agree with (failure B38).
    KnownLabel,
}

impl SourceNotice {
    /// What there is to say about a pair, the worst first.
    pub fn of(source: &SourceId, label: &AgentLabel) -> Option<Self> {
        if let Some(class) = integration(source.as_str(), label.as_str()) {
            Some(Self::Official(class))
        } else if source.as_str().starts_with("herdr:") {
            Some(Self::HerdrPrefix)
        } else {
            label.is_known().then_some(Self::KnownLabel)
        }
    }

    /// Whether a reporter is refused for it.
    pub fn is_refused(self) -> bool {
        matches!(self, Self::Official(_))
    }

    /// What Herdr will do, and what to do instead.
    pub fn text(self) -> &'static str {
        match self {
            Self::Official(Integration::FullLifecycle) => {
                "source and label are one of Herdr's own integrations: it would keep the state \
                 back until that agent runs, and lock the pane for others; use custom:NAME"
            }
            Self::Official(_) => {
                "source and label are one of Herdr's own integrations: it ignores their state and \
                 a session would lock the pane for others; use custom:NAME"
            }
            Self::HerdrPrefix => {
                "Herdr keeps the prefix herdr: for its own integrations; a release of it may make \
                 this source one of them; use custom:NAME"
            }
            Self::KnownLabel => {
                "Herdr knows an agent of this name: a prompt on the screen overrides the state, \
                 and after such an agent exits, reports are dropped until one runs again; use \
                 another label"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_label_has_a_valid_source_of_its_own() {
        let source = |label: &str| source_for(&AgentLabel::parse(label).unwrap()).to_string();
        assert_eq!(source("HostBot"), "custom:hostbot");
        assert_eq!(source("a:b c/d"), "custom:a-b-c-d");
        assert_ne!(source("日本"), source("日本語"));
        assert_eq!(source(&"x".repeat(80)).len(), limits::SOURCE_MAX);
    }

    #[test]
    fn pairs_are_told_apart() {
        let notice = |source: &str, label: &str| {
            let source = SourceId::parse(source).unwrap();
            SourceNotice::of(&source, &AgentLabel::parse(label).unwrap())
        };
        assert!(notice("herdr:pi", "Pi").unwrap().is_refused());
        assert_eq!(notice("herdr:pi", "prime-agent"), Some(SourceNotice::HerdrPrefix));
        assert_eq!(notice("custom:x", "Codex"), Some(SourceNotice::KnownLabel));
        assert_eq!(notice("custom:x", "hostbot"), None);
    }
}

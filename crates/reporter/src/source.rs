//! The source of a reporter, and the sources that it must not use.

use herdr_proto::{AgentLabel, Integration, SourceId, integration, limits};

use crate::lease::stable_hash;

/// The source for an agent's label: `custom:` and the label in lower case, with `-` for each
/// character that a source must not contain. A label without an ASCII letter or digit is replaced
/// by a hash, so that two such labels do not share a source.
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

/// What is wrong with a source and a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceNotice {
    /// The pair of one of Herdr's own integrations. A report would be ignored, or would lock the
    /// pane for everybody else, so it is refused (failures B36, B39).
    Official(Integration),
    /// The source has Herdr's own prefix, which others are asked not to use.
    HerdrPrefix,
    /// Herdr knows an agent of this name, looks for its process, and drops or overrides reports
    /// that do not agree with what it sees (failure B38).
    KnownLabel,
}

impl SourceNotice {
    /// The worst thing to say about a pair; `None` if there is nothing wrong.
    pub fn of(source: &SourceId, label: &AgentLabel) -> Option<Self> {
        if let Some(class) = integration(source.as_str(), label.as_str()) {
            Some(Self::Official(class))
        } else if source.as_str().starts_with("herdr:") {
            Some(Self::HerdrPrefix)
        } else {
            label.is_known().then_some(Self::KnownLabel)
        }
    }

    /// Whether a reporter with such a pair is refused.
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
                "Herdr keeps the prefix herdr: for its own integrations; a later version may make \
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

use serde::{Deserialize, Serialize};

use crate::error::InvalidValue;
use crate::ids::text_newtype;
use crate::limits;
use crate::text::{PresentationText, strip_controls};

/// The name of an agent as Herdr files it: canonical if Herdr knows the agent, unchanged
/// otherwise.
///
/// The server trims a label and accepts everything else, even line breaks (protocol §6.1,
/// failure B47). This type does not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentLabel(String);

impl AgentLabel {
    /// Takes a label. It is trimmed, and replaced by its canonical name if Herdr knows it. An
    /// unknown label keeps its case.
    ///
    /// # Errors
    ///
    /// If it is blank, over [`limits::AGENT_LABEL_MAX`] scalars, or contains line breaks,
    /// control characters or invisible format characters.
    ///
    /// ```
    /// use herdr_proto::AgentLabel;
    /// assert_eq!(AgentLabel::parse(" Claude-Code.exe ")?.as_str(), "claude");
    /// assert_eq!(AgentLabel::parse("HostBot")?.as_str(), "HostBot");
    /// assert!(AgentLabel::parse("two\nlines").is_err());
    /// # Ok::<(), herdr_proto::InvalidValue>(())
    /// ```
    pub fn parse(label: impl AsRef<str>) -> Result<Self, InvalidValue> {
        let label = label.as_ref().trim();
        let problem = if label.is_empty() {
            "is blank"
        } else if strip_controls(label) != label {
            "holds control or invisible characters"
        } else if label.chars().nth(limits::AGENT_LABEL_MAX).is_some() {
            "is too long"
        } else {
            return Ok(Self(canonical_label(label).unwrap_or(label).to_owned()));
        };
        Err(InvalidValue::new(
            "agent",
            problem,
            format!("a name of 1 to {} characters such as my-agent", limits::AGENT_LABEL_MAX),
        ))
    }

    /// Makes a label from any text, which is cleaned like a title; `None` if nothing remains.
    pub fn normalize(label: &str) -> Option<Self> {
        let text = PresentationText::normalize(label)?;
        Self::parse(text.as_str()).ok()
    }

    /// Whether Herdr knows an agent of this name and looks for its process (failure B38).
    pub fn is_known(&self) -> bool {
        canonical_label(&self.0).is_some()
    }
}

text_newtype!(AgentLabel);

/// The agents that Herdr 0.8.2 knows: the canonical name and the other accepted names (protocol
/// §6.1).
const KNOWN: [(&str, &[&str]); 22] = [
    ("pi", &[]),
    ("codex", &[]),
    ("gemini", &[]),
    ("cline", &[]),
    ("omp", &[]),
    ("droid", &[]),
    ("maki", &[]),
    ("claude", &["claude-code"]),
    ("cursor", &["cursor-agent"]),
    ("devin", &["devin-cli", "devin cli"]),
    ("agy", &["antigravity", "antigravity-cli"]),
    ("mastracode", &["mastra-code", "mastra code"]),
    ("opencode", &["opencode2", "open-code"]),
    ("copilot", &["github-copilot", "ghcs"]),
    ("kimi", &["kimi-code", "kimi code"]),
    ("kiro", &["kiro-cli"]),
    ("amp", &["amp-local"]),
    ("grok", &["grok-build"]),
    ("hermes", &["hermes-agent"]),
    ("kilo", &["kilo-code", "kilo code"]),
    ("qodercli", &["qoderclicn", "qoder", "qodercn"]),
    ("qwen", &["qwen-code", "qwen code"]),
];

/// File name suffixes. The server removes one before it looks up a label.
const ENDINGS: [&str; 5] = [".exe", ".cmd", ".bat", ".ps1", ".js"];

/// The canonical name of a label that Herdr 0.8.2 knows; `None` for any other. Case,
/// surrounding spaces and one suffix such as `.exe` do not matter.
pub fn canonical_label(label: &str) -> Option<&'static str> {
    let lower = label.trim().to_lowercase();
    let name = ENDINGS.iter().find_map(|ending| lower.strip_suffix(ending)).unwrap_or(&lower);
    KNOWN
        .iter()
        .find(|(canonical, others)| *canonical == name || others.contains(&name))
        .map(|(canonical, _)| *canonical)
}

/// The canonical names of the agents that Herdr 0.8.2 knows.
pub fn known_labels() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(canonical, _)| *canonical)
}

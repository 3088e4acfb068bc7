use serde::{Deserialize, Serialize};

use crate::error::InvalidValue;
use crate::limits;

/// The command with which a server from 0.9.2 on restarts the pane's agent.
///
/// A wrong command makes such a server refuse the whole report (protocol §3), so it is checked
/// here. Older servers ignore the field silently.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct ResumeArgv(Vec<String>);

impl ResumeArgv {
    /// Takes the words of a command.
    ///
    /// # Errors
    ///
    /// If there is no word, the first word is not a bare command name, there are over
    /// [`limits::RESUME_ARGV_MAX_WORDS`] words or [`limits::RESUME_ARGV_MAX_BYTES`] bytes, or a
    /// word contains control characters or an apostrophe.
    pub fn parse(words: Vec<String>) -> Result<Self, InvalidValue> {
        let problem = if words.first().is_none_or(String::is_empty) {
            "names no command"
        } else if words[0].contains(['/', '\\']) || words[0].contains(char::is_whitespace) {
            "begins with a path, not a bare command name"
        } else if words.len() > limits::RESUME_ARGV_MAX_WORDS {
            "has too many words"
        } else if words.iter().map(String::len).sum::<usize>() > limits::RESUME_ARGV_MAX_BYTES {
            "is too long"
        } else if words.iter().any(|word| word.chars().any(|c| c.is_control() || c == '\'')) {
            "holds a control character or an apostrophe"
        } else {
            return Ok(Self(words));
        };
        Err(InvalidValue::new(
            "resume_argv",
            problem,
            format!(
                "a bare command name and plain arguments, up to {} words and {} bytes",
                limits::RESUME_ARGV_MAX_WORDS,
                limits::RESUME_ARGV_MAX_BYTES
            ),
        ))
    }

    /// The words.
    pub fn words(&self) -> &[String] {
        &self.0
    }
}

impl TryFrom<Vec<String>> for ResumeArgv {
    type Error = InvalidValue;

    fn try_from(words: Vec<String>) -> Result<Self, InvalidValue> {
        Self::parse(words)
    }
}

impl From<ResumeArgv> for Vec<String> {
    fn from(argv: ResumeArgv) -> Self {
        argv.0
    }
}

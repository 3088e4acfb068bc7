//! Where a value came from.

use std::fmt;
use std::path::PathBuf;

use herdr_proto::strip_controls;

use super::table::Setting;

/// Where a value came from, weakest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody set it.
    Default,
    /// A line of a file.
    File(PathBuf, usize),
    /// The setting's variable.
    Variable(String),
    /// The setting's flag.
    Flag(String),
}

impl Origin {
    /// The setting's own variable.
    pub(crate) fn variable(setting: &Setting) -> Self {
        Self::Variable(setting.variable())
    }

    /// The setting's own flag.
    pub(crate) fn flag(setting: &Setting) -> Self {
        Self::Flag(setting.flag())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, line) => {
                write!(f, "{}:{line}", strip_controls(&path.display().to_string()))
            }
            Self::Variable(name) => f.write_str(name),
            Self::Flag(name) => write!(f, "--{name}"),
        }
    }
}

//! What is wrong with the settings: all of it at once, a line each.

use std::fmt;

/// Everything that is wrong with the settings.
#[derive(Debug)]
pub(crate) struct Problems(pub(crate) Vec<String>);

impl Problems {
    /// Nothing is wrong so far.
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }

    /// Adds a sentence that begins with the place.
    pub(crate) fn add(&mut self, place: impl fmt::Display, what: impl fmt::Display) {
        self.0.push(format!("{place}: {what}"));
    }

    /// `value`, if nothing is wrong.
    pub(crate) fn unless_any<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for Problems {}

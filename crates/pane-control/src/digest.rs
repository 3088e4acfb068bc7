//! The digest of a screen.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, ErrorKind};
use crate::screen::Screen;

/// How many bytes of the SHA-256 are kept: enough to prevent two screens with the same digest,
/// and short enough to copy by hand.
const BYTES: usize = 16;

/// A digest of what a pane shows. It depends only on the characters, not on colours or on
/// spaces at the ends of rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; BYTES]);

impl Digest {
    /// The digest of a screen.
    pub fn of(screen: &Screen) -> Self {
        Self::of_bytes(screen.text().as_bytes())
    }

    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let hash = Sha256::digest(bytes);
        let mut kept = [0; BYTES];
        kept.copy_from_slice(&hash[..BYTES]);
        Self(kept)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut bytes = [0; BYTES];
        if text.len() != 2 * BYTES || !text.is_ascii() {
            return Err(wrong());
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Digest {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

fn wrong() -> Error {
    let expected = format!("a digest has {} hexadecimal digits, as `read` gives it", 2 * BYTES);
    Error::new(ErrorKind::InvalidInput, expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_characters_have_the_same_digest_whatever_their_colours() {
        let plain = Digest::of(&Screen::parse("Proceed?\n> 1. Yes\n\n"));
        assert_eq!(plain, Digest::of(&Screen::parse("Proceed?  \r\n\u{1b}[1m> 1. Yes\u{1b}[0m")));
        assert_ne!(plain, Digest::of(&Screen::parse("Proceed?\n> 2. No")));
        assert_eq!(plain.to_string().parse::<Digest>().ok(), Some(plain));
        for text in ["", "12", "zz345678901234567890123456789012", &"é".repeat(16)] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }
}

use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::escape::skip_sequence;
use crate::limits::TEXT_MAX_SCALARS;

/// A text that the sidebar shows: a title, a label, the value of a token. It is never empty,
/// has at most [`TEXT_MAX_SCALARS`] Unicode scalars, and is one line.
///
/// The server trims a text, removes control characters and cuts it at 80 scalars. That joins
/// words, leaves `[31m` behind and cuts emoji in half (protocol §5.6 D6, failures B46 and B49).
/// This type cleans the text first, so that exactly what is sent is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct PresentationText(String);

impl PresentationText {
    /// Cleans a text; `None` if nothing visible remains.
    ///
    /// Escape sequences (CSI, OSC, DCS and the like) are removed. A run of line breaks, tabs or
    /// other control characters becomes one space. Direction overrides and invisible format
    /// characters are removed; emoji joiners and variation selectors are kept after another
    /// character. The ends are trimmed. A text longer than [`TEXT_MAX_SCALARS`] is cut between
    /// grapheme clusters and ends with `…`.
    ///
    /// ```
    /// use herdr_proto::PresentationText;
    /// let clean = |text| PresentationText::normalize(text).map(|t| t.to_string());
    /// assert_eq!(clean("\u{1b}[31mred\u{1b}[0m\nline2\ttab").as_deref(), Some("red line2 tab"));
    /// assert_eq!(clean(" \u{1b}\n"), None);
    /// ```
    pub fn normalize(text: &str) -> Option<Self> {
        let clean = clean(text, Some(TEXT_MAX_SCALARS));
        (!clean.is_empty()).then(|| Self(cut(clean)))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PresentationText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for PresentationText {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for PresentationText {
    /// Cleans the text. It is an error if nothing remains.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = String::deserialize(deserializer)?;
        Self::normalize(&raw).ok_or_else(|| serde::de::Error::custom("the text is blank"))
    }
}

/// A text of any length without escape sequences, control characters and invisible format
/// characters, on one line. It is safe to print on a terminal.
///
/// Use it to print texts of a server, a host or a file. The server returns a label's control
/// characters unchanged.
pub fn strip_controls(text: &str) -> String {
    clean(text, None)
}

/// Cleans a text. It may stop after `enough` scalars, when the text is known to be too long.
fn clean(text: &str, enough: Option<usize>) -> String {
    match plain(text, enough) {
        Some(plain) => plain.to_owned(),
        None => sift(text, enough),
    }
}

/// The trimmed text if it is printable ASCII, as nearly all texts are, and short enough.
fn plain(text: &str, enough: Option<usize>) -> Option<&str> {
    let text = text.trim_matches(' ');
    let fits = enough.is_none_or(|enough| text.len() <= enough);
    (fits && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))).then_some(text)
}

/// As [`clean`], for any text.
fn sift(text: &str, enough: Option<usize>) -> String {
    let mut out = String::new();
    let mut scalars = 0;
    // Spaces are held back until another character follows, which trims the end.
    let mut blanks = String::new();
    let mut broken = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if skip_sequence(c, &mut chars) || invisible(c) {
            continue;
        }
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            broken = true;
        } else if c.is_whitespace() {
            blanks.push(c);
        } else if joins(c) && (out.is_empty() || broken || !blanks.is_empty()) {
            // The joiner follows nothing that it could join. It must not make a blank text look
            // filled.
        } else {
            if broken {
                blanks.clear();
                blanks.push(' ');
            }
            if !out.is_empty() {
                scalars += blanks.chars().count();
                out.push_str(&blanks);
            }
            blanks.clear();
            broken = false;
            out.push(c);
            scalars += 1;
            if enough.is_some_and(|enough| scalars > enough) {
                break;
            }
        }
    }
    out
}

/// Cuts the text between grapheme clusters so that it fits together with `…`.
fn cut(text: String) -> String {
    if text.chars().count() <= TEXT_MAX_SCALARS {
        return text;
    }
    let room = TEXT_MAX_SCALARS - 1;
    let mut used = 0;
    let mut end = 0;
    for (start, cluster) in text.grapheme_indices(true) {
        used += cluster.chars().count();
        if used > room {
            break;
        }
        end = start + cluster.len();
    }
    let kept = if text[..end].trim_end().is_empty() {
        // A single cluster is too long, so the cut goes through it.
        text.chars().take(room).collect()
    } else {
        text[..end].trim_end().to_owned()
    };
    kept + "…"
}

/// Invisible characters that are kept: the joiner holds emoji together, and variation selectors
/// choose the form of the character before them.
fn joins(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}')
}

/// Characters that are removed: those with Unicode's property `Default_Ignorable_Code_Point`
/// (direction marks and overrides, zero-width characters, fillers, tags), except those of
/// [`joins`], and the interlinear annotation marks.
pub(crate) fn invisible(c: char) -> bool {
    !joins(c)
        && matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

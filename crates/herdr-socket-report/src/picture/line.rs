//! Lines of styled text that fit a terminal.

use herdr_proto::strip_controls;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Strong,
    Faint,
    Red,
    Green,
    Yellow,
    Teal,
}

impl Style {
    const fn ansi(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\x1b[1m",
            Self::Faint => "\x1b[2m",
            Self::Red => "\x1b[31m",
            Self::Green => "\x1b[32m",
            Self::Yellow => "\x1b[33m",
            Self::Teal => "\x1b[36m",
        }
    }
}

/// A line of styled pieces. Their texts cannot move the cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line(Vec<(Style, String)>);

impl Line {
    pub(crate) fn of(style: Style, text: &str) -> Self {
        Self::default().with(style, text)
    }

    /// Adds a piece, trimmed.
    pub(crate) fn with(mut self, style: Style, text: &str) -> Self {
        self.0.push((style, strip_controls(text)));
        self
    }

    pub(crate) fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Adds spaces.
    pub(crate) fn blanks(mut self, count: usize) -> Self {
        self.0.push((Style::Plain, " ".repeat(count)));
        self
    }

    /// The width in columns.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// The line cut or padded to exactly `columns` columns.
    pub(crate) fn fit(&self, columns: usize) -> Self {
        let line = self.cut(columns);
        let gap = columns.saturating_sub(line.width());
        line.blanks(gap)
    }

    /// The line cut to at most `columns` columns.
    pub(crate) fn cut(&self, columns: usize) -> Self {
        let mut left = columns;
        let mut line = Self::default();
        for (style, text) in &self.0 {
            let piece = cut(text, left);
            left -= piece.width();
            let whole = piece.len() == text.len();
            line.0.push((*style, piece));
            if !whole {
                break;
            }
        }
        line
    }

    /// The text, with colours if wanted.
    pub(crate) fn text(&self, colour: bool) -> String {
        let piece = |(style, text): &(Style, String)| match style.ansi() {
            on if colour && !on.is_empty() => format!("{on}{text}\x1b[0m"),
            _ => text.clone(),
        };
        self.0.iter().map(piece).collect()
    }
}

/// As much of a text as fits, with `…` if something is cut.
fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |c: &char| {
        let width = c.width().unwrap_or(0);
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    if columns > 0 {
        cut.push('…');
    }
    cut
}

//! The screen of a pane, as rows of characters that are marked as faint or not.

use vte::{Params, Parser, Perform};

/// The rows of a pane from the top, without blank rows at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Screen {
    rows: Vec<Row>,
}

/// One row, without spaces at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    text: String,
    solid: String,
}

impl Screen {
    /// Reads a text with escape sequences, as in the ANSI format of a read. Plain text works,
    /// too.
    ///
    /// ```
    /// let screen = herdr_pane_control::Screen::parse("❯ \u{1b}[2mTry a test\u{1b}[0m");
    /// assert_eq!(screen.rows()[0].text(), "❯ Try a test");
    /// assert_eq!(screen.rows()[0].solid(), "❯");
    /// ```
    pub fn parse(ansi: &str) -> Self {
        let mut painter = Painter::default();
        Parser::new().advance(&mut painter, ansi.as_bytes());
        painter.end_row();
        while painter.rows.last().is_some_and(|row| row.text.is_empty()) {
            painter.rows.pop();
        }
        Self { rows: painter.rows }
    }

    /// The rows from the top.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// All rows as plain text, one per line.
    pub fn text(&self) -> String {
        self.rows.iter().map(|row| row.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

impl Row {
    /// The characters that a person sees.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The characters with spaces in place of suggestions: faint characters, and a cursor on
    /// the first of them.
    pub fn solid(&self) -> &str {
        &self.solid
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Look {
    faint: bool,
    reverse: bool,
}

#[derive(Default)]
struct Painter {
    rows: Vec<Row>,
    row: Vec<(char, Look)>,
    look: Look,
}

impl Painter {
    fn end_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        let suggested = |at: usize| {
            let follows = || row.get(at + 1).is_some_and(|(_, next)| next.faint);
            row[at].1.faint || (row[at].1.reverse && follows())
        };
        let pick = |keep: &dyn Fn(usize) -> bool| {
            let chars = row.iter().enumerate().map(|(at, (c, _))| if keep(at) { *c } else { ' ' });
            chars.collect::<String>().trim_end().to_owned()
        };
        let (text, solid) = (pick(&|_| true), pick(&|at| !suggested(at)));
        self.rows.push(Row { text, solid });
    }

    /// Reads Select Graphic Rendition, as far as it matters for suggestions.
    fn select(&mut self, params: &Params) {
        let mut codes = params.iter();
        while let Some(code) = codes.next() {
            match code.first() {
                None | Some(0) => self.look = Look::default(),
                Some(2) => self.look.faint = true,
                Some(22) => self.look.faint = false,
                Some(7) => self.look.reverse = true,
                Some(27) => self.look.reverse = false,
                // A colour. Its own codes follow, in one parameter or in several.
                Some(38 | 48 | 58) if code.len() == 1 => {
                    let rest = match codes.next().and_then(|kind| kind.first()) {
                        Some(5) => 1,
                        Some(2) => 3,
                        _ => 0,
                    };
                    (0..rest).for_each(|_| _ = codes.next());
                }
                Some(_) => {}
            }
        }
    }
}

impl Perform for Painter {
    fn print(&mut self, c: char) {
        // The space of a prompt may be a no-break space.
        let c = if c == '\u{a0}' { ' ' } else { c };
        self.row.push((c, self.look));
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.end_row(),
            b'\t' => self.row.push((' ', self.look)),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _: &[u8], _: bool, action: char) {
        if action == 'm' {
            self.select(params);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_end_with_either_newline_and_colours_are_no_attributes() {
        let screen =
            Screen::parse("a\u{1b}[38;2;2;7;2mb\u{1b}[48;5;2mc  \r\n\n\u{1b}[38:2::2:2:2md\n\n");
        let rows: Vec<_> = screen.rows().iter().map(|row| (row.text(), row.solid())).collect();
        assert_eq!(rows, [("abc", "abc"), ("", ""), ("d", "d")]);
    }

    #[test]
    fn a_suggestion_and_the_cursor_on_it_are_not_solid() {
        let row = |ansi| Screen::parse(ansi).rows()[0].solid().to_owned();
        assert_eq!(row("> \u{1b}[7mT\u{1b}[27m\u{1b}[2mry this\u{1b}[22m"), ">");
        assert_eq!(
            row("> fix\u{1b}[7m \u{1b}[27m\u{1b}[2mthe tests\u{1b}[0m x"),
            "> fix           x"
        );
        // A cursor on typed text is not a suggestion.
        assert_eq!(row("> fi\u{1b}[7mx\u{1b}[0m it"), "> fix it");
    }
}

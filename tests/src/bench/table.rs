//! The results as tables in Markdown.

use std::fmt::Write as _;

/// A text with several tables.
#[derive(Debug, Default)]
pub(super) struct Table(String);

impl Table {
    /// Begins a table. Its first column has the names of the rows.
    pub(super) fn section(&mut self, title: &str, columns: &[&str]) {
        let _ = writeln!(self.0, "\n{title}\n");
        self.row("", columns);
        let _ = writeln!(self.0, "|---{}|", "|---".repeat(columns.len()));
    }

    pub(super) fn row<C: AsRef<str>>(&mut self, name: &str, cells: &[C]) {
        let _ = write!(self.0, "| {name} ");
        for cell in cells {
            let _ = write!(self.0, "| {} ", cell.as_ref());
        }
        let _ = writeln!(self.0, "|");
    }

    /// Writes a sentence below a table.
    pub(super) fn note(&mut self, text: &str) {
        let _ = writeln!(self.0, "\n{text}");
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

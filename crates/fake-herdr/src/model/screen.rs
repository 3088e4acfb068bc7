//! The screen of a pane. Without a real terminal it belongs to a simulated shell,
//! which echoes what is typed and ends on `exit`.

/// The most lines that are kept.
const MOST_LINES: usize = 1000;

/// The most characters of one line.
const LONGEST_LINE: usize = 4096;

const PROMPT: &str = "$ ";

/// The result of typing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed {
    Echoed,
    /// The shell ends.
    Exit,
}

/// One row of a real terminal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    /// The characters of the row.
    pub(crate) text: String,
    /// The characters with escape sequences.
    pub(crate) ansi: String,
    /// The line continues in the next row because this one was full.
    pub(crate) wrapped: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Screen {
    lines: Vec<String>,
    /// The rows of a real terminal. If there are any, they are shown and not the lines.
    rows: Vec<Row>,
    typed: String,
    /// The program uses the alternate screen, which has no history.
    pub(super) alternate: bool,
    /// The program has asked for bracketed pastes (mode 2004).
    pub(super) brackets_pastes: bool,
}

impl Default for Screen {
    fn default() -> Self {
        Self {
            lines: vec![PROMPT.to_owned()],
            rows: Vec::new(),
            typed: String::new(),
            alternate: false,
            brackets_pastes: false,
        }
    }
}

impl Screen {
    /// Replaces the lines by this text.
    pub(super) fn show(&mut self, text: &str) {
        self.lines.clear();
        self.typed.clear();
        for line in text.lines() {
            self.push(line.chars().take(LONGEST_LINE).collect());
        }
        if self.lines.is_empty() {
            self.lines.push(String::new());
        }
    }

    #[cfg(feature = "pty")]
    pub(super) fn show_rows(&mut self, mut rows: Vec<Row>) {
        while rows.last().is_some_and(|row| row.text.is_empty()) {
            rows.pop();
        }
        self.rows = rows;
    }

    /// The number of rows.
    pub(super) fn height(&self) -> usize {
        if self.rows.is_empty() { self.lines.len() } else { self.rows.len() }
    }

    /// Types bytes into the simulated shell.
    pub(super) fn type_bytes(&mut self, bytes: &[u8]) -> Typed {
        for character in String::from_utf8_lossy(bytes).chars() {
            match character {
                '\r' | '\n' => {
                    self.echo();
                    let line = std::mem::take(&mut self.typed);
                    if line.split_whitespace().next() == Some("exit") {
                        return Typed::Exit;
                    }
                    self.push(PROMPT.to_owned());
                }
                '\u{3}' | '\u{15}' => self.typed.clear(),
                '\u{4}' if self.typed.is_empty() => return Typed::Exit,
                '\u{7f}' => _ = self.typed.pop(),
                character if !character.is_control() && self.typed.len() < LONGEST_LINE => {
                    self.typed.push(character);
                }
                _ => {}
            }
        }
        if !bytes.is_empty() {
            self.echo();
        }
        Typed::Echoed
    }

    /// The last lines, without blanks at their ends, and whether there were more
    /// before them.
    pub(super) fn read(&self, most: usize, ansi: bool, join: bool) -> (String, bool) {
        if self.rows.is_empty() { self.read_lines(most) } else { self.read_rows(most, ansi, join) }
    }

    fn read_rows(&self, most: usize, ansi: bool, join: bool) -> (String, bool) {
        let skipped = self.rows.len().saturating_sub(most);
        let mut text = String::new();
        for row in &self.rows[skipped..] {
            text.push_str(if ansi { &row.ansi } else { &row.text });
            if !(join && row.wrapped) {
                text.push_str(if ansi { "\r\n" } else { "\n" });
            }
        }
        (text, skipped > 0)
    }

    fn read_lines(&self, most: usize) -> (String, bool) {
        let skipped = self.lines.len().saturating_sub(most);
        let mut text = String::new();
        for line in &self.lines[skipped..] {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        (text, skipped > 0)
    }

    fn push(&mut self, line: String) {
        self.lines.push(line);
        if self.lines.len() > MOST_LINES {
            self.lines.remove(0);
        }
    }

    /// Shows the line that is being typed after the prompt.
    fn echo(&mut self) {
        if let Some(last) = self.lines.last_mut() {
            *last = format!("{PROMPT}{}", self.typed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_echoes_and_ends_on_exit() {
        let mut screen = Screen::default();
        assert_eq!(screen.type_bytes(b"echo hellp\x7fo\r"), Typed::Echoed);
        assert_eq!(screen.read_lines(80), ("$ echo hello\n$\n".to_owned(), false));
        assert_eq!(screen.read_lines(1), ("$\n".to_owned(), true));
        screen.type_bytes(b"half");
        assert_eq!(screen.type_bytes(b"\x15exit\n"), Typed::Exit);
        screen.show("done\n");
        assert_eq!(screen.read_lines(80).0, "done\n");
        screen.type_bytes(&[b'x'; 5000]);
        for _ in 0..2000 {
            screen.type_bytes(b"y\n");
        }
        assert_eq!(screen.lines.len(), MOST_LINES);
        screen.type_bytes(&[b'x'; 5000]);
        assert_eq!(screen.typed.len(), LONGEST_LINE);
    }
}

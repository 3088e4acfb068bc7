use super::{BoxState, Look, Profile, Scene};
use crate::screen::Row;

/// A plain shell: the text after the prompt on the last row.
///
/// Without [`with_prompt`](Self::with_prompt) a prompt ends with the first `$ `, `# `, `% ` or
/// `❯ ` in its row. A command inside the shell that reads input (`read x`) cannot be told from
/// a prompt.
#[derive(Debug, Clone, Default)]
pub struct Shell {
    prompt: Option<String>,
    brackets: bool,
}

const SIGNS: [char; 5] = ['$', '#', '%', '❯', '➜'];

impl Shell {
    /// A shell with exactly this prompt, except for spaces at its end.
    #[must_use]
    pub fn with_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(prompt.into());
        self
    }

    /// A shell that asks for bracketed pastes, as bash, zsh and fish do and `sh` does not.
    /// Texts of several lines can be pushed to it.
    #[must_use]
    pub fn bracketing(mut self) -> Self {
        self.brackets = true;
        self
    }

    /// The text after the prompt; `None` if there is no prompt.
    fn typed<'a>(&self, row: &'a str) -> Option<&'a str> {
        if let Some(prompt) = &self.prompt {
            return row.strip_prefix(prompt.trim_end());
        }
        let mut signs = row.char_indices().filter(|(_, c)| SIGNS.contains(c));
        signs.find_map(|(at, sign)| {
            let rest = &row[at + sign.len_utf8()..];
            (rest.is_empty() || rest.starts_with(' ')).then_some(rest)
        })
    }
}

impl Profile for Shell {
    fn name(&self) -> &'static str {
        "shell"
    }

    fn look(&self, scene: &Scene) -> Look {
        let rows = scene.screen.rows();
        let all = |rows: &[Row]| rows.iter().map(|row| row.text().to_owned()).collect();
        if scene.shell_in_front == Some(false) {
            let transcript = all(rows);
            return Look { state: BoxState::Busy, busy: true, transcript, ..Look::default() };
        }
        let prompt = rows
            .split_last()
            .and_then(|(last, above)| Some((self.typed(last.solid())?.trim().to_owned(), above)));
        let Some((text, above)) = prompt else {
            return Look { transcript: all(rows), ..Look::default() };
        };
        let state = if text.is_empty() { BoxState::Empty } else { BoxState::Dirty };
        Look { state, text, transcript: all(above), ..Look::default() }
    }

    fn brackets(&self) -> bool {
        self.brackets
    }

    fn joins_rows(&self) -> bool {
        true
    }

    fn wants_processes(&self) -> bool {
        true
    }
}

//! A simulated program with an input box, and what happens to it.

use std::collections::VecDeque;

/// What the world does at a time of its own.
#[derive(Debug, Clone)]
pub(super) enum Deed {
    /// A person types this, also into a dialog, which ignores it.
    Keys(&'static str),
    Backspace,
    /// A person presses Enter.
    Enter,
    Dialog,
    Answered,
    Work,
    Rest,
    Close,
    Scroll,
    Move,
}

/// A program with an input box as Claude Code or Codex has one.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Program {
    pub(super) codex: bool,
    pub(super) buffer: String,
    /// How much of the beginning was pasted in one go and is shown as a short
    /// form.
    pub(super) folded: usize,
    pub(super) said: Vec<String>,
    /// The same as it stands in the transcript, where that is another text.
    pub(super) short: Vec<(usize, String)>,
    pub(super) dialog: bool,
    pub(super) busy: bool,
    pub(super) closed: bool,
    /// Under another id since the last look: a key does not arrive.
    pub(super) moved: bool,
    pub(super) hidden: usize,
    /// Enters that it will lose.
    pub(super) eats: VecDeque<bool>,
    /// What a paste still has to show, by parts.
    pub(super) coming: VecDeque<String>,
}

impl Program {
    pub(super) fn paste(&mut self, text: &str, parts: usize) {
        let folds = text.len() > 800 || text.matches('\n').count() > 2;
        let chars: Vec<char> = text.chars().collect();
        let parts = if folds { 1 } else { parts.max(1) };
        let coming = chars.chunks(chars.len().div_ceil(parts)).map(|part| part.iter().collect());
        self.coming = coming.collect();
        self.folded = if folds && self.buffer.is_empty() { text.len() } else { 0 };
        self.show_more();
    }

    pub(super) fn show_more(&mut self) {
        if let Some(part) = self.coming.pop_front() {
            self.buffer.push_str(&part);
        }
    }

    pub(super) fn enter(&mut self) {
        if self.dialog {
            self.dialog = false;
        } else if !self.buffer.is_empty() && !self.eats.pop_front().unwrap_or(false) {
            if self.folded > 0 {
                self.short.push((self.said.len(), self.in_box()));
            }
            self.said.push(std::mem::take(&mut self.buffer));
            (self.folded, self.busy) = (0, true);
        }
    }

    pub(super) fn suffer(&mut self, deed: &Deed) {
        match deed {
            Deed::Keys(keys) if !self.dialog => {
                self.buffer.push_str(keys);
            }
            Deed::Backspace if !self.dialog => {
                self.buffer.pop();
                // A short form goes as one.
                if self.buffer.len() < self.folded {
                    self.buffer.clear();
                    self.folded = 0;
                }
            }
            Deed::Keys(_) | Deed::Backspace => {}
            Deed::Enter => self.enter(),
            Deed::Dialog => self.dialog = true,
            Deed::Answered => self.dialog = false,
            Deed::Work => self.busy = true,
            Deed::Rest => self.busy = false,
            Deed::Close => self.closed = true,
            Deed::Move => self.moved = true,
            Deed::Scroll => self.hidden = self.said.len().saturating_sub(1),
        }
    }

    /// What stands in the box, and in the transcript of what was said.
    fn shown(&self, text: &str) -> String {
        let lines = text.matches('\n').count();
        if text.len() <= 800 && lines <= 2 {
            text.replace('\n', "\n  ")
        } else if self.codex {
            format!("[Pasted Content {} chars]", text.chars().count())
        } else {
            format!("[Pasted text #1 +{lines} lines]")
        }
    }

    /// What stands in the box.
    fn in_box(&self) -> String {
        let (paste, rest) = self.buffer.split_at(self.folded);
        if paste.is_empty() { rest.to_owned() } else { self.shown(paste) + rest }
    }

    pub(super) fn draw(&self) -> String {
        let mut screen = String::from("welcome\n\n");
        for (number, said) in self.said.iter().enumerate().skip(self.hidden) {
            let short = self.short.iter().find(|(of, _)| *of == number);
            screen += "> ";
            screen += &short.map_or_else(|| self.shown(said), |(_, short)| short.clone());
            screen += "\n\n* done\n\n";
        }
        if self.busy {
            screen += "* Thinking… (3s · esc to interrupt)\n\n";
        }
        let mark = if self.codex { '›' } else { '❯' };
        if self.dialog {
            let rule = "─".repeat(40);
            return screen
                + &format!(
                    "{rule}\nDo you want to proceed?\n{mark} 1. Yes\n  2. No\n\nEsc to cancel"
                );
        }
        let buffer = self.in_box();
        let body = if buffer.is_empty() {
            format!("{mark} \u{1b}[7mT\u{1b}[27m\u{1b}[2mry \"fix the tests\"\u{1b}[0m")
        } else {
            wrap(&format!("{mark} {buffer}\u{1b}[7m \u{1b}[0m"))
        };
        let rule = "─".repeat(40);
        if self.codex {
            screen + &body + "\n\n  \u{1b}[2m100% context left\u{1b}[0m"
        } else {
            screen + &format!("{rule}\n{body}\n{rule}\n  ? for shortcuts\n")
        }
    }
}

fn wrap(text: &str) -> String {
    let wrapped = text.split('\n').map(|line| {
        let chars: Vec<char> = line.chars().collect();
        let rows = chars.chunks(40).map(|row| row.iter().collect::<String>());
        rows.collect::<Vec<_>>().join("\n  ")
    });
    wrapped.collect::<Vec<_>>().join("\n  ")
}

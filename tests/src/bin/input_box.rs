//! A program with an input box, like an agent's: it runs in a pane and is typed into.
//! `input_box claude|codex|raw [OPTION…]`:
//!
//! - `--eat N` loses the first N Enters on a text;
//! - `--dialog-at N` opens a dialog when it gets the Nth text;
//! - `--person-after TEXT` adds a person's keys to a text that begins with it;
//! - `--log FILE` appends a JSON line for each input: what it did with which text.
//!
//! Some keys stand for what happens by itself in an agent: Ctrl-E loses the next Enter, Ctrl-O
//! opens a dialog, Ctrl-J is a person's Enter. Ctrl-F increments a number at the bottom of the
//! screen, which shows what has been processed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};

use anyhow::{Context as _, Result};
use clap::{Parser, ValueEnum};
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};
use serde_json::json;

#[derive(Parser)]
struct Arguments {
    like: Like,
    #[arg(long, default_value_t = 0)]
    eat: u32,
    #[arg(long)]
    dialog_at: Option<usize>,
    #[arg(long)]
    person_after: Option<String>,
    #[arg(long)]
    log: Option<std::path::PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Like {
    Claude,
    Codex,
    /// Without bracketed pastes.
    Raw,
}

struct Program {
    arguments: Arguments,
    log: Option<File>,
    buffer: String,
    /// How much of the beginning is shown in a short form.
    folded: usize,
    said: Vec<String>,
    dialog: bool,
    /// A paste that has not ended yet.
    paste: Option<Vec<u8>>,
    /// How often Ctrl-F was pressed.
    counted: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let log = arguments
        .log
        .as_ref()
        .map(|path| OpenOptions::new().create(true).append(true).open(path).context("the log"));
    let mut program = Program {
        log: log.transpose()?,
        arguments,
        buffer: String::new(),
        folded: 0,
        said: Vec::new(),
        dialog: false,
        paste: None,
        counted: 0,
    };
    let before = tcgetattr(io::stdin()).context("a terminal")?;
    let mut raw = before.clone();
    raw.make_raw();
    tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
    let mut out = io::stdout();
    let brackets = program.arguments.like != Like::Raw;
    out.write_all(if brackets { b"\x1b[?1049h\x1b[?2004h" } else { b"\x1b[?1049h" })?;
    let ended = program.run(&mut out);
    out.write_all(b"\x1b[?2004l\x1b[?1049l")?;
    out.flush()?;
    tcsetattr(io::stdin(), OptionalActions::Now, &before)?;
    ended
}

impl Program {
    fn run(&mut self, out: &mut impl io::Write) -> Result<()> {
        let mut bytes = vec![0; 65536];
        loop {
            self.draw(out)?;
            let got = io::stdin().lock().read(&mut bytes)?;
            if got == 0 || !self.take(&bytes[..got])? {
                return Ok(());
            }
        }
    }

    /// Takes typed bytes; false at Ctrl-D.
    fn take(&mut self, mut bytes: &[u8]) -> Result<bool> {
        const BEGIN: &[u8] = b"\x1b[200~";
        const END: &[u8] = b"\x1b[201~";
        while let Some((first, rest)) = bytes.split_first() {
            if let Some(paste) = &mut self.paste {
                paste.push(*first);
                if paste.ends_with(END) {
                    paste.truncate(paste.len() - END.len());
                    let paste = self.paste.take().unwrap_or_default();
                    self.pasted(&String::from_utf8_lossy(&paste))?;
                }
                bytes = rest;
            } else if let Some(rest) = bytes.strip_prefix(BEGIN) {
                self.paste = Some(Vec::new());
                bytes = rest;
            } else {
                match first {
                    b'\r' => self.enter()?,
                    b'\n' => self.send(),
                    4 => return Ok(false),
                    5 => self.arguments.eat += 1,
                    6 => self.counted += 1,
                    0x0f => self.dialog = true,
                    0x15 => (self.buffer, self.folded) = (String::new(), 0),
                    0x1b => self.dialog = false,
                    0x7f => self.backspace(),
                    _ if self.dialog => {}
                    _ => {
                        let end = bytes.iter().position(|byte| *byte < b' ' || *byte == 0x7f);
                        let (text, more) = bytes.split_at(end.unwrap_or(bytes.len()).max(1));
                        let text = String::from_utf8_lossy(text);
                        self.note("typed", &text)?;
                        self.buffer.push_str(&text);
                        self.after_text();
                        bytes = more;
                        continue;
                    }
                }
                bytes = rest;
            }
        }
        Ok(true)
    }

    fn pasted(&mut self, text: &str) -> Result<()> {
        let text = text.replace('\r', "\n");
        if self.dialog {
            return self.note("pasted into a dialog", &text);
        }
        let over = if self.buffer.is_empty() { "pasted" } else { "pasted behind a text" };
        self.note(over, &text)?;
        if self.buffer.is_empty() && folds(&text) {
            self.folded = text.len();
        }
        self.buffer.push_str(&text);
        self.after_text();
        Ok(())
    }

    /// A short form is removed as a whole.
    fn backspace(&mut self) {
        self.buffer.pop();
        if self.buffer.len() < self.folded {
            (self.buffer, self.folded) = (String::new(), 0);
        }
    }

    /// Types a person's keys into the box when a certain text is there.
    fn after_text(&mut self) {
        let person = self.arguments.person_after.as_ref();
        if person.is_some_and(|text| self.buffer.starts_with(text.as_str())) {
            self.arguments.person_after = None;
            self.buffer.push_str(" wait");
        }
    }

    fn enter(&mut self) -> Result<()> {
        let text = self.buffer.clone();
        let did = if self.dialog {
            self.dialog = false;
            "answered"
        } else if text.is_empty() {
            "nothing"
        } else if self.arguments.eat > 0 {
            self.arguments.eat -= 1;
            "eaten"
        } else {
            self.send();
            "said"
        };
        self.note(did, &text)
    }

    fn send(&mut self) {
        if !self.dialog && !self.buffer.is_empty() {
            self.said.push(std::mem::take(&mut self.buffer));
            self.folded = 0;
            self.dialog = self.arguments.dialog_at == Some(self.said.len());
        }
    }

    fn note(&mut self, did: &str, text: &str) -> Result<()> {
        if let Some(log) = &mut self.log {
            // Written at once, because the test reads the file in the meantime.
            let line = format!("{}\n", json!({ "did": did, "text": text }));
            log.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn draw(&self, out: &mut impl io::Write) -> Result<()> {
        let size = tcgetwinsize(io::stdin())?;
        let (rows, columns) = (usize::from(size.ws_row.max(10)), usize::from(size.ws_col.max(20)));
        let codex = self.arguments.like == Like::Codex;
        let mut lines = vec!["a program with an input box".to_owned(), String::new()];
        for said in &self.said {
            let mark = if codex { '›' } else { '>' };
            lines.extend(wrapped(&format!("{mark} {}", self.short(said)), columns));
            lines.extend([String::new(), "* done".to_owned(), String::new()]);
        }
        let mark = if codex { '›' } else { '❯' };
        let rule = "─".repeat(columns);
        let counted = match self.counted {
            0 => String::new(),
            counted => format!(" · {counted}"),
        };
        if self.dialog {
            lines.push(rule);
            lines.push("Do you want to proceed?".to_owned());
            lines.push(format!("{mark} 1. Yes"));
            lines.extend(["  2. No", ""].map(str::to_owned));
            lines.push(format!("Enter to confirm · Esc to cancel{counted}"));
        } else {
            let (paste, typed) = self.buffer.split_at(self.folded.min(self.buffer.len()));
            let paste = if paste.is_empty() { String::new() } else { self.short(paste) };
            let mut body = if self.buffer.is_empty() {
                vec![format!("{mark} \x1b[7mT\x1b[0m\x1b[2mry \"fix the tests\"\x1b[0m")]
            } else {
                wrapped(&format!("{mark} {paste}{typed}"), columns)
            };
            if codex {
                lines.append(&mut body);
                lines.extend([String::new(), "\x1b[2m  100% context left\x1b[0m".to_owned()]);
            } else {
                lines.push(rule.clone());
                lines.append(&mut body);
                lines.extend([rule, format!("  ? for shortcuts{counted}")]);
            }
        }
        let top = lines.len().saturating_sub(rows);
        write!(out, "\x1b[H\x1b[2J{}", lines[top..].join("\r\n"))?;
        out.flush()?;
        Ok(())
    }

    /// How a long text is shown.
    fn short(&self, text: &str) -> String {
        if !folds(text) {
            text.to_owned()
        } else if self.arguments.like == Like::Codex {
            format!("[Pasted Content {} chars]", text.chars().count())
        } else {
            format!("[Pasted text #1 +{} lines]", text.matches('\n').count())
        }
    }
}

fn folds(text: &str) -> bool {
    text.len() > 800 || text.matches('\n').count() > 2
}

/// Lines of at most this width. All but the first are indented.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let chars: Vec<char> = line.chars().collect();
        if chars.is_empty() {
            lines.push(String::new());
        }
        lines.extend(chars.chunks(columns - 2).map(|row| row.iter().collect::<String>()));
    }
    for line in lines.iter_mut().skip(1) {
        line.insert_str(0, "  ");
    }
    lines
}

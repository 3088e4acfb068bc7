//! A pane as Herdr's sidebar shows it, as lines of styled text.

use herdr_proto::{AgentStatus, PaneInfo, strip_controls};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Strong,
    Faint,
    Working,
    Blocked,
    Idle,
    Done,
}

impl Style {
    /// What switches it on in a terminal.
    pub(crate) const fn ansi(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\x1b[1m",
            Self::Faint => "\x1b[2m",
            Self::Working => "\x1b[33m",
            Self::Blocked => "\x1b[1;31m",
            Self::Idle => "\x1b[32m",
            Self::Done => "\x1b[36m",
        }
    }
}

/// A line of styled pieces, free of control characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line(Vec<(Style, String)>);

impl Line {
    /// Adds a piece without blanks around it; whatever it holds, it cannot move
    /// the cursor.
    pub(crate) fn with(mut self, style: Style, text: &str) -> Self {
        self.0.push((style, strip_controls(text)));
        self
    }

    /// Adds another line's pieces.
    pub(crate) fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Adds blanks.
    pub(crate) fn blanks(mut self, count: usize) -> Self {
        self.0.push((Style::Plain, " ".repeat(count)));
        self
    }

    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// The pieces.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Style, &str)> {
        self.0.iter().map(|(style, text)| (*style, text.as_str()))
    }

    /// The text alone.
    #[cfg(test)]
    pub(crate) fn plain(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect::<String>().trim_end().to_owned()
    }

    /// The line cut to so many columns.
    pub(crate) fn cut(&self, columns: usize) -> Self {
        let mut left = columns;
        let mut line = Self::default();
        for (style, text) in self.pieces() {
            let piece = cut(text, left);
            left -= piece.width();
            let whole = piece.len() == text.len();
            line.0.push((style, piece));
            if !whole {
                break;
            }
        }
        line
    }
}

/// As much of a text as fits, with `…` where something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let mut cut = String::new();
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        if width > left {
            break;
        }
        left -= width;
        cut.push(c);
    }
    if columns > 0 {
        cut.push('…');
    }
    cut
}

/// How a state looks: its colour, and its sign, which turns while it works.
pub(crate) fn look(status: &AgentStatus, tick: usize) -> (Style, &'static str) {
    const TURNING: [&str; 4] = ["◐", "◓", "◑", "◒"];
    if *status == AgentStatus::WORKING {
        (Style::Working, TURNING[tick % TURNING.len()])
    } else if *status == AgentStatus::BLOCKED {
        (Style::Blocked, "▲")
    } else if *status == AgentStatus::IDLE {
        (Style::Idle, "●")
    } else if *status == AgentStatus::DONE {
        (Style::Done, "✔")
    } else {
        (Style::Faint, "·")
    }
}

/// What a sidebar shows of a pane.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// The name; none without an agent.
    pub(crate) name: Option<String>,
    status: AgentStatus,
    /// The state's text, which holds the reason of a block.
    pub(crate) state: String,
    title: Option<String>,
    tokens: Vec<String>,
}

impl View {
    /// Takes from a pane what a sidebar shows.
    pub(crate) fn of(pane: &PaneInfo) -> Self {
        let status = pane.agent_status.clone();
        let label = pane.state_labels.get(status.as_str()).map(String::as_str);
        let tokens = pane.tokens.iter();
        Self {
            name: pane.display_agent.clone().or_else(|| pane.agent.clone()),
            state: label.unwrap_or(status.as_str()).to_owned(),
            status,
            title: pane.title.clone(),
            tokens: tokens.map(|(key, text)| format!("{key} {text}")).collect(),
        }
    }

    /// Whether nothing is left of any reporter.
    pub(crate) fn is_blank(&self) -> bool {
        self.name.is_none() && self.title.is_none() && self.tokens.is_empty()
    }

    fn look(&self, tick: usize) -> (Style, &'static str) {
        look(&self.status, tick)
    }

    /// One line, for output that is no terminal.
    pub(crate) fn sentence(&self) -> String {
        let Some(name) = &self.name else { return "· no agent".to_owned() };
        let mut text = format!("{} {name}: {}", self.look(0).1, self.status);
        if self.state != self.status.as_str() {
            text = format!("{text} ({})", self.state);
        }
        if let Some(title) = &self.title {
            text = format!("{text} | {title}");
        }
        if !self.tokens.is_empty() {
            text = format!("{text} | {}", self.tokens.join(", "));
        }
        strip_controls(&text)
    }

    /// The entry in the sidebar: always three lines.
    pub(crate) fn entry(&self, width: usize, tick: usize) -> [Line; 3] {
        let Some(name) = &self.name else {
            let shell = Line::default().with(Style::Faint, "· no agent in this pane");
            return [shell, Line::default(), Line::default()];
        };
        let (style, glyph) = self.look(tick);
        let first = Line::default().with(style, glyph).blanks(1).with(Style::Strong, name);
        let room = width.saturating_sub(first.width() + 2);
        let state = cut(&strip_controls(&self.state), room);
        let gap = width.saturating_sub(first.width() + state.width());
        let title = self.title.as_deref().unwrap_or("");
        [
            first.blanks(gap).with(style, &state),
            Line::default().blanks(2).with(Style::Plain, &cut(title, width.saturating_sub(2))),
            Line::default()
                .blanks(2)
                .with(Style::Faint, &cut(&self.tokens.join(" · "), width.saturating_sub(2))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pane(fields: &str) -> PaneInfo {
        serde_json::from_str(&format!(r#"{{"pane_id": "w1:p1", {fields}}}"#)).unwrap()
    }

    #[test]
    fn the_reason_of_a_block_is_the_states_text() {
        let pane = pane(
            r#""agent": "bot", "agent_status": "blocked", "state_labels": {"blocked": "Run it?"},
               "title": "Fix it", "tokens": {"ctx": "4k", "model": "m"}"#,
        );
        let view = View::of(&pane);
        assert_eq!(view.sentence(), "▲ bot: blocked (Run it?) | Fix it | ctx 4k, model m");
        let entry = view.entry(30, 0).map(|line| line.plain());
        assert_eq!(entry, ["▲ bot                  Run it?", "  Fix it", "  ctx 4k · model m"]);
    }

    #[test]
    fn nothing_of_a_server_moves_the_cursor() {
        let pane = pane(
            r#""agent": "a\u001b[2Jb", "agent_status": "w\u001b]0;x\u0007ild",
               "title": "one\ntwo\u202e", "tokens": {"k": "\u001b[31mv"}"#,
        );
        let view = View::of(&pane);
        let mut texts: Vec<String> = view.entry(40, 0).iter().map(Line::plain).collect();
        texts.push(view.sentence());
        for text in texts {
            assert!(!text.chars().any(|c| c.is_control() || c == '\u{202e}'), "{text:?}");
        }
    }

    #[test]
    fn lines_never_outgrow_their_width() {
        let pane = pane(
            r#""agent": "名前が長い代理人", "agent_status": "working", "title": "日本語の長い題名です、とても長い",
               "state_labels": {"working": "長い長い長い状態"}"#,
        );
        for width in 0..60 {
            for line in View::of(&pane).entry(width, 1) {
                assert!(line.cut(width).width() <= width, "{width}");
            }
        }
    }
}

//! What was found, and how it is printed.

use herdr_proto::strip_controls;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::picture::{Line, Style};
use crate::text::wrapped;

/// The least width of a finding. In a narrower space the terminal may break the lines.
const ROOM_MIN: usize = 20;

/// All checks, in their order.
const NAMES: &str = "settings source variables socket server pane identity lease others report \
                     sidebar terminal";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    name: &'static str,
    /// True if fine, false if wrong, `None` if it is neither.
    ok: Option<bool>,
    finding: String,
    remedy: Option<String>,
}

/// A failed check, and the exit code that a report would have.
pub(super) type Obstacle = (Exit, Check);

impl Check {
    pub(super) fn fine(name: &'static str, finding: impl Into<String>) -> Self {
        Self { name, ok: Some(true), finding: finding.into(), remedy: None }
    }

    pub(super) fn wrong(name: &'static str, finding: impl Into<String>) -> Self {
        Self { ok: Some(false), ..Self::fine(name, finding) }
    }

    pub(super) fn open(name: &'static str, finding: impl Into<String>) -> Self {
        Self { ok: None, ..Self::fine(name, finding) }
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// The finding and its remedy, in lines for people.
    fn lines(&self, columns: usize) -> Vec<Line> {
        let (style, mark) = match self.ok {
            Some(true) => (Style::Green, "ok"),
            Some(false) => (Style::Red, "WRONG"),
            None => (Style::Faint, "-"),
        };
        let first = Line::of(style, mark).fit(7).then(Line::of(Style::Strong, self.name).fit(11));
        let mut lines = broken(first, &self.finding, columns);
        if let Some(remedy) = &self.remedy {
            let arrow = Line::default().blanks(18).with(Style::Teal, "->").blanks(1);
            lines.extend(broken(arrow, remedy, columns));
        }
        lines
    }

    fn json(&self, mut object: Value) -> Value {
        object["finding"] = strip_controls(&self.finding).into();
        if let Some(remedy) = &self.remedy {
            object["remedy"] = strip_controls(remedy).into();
        }
        object
    }
}

/// Breaks a text below the end of `first`.
fn broken(first: Line, text: &str, columns: usize) -> Vec<Line> {
    let indent = first.width();
    let text = strip_controls(text);
    let pieces = wrapped(&text, columns.saturating_sub(indent).max(ROOM_MIN)).into_iter();
    let before = std::iter::once(first).chain(std::iter::repeat(Line::default().blanks(indent)));
    before.zip(pieces).map(|(before, piece)| before.with(Style::Plain, &piece)).collect()
}

/// All findings. The first failed check decides about the verdict.
#[derive(Debug, Default)]
pub(super) struct Findings {
    checks: Vec<Check>,
    obstacle: Option<Obstacle>,
    /// The verdict if no check fails.
    otherwise: &'static str,
}

impl Findings {
    pub(super) fn add(&mut self, check: Check) {
        self.checks.push(check);
    }

    pub(super) fn fail(&mut self, exit: Exit, check: Check) {
        self.add(check.clone());
        self.obstacle.get_or_insert((exit, check));
    }

    /// Adds the outcome of a check; `None` if it failed.
    pub(super) fn take(&mut self, outcome: Result<Check, Obstacle>) -> Option<()> {
        match outcome {
            Ok(check) => {
                self.add(check);
                Some(())
            }
            Err((exit, check)) => {
                self.fail(exit, check);
                None
            }
        }
    }

    /// Whether no check has failed so far.
    pub(super) fn are_good(&self) -> bool {
        self.obstacle.is_none()
    }

    /// Ends the examination; checks that were not made are marked so.
    pub(super) fn conclude(mut self, otherwise: &'static str) -> Self {
        self.otherwise = otherwise;
        for name in NAMES.split(' ') {
            if !self.checks.iter().any(|check| check.name == name) {
                self.add(Check::open(name, "not looked at"));
            }
        }
        self.checks.sort_by_key(|check| NAMES.split(' ').position(|name| name == check.name));
        self
    }

    pub(super) fn exit(&self) -> Exit {
        self.obstacle.as_ref().map_or(Exit::Fine, |(exit, _)| *exit)
    }

    /// What would become of a report, with the name of the check that decides.
    fn verdict(&self) -> Check {
        let Some((exit, check)) = &self.obstacle else {
            return Check::fine("verdict", self.otherwise);
        };
        let finding = match exit {
            Exit::Unreachable => "a report would not leave this process",
            Exit::Refused => "a report would be refused",
            _ => "a report would not show",
        };
        Check::wrong("verdict", format!("{finding}, see {} above", check.name))
    }

    /// All findings for people, in lines of `columns` columns.
    pub(super) fn text(&self, columns: usize, colour: bool) -> String {
        let mut out = String::new();
        for check in self.checks.iter().chain([&self.verdict()]) {
            for line in check.lines(columns) {
                out.push_str(&line.text(colour));
                out.push('\n');
            }
        }
        out
    }

    pub(super) fn json(&self) -> Value {
        let checks = self.checks.iter();
        let checks = checks.map(|check| check.json(json!({"check": check.name, "ok": check.ok})));
        let shows = json!({"shows": self.obstacle.is_none()});
        let verdict = match &self.obstacle {
            Some((_, check)) => check.json(shows),
            None => self.verdict().json(shows),
        };
        json!({"checks": checks.collect::<Vec<_>>(), "verdict": verdict})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_obstacle_decides_and_is_told_once() {
        let mut findings = Findings::default();
        findings.add(Check::fine("settings", "a"));
        findings.fail(Exit::Refused, Check::wrong("pane", "gone\u{1b}[2J\n").remedy("b\u{7}"));
        findings.fail(Exit::NotApplied, Check::wrong("others", "c"));
        let report = findings.conclude("never");
        assert_eq!(report.exit(), Exit::Refused);
        let text = report.text(usize::MAX, false);
        assert!(text.starts_with("ok     settings   a\n"), "{text}");
        assert!(text.ends_with("WRONG  verdict    a report would be refused, see pane above\n"));
        assert_eq!(text.matches("gone").count(), 1);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        let narrow = report.text(44, false);
        assert!(narrow.contains("refused,\n                  see pane above\n"), "{narrow}");
        assert!(report.text(80, true).contains("\u{1b}[31mWRONG\u{1b}[0m"));
        let json = report.json();
        assert_eq!(json["checks"].as_array().unwrap().len(), 12);
        assert_eq!(json["verdict"]["shows"], false);
        assert_eq!(json["checks"][5]["check"], "pane");
        assert!(!json.to_string().contains("u001b"));
    }
}

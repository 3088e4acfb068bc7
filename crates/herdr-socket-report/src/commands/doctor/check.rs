//! What was found, and how it is printed.

use std::fmt::Write as _;

use herdr_proto::strip_controls;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::text::wrapped;

/// Fewest columns of a finding: beside less the terminal may break lines.
const ROOM_MIN: usize = 20;

/// Every check, in the order in which they are made.
pub(super) const NAMES: [&str; 11] = [
    "settings",
    "source",
    "variables",
    "socket",
    "server",
    "pane",
    "identity",
    "lease",
    "others",
    "report",
    "sidebar",
];

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    name: &'static str,
    /// Fine, wrong, or neither: worth knowing, or not to be told.
    ok: Option<bool>,
    finding: String,
    remedy: Option<String>,
}

/// What would become of a report, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    exit: Exit,
    finding: String,
    remedy: Option<String>,
}

/// All of it. The first thing that keeps reports from showing decides.
#[derive(Debug, Default)]
pub(super) struct Findings {
    checks: Vec<Check>,
    obstacle: Option<Verdict>,
}

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

    /// Whether it is wrong.
    #[cfg(test)]
    pub(super) fn is_wrong(&self) -> bool {
        self.ok == Some(false)
    }
}

impl Verdict {
    /// A report would show.
    pub(super) fn shows(finding: impl Into<String>) -> Self {
        Self { exit: Exit::Fine, finding: finding.into(), remedy: None }
    }

    /// It would not; `exit` says how far it would come.
    fn fails(exit: Exit, check: &Check) -> Self {
        let finding = match exit {
            Exit::Unreachable => "a report would not leave this process",
            Exit::Refused => "a report would be refused",
            _ => "a report would not show",
        };
        let finding = format!("{finding} ({}): {}", check.name, check.finding);
        Self { exit, finding, remedy: check.remedy.clone() }
    }
}

impl Findings {
    pub(super) fn add(&mut self, check: Check) {
        self.checks.push(check);
    }

    /// Adds a check that keeps reports from showing.
    pub(super) fn fail(&mut self, exit: Exit, check: Check) {
        self.obstacle.get_or_insert_with(|| Verdict::fails(exit, &check));
        self.checks.push(check);
    }

    /// Whether nothing was found so far that keeps reports from showing.
    pub(super) fn are_good(&self) -> bool {
        self.obstacle.is_none()
    }

    /// Everything, with `otherwise` as the verdict if nothing is in the way.
    pub(super) fn conclude(self, otherwise: impl FnOnce() -> Verdict) -> Report {
        let Self { mut checks, obstacle } = self;
        for name in NAMES {
            if !checks.iter().any(|check| check.name == name) {
                checks.push(Check::open(name, "not looked at"));
            }
        }
        let place = |check: &Check| NAMES.iter().position(|name| *name == check.name);
        checks.sort_by_key(place);
        Report { checks, verdict: obstacle.unwrap_or_else(otherwise) }
    }
}

/// What is printed.
#[derive(Debug)]
pub(super) struct Report {
    checks: Vec<Check>,
    verdict: Verdict,
}

impl Report {
    pub(super) fn exit(&self) -> Exit {
        self.verdict.exit
    }

    /// For people, in lines of so many columns.
    pub(super) fn text(&self, columns: usize) -> String {
        let mut out = String::new();
        let mut put = |mark: &str, name: &str, finding: &str, remedy: Option<&String>| {
            let mut lines = |first: &str, text: &str| {
                let indent = first.len();
                let room = columns.saturating_sub(indent).max(ROOM_MIN);
                for (number, line) in wrapped(&strip_controls(text), room).iter().enumerate() {
                    let _ = match number {
                        0 => writeln!(out, "{first}{line}"),
                        _ => writeln!(out, "{:indent$}{line}", ""),
                    };
                }
            };
            lines(&format!("{mark:5}  {name:9}  "), finding);
            if let Some(remedy) = remedy {
                lines(&format!("{:18}-> ", ""), remedy);
            }
        };
        for check in &self.checks {
            let mark = match check.ok {
                Some(true) => "ok",
                Some(false) => "WRONG",
                None => "-",
            };
            put(mark, check.name, &check.finding, check.remedy.as_ref());
        }
        let Verdict { exit, finding, remedy } = &self.verdict;
        let mark = if *exit == Exit::Fine { "ok" } else { "WRONG" };
        put(mark, "verdict", finding, remedy.as_ref());
        out
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let with_remedy = |mut object: Value, remedy: &Option<String>| {
            if let Some(remedy) = remedy {
                object["remedy"] = strip_controls(remedy).into();
            }
            object
        };
        let checks = self.checks.iter().map(|check| {
            let finding = strip_controls(&check.finding);
            let object = json!({"check": check.name, "ok": check.ok, "finding": finding});
            with_remedy(object, &check.remedy)
        });
        let Verdict { exit, finding, remedy } = &self.verdict;
        let finding = strip_controls(finding);
        let verdict = json!({"shows": *exit == Exit::Fine, "finding": finding});
        json!({"checks": checks.collect::<Vec<_>>(), "verdict": with_remedy(verdict, remedy)})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_obstacle_is_the_verdict_and_nothing_controls_a_terminal() {
        let mut findings = Findings::default();
        findings.add(Check::fine("settings", "a"));
        findings.fail(Exit::Refused, Check::wrong("pane", "gone\u{1b}[2J\n").remedy("b\u{7}"));
        findings.fail(Exit::NotApplied, Check::wrong("others", "c"));
        let report = findings.conclude(|| Verdict::shows("never"));
        assert_eq!(report.exit(), Exit::Refused);
        let text = report.text(usize::MAX);
        assert!(text.starts_with("ok     settings   a\n"), "{text}");
        let narrow = report.text(44);
        let broken = "a report would be refused\n                  (pane): gone\n";
        assert!(narrow.contains(broken), "{narrow}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        let json = report.json();
        assert_eq!(json["checks"].as_array().unwrap().len(), NAMES.len());
        assert_eq!(json["verdict"]["shows"], false);
        assert_eq!(json["checks"][5]["check"], "pane");
        assert!(!json.to_string().contains("u001b"));
    }
}

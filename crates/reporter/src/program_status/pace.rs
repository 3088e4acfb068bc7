//! What is written to a terminal, and when. Has no clock and no terminal of its own.

use std::collections::BTreeMap;
use std::time::Duration;

use herdr_program_status::{AppName, RecordId, Report, State};

use crate::activity::{PartId, Program, Record};

/// The least time between two writes to a terminal.
const WRITE_INTERVAL: Duration = Duration::from_millis(100);
/// The most records below the agent's own. A terminal keeps at least 64, and other programs need
/// some of them.
const PARTS_MAX: usize = 32;

/// The records that a terminal has, and when it may be written to again.
///
/// All times are measured from a moment that the caller chooses.
#[derive(Debug)]
pub(crate) struct Pace {
    app: Option<AppName>,
    settle: Duration,
    /// The ids of records below the root begin with this number.
    number: u32,
    shown: BTreeMap<RecordId, Report>,
    /// The number of each part that has a record. It ends the record's id.
    numbers: BTreeMap<PartId, u32>,
    last_number: u32,
    /// When the terminal was last written to.
    written_at: Option<Duration>,
    /// Since when the agent has been resting although the terminal shows it at work.
    rests_since: Option<Duration>,
}

/// The reports to write now, in this order, and when to call again.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) reports: Vec<Report>,
    pub(crate) wake: Option<Duration>,
}

impl Pace {
    /// For a program with this name. A rest after work is held back for `settle`.
    pub(crate) fn new(app: Option<AppName>, settle: Duration, number: u32) -> Self {
        Self {
            app,
            settle,
            number,
            shown: BTreeMap::new(),
            numbers: BTreeMap::new(),
            last_number: 0,
            written_at: None,
            rests_since: None,
        }
    }

    /// The reports that make the terminal show `program`, once they may be written.
    pub(crate) fn step(&mut self, now: Duration, program: Option<&Program>) -> Due {
        let wanted = self.records(program);
        if wanted == self.shown {
            self.rests_since = None;
            return Due::default();
        }
        let works = matches!(root_state(&self.shown), Some(State::Working | State::Blocked));
        let rests = matches!(root_state(&wanted), Some(State::Idle | State::Done | State::Error));
        let settled = if works && rests {
            *self.rests_since.get_or_insert(now) + self.settle
        } else {
            self.rests_since = None;
            now
        };
        let paced = self.written_at.map_or(now, |at| at + WRITE_INTERVAL);
        let due = settled.max(paced);
        if due > now {
            return Due { reports: Vec::new(), wake: Some(due) };
        }
        self.rests_since = None;
        self.written_at = Some(now);
        Due { reports: self.show(wanted), wake: None }
    }

    /// The last reports, without any wait: the outcome of a turn stays, and everything else is
    /// cleared.
    pub(crate) fn end(&mut self, program: Option<&Program>) -> Vec<Report> {
        let mut wanted = self.records(program);
        wanted.retain(|id, report| {
            id.is_root() && matches!(report.state(), Some(State::Done | State::Error))
        });
        self.show(wanted)
    }

    /// The last reports if a successor goes on. The successor replaces the root record; the records
    /// below it are cleared, because the successor does not know them.
    pub(crate) fn hand_over(&mut self) -> Vec<Report> {
        let mut wanted = self.shown.clone();
        wanted.retain(|id, _| id.is_root());
        self.show(wanted)
    }

    /// The records that the terminal should have.
    fn records(&mut self, program: Option<&Program>) -> BTreeMap<RecordId, Report> {
        let Some(program) = program else {
            self.numbers.clear();
            return BTreeMap::new();
        };
        self.numbers.retain(|part, _| program.parts.contains_key(part));
        for part in program.parts.keys() {
            if self.numbers.len() < PARTS_MAX && !self.numbers.contains_key(part) {
                self.last_number += 1;
                self.numbers.insert(part.clone(), self.last_number);
            }
        }
        let root = (RecordId::root(), &program.root, self.app.clone());
        let parts = program.parts.iter().filter_map(|(part, record)| {
            let id = format!("{}.{}", self.number, self.numbers.get(part)?);
            let id = RecordId::parse(id).ok()?;
            // Parts inherit the name of the agent.
            Some((id, record, None))
        });
        let reports = std::iter::once(root).chain(parts);
        reports
            .filter_map(|(id, record, app)| Some((id.clone(), report(id, record, app)?)))
            .collect()
    }

    /// Clears the records that are gone, and reports those that are new or different. The root is
    /// cleared last, because that clears all records below it.
    fn show(&mut self, wanted: BTreeMap<RecordId, Report>) -> Vec<Report> {
        let gone = self.shown.keys().rev().filter(|id| !wanted.contains_key(*id));
        let mut reports: Vec<Report> = gone.cloned().map(Report::clear).collect();
        let new = wanted.iter().filter(|(id, report)| self.shown.get(*id) != Some(*report));
        reports.extend(new.map(|(_, report)| report.clone()));
        self.shown = wanted;
        reports
    }
}

/// The agent's state in these records.
fn root_state(records: &BTreeMap<RecordId, Report>) -> Option<State> {
    records.get(&RecordId::root()).and_then(Report::state)
}

fn report(id: RecordId, record: &Record, app: Option<AppName>) -> Option<Report> {
    let Record { state, kind, progress, title, message } = record;
    let mut report = Report::builder(*state).id(id);
    if let Some(kind) = kind {
        report = report.kind(*kind);
    }
    if let Some(percent) = progress {
        report = report.progress(*percent);
    }
    if let Some(app) = app {
        report = report.app(app);
    }
    if let Some(title) = title {
        report = report.title(title.as_str());
    }
    if let Some(message) = message {
        report = report.message(message.as_str());
    }
    // This fails only for a progress over 100, which no event has.
    report.build().ok()
}

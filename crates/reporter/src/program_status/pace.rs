//! What is written to a terminal, and when. Pure: no clock, no terminal.

use std::collections::BTreeMap;
use std::time::Duration;

use herdr_program_status::{AppName, RecordId, Report, State};

use crate::activity::{Part, Program, Record};

/// Between two times at which a terminal is told something.
const PACE: Duration = Duration::from_millis(100);
/// Most records below the agent's own. A terminal keeps at least 64, and others
/// write there, too.
const PARTS_MAX: usize = 32;

/// What a terminal was told, and when it is to be told more.
///
/// Times are the caller's, from a beginning of its own.
#[derive(Debug)]
pub(crate) struct Pace {
    app: Option<AppName>,
    settle: Duration,
    /// What the ids of its parts begin with.
    number: u32,
    told: BTreeMap<RecordId, Report>,
    /// The numbers of the parts that have a record.
    numbers: BTreeMap<Part, u32>,
    last_number: u32,
    /// When something was told last.
    told_at: Option<Duration>,
    /// Since when the agent rests that was told to be at work.
    rests_since: Option<Duration>,
}

/// What is to be told now, in order, and when to ask again.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) reports: Vec<Report>,
    pub(crate) wake: Option<Duration>,
}

impl Pace {
    /// For a program of this name. A rest that follows work waits for `settle`. The
    /// ids of its parts begin with `number`.
    pub(crate) fn new(app: Option<AppName>, settle: Duration, number: u32) -> Self {
        Self {
            app,
            settle,
            number,
            told: BTreeMap::new(),
            numbers: BTreeMap::new(),
            last_number: 0,
            told_at: None,
            rests_since: None,
        }
    }

    /// What leads from what was told to what is true, once it may be told.
    pub(crate) fn step(&mut self, now: Duration, program: Option<&Program>) -> Due {
        let wanted = self.records(program);
        if wanted == self.told {
            self.rests_since = None;
            return Due::default();
        }
        let settled = if self.is_at_work() && rests(&wanted) {
            *self.rests_since.get_or_insert(now) + self.settle
        } else {
            self.rests_since = None;
            now
        };
        let paced = self.told_at.map_or(now, |at| at + PACE);
        let due = settled.max(paced);
        if due > now {
            return Due { reports: Vec::new(), wake: Some(due) };
        }
        self.rests_since = None;
        self.told_at = Some(now);
        Due { reports: self.tell(wanted), wake: None }
    }

    /// The last words, whatever was told a moment ago: an outcome stays, and
    /// everything else is taken off.
    pub(crate) fn end(&mut self, program: Option<&Program>) -> Vec<Report> {
        let mut wanted = self.records(program);
        wanted.retain(|id, report| {
            id.is_root() && matches!(report.state(), Some(State::Done | State::Error))
        });
        self.tell(wanted)
    }

    /// The last words where a successor goes on: the agent's own record is the
    /// successor's to replace, and nobody else knows of those below it.
    pub(crate) fn hand_over(&mut self) -> Vec<Report> {
        let mut wanted = self.told.clone();
        wanted.retain(|id, _| id.is_root());
        self.tell(wanted)
    }

    /// The records that are to be there.
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
            // The name is the agent's, which its parts inherit.
            Some((id, record, None))
        });
        let reports = std::iter::once(root).chain(parts);
        reports.filter_map(|(id, it, app)| Some((id.clone(), report(id, it, app)?))).collect()
    }

    /// Takes off what is gone, the root last because its clear takes everything,
    /// and replaces what is new or other.
    fn tell(&mut self, wanted: BTreeMap<RecordId, Report>) -> Vec<Report> {
        let gone = self.told.keys().rev().filter(|id| !wanted.contains_key(*id));
        let mut reports: Vec<Report> = gone.cloned().map(Report::clear).collect();
        let other = wanted.iter().filter(|(id, report)| self.told.get(*id) != Some(*report));
        reports.extend(other.map(|(_, report)| report.clone()));
        self.told = wanted;
        reports
    }

    fn is_at_work(&self) -> bool {
        let root = self.told.get(&RecordId::root()).and_then(Report::state);
        matches!(root, Some(State::Working | State::Blocked))
    }
}

fn rests(records: &BTreeMap<RecordId, Report>) -> bool {
    let root = records.get(&RecordId::root()).and_then(Report::state);
    matches!(root, Some(State::Idle | State::Done | State::Error))
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
    // Only a progress over 100 makes it fail, which no event carries.
    report.build().ok()
}

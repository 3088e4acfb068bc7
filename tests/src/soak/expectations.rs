//! What each pane has to show, and for how long it has shown something else.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use herdr_proto::PaneInfo;

use super::{GRACE, LOOK, Report};

/// How many of the last actions in a pane are printed with a mismatch.
const ACTIONS_SHOWN: usize = 12;

/// What a pane has to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Nothing.
    #[default]
    Nothing,
    /// Anything, because no process is left that could report.
    Anything,
    Row(Row),
}

/// A row as its host wants it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) agent: String,
    pub(super) state: &'static str,
    /// The label of this state, if there is one.
    pub(super) label: Option<String>,
    pub(super) title: Option<String>,
    pub(super) token: Option<String>,
}

/// The key of the token that hosts set.
pub(super) const TOKEN: &str = "branch";

#[derive(Debug)]
pub(super) struct Expectations {
    verbose: bool,
    state: Mutex<State>,
    /// Held for writing while the server has trouble. Text typed during trouble may get lost,
    /// and typing it again could start a host twice.
    typing: RwLock<()>,
}

#[derive(Debug)]
struct State {
    began: Instant,
    entries: Vec<Entry>,
    /// How many troubles have ended.
    troubles: u64,
    in_trouble: bool,
    finished: bool,
    report: Report,
}

#[derive(Debug, Default)]
struct Entry {
    wanted: Wanted,
    /// Changes with what is wanted, and with troubles.
    version: u64,
    wrong_for: Duration,
    reported: bool,
    actions: Vec<String>,
}

/// What a pane has to show, as read before the pane was read.
#[derive(Debug)]
pub(super) struct Expectation {
    wanted: Wanted,
    version: u64,
}

impl Expectations {
    pub(super) fn new(panes: usize, verbose: bool) -> Self {
        let entries = (0..panes).map(|_| Entry::default()).collect();
        let state = State {
            began: Instant::now(),
            entries,
            troubles: 0,
            in_trouble: false,
            finished: false,
            report: Report::default(),
        };
        Self { verbose, state: Mutex::new(state), typing: RwLock::new(()) }
    }

    /// Records what a host does, and what its pane has to show from now on.
    pub(super) fn record(&self, pane: usize, action: &str, wanted: Wanted) {
        let mut state = self.lock();
        state.report.actions += 1;
        let at = state.began.elapsed().as_millis();
        let line = format!("{at:>7} ms  pane {pane}: {action}");
        if self.verbose {
            print(&line);
        }
        let entry = &mut state.entries[pane];
        entry.actions.push(line);
        entry.wanted = wanted;
        entry.begin_again();
    }

    pub(super) fn host(&self) {
        self.lock().report.hosts += 1;
    }

    /// Makes trouble for the server. In the meantime no pane is judged.
    pub(super) fn trouble(&self, work: impl FnOnce()) {
        let _nobody_types = self.typing.write().unwrap_or_else(PoisonError::into_inner);
        self.lock().in_trouble = true;
        work();
        let mut state = self.lock();
        state.in_trouble = false;
        state.troubles += 1;
        state.entries.iter_mut().for_each(Entry::begin_again);
    }

    /// Types something while the server has no trouble.
    pub(super) fn while_well<T>(&self, work: impl FnOnce() -> T) -> T {
        let _no_trouble = self.typing.read().unwrap_or_else(PoisonError::into_inner);
        work()
    }

    pub(super) fn read(&self, pane: usize) -> Expectation {
        let state = self.lock();
        let entry = &state.entries[pane];
        Expectation { wanted: entry.wanted.clone(), version: entry.version }
    }

    /// Compares what was wanted before a look with what the look showed.
    pub(super) fn compare(&self, pane: usize, expected: &Expectation, seen: &PaneInfo) {
        let mut state = self.lock();
        let State { entries, report, in_trouble, .. } = &mut *state;
        let entry = &mut entries[pane];
        if *in_trouble || entry.version != expected.version {
            return;
        }
        let Some(difference) = expected.wanted.difference(seen) else {
            entry.wrong_for = Duration::ZERO;
            return;
        };
        // On a busy machine several late looks count as one.
        entry.wrong_for += LOOK;
        report.longest = report.longest.max(entry.wrong_for);
        if entry.wrong_for > GRACE && !std::mem::replace(&mut entry.reported, true) {
            let from = entry.actions.len().saturating_sub(ACTIONS_SHOWN);
            let actions = entry.actions[from..].join("\n  ");
            let mismatch = format!("pane {pane} {}: {difference}\n  {actions}", seen.pane_id);
            if self.verbose {
                print(&mismatch);
            }
            report.mismatches.push(mismatch);
        }
    }

    pub(super) fn finish(&self) {
        self.lock().finished = true;
    }

    pub(super) fn is_finished(&self) -> bool {
        self.lock().finished
    }

    pub(super) fn report(&self, looks: u64) -> Report {
        let mut state = self.lock();
        let troubles = state.troubles;
        Report { looks, troubles, ..std::mem::take(&mut state.report) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(clippy::print_stderr, reason = "what hosts do is shown as it happens")]
fn print(line: &str) {
    eprintln!("{line}");
}

impl Entry {
    fn begin_again(&mut self) {
        self.version += 1;
        self.wrong_for = Duration::ZERO;
        self.reported = false;
    }
}

impl Wanted {
    /// The difference between what is wanted and what a pane shows.
    fn difference(&self, seen: &PaneInfo) -> Option<String> {
        let row = match self {
            Self::Anything => return None,
            Self::Nothing => &Row::default(),
            Self::Row(row) => row,
        };
        let mut wrong = Vec::new();
        let mut compare = |what: &str, wanted: Option<&str>, seen: Option<&str>| {
            if wanted != seen {
                wrong.push(format!("{what} is {seen:?} and has to be {wanted:?}"));
            }
        };
        let agent = Some(row.agent.as_str()).filter(|agent| !agent.is_empty());
        compare("agent", agent, seen.agent.as_deref());
        if agent.is_some() && !seen.agent_status.same_as(&row.state.into()) {
            compare("state", Some(row.state), Some(seen.agent_status.as_str()));
        }
        if agent.is_some() {
            let label = seen.state_labels.get(row.state).map(String::as_str);
            compare("label", row.label.as_deref(), label);
        }
        compare("title", row.title.as_deref(), seen.title.as_deref());
        let tokens: BTreeMap<&str, &str> =
            seen.tokens.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
        compare("token", row.token.as_deref(), tokens.get(TOKEN).copied());
        (!wrong.is_empty()).then(|| wrong.join(", "))
    }
}

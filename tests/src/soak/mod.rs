//! Random hosts in real panes, real trouble, and a checker that compares each pane with what
//! its entitled host last reported.
//!
//! Each pane has a thread that plays one host after the other (`host`). The expectations
//! (`expectations`) have what each pane has to show, and the checker counts how long a pane
//! shows something else. The calling thread makes trouble for the server, during which nothing
//! counts.

mod expectations;
mod host;
mod pane;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::stage::{HERDR_BIN, Share, Stage};
use expectations::Expectations;

/// How long a pane may take to be right after the last report, or after trouble with the
/// server.
const GRACE: Duration = Duration::from_secs(3);
/// The interval between two looks at the panes.
const LOOK: Duration = Duration::from_millis(100);

/// The options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long new hosts are started.
    pub time: Duration,
    /// The number of panes.
    pub panes: usize,
    /// The seed of all random choices.
    pub seed: u64,
    /// Whether to print what every host does.
    pub verbose: bool,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// Each pane that showed something else for too long, with an explanation.
    pub mismatches: Vec<String>,
    /// How often a pane was compared with what it has to show.
    pub looks: u64,
    /// The number of hosts.
    pub hosts: u64,
    /// The number of actions of all hosts.
    pub actions: u64,
    /// How often the server was handed off or frozen.
    pub troubles: u64,
    /// The longest time for which a pane was wrong.
    pub longest: Duration,
}

/// Runs hosts for some time, lets all of them end, and checks the panes once more.
///
/// # Panics
///
/// If the server does not start.
pub fn run(options: &Options) -> Report {
    let stages: Vec<Stage> = (0..options.panes).map(|_| stage()).collect();
    let expectations = Expectations::new(options.panes, options.verbose);
    let over = AtomicBool::new(false);
    let mut rng = Rng::with_seed(options.seed);
    std::thread::scope(|scope| {
        let actors: Vec<_> = stages
            .iter()
            .enumerate()
            .map(|(number, stage)| {
                let rng = rng.fork();
                let (expectations, over) = (&expectations, &over);
                scope.spawn(move || host::play(stage, number, expectations, rng, over))
            })
            .collect();
        let checker = scope.spawn(|| check(&stages, &expectations));
        let end = Instant::now() + options.time;
        while Instant::now() < end {
            pane::rest(Duration::from_millis(rng.u64(2_000..8_000)).min(options.time / 4));
            trouble(&stages[0], &expectations, &mut rng);
        }
        over.store(true, Ordering::Relaxed);
        for actor in actors {
            if let Err(panic) = actor.join() {
                expectations.finish();
                std::panic::resume_unwind(panic);
            }
        }
        // The pane of the last host has the same time to become right.
        pane::rest(GRACE + LOOK * 5);
        expectations.finish();
        let looks = checker.join().unwrap_or_default();
        expectations.report(looks)
    })
}

fn stage() -> Stage {
    match std::env::var_os(HERDR_BIN) {
        Some(_) => Stage::live(Share::Shared, "soak").unwrap_or_else(|| Stage::fake(Share::Shared)),
        None => Stage::fake(Share::Shared),
    }
}

/// Hands the server off or freezes it.
fn trouble(stage: &Stage, expectations: &Expectations, rng: &mut Rng) {
    expectations.trouble(|| {
        if rng.bool() {
            stage.hand_off();
        } else {
            let thaw = stage.freeze();
            pane::rest(Duration::from_millis(rng.u64(200..4_000)));
            drop(thaw);
        }
    });
}

/// Compares the panes with the expectations until the run is finished. Returns the number of
/// looks.
fn check(stages: &[Stage], expectations: &Expectations) -> u64 {
    let mut looks = 0;
    while !expectations.is_finished() {
        pane::rest(LOOK);
        for (number, stage) in stages.iter().enumerate() {
            let expected = expectations.read(number);
            // A server that does not answer shows nothing wrong.
            if let Ok(seen) = stage.ask(&herdr_proto::PaneGet::new(stage.pane().clone())) {
                expectations.compare(number, &expected, &seen.pane);
                looks += 1;
            }
        }
    }
    looks
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { looks, hosts, actions, troubles, longest, mismatches } = self;
        write!(
            f,
            "{hosts} hosts, {actions} actions, {troubles} troubles, {looks} looks, \
             longest wrong {} ms, {} mismatches",
            longest.as_millis(),
            mismatches.len()
        )
    }
}

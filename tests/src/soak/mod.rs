//! Random hosts in real panes, real trouble, and a checker that compares each
//! pane with what its entitled host last said.
//!
//! Each pane has a thread that plays one host after the other (`host`). What
//! the pane has to show is on the board (`board`), and the checker counts how
//! long it shows something else. Trouble with the server comes from the calling
//! thread, and while there is trouble nothing counts.

mod board;
mod host;
mod pane;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::stage::{HERDR_BIN, Share, Stage};
use board::Board;

/// How long the panes may take to be right after the last word, or after
/// trouble with the server.
const GRACE: Duration = Duration::from_secs(3);
/// Between two looks at the panes.
const LOOK: Duration = Duration::from_millis(100);

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long hosts come and go.
    pub time: Duration,
    /// How many panes there are.
    pub panes: usize,
    /// What everything random is drawn from.
    pub seed: u64,
    /// Whether to say what every host does.
    pub verbose: bool,
}

/// What was seen.
#[derive(Debug, Default)]
pub struct Report {
    /// Each pane that showed something else for too long, in words.
    pub lies: Vec<String>,
    /// How often a pane was compared with what it has to show.
    pub looks: u64,
    /// How many hosts there were.
    pub hosts: u64,
    /// How many words they said.
    pub words: u64,
    /// How often the server was handed off or frozen.
    pub troubles: u64,
    /// The longest that a pane was wrong.
    pub longest: Duration,
}

/// Runs hosts for some time, then lets all of them end, and looks once more.
///
/// # Panics
///
/// If the server does not start.
pub fn run(options: &Options) -> Report {
    let stages: Vec<Stage> = (0..options.panes).map(|_| stage()).collect();
    let board = Board::new(options.panes, options.verbose);
    let over = AtomicBool::new(false);
    let mut rng = Rng::with_seed(options.seed);
    std::thread::scope(|scope| {
        let actors: Vec<_> = stages
            .iter()
            .enumerate()
            .map(|(number, stage)| {
                let rng = rng.fork();
                let (board, over) = (&board, &over);
                scope.spawn(move || host::play(stage, number, board, rng, over))
            })
            .collect();
        let checker = scope.spawn(|| check(&stages, &board));
        let end = Instant::now() + options.time;
        while Instant::now() < end {
            pane::rest(Duration::from_millis(rng.u64(2_000..8_000)).min(options.time / 4));
            trouble(&stages[0], &board, &mut rng);
        }
        over.store(true, Ordering::Relaxed);
        for actor in actors {
            if let Err(panic) = actor.join() {
                board.finish();
                std::panic::resume_unwind(panic);
            }
        }
        // What the last hosts left has its time, too.
        pane::rest(GRACE + LOOK * 5);
        board.finish();
        let looks = checker.join().unwrap_or_default();
        board.report(looks)
    })
}

fn stage() -> Stage {
    match std::env::var_os(HERDR_BIN) {
        Some(_) => Stage::live(Share::Shared, "soak").unwrap_or_else(|| Stage::fake(Share::Shared)),
        None => Stage::fake(Share::Shared),
    }
}

/// One handoff or one freeze of the server.
fn trouble(stage: &Stage, board: &Board, rng: &mut Rng) {
    board.trouble(|| {
        if rng.bool() {
            stage.hand_off();
        } else {
            let thaw = stage.freeze();
            pane::rest(Duration::from_millis(rng.u64(200..4_000)));
            drop(thaw);
        }
    });
}

/// Compares the panes with the board until it is finished; how often it did.
fn check(stages: &[Stage], board: &Board) -> u64 {
    let mut looks = 0;
    while !board.is_finished() {
        pane::rest(LOOK);
        for (number, stage) in stages.iter().enumerate() {
            let said = board.read(number);
            // A server that does not answer is not one that lies.
            if let Ok(seen) = stage.ask(&herdr_proto::PaneGet::new(stage.pane().clone())) {
                board.compare(number, &said, &seen.pane);
                looks += 1;
            }
        }
    }
    looks
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { looks, hosts, words, troubles, longest, lies } = self;
        write!(
            f,
            "{hosts} hosts, {words} words, {troubles} troubles, {looks} looks, \
             longest wrong {} ms, {} lies",
            longest.as_millis(),
            lies.len()
        )
    }
}

//! Plays the recordings of Herdr 0.8.2 on a socket: on the program that `HERDR_BIN` names,
//! and on the fake behind its socket. The same must happen again.
//!
//! Without a program only the quick recordings are played; the model plays all of them in
//! virtual time ([`e2e::replay`]). Recordings with a ttl below one second are left to the
//! model too, because a busy machine may take that long between two requests. A recording
//! that differs is played once more at the end, when no other recording is.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use e2e::replay::{self, Summary};
use e2e::stage::{Share, Stage, skipped};
use serde_json::{Value, json};

/// The server that the recordings were made on.
const RECORDED: &str = "0.8.2";

/// How many servers run at once. A recording mostly waits, so there can be many. Each player
/// has its own server, because recordings move the focus.
const PLAYERS: usize = 12;

fn fixtures(folders: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol-fixtures");
    let folders: Vec<_> = folders.iter().map(|folder| root.join(folder)).collect();
    let mut files = replay::find(&folders).unwrap();
    files.retain(|file| !has_a_short_ttl(&fs::read_to_string(file).unwrap()));
    files
}

/// A ttl of zero does not count: the server refuses it.
fn has_a_short_ttl(recording: &str) -> bool {
    let steps = recording.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut ttls = steps.filter_map(|step| step["call"]["params"]["ttl_ms"].as_u64());
    ttls.any(|ttl| (1..1000).contains(&ttl))
}

/// Plays several files at once, the last file first, each player on its own server.
fn play(files: Vec<PathBuf>, server: impl Fn() -> Stage + Sync) -> Summary {
    let all = files.len();
    let files = Mutex::new(files);
    let played = Mutex::new(Summary::default());
    let differing = Mutex::new(Vec::new());
    let keep = |file: PathBuf, part: Summary| {
        if part.mismatches.is_empty() {
            played.lock().unwrap().add(part);
        } else {
            differing.lock().unwrap().push(file);
        }
    };
    thread::scope(|scope| {
        for _ in 0..PLAYERS {
            scope.spawn(|| {
                let mut stage = None;
                loop {
                    let Some(file) = files.lock().unwrap().pop() else { break };
                    // A new stream replays the events that its server has kept, so a flow needs a
                    // fresh server.
                    if is_flow(&file) {
                        stage = None;
                    }
                    let part = play_on(stage.get_or_insert_with(&server), &file);
                    keep(file, part);
                }
            });
        }
    });
    let mut played = played.into_inner().unwrap();
    for file in differing.into_inner().unwrap() {
        played.add(play_on(&server(), &file));
    }
    assert_eq!(played.traces, all, "every file was played");
    played
}

fn play_on(stage: &Stage, file: &Path) -> Summary {
    replay::on_socket(&[file.to_owned()], stage.socket()).unwrap()
}

fn is_flow(file: &Path) -> bool {
    file.parent().is_some_and(|folder| folder.ends_with("flows"))
}

fn assert_as_recorded(summary: &Summary) {
    let mismatches: Vec<_> = summary.mismatches.iter().map(ToString::to_string).collect();
    assert!(mismatches.is_empty(), "{summary}:\n{}", mismatches.join("\n"));
}

#[test]
fn written_traces_on_the_fakes_socket() {
    let files = fixtures(&["traces/scenarios"]);
    assert_as_recorded(&play(files, || Stage::fake(Share::Own)));
}

#[test]
fn everything_on_the_live_server() {
    const NAME: &str = "everything_on_the_live_server";
    let Some(stage) = Stage::live(Share::Own, NAME) else { return };
    let version = stage.call("ping", &json!({}))["version"].as_str().map(str::to_owned);
    if version.as_deref() != Some(RECORDED) {
        return skipped(NAME, "the recordings are of another version than this server");
    }
    drop(stage);
    let mut files = fixtures(&["traces", "flows"]);
    // The last file is played first, and flows take longest.
    files.sort_by_key(|file| is_flow(file));
    let live = || Stage::live(Share::Own, NAME).expect("a program is named");
    assert_as_recorded(&play(files, live));
}

/// Each whole recording needs a server of its own.
#[test]
fn whole_recordings_on_the_live_server() {
    let files = Mutex::new(fixtures(&["whole/scenarios"]));
    let played = Mutex::new(Summary::default());
    let next = || files.lock().unwrap().pop();
    thread::scope(|scope| {
        for _ in 0..PLAYERS {
            scope.spawn(|| {
                while let Some(file) = next() {
                    let Some(server) = Stage::unopened() else { break };
                    let part = replay::on_socket(&[file], server.socket()).unwrap();
                    played.lock().unwrap().add(part);
                }
            });
        }
    });
    let played = played.into_inner().unwrap();
    if played.traces == 0 {
        return skipped("whole_recordings_on_the_live_server", "HERDR_BIN names no program");
    }
    assert_as_recorded(&played);
}

//! Replays recorded traces and flows and compares every step.
//!
//! A trace has what a Herdr 0.8.2 answered and showed on a fresh pane. A flow is a trace with
//! event streams. A whole recording has every reply and the whole state of the server after
//! each step. The formats are described beside the files in `protocol-fixtures`. Everything in
//! a recording is compared. Older recordings have the id, code and type of replies, the fields
//! of a pane that reports can change, and the events of streams in their order.

mod compare;
mod run;
mod script;
mod socket;
mod target;
mod virtual_time;
mod whole;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

pub use run::play;
pub use script::{Script, find, read};
pub use socket::SocketTarget;
pub use target::Target;
pub use virtual_time::VirtualTarget;

/// The result of a replay.
#[derive(Debug, Default)]
pub struct Summary {
    /// The number of traces and flows.
    pub traces: usize,
    /// The number of their steps, which are all lines after the head.
    pub steps: usize,
    /// The steps that went differently.
    pub mismatches: Vec<Mismatch>,
    /// The number of whole recordings that were not played, because each needs a server of its
    /// own.
    pub skipped: usize,
}

impl Summary {
    /// Adds the result of another part.
    pub fn add(&mut self, other: Self) {
        self.traces += other.traces;
        self.steps += other.steps;
        self.mismatches.extend(other.mismatches);
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { traces, steps, mismatches, skipped } = self;
        write!(f, "{traces} traces, {steps} steps, {} mismatches", mismatches.len())?;
        match skipped {
            0 => Ok(()),
            _ => write!(f, "; {skipped} whole recordings need a server of their own each"),
        }
    }
}

/// One step that went differently.
#[derive(Debug)]
pub struct Mismatch {
    /// The file.
    pub file: PathBuf,
    /// Its line, from 1.
    pub line: usize,
    /// What was recorded.
    pub expected: String,
    /// What came instead.
    pub got: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, expected, got } = self;
        write!(f, "{}:{line}: expected {expected}\n    got {got}", file.display())
    }
}

/// Plays every trace and flow below these folders, each on a fresh model.
///
/// # Errors
///
/// If a folder cannot be read or a file is neither a trace nor a flow.
pub fn on_model(dirs: &[PathBuf]) -> anyhow::Result<Summary> {
    each(dirs, |script| {
        if script.is_whole() {
            play(script, &mut VirtualTarget::empty())
        } else {
            play(script, &mut VirtualTarget::new())
        }
    })
}

/// Plays them on the server at `socket`, one after the other, each in a workspace that is
/// created for it and removed afterwards. A whole recording needs a server with nothing open,
/// so only the first one can be played.
///
/// # Errors
///
/// As [`on_model`], and if the server cannot be reached.
pub fn on_socket(dirs: &[PathBuf], socket: &Path) -> anyhow::Result<Summary> {
    let mut first = true;
    each(dirs, |script| {
        let fresh = std::mem::replace(&mut first, false);
        if script.is_whole() && !fresh {
            return Ok(Summary { skipped: 1, ..Summary::default() });
        }
        play(script, &mut SocketTarget::new(socket))
    })
}

fn each(
    dirs: &[PathBuf],
    mut player: impl FnMut(&Script) -> anyhow::Result<Summary>,
) -> anyhow::Result<Summary> {
    let mut summary = Summary::default();
    for file in find(dirs)? {
        let outcome = read(&file)?.map(|script| player(&script)).transpose();
        if let Some(part) = outcome.with_context(|| format!("while playing {}", file.display()))? {
            summary.add(part);
        }
    }
    anyhow::ensure!(
        summary.traces + summary.skipped > 0,
        "there is no trace and no flow below {dirs:?}"
    );
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use fake_herdr::FakeHerdr;

    use super::*;

    fn fixtures(folder: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol-fixtures").join(folder)
    }

    #[test]
    fn the_model_does_what_was_recorded() {
        let summary = on_model(&[fixtures("")]).unwrap();
        assert!(summary.traces >= 351 && summary.steps > 12_000, "{summary}");
        let mismatches: Vec<_> = summary.mismatches.iter().map(ToString::to_string).collect();
        assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
    }

    /// Plays every flow and every written trace on real sockets, each on a server of its own.
    /// The long waits in recordings let a server finish the replay of its history; a fresh one
    /// needs much less. Ttls of a millisecond are only played on the model, because a real
    /// process may be descheduled.
    #[test]
    fn the_server_does_what_was_recorded() {
        let mut files = find(&[fixtures("flows"), fixtures("traces/scenarios")]).unwrap();
        let short_lived = |file: &PathBuf| {
            file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ttl-"))
        };
        files.retain(|file| !short_lived(file));
        // Files are taken from the end, so the flows, which wait most, come first.
        files.sort_by_key(|file| file.starts_with(fixtures("flows")));
        let files = std::sync::Mutex::new(files);
        thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    loop {
                        let Some(file) = files.lock().unwrap().pop() else { break };
                        let script = read(&file).unwrap().expect("a trace or a flow");
                        let herdr = FakeHerdr::start().unwrap();
                        let mut target = SocketTarget::new(herdr.socket_path())
                            .waiting_at_most(Duration::from_millis(1700));
                        let summary = play(&script, &mut target).unwrap();
                        let mismatches: Vec<_> =
                            summary.mismatches.iter().map(ToString::to_string).collect();
                        assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
                        let left = herdr.with_model(|model| model.pane_ids());
                        assert_eq!(left, ["w1:p1"], "a replay cleans up after itself");
                    }
                });
            }
        });
    }

    #[test]
    fn a_wrong_recording_is_named_by_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("wrong.jsonl");
        let text = concat!(
            r#"{"trace":"wrong","focused":true}"#,
            "\n",
            r#"{"observe":{"agent_status":"unknown"}}"#,
            "\n",
            r#"{"observe":{"agent_status":"working"}}"#,
            "\n",
        );
        std::fs::write(&file, text).unwrap();
        let summary = on_model(&[folder.path().to_owned()]).unwrap();
        assert_eq!(summary.to_string(), "1 traces, 2 steps, 1 mismatches");
        let mismatch = summary.mismatches[0].to_string();
        assert!(mismatch.contains("wrong.jsonl:3: expected"), "{mismatch}");

        std::fs::write(&file, format!("{text}{{\"oops\":1}}\n")).unwrap();
        let error = on_model(&[folder.path().to_owned()]).unwrap_err();
        assert!(format!("{error:#}").contains("wrong.jsonl:4: not a step"), "{error:#}");
        for (spoiled, why) in [
            (text.replacen("{\"trace", "{\"trice", 1), "wrong.jsonl:1: not the head"),
            (text.replacen("{\"trace", "{trace", 1), "wrong.jsonl:1: not the head"),
            (text.replacen("true", "\"yes\"", 1), "wrong.jsonl:1: `focused` is \"yes\""),
            (text.replacen("observe", "observ", 1), "wrong.jsonl:2: not a step: it has no `call`"),
            (format!("{text}[]\n"), "wrong.jsonl:4: not a step: it is not an object"),
            (format!("{text}{{\"ca"), "wrong.jsonl:4: not a step: EOF"),
            (format!("{text}\n{{\"call\":{{}}}}"), "wrong.jsonl:5: not a step: `method`"),
            (r#"{"trace":"nothing"}"#.to_owned(), "wrong.jsonl:1: no step"),
        ] {
            std::fs::write(&file, spoiled).unwrap();
            let error = format!("{:#}", on_model(&[folder.path().to_owned()]).unwrap_err());
            assert!(error.contains(why), "{error}");
        }
        std::fs::write(&file, [text.as_bytes(), b"{\"raw\":\"\xff\"}"].concat()).unwrap();
        let error = format!("{:#}", on_model(&[folder.path().to_owned()]).unwrap_err());
        assert!(error.contains("wrong.jsonl:4: not a step: invalid unicode"), "{error}");

        // Other line ends and blank lines make no difference, and files of another kind are
        // skipped.
        std::fs::write(&file, text.replace('\n', "\r\n\r\n")).unwrap();
        std::fs::write(folder.path().join("other.jsonl"), "{not json\n{\"event\":\"x\"}\n")
            .unwrap();
        let summary = on_model(&[folder.path().to_owned()]).unwrap();
        assert_eq!(summary.to_string(), "1 traces, 2 steps, 1 mismatches");
        assert_eq!(summary.mismatches[0].line, 5);

        let empty = tempfile::tempdir().unwrap();
        assert!(on_model(&[empty.path().to_owned()]).is_err());
        assert!(on_model(&[empty.path().join("missing")]).is_err());
    }
}

//! The client side of a control socket.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use herdr_reporter::sidecar::Reported;
use herdr_reporter::{Part, Reason};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType};
use rustix::process::geteuid;
use serde::Deserialize;
use serde_json::json;

use super::hello::{Answer, Hello, Refusal};

/// A connection to a control socket on which a process listens.
pub(crate) struct Call {
    stream: UnixStream,
    until: Instant,
}

/// What a reporter answered.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) bad_lines: Vec<String>,
    /// What became of the states, the newest last.
    pub(crate) states: Vec<Outcome>,
    pub(crate) diagnostics: Vec<(String, String)>,
    /// Whether everything was delivered, or why not. `None` if no flush was asked for or
    /// answered.
    pub(crate) flushed: Option<Result<(), String>>,
    /// Why a release did nothing: the row belongs to another source.
    pub(crate) not_ours: Option<String>,
    pub(crate) refused: Option<(Refusal, String)>,
    taken: bool,
}

/// What became of one state.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) receipt: String,
    pub(crate) reason: Option<String>,
    pub(crate) remedy: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Receipt { receipt: String, of: String, reason: Option<String>, remedy: Option<String> },
    Diagnostic { diagnostic: String, detail: String },
    Flushed { ok: bool, reason: Option<String> },
    Answer(Answer),
}

/// The longest output line that is read.
const LINE_MAX: u64 = 64 * 1024;
/// The part of the time limit that is kept for the answer to a flush that timed out.
const ANSWER_LIMIT: Duration = Duration::from_millis(200);

impl Call {
    /// Connects to the socket at `path`, if a process listens there. `limit` covers the whole
    /// call.
    pub(crate) fn connect(path: &Path, limit: Duration) -> io::Result<Self> {
        let owner = std::fs::metadata(path)?.uid();
        if owner != geteuid().as_raw() && owner != 0 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let socket = net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
        // A stopped reporter accepts no connections, and once its backlog is full, `connect`
        // would block for ever.
        set_socket_timeout(&socket, Timeout::Send, Some(limit))?;
        net::connect(&socket, &SocketAddrUnix::new(path.as_os_str().as_bytes())?)?;
        Ok(Self { stream: UnixStream::from(socket), until: Instant::now() + limit })
    }

    /// Sends event lines. With `flush` it waits until they are delivered and returns what
    /// became of them, otherwise until the reporter has read them.
    pub(crate) fn tell(
        mut self,
        hello: &Hello,
        events: &[String],
        flush: bool,
    ) -> io::Result<Answers> {
        let mut text = hello.line();
        for event in events {
            text.push_str(event);
            text.push('\n');
        }
        if flush {
            let timeout = self.time_left()?.saturating_sub(ANSWER_LIMIT).as_millis();
            let timeout = u64::try_from(timeout).unwrap_or(u64::MAX);
            let flush = json!({"event": "flush", "timeout_ms": timeout});
            text.extend([flush.to_string().as_str(), "\n"]);
        }
        self.stream.set_write_timeout(Some(self.time_left()?))?;
        // If writing fails, the reporter has refused the client, and its answer says why.
        let written = self.stream.write_all(text.as_bytes());
        if !flush && written.is_ok() {
            let _ = self.stream.shutdown(Shutdown::Write);
        }
        self.listen()
    }

    /// Reads until the answer to the flush, which follows what became of everything before it,
    /// or until the reporter confirms that it has read all lines.
    fn listen(&self) -> io::Result<Answers> {
        let mut answers = Answers::default();
        let mut lines = BufReader::new(&self.stream);
        let mut line = String::new();
        while answers.flushed.is_none() && answers.refused.is_none() && !answers.taken {
            self.stream.set_read_timeout(Some(self.time_left()?))?;
            line.clear();
            match lines.by_ref().take(LINE_MAX).read_line(&mut line)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => answers.add(&line),
            }
        }
        Ok(answers)
    }

    fn time_left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

/// Whether the other side did not answer in time.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

impl Answers {
    /// The same answers for a report that went straight to Herdr.
    pub(crate) fn of_direct_report(reported: &Reported) -> Self {
        let receipts = || reported.receipts.iter();
        let states = receipts().filter(|receipt| receipt.of == Part::State).map(|receipt| {
            let reason = receipt.reason.as_ref();
            Outcome {
                receipt: receipt.outcome.as_str().to_owned(),
                reason: reason.map(|reason| match reason {
                    Reason::Rejected(_) => reason.as_str().to_owned(),
                    other => other.to_string(),
                }),
                remedy: reason.map(|reason| reason.remedy().to_owned()),
            }
        });
        let diagnostics: Vec<(String, String)> = reported
            .diagnostics
            .iter()
            .map(|it| (it.kind.as_str().to_owned(), it.detail.clone()))
            .collect();
        let kept = receipts()
            .any(|it| it.of == Part::Release && it.outcome == herdr_reporter::Outcome::Ignored);
        let ignored = diagnostics.iter().find(|(kind, _)| kind == "ignored");
        Self {
            states: states.collect(),
            not_ours: ignored.filter(|_| kept).map(|(_, detail)| detail.clone()),
            diagnostics,
            flushed: Some(if reported.in_time { Ok(()) } else { Err("timeout".to_owned()) }),
            ..Self::default()
        }
    }

    fn add(&mut self, line: &str) {
        match serde_json::from_str(line) {
            Ok(Line::Receipt { receipt, of, reason, remedy }) if of == "state" => {
                self.states.push(Outcome { receipt, reason, remedy });
            }
            Ok(Line::Diagnostic { diagnostic, detail }) if diagnostic == "bad_line" => {
                self.bad_lines.push(detail);
            }
            Ok(Line::Diagnostic { diagnostic, detail }) => {
                self.diagnostics.push((diagnostic, detail));
            }
            Ok(Line::Flushed { ok, reason }) => {
                let why = || reason.unwrap_or_default();
                self.flushed = Some(if ok { Ok(()) } else { Err(why()) });
            }
            Ok(Line::Answer(Answer::Refused { because, detail })) => {
                self.refused = Some((because, detail));
            }
            Ok(Line::Answer(Answer::Taken(_))) => self.taken = true,
            // Receipts of other parts, and lines of a later version.
            Ok(Line::Receipt { .. } | Line::Answer(Answer::Welcome { .. })) | Err(_) => {}
        }
    }
}

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::app::AppName;
use crate::error::{Error, ErrorKind};
use crate::limits::{MESSAGE_MAX, TITLE_MAX};
use crate::record::RecordId;
use crate::state::{BlockedKind, State};
use crate::text::Line;

/// One report, which replaces a whole record or clears it.
///
/// A report that equals the previous one of its record has no effect and need not be written.
/// `Debug` does not show the title and the message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Report {
    id: RecordId,
    /// `None` clears.
    record: Option<Record>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Record {
    state: State,
    kind: Option<BlockedKind>,
    progress: Option<u8>,
    app: Option<AppName>,
    title: Option<Line>,
    message: Option<Line>,
}

impl Report {
    /// Begins a report of `state` on the root record.
    pub fn builder(state: State) -> ReportBuilder {
        let record =
            Record { state, kind: None, progress: None, app: None, title: None, message: None };
        ReportBuilder { id: RecordId::root(), record }
    }

    /// Removes a record and all records below it. For the root record this removes all records
    /// of the terminal, including those of other programs.
    pub fn clear(id: RecordId) -> Self {
        Self { id, record: None }
    }

    /// The record of this report.
    pub fn id(&self) -> &RecordId {
        &self.id
    }

    /// The state; `None` if the report clears.
    pub fn state(&self) -> Option<State> {
        self.record.as_ref().map(|record| record.state)
    }

    /// What a blocked program needs; `None` if that is not set.
    pub fn kind(&self) -> Option<BlockedKind> {
        self.record.as_ref().and_then(|record| record.kind)
    }

    /// How much is done, in percent; `None` if that is not known.
    pub fn progress(&self) -> Option<u8> {
        self.record.as_ref().and_then(|record| record.progress)
    }

    /// The program's name; `None` if the record inherits it.
    pub fn app(&self) -> Option<&AppName> {
        self.record.as_ref().and_then(|record| record.app.as_ref())
    }

    /// The title as it is sent.
    pub fn title(&self) -> Option<&str> {
        self.record.as_ref().and_then(|record| record.title.as_ref()).map(Line::as_str)
    }

    /// The message as it is sent.
    pub fn message(&self) -> Option<&str> {
        self.record.as_ref().and_then(|record| record.message.as_ref()).map(Line::as_str)
    }

    /// Appends the escape sequence, at most
    /// [`SEQUENCE_MAX`](crate::limits::SEQUENCE_MAX) bytes.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        let mut pair = |key: &str, value: &str| {
            out.extend_from_slice(key.as_bytes());
            out.extend_from_slice(value.as_bytes());
        };
        pair("\x1b]7501;state=", self.state().map_or("clear", State::as_str));
        if !self.id.is_root() {
            pair(":id=", self.id.as_str());
        }
        if let Some(kind) = self.kind() {
            pair(":kind=", kind.as_str());
        }
        if let Some(progress) = self.progress() {
            pair(":progress=", &progress.to_string());
        }
        if let Some(app) = self.app() {
            pair(":app=", app.as_str());
        }
        if let Some(title) = self.title() {
            pair(":title=", &BASE64_STANDARD.encode(title));
        }
        if let Some(message) = self.message() {
            pair(":msg=", &BASE64_STANDARD.encode(message));
        }
        pair("\x1b\\", "");
    }
}

/// Builds a report; see [`Report::builder`]. Values that are not set are removed from the
/// record.
#[derive(Debug, Clone)]
#[must_use = "the report is made by `build`"]
pub struct ReportBuilder {
    id: RecordId,
    record: Record,
}

impl ReportBuilder {
    /// The record to replace. Default: the root record.
    pub fn id(mut self, id: RecordId) -> Self {
        self.id = id;
        self
    }

    /// What the program needs from the user. Only with [`State::Blocked`].
    pub fn kind(mut self, kind: BlockedKind) -> Self {
        self.record.kind = Some(kind);
        self
    }

    /// How much is done, 0 to 100 percent. Only with [`State::Working`] and [`State::Blocked`].
    /// Without it, the progress is not known.
    pub fn progress(mut self, percent: u8) -> Self {
        self.record.progress = Some(percent);
        self
    }

    /// The program's name. Without it, the record inherits the name of the nearest record above
    /// it that has one.
    pub fn app(mut self, app: AppName) -> Self {
        self.record.app = Some(app);
        self
    }

    /// A short label that distinguishes this record from others.
    ///
    /// Escape sequences, control characters and invisible characters are removed. The text is
    /// put on one line and cut between grapheme clusters to [`TITLE_MAX`] bytes. If nothing
    /// remains, there is no title.
    pub fn title(mut self, title: &str) -> Self {
        self.record.title = Line::clean(title, TITLE_MAX);
        self
    }

    /// One line for people about what is being done, waited for or finished. It is cleaned like
    /// a [`title`](Self::title) and cut to [`MESSAGE_MAX`] bytes.
    pub fn message(mut self, message: &str) -> Self {
        self.record.message = Line::clean(message, MESSAGE_MAX);
        self
    }

    /// Makes the report.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::BlockedKind`] for a kind with a state other than blocked, and
    /// [`ErrorKind::Progress`] for a progress above 100 or with a state that has none. A
    /// terminal would silently ignore the value.
    pub fn build(self) -> Result<Report, Error> {
        let Record { state, kind, progress, .. } = self.record;
        if kind.is_some() && state != State::Blocked {
            return Err(Error::new(
                ErrorKind::BlockedKind,
                "a kind was given with a state other than blocked",
                "the state blocked, or no kind",
            ));
        }
        if progress.is_some() && !state.has_progress() {
            return Err(Error::new(
                ErrorKind::Progress,
                "a progress was given with a state that has none",
                "the state working or blocked, or no progress",
            ));
        }
        if progress.is_some_and(|percent| percent > 100) {
            return Err(Error::new(ErrorKind::Progress, "the progress is over 100", "0 to 100"));
        }
        Ok(Report { id: self.id, record: Some(self.record) })
    }
}

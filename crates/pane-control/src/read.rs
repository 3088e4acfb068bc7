use herdr_proto::limits::READ_LINES_MAX;
use herdr_proto::{AgentRead, PaneId, PaneRead, PaneText, ReadFormat, ReadSource};
use serde::Serialize;

use crate::control::{Found, PaneControl};
use crate::digest::Digest;
use crate::error::{Error, ErrorKind};
use crate::profile::{Profile, Scene};
use crate::screen::Screen;
use crate::target::Target;

/// The part of a pane that is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The bottom of the screen, wherever a person has scrolled to.
    #[default]
    Screen,
    /// What a person sees now. It follows scrolling.
    Visible,
    /// The last rows with scrollback. **This may scroll the agent's own screen** while the
    /// agent is idle: for programs that keep their own history, Herdr turns the mouse wheel. In
    /// ANSI format it does not.
    Recent,
    /// The last rows with scrollback, with wrapped rows joined.
    RecentUnwrapped,
}

/// How to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The part of the pane; by default the bottom of the screen.
    pub source: Source,
    /// Whether to include escape sequences for colours and attributes; default false.
    pub ansi: bool,
    /// The number of rows from the bottom, at most 1 000. Absent means the whole screen, or 80
    /// rows for the two recent sources.
    pub lines: Option<u32>,
}

impl ReadOptions {
    /// Reads this part.
    pub fn of(source: Source) -> Self {
        Self { source, ..Self::default() }
    }

    /// Sets [`ansi`](Self::ansi).
    #[must_use]
    pub fn ansi(mut self) -> Self {
        self.ansi = true;
        self
    }

    /// Sets [`lines`](Self::lines).
    #[must_use]
    pub fn lines(mut self, lines: u32) -> Self {
        self.lines = Some(lines);
        self
    }
}

/// What a pane shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Reading {
    /// The pane, by its present id.
    pub pane_id: PaneId,
    /// The text, with one line for each row.
    pub text: String,
    /// The part of the pane.
    pub source: Source,
    /// Whether it has escape sequences.
    pub ansi: bool,
    /// Whether there are older rows.
    pub truncated: bool,
    /// The digest of the whole screen, for [`answer`](PaneControl::answer). Absent for the
    /// other sources and for a part of the screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

impl PaneControl {
    /// Reads what a pane shows.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::PaneGone`]: a pane that is gone has no screen, rather than an empty one.
    /// [`ErrorKind::AgentNotIdle`] if more rows are asked for than the screen has and the agent
    /// works. [`ErrorKind::InvalidInput`] for more than 1 000 rows.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing, except that a source that scrolls may have
    /// scrolled.
    pub async fn read(&self, target: &Target, options: ReadOptions) -> Result<Reading, Error> {
        if options.lines.is_some_and(|lines| !(1..=READ_LINES_MAX).contains(&lines)) {
            let detail = format!("1 to {READ_LINES_MAX} rows can be read");
            return Err(Error::new(ErrorKind::InvalidInput, detail));
        }
        let found = self.find(target).await?;
        let read = self.read_found(&found, options).await?;
        let whole = options.source == Source::Screen && options.lines.is_none();
        Ok(Reading {
            pane_id: read.pane_id,
            digest: whole.then(|| Digest::of(&Screen::parse(&read.text))),
            text: read.text,
            source: options.source,
            ansi: options.ansi,
            truncated: read.truncated,
        })
    }

    async fn read_found(&self, found: &Found, options: ReadOptions) -> Result<PaneText, Error> {
        let (source, lines) = match options.source {
            // 0.8.2 has no colours for the bottom of the screen. The last rows are the same.
            Source::Screen if options.ansi => {
                (ReadSource::Recent, Some(options.lines.unwrap_or_else(|| found.rows().max(1))))
            }
            Source::Screen => (ReadSource::Detection, options.lines),
            Source::Visible => (ReadSource::Visible, options.lines),
            Source::Recent => (ReadSource::Recent, options.lines),
            Source::RecentUnwrapped => (ReadSource::RecentUnwrapped, options.lines),
        };
        let format = if options.ansi { ReadFormat::Ansi } else { ReadFormat::Text };
        let history = matches!(options.source, Source::Recent | Source::RecentUnwrapped);
        if history && found.info.agent.is_some() {
            // Only `agent.read` tells that rows are missing.
            let mut read = AgentRead::of(&found.id(), source);
            (read.lines, read.format) = (lines, format);
            match self.client().call(&read).await.map_err(Error::from) {
                Err(error) if error.kind() == ErrorKind::NoAgent => {}
                other => return Ok(other?.read),
            }
        }
        let mut read = PaneRead::new(found.id(), source);
        (read.lines, read.format) = (lines, format);
        Ok(self.client().call(&read).await?.read)
    }

    /// What a profile needs to know of a pane, with `more` rows more than the screen has.
    pub(crate) async fn scene(
        &self,
        found: &Found,
        profile: &dyn Profile,
        more: usize,
    ) -> Result<Scene, Error> {
        let source =
            if profile.joins_rows() { ReadSource::RecentUnwrapped } else { ReadSource::Recent };
        let rows = u32::try_from(more).unwrap_or(u32::MAX).saturating_add(found.rows().max(24));
        let mut read = PaneRead::new(found.id(), source);
        // In ANSI format the server does not scroll.
        (read.lines, read.format) = (Some(rows.min(READ_LINES_MAX)), ReadFormat::Ansi);
        let text = self.client().call(&read).await?.read.text;
        let mut scene = Scene::of(Screen::parse(&text));
        if profile.wants_processes() {
            let processes = self.processes(&found.id()).await?;
            scene.shell_in_front = processes.as_ref().and_then(crate::probe::shell_in_front);
        }
        Ok(scene)
    }
}

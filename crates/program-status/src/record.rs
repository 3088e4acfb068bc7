use crate::app::is_name_byte;
use crate::error::{Error, ErrorKind};
use crate::limits::{NAME_MAX, RECORD_ID_LEVELS, RECORD_ID_MAX};

/// The record of a report: the root record, which stands for the program itself, or a path
/// below it such as `build/test`.
///
/// A path has up to [`RECORD_ID_LEVELS`] segments `[A-Za-z0-9_.+-]{1,32}` and at most
/// [`RECORD_ID_MAX`] bytes. A record can exist without those above it.
///
/// ```
/// use herdr_program_status::RecordId;
/// let build = RecordId::root().child("build")?;
/// let test = build.child("test")?;
/// assert_eq!(test, RecordId::parse("build/test")?);
/// assert!(build.contains(&test) && RecordId::root().contains(&build));
/// assert!(!build.contains(&RecordId::parse("builder")?));
/// # Ok::<(), herdr_program_status::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RecordId(String);

impl RecordId {
    /// The root record, which is the default.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Takes a path.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::RecordId`] if the path is empty (use [`root`](Self::root) for the root
    /// record), is over a limit or contains another character.
    pub fn parse(path: impl Into<String>) -> Result<Self, Error> {
        let path = path.into();
        let problem = if path.is_empty() {
            "the record id is empty"
        } else if path.len() > RECORD_ID_MAX {
            "the record id is too long"
        } else if path.split('/').count() > RECORD_ID_LEVELS {
            "the record id has too many segments"
        } else if path.split('/').any(str::is_empty) {
            "the record id has an empty segment"
        } else if path.split('/').any(|segment| segment.len() > NAME_MAX) {
            "the record id has a segment that is too long"
        } else if !path.split('/').all(|segment| segment.bytes().all(is_name_byte)) {
            "the record id holds a character that is not allowed"
        } else {
            return Ok(Self(path));
        };
        Err(Error::new(
            ErrorKind::RecordId,
            problem,
            "up to 8 segments between slashes, each 1 to 32 of A-Z a-z 0-9 _ . + -, \
             128 bytes together",
        ))
    }

    /// The record `segment` directly below this one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::RecordId`] as for [`parse`](Self::parse), and if `segment` contains a
    /// slash.
    pub fn child(&self, segment: &str) -> Result<Self, Error> {
        if segment.contains('/') {
            return Err(Error::new(
                ErrorKind::RecordId,
                "the segment of a record id holds a slash",
                "1 to 32 of A-Z a-z 0-9 _ . + -",
            ));
        }
        if self.is_root() { Self::parse(segment) } else { Self::parse(format!("{self}/{segment}")) }
    }

    /// Whether this is the root record.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path; empty for the root record.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `other` is this record or one below it. [`Report::clear`](crate::Report::clear)
    /// removes all of them.
    pub fn contains(&self, other: &Self) -> bool {
        self.is_root()
            || other
                .0
                .strip_prefix(&self.0)
                .is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }
}

impl std::fmt::Display for RecordId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

//! The record of operations that have typed, so that none types twice.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::outcome::Pushed;
use crate::digest::Digest;
use crate::error::{Error, ErrorKind};

/// How long records are kept in a folder.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The id of one push: 1 to 128 characters without spaces and control characters. A repeat with
/// the same id never types again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OperationId(String);

impl OperationId {
    /// Takes an id.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidInput`] if it is empty, too long, or contains spaces or control
    /// characters.
    pub fn parse(id: impl Into<String>) -> Result<Self, Error> {
        let id = id.into();
        let fits = (1..=128).contains(&id.chars().count());
        if !fits || id.chars().any(|c| c.is_whitespace() || c.is_control()) {
            let expected = "an operation id has 1 to 128 characters, no blanks and no controls";
            return Err(Error::new(ErrorKind::InvalidInput, expected));
        }
        Ok(Self(id))
    }

    /// An id that no other push has.
    pub(crate) fn fresh() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{:x}-{:x}-{number:x}", now.as_nanos(), std::process::id()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for OperationId {
    type Error = Error;

    fn try_from(id: String) -> Result<Self, Error> {
        Self::parse(id)
    }
}

impl From<OperationId> for String {
    fn from(id: OperationId) -> Self {
        id.0
    }
}

/// An operation that has typed or is about to type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// A digest of the terminal and the text.
    of: Digest,
    /// How often Enter was pressed or may have been pressed. It is recorded before each Enter.
    pub(crate) enters: u8,
    /// How the operation ended; absent if it did not end.
    pub(crate) pushed: Option<Pushed>,
}

impl Record {
    pub(crate) fn new(terminal: &str, text: &str) -> Self {
        let of = Digest::of_bytes(format!("{terminal}\n{text}").as_bytes());
        Self { of, enters: 0, pushed: None }
    }
}

/// Where the records are kept.
#[derive(Debug)]
pub(crate) enum Journal {
    Memory(Mutex<HashMap<OperationId, Record>>),
    Folder(PathBuf),
}

impl Default for Journal {
    fn default() -> Self {
        Self::Memory(Mutex::default())
    }
}

impl Journal {
    /// Records that this operation types. If it is already recorded, returns that record.
    pub(crate) fn begin(&self, id: &OperationId, new: &Record) -> Result<Option<Record>, Error> {
        let known = match self {
            Self::Memory(records) => {
                let mut records = records.lock().unwrap_or_else(PoisonError::into_inner);
                let known = records.get(id).cloned();
                if known.is_none() {
                    records.insert(id.clone(), new.clone());
                }
                known
            }
            Self::Folder(folder) => begin_file(folder, id, new).map_err(|e| failed(&e))?,
        };
        Self::same(known, new)
    }

    /// The record of this operation.
    pub(crate) fn known(&self, id: &OperationId, new: &Record) -> Result<Option<Record>, Error> {
        let known = match self {
            Self::Memory(records) => {
                records.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
            }
            Self::Folder(folder) => read_file(&file(folder, id)).map_err(|e| failed(&e))?,
        };
        Self::same(known, new)
    }

    fn same(known: Option<Record>, new: &Record) -> Result<Option<Record>, Error> {
        if known.as_ref().is_some_and(|known| known.of != new.of) {
            let detail = "this operation id was used for another text or another pane";
            return Err(Error::new(ErrorKind::OperationReused, detail));
        }
        Ok(known)
    }

    /// Updates the record, or removes that of an operation that typed nothing.
    pub(crate) fn note(&self, id: &OperationId, record: Option<&Record>) -> Result<(), Error> {
        match self {
            Self::Memory(records) => {
                let mut records = records.lock().unwrap_or_else(PoisonError::into_inner);
                match record {
                    Some(record) => records.insert(id.clone(), record.clone()),
                    None => records.remove(id),
                };
                Ok(())
            }
            Self::Folder(folder) => match record {
                Some(record) => {
                    let path = file(folder, id);
                    write_file(&draft(&path), record).and_then(|()| fs::rename(draft(&path), path))
                }
                None => fs::remove_file(file(folder, id)),
            }
            .map_err(|error| failed(&error)),
        }
    }
}

fn failed(error: &io::Error) -> Error {
    Error::new(ErrorKind::Other, format!("the record of the operation failed: {error}"))
}

fn file(folder: &Path, id: &OperationId) -> PathBuf {
    folder.join(Digest::of_bytes(id.as_str().as_bytes()).to_string())
}

fn draft(path: &Path) -> PathBuf {
    path.with_extension(std::process::id().to_string())
}

fn begin_file(folder: &Path, id: &OperationId, new: &Record) -> io::Result<Option<Record>> {
    fs::create_dir_all(folder)?;
    sweep(folder);
    let path = file(folder, id);
    // The file is written under another name first, so that it is complete when it is found.
    let draft = draft(&path);
    write_file(&draft, new)?;
    let made = fs::hard_link(&draft, &path);
    fs::remove_file(&draft)?;
    match made {
        Ok(()) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read_file(&path),
        Err(error) => Err(error),
    }
}

fn read_file(path: &Path) -> io::Result<Option<Record>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn write_file(path: &Path, record: &Record) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(&serde_json::to_vec(record)?)
}

/// Errors are ignored: an old record does no harm.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let age = entry.metadata().and_then(|data| data.modified()).map(|at| at.elapsed());
        if age.is_ok_and(|age| age.is_ok_and(|age| age > KEPT)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(journal: &Journal) {
        let id = OperationId::parse("job-1").unwrap();
        let record = Record::new("term_1", "hello");
        assert_eq!(journal.known(&id, &record).unwrap(), None);
        assert_eq!(journal.begin(&id, &record).unwrap(), None);
        assert_eq!(journal.begin(&id, &record).unwrap(), Some(record.clone()));
        let other = journal.begin(&id, &Record::new("term_1", "other")).unwrap_err();
        assert_eq!(other.kind(), ErrorKind::OperationReused);
        let entered = Record { enters: 1, ..record.clone() };
        journal.note(&id, Some(&entered)).unwrap();
        assert_eq!(journal.begin(&id, &record).unwrap(), Some(entered));
        journal.note(&id, None).unwrap();
        assert_eq!(journal.begin(&id, &record).unwrap(), None);
    }

    #[test]
    fn an_operation_begins_once() {
        check(&Journal::default());
        let folder = tempfile::tempdir().unwrap();
        check(&Journal::Folder(folder.path().join("pushes")));
    }

    #[test]
    fn an_id_is_a_word() {
        for id in ["", "a b", "a\n", &"x".repeat(129)] {
            assert!(OperationId::parse(id).is_err(), "{id:?}");
        }
        assert_ne!(OperationId::fresh(), OperationId::fresh());
    }
}

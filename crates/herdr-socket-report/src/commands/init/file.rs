//! A settings file of another program. It is replaced as a whole, so that it is never half
//! written, and a copy of its first state is kept.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A settings file and the file that its path leads to, which may be a link.
#[derive(Debug)]
pub(super) struct SettingsFile {
    path: PathBuf,
    /// The path without links.
    real: PathBuf,
}

/// The suffix of the copy's name.
const COPY: &str = ".before-herdr-socket-report";

impl SettingsFile {
    /// # Errors
    ///
    /// A message, if the path is a link that leads nowhere.
    pub(super) fn at(path: PathBuf) -> Result<Self, String> {
        let real = match fs::canonicalize(&path) {
            Ok(real) => real,
            Err(error) if fs::symlink_metadata(&path).is_ok() => {
                return Err(unchanged(&path, &error));
            }
            Err(_) => path.clone(),
        };
        Ok(Self { path, real })
    }

    /// The text of the file; `None` if it does not exist.
    pub(super) fn read(&self) -> Result<Option<String>, String> {
        read(&self.real).map_err(|error| unchanged(&self.path, &error))
    }

    /// Replaces the file. A reader sees either the old text or the new one.
    pub(super) fn write(&self, text: &str) -> Result<(), String> {
        self.replace(text).map_err(|error| unchanged(&self.path, &error))
    }

    pub(super) fn delete(&self) -> Result<(), String> {
        fs::remove_file(&self.real).map_err(|error| unchanged(&self.path, &error))
    }

    /// The copy from before the first change.
    pub(super) fn copy(&self) -> Self {
        let mut path = self.real.clone().into_os_string();
        path.push(COPY);
        let path = PathBuf::from(path);
        Self { real: path.clone(), path }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        let old = fs::metadata(&self.real).ok();
        if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
            // A new file could still replace a read-only one, but its owner does not want that.
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        let folder = self.real.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder)?;
        // Only the owner may read the new file, because settings may contain keys.
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        if let Some(old) = old {
            file.as_file().set_permissions(old.permissions())?;
        }
        file.as_file().sync_all()?;
        file.persist(&self.real)?;
        Ok(())
    }
}

fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn unchanged(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}; nothing is changed", path.display())
}

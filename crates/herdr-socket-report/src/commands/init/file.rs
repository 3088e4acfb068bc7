//! A settings file of somebody else: read, replaced as a whole, never half
//! written, and kept as it was before.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The file that a path leads to, which may be a link.
#[derive(Debug)]
pub(super) struct SettingsFile {
    path: PathBuf,
    /// Where the path leads.
    real: PathBuf,
}

/// What a copy is called: as the file, with this at its end.
const COPY: &str = ".before-herdr-socket-report";

impl SettingsFile {
    /// # Errors
    ///
    /// A sentence, where the path is a link that leads nowhere.
    pub(super) fn at(path: PathBuf) -> Result<Self, String> {
        let real = match fs::canonicalize(&path) {
            Ok(real) => real,
            Err(error) if fs::symlink_metadata(&path).is_ok() => return Err(told(&path, &error)),
            Err(_) => path.clone(),
        };
        Ok(Self { path, real })
    }

    /// Its text; `None` if there is no such file.
    pub(super) fn read(&self) -> Result<Option<String>, String> {
        read(&self.real).map_err(|error| told(&self.path, &error))
    }

    /// Replaces it. A reader sees the old text or the new one.
    pub(super) fn write(&self, text: &str) -> Result<(), String> {
        self.replace(text).map_err(|error| told(&self.path, &error))
    }

    pub(super) fn delete(&self) -> Result<(), String> {
        fs::remove_file(&self.real).map_err(|error| told(&self.path, &error))
    }

    /// Its copy from before our first change.
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
            // A file beside it could take its place all the same, and whoever
            // protected it does not want that.
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        let folder = self.real.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder)?;
        // Nobody else reads it: settings may hold keys.
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

fn told(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}; nothing is changed", path.display())
}

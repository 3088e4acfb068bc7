//! Settings out of a TOML file, each with its line.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::Assignment;
use super::kind::Kind;
use super::origin::Origin;
use super::problem::Problems;
use super::table::{SETTINGS, Scope, Setting, setting};
use crate::text::{nearest, shown};

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The person's own.
    Persons,
    /// One that lies in the working directory, perhaps from a stranger.
    Projects,
}

/// Largest file that is read, in bytes.
const FILE_MAX: u64 = 64 * 1024;

/// Reads a file's settings. A file that is not there has none.
pub(crate) fn read(path: &Path, whose: Whose, problems: &mut Problems) -> Vec<Assignment> {
    match text(path) {
        Ok(Some(text)) => Reader { path, whose, text: &text, problems }.read(),
        Ok(None) => Vec::new(),
        Err(error) => {
            problems.add(path.display(), format_args!("cannot be read: {error}"));
            Vec::new()
        }
    }
}

/// The working directory may hold anything, so only a regular file of a
/// sensible size is opened: reading a named pipe would never end.
fn text(path: &Path) -> io::Result<Option<String>> {
    let refused = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
        Ok(found) if !found.is_file() => return refused("it is not a regular file"),
        Ok(found) if found.len() > FILE_MAX => return refused("it is over 64 KiB"),
        Ok(_) => {}
    }
    let mut text = String::new();
    File::open(path)?.take(FILE_MAX).read_to_string(&mut text)?;
    Ok(Some(text))
}

struct Reader<'a> {
    path: &'a Path,
    whose: Whose,
    text: &'a str,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    fn read(mut self) -> Vec<Assignment> {
        let table = match DeTable::parse(self.text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let message = error.message().replace('\n', ", ");
                self.problem(error.span().unwrap_or_default(), message);
                return Vec::new();
            }
        };
        // The table is sorted by key, people read by line.
        let mut entries: Vec<_> = table.into_iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut assignments = Vec::new();
        for (key, value) in entries {
            let Some(setting) = self.known(key.get_ref(), key.span()) else { continue };
            match (setting.kind, value.get_ref()) {
                (Kind::StateLabels, DeValue::Table(labels)) => {
                    assignments.extend(self.labels(setting, labels));
                }
                (kind, value) => match kind.read_toml(value) {
                    Ok(value) => assignments.push(self.assignment(setting, value, key.span())),
                    Err(unfit) => {
                        let what = format!("{} = {} {}", setting.key, unfit.found, unfit.why);
                        self.problem(key.span(), what);
                    }
                },
            }
        }
        assignments
    }

    fn labels(&mut self, setting: &'static Setting, labels: &DeTable<'_>) -> Vec<Assignment> {
        let mut assignments = Vec::new();
        for (state, label) in labels {
            let key = setting.key;
            let read = match label.get_ref().as_str() {
                Some(text) => Kind::read_label(state.get_ref(), text)
                    .map_err(|unfit| format!("{key}: {} {}", unfit.found, unfit.why)),
                None => Err(format!("{key}.{} is not allowed; expected a text", state.get_ref())),
            };
            match read {
                Ok(Some(value)) => assignments.push(self.assignment(setting, value, state.span())),
                Ok(None) => {}
                Err(what) => self.problem(state.span(), what),
            }
        }
        assignments
    }

    /// The setting of this name, if this file may set it.
    fn known(&mut self, key: &str, span: Range<usize>) -> Option<&'static Setting> {
        let allowed =
            |setting: &Setting| self.whose == Whose::Persons || setting.scope == Scope::Anybody;
        let keys: Vec<&str> =
            SETTINGS.iter().filter(|setting| allowed(setting)).map(|setting| setting.key).collect();
        let what = match setting(key) {
            Some(setting) if allowed(setting) => return Some(setting),
            Some(setting) => {
                let key = setting.key;
                format!("{key} cannot be set by a project's file; allowed are {}", keys.join(", "))
            }
            None => match nearest(key, keys.iter().copied()) {
                Some(near) => {
                    format!("{} is not a setting; did you mean {near}?", shown(key))
                }
                None => format!("{} is not a setting; allowed are {}", shown(key), keys.join(", ")),
            },
        };
        self.problem(span, what);
        None
    }

    fn assignment(
        &self,
        setting: &'static Setting,
        value: super::value::Value,
        span: Range<usize>,
    ) -> Assignment {
        let origin = Origin::File(self.path.to_path_buf(), self.line(span));
        Assignment { setting, value, origin }
    }

    fn problem(&mut self, span: Range<usize>, what: String) {
        let place = Origin::File(self.path.to_path_buf(), self.line(span));
        self.problems.add(place, what);
    }

    fn line(&self, span: Range<usize>) -> usize {
        let before = self.text.get(..span.start).unwrap_or_default();
        before.matches('\n').count() + 1
    }
}

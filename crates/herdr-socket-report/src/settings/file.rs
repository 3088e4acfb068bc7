//! Settings from a TOML file, each with its line.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use herdr_proto::strip_controls;
use toml::de::{DeTable, DeValue};

use super::kind::{Assignment, Kind, Value, read_label};
use super::table::{SETTINGS, Scope, Setting, setting};
use crate::text::{nearest, shown};

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileOf {
    User,
    /// A file in the working directory, which may come from a stranger.
    Project,
}

/// The largest file that is read, in bytes.
const FILE_MAX: u64 = 64 * 1024;

/// Reads the settings of a file. A file that does not exist has none.
pub(crate) fn read(path: &Path, of: FileOf, problems: &mut Vec<String>) -> Vec<Assignment> {
    let name = strip_controls(&path.display().to_string());
    match text(path) {
        Ok(text) => {
            let mut reader = Reader { name, of, text: &text, problems, found: Vec::new() };
            reader.read();
            reader.found
        }
        Err(error) => {
            problems.push(format!("{name}: cannot be read: {error}"));
            Vec::new()
        }
    }
}

/// Only a regular file of a sensible size is opened, because the working directory may contain
/// anything, and reading a named pipe would never end.
fn text(path: &Path) -> io::Result<String> {
    let refused = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error),
        Ok(found) if !found.is_file() => return refused("it is not a regular file"),
        Ok(found) if found.len() > FILE_MAX => return refused("it is over 64 KiB"),
        Ok(_) => {}
    }
    let mut text = String::new();
    File::open(path)?.take(FILE_MAX).read_to_string(&mut text)?;
    Ok(text)
}

struct Reader<'a> {
    name: String,
    of: FileOf,
    text: &'a str,
    problems: &'a mut Vec<String>,
    found: Vec<Assignment>,
}

impl Reader<'_> {
    fn read(&mut self) {
        let table = match DeTable::parse(self.text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let message = error.message().replace('\n', ", ");
                return self.problem(error.span().unwrap_or_default(), &message);
            }
        };
        // The table is sorted by key, but messages should come in the order of the lines.
        let mut entries: Vec<_> = table.into_iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            match (self.known(key.get_ref()), value.get_ref()) {
                (Err(wrong), _) => self.problem(key.span(), &wrong),
                (Ok(setting), DeValue::Table(labels))
                    if matches!(setting.kind, Kind::StateLabels) =>
                {
                    self.labels(setting, labels);
                }
                (Ok(setting), value) => match setting.kind.read_toml(value) {
                    Ok(value) => self.assign(setting, value, key.span()),
                    Err((found, why)) => {
                        self.problem(key.span(), &format!("{} = {found} {why}", setting.key));
                    }
                },
            }
        }
    }

    fn labels(&mut self, setting: &'static Setting, labels: &DeTable<'_>) {
        let key = setting.key;
        for (state, label) in labels {
            let read = match label.get_ref().as_str() {
                Some(text) => read_label(state.get_ref(), text)
                    .map_err(|(found, why)| format!("{key}: {found} {why}")),
                None => Err(format!("{key}.{} is not allowed; expected a text", state.get_ref())),
            };
            match read {
                Ok(Some(value)) => self.assign(setting, value, state.span()),
                Ok(None) => {}
                Err(wrong) => self.problem(state.span(), &wrong),
            }
        }
    }

    /// The setting of this name, if this file may set it.
    fn known(&self, key: &str) -> Result<&'static Setting, String> {
        let allowed =
            |setting: &Setting| self.of == FileOf::User || setting.scope == Scope::Anybody;
        let keys: Vec<&str> =
            SETTINGS.iter().filter(|setting| allowed(setting)).map(|setting| setting.key).collect();
        match (setting(key), nearest(key, keys.iter().copied())) {
            (Some(setting), _) if allowed(setting) => Ok(setting),
            (Some(_), _) => Err(format!(
                "{key} cannot be set by a project's file; allowed are {}",
                keys.join(", ")
            )),
            (None, Some(near)) => {
                Err(format!("{} is not a setting; did you mean {near}?", shown(key)))
            }
            (None, None) => {
                Err(format!("{} is not a setting; allowed are {}", shown(key), keys.join(", ")))
            }
        }
    }

    fn assign(&mut self, setting: &'static Setting, value: Value, span: Range<usize>) {
        let origin = Some(self.place(span));
        self.found.push(Assignment { setting, value, origin });
    }

    fn problem(&mut self, span: Range<usize>, what: &str) {
        let place = self.place(span);
        self.problems.push(format!("{place}: {what}"));
    }

    fn place(&self, span: Range<usize>) -> String {
        let before = self.text.get(..span.start).unwrap_or_default();
        format!("{}:{}", self.name, before.matches('\n').count() + 1)
    }
}

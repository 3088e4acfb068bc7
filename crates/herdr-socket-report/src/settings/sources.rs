//! Where settings are looked for.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::Assignment;
use super::flags::SettingFlags;

/// Everything that settings come from.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// The person's own file, if there is a place for one.
    pub(crate) persons_file: Option<PathBuf>,
    /// The file of the working directory.
    pub(crate) projects_file: PathBuf,
    /// The environment.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// The command line.
    pub(crate) flags: Vec<Assignment>,
    /// The agent's name if nobody gives one, where it is not the built-in one.
    pub(crate) agent: Option<String>,
}

/// The file of the working directory.
const PROJECTS_FILE: &str = ".herdr-socket-report.toml";

impl Sources {
    /// The environment of this process, the files that it names, and these
    /// flags.
    pub(crate) fn of_process(flags: SettingFlags) -> Self {
        let variables: Vec<_> = std::env::vars_os().collect();
        let folder = std::env::current_dir().unwrap_or_default();
        let persons_file = persons_file(|name| std::env::var_os(name));
        let projects_file = folder.join(PROJECTS_FILE);
        Self { persons_file, projects_file, variables, flags: flags.0, agent: None }
    }
}

/// An empty or relative base folder counts as none: so says the base folder
/// specification.
fn persons_file(lookup: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name| lookup(name).filter(|value| Path::new(value).is_absolute());
    let base = folder("XDG_CONFIG_HOME").map(PathBuf::from);
    let base = base.or_else(|| Some(Path::new(&folder("HOME")?).join(".config")))?;
    Some(base.join(OsStr::new("herdr-socket-report")).join("config.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_persons_file_follows_the_base_folder_specification() {
        let file = |xdg: &str, home: &str| {
            persons_file(|name| {
                let value = if name == "HOME" { home } else { xdg };
                (value != "-").then(|| value.into())
            })
        };
        let at = |path: &str| Some(PathBuf::from(path));
        assert_eq!(file("/x", "/h"), at("/x/herdr-socket-report/config.toml"));
        assert_eq!(file("-", "/h"), at("/h/.config/herdr-socket-report/config.toml"));
        assert_eq!(file("", "/h"), at("/h/.config/herdr-socket-report/config.toml"));
        assert_eq!(file("relative", "/h"), at("/h/.config/herdr-socket-report/config.toml"));
        assert_eq!(file("-", "-"), None);
    }
}

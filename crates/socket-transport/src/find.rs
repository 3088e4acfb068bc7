use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf, absolute};

use crate::env::{HERDR_SESSION, HERDR_SOCKET_PATH};
use crate::misconfiguration::{Misconfiguration, Why, absolute_path, present};

/// The flag that [`find_socket`] names when its path cannot be used.
const FLAG: &str = "--socket";

/// The session that has no name of its own.
const DEFAULT_SESSION: &str = "default";

/// The longest name of a session, in characters (protocol.md section 7.1).
const SESSION_MAX: usize = 64;

/// Finds the server's socket for a program that need not run in a pane, such
/// as a viewer.
///
/// The first of these that is set decides, in Herdr's order (protocol.md
/// section 7.1): `flag`, `HERDR_SOCKET_PATH`, `HERDR_SESSION`, and at last the
/// path of the default session, `$XDG_CONFIG_HOME/herdr/herdr.sock` with
/// `$HOME/.config` in place of an unset `XDG_CONFIG_HOME`. A flag may be a
/// relative path, since a person typed it in this directory; it is made
/// absolute. This call does not check that a server listens there.
///
/// ```
/// use std::path::Path;
///
/// let home = |name: &str| (name == "HOME").then(|| "/home/ada".into());
/// let path = herdr_socket_transport::find_socket(None, home)?;
/// assert_eq!(path, Path::new("/home/ada/.config/herdr/herdr.sock"));
/// # Ok::<(), herdr_socket_transport::Misconfiguration>(())
/// ```
///
/// # Errors
///
/// A [`Misconfiguration`] that names the flag or the variable. A value that cannot be used is an
/// error, even if a later source has a usable one: the user would see another session than the
/// one they named.
pub fn find_socket(
    flag: Option<&Path>,
    lookup: impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, Misconfiguration> {
    if let Some(path) = flag {
        let path = present(FLAG, path.as_os_str().to_os_string())?;
        return absolute(&path).map_err(|_| Misconfiguration::new(FLAG, Why::Invalid, &path));
    }
    if let Some(path) = lookup(HERDR_SOCKET_PATH) {
        return absolute_path(HERDR_SOCKET_PATH, path);
    }
    let session = lookup(HERDR_SESSION).map(session_name).transpose()?;
    let mut path = config_folder(lookup)?;
    path.push("herdr");
    if let Some(name) = session.filter(|name| name != DEFAULT_SESSION) {
        path.push("sessions");
        path.push(name);
    }
    path.push("herdr.sock");
    Ok(path)
}

/// A name has to stay one folder below `sessions`, whatever it is.
fn session_name(value: OsString) -> Result<String, Misconfiguration> {
    let value = present(HERDR_SESSION, value)?;
    let name = value.to_str().filter(|name| {
        name.chars().count() <= SESSION_MAX
            && !name.chars().any(|c| c.is_control() || c == '/' || c == '\\')
            && *name != "."
            && *name != ".."
    });
    name.map(str::to_owned)
        .ok_or_else(|| Misconfiguration::new(HERDR_SESSION, Why::Invalid, &value))
}

fn config_folder(lookup: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Misconfiguration> {
    // Unlike Herdr's own variables, an empty base folder means an unset one:
    // the base folder specification says so.
    let set = |name| lookup(name).filter(|value| !OsStr::is_empty(value));
    if let Some(folder) = set("XDG_CONFIG_HOME") {
        return absolute_path("XDG_CONFIG_HOME", folder);
    }
    let home = set("HOME").ok_or(Misconfiguration::missing("HOME"))?;
    Ok(absolute_path("HOME", home)?.join(".config"))
}

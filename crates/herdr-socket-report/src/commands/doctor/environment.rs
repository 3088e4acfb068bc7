//! The checks of Herdr's variables and of the file at the socket's path.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use herdr_socket_transport::Absence;
use herdr_socket_transport::env::PANE_VARIABLES;
use rustix::net::SocketAddrUnix;
use rustix::process::geteuid;

use super::check::{Check, Obstacle};
use crate::control::HERDR_REPORT_SOCKET;
use crate::exit::Exit;
use crate::place::Place;
use crate::text::shown;

/// The bits of a mode that let other users connect.
const OTHERS_MAY: u32 = 0o022;

/// Which variables are set, and which of them are wrong.
pub(super) fn variables(place: &Place, by_flags: bool) -> Check {
    const NAME: &str = "variables";
    let names = PANE_VARIABLES.into_iter().chain([HERDR_REPORT_SOCKET]);
    let set: Vec<String> = names
        .filter_map(|name| {
            Some(format!("{name}={}", shown(&std::env::var_os(name)?.to_string_lossy())))
        })
        .collect();
    let mut set =
        if set.is_empty() { "none of Herdr's variables is set".to_owned() } else { set.join(", ") };
    if by_flags {
        set.push_str("; flags come before them");
    }
    match place {
        Place::Pane(_) => Check::fine(NAME, set),
        Place::Broken(why) => Check::wrong(NAME, format!("{why}; {set}"))
            .remedy("leave the variables as Herdr sets them, or open another pane"),
        Place::Outside(why) => {
            let check = Check::wrong(NAME, format!("{why}; {set}"));
            check.remedy(match why {
                Absence::SwitchedOff => "set HERDR_ENV to 1, or leave it: nothing is reported then",
                Absence::NoPane => "run it in a pane, or name one with --pane",
                _ => {
                    "run it in a pane of Herdr, or name one with --socket and --pane; over ssh, \
                     sudo or a container the variables have to be handed on"
                }
            })
        }
    }
}

/// What the file is, who owns it, its mode, and whether the path is short enough.
pub(super) fn socket(path: &Path, foreign_allowed: bool) -> Result<Check, Obstacle> {
    const NAME: &str = "socket";
    let wrong = |finding: String, remedy: &str| {
        Err((Exit::Unreachable, Check::wrong(NAME, finding).remedy(remedy)))
    };
    let name = format!("{:?}", path.display().to_string());
    let bytes = path.as_os_str().len();
    if SocketAddrUnix::new(path.as_os_str().as_bytes()).is_err() {
        return wrong(
            format!("the path {name} is too long for a socket: {bytes} bytes"),
            "make a short symbolic link to it and name that one with --socket",
        );
    }
    let data = match std::fs::metadata(path) {
        Ok(data) => data,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return wrong(
                format!("there is no socket at {name}"),
                "start Herdr; if it runs, the path is another machine's or container's, or of a \
                 server that was stopped: open another pane",
            );
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return wrong(
                format!("this process may not look at {name}"),
                "make the folders above it readable for this user, or leave the sandbox",
            );
        }
        Err(error) => {
            return wrong(format!("{name} cannot be looked at: {error}"), "see what lies there");
        }
    };
    if !data.file_type().is_socket() {
        return wrong(
            format!("{name} is {}, not a socket", kind(&data)),
            "set HERDR_SOCKET_PATH, or --socket, to the server's socket",
        );
    }
    let (owner, mode, ours) = (data.uid(), data.mode() & 0o7777, geteuid().as_raw());
    let finding =
        format!("{name} is a socket of user {owner}, mode {mode:04o}; the path has {bytes} bytes");
    if owner != ours && owner != 0 && !foreign_allowed {
        return wrong(
            format!("{finding}; this process is of user {ours}"),
            "run it as the server's user, or trust that user with --allow-foreign-socket",
        );
    }
    Ok(if mode & OTHERS_MAY == 0 {
        Check::fine(NAME, finding)
    } else {
        Check::open(NAME, format!("{finding}; others may connect, too"))
            .remedy("chmod 600, if its folder does not keep others out")
    })
}

fn kind(data: &Metadata) -> &'static str {
    let kind = data.file_type();
    if kind.is_dir() {
        "a folder"
    } else if kind.is_file() {
        "a file"
    } else {
        "a device or a pipe"
    }
}

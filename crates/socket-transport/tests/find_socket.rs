//! Where a program outside of a pane looks for the server.

use std::ffi::OsString;
use std::path::Path;

use herdr_socket_transport::{Misconfiguration, Why, find_socket};

/// Variables and their values.
type Set<'a> = &'a [(&'a str, &'a str)];

fn find(flag: Option<&str>, set: Set<'_>) -> Result<OsString, Misconfiguration> {
    let lookup = |name: &str| {
        set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
    };
    find_socket(flag.map(Path::new), lookup).map(OsString::from)
}

#[test]
fn the_first_that_is_set_decides() {
    let all = [
        ("HERDR_SOCKET_PATH", "/by/variable.sock"),
        ("HERDR_SESSION", "work"),
        ("XDG_CONFIG_HOME", "/xdg"),
        ("HOME", "/home/ada"),
    ];
    let cases: [(Option<&str>, Set<'_>, &str); 7] = [
        (Some("/by/flag.sock"), &all, "/by/flag.sock"),
        (None, &all, "/by/variable.sock"),
        (None, &all[1..], "/xdg/herdr/sessions/work/herdr.sock"),
        (None, &all[2..], "/xdg/herdr/herdr.sock"),
        (None, &all[3..], "/home/ada/.config/herdr/herdr.sock"),
        (None, &[("XDG_CONFIG_HOME", ""), all[3]], "/home/ada/.config/herdr/herdr.sock"),
        (None, &[("HERDR_SESSION", "default"), all[3]], "/home/ada/.config/herdr/herdr.sock"),
    ];
    for (flag, set, path) in cases {
        assert_eq!(find(flag, set).unwrap(), path, "{flag:?} {set:?}");
    }
}

#[test]
fn a_flag_is_meant_from_here() {
    let here = std::env::current_dir().unwrap();
    assert_eq!(find(Some("x.sock"), &[]).unwrap(), here.join("x.sock"));
}

#[test]
fn what_is_set_and_unusable_is_never_passed_over() {
    let home = ("HOME", "/home/ada");
    let long = "s".repeat(65);
    let cases: [(Option<&str>, Set<'_>, &str, Why); 13] = [
        (Some(""), &[home], "--socket", Why::Empty),
        (Some("/x.sock\n"), &[home], "--socket", Why::Blank),
        (None, &[("HERDR_SOCKET_PATH", ""), home], "HERDR_SOCKET_PATH", Why::Empty),
        (None, &[("HERDR_SOCKET_PATH", "x"), home], "HERDR_SOCKET_PATH", Why::Relative),
        (None, &[("HERDR_SOCKET_PATH", "/x "), home], "HERDR_SOCKET_PATH", Why::Blank),
        (None, &[("HERDR_SESSION", ""), home], "HERDR_SESSION", Why::Empty),
        (None, &[("HERDR_SESSION", "a\n"), home], "HERDR_SESSION", Why::Blank),
        (None, &[("HERDR_SESSION", "../evil"), home], "HERDR_SESSION", Why::Invalid),
        (None, &[("HERDR_SESSION", ".."), home], "HERDR_SESSION", Why::Invalid),
        (None, &[("HERDR_SESSION", &long), home], "HERDR_SESSION", Why::Invalid),
        (None, &[("XDG_CONFIG_HOME", "xdg"), home], "XDG_CONFIG_HOME", Why::Relative),
        (None, &[("HOME", "home")], "HOME", Why::Relative),
        (None, &[], "HOME", Why::Missing),
    ];
    for (flag, set, variable, why) in cases {
        let wrong = find(flag, set).unwrap_err();
        assert_eq!((wrong.variable(), wrong.why()), (variable, why), "{flag:?} {set:?}");
        assert!(wrong.to_string().starts_with(variable), "{wrong}");
    }
}

//! What the environment of a process says about its pane.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;

use herdr_socket_transport::env::{HERDR_ENV, HERDR_PANE_ID, HERDR_SOCKET_PATH};
use herdr_socket_transport::{Absence, Discovery, Endpoint, Why};

/// `from_env` on the three variables; `None` is unset.
fn discover(env: Option<&str>, socket: Option<&str>, pane: Option<&str>) -> Discovery {
    Endpoint::from_env(|name| {
        let value = match name {
            HERDR_ENV => env,
            HERDR_SOCKET_PATH => socket,
            HERDR_PANE_ID => pane,
            other => panic!("{other} is not needed for an endpoint"),
        };
        value.map(OsString::from)
    })
}

const SOCKET: Option<&str> = Some("/run/user/1000/my herdr.sock");
const PANE: Option<&str> = Some("w1:p1");

#[test]
fn a_pane_is_found_with_its_values_as_they_are() {
    let Discovery::Found(endpoint) = discover(Some("1"), SOCKET, PANE) else {
        panic!("not found");
    };
    assert_eq!(endpoint.socket().as_os_str(), SOCKET.unwrap());
    assert_eq!(endpoint.pane().as_str(), "w1:p1");
}

#[test]
fn outside_of_a_pane_nothing_is_wrong() {
    let cases = [
        (None, None, None, Absence::NoHerdr),
        (None, SOCKET, PANE, Absence::NoHerdr),
        (Some("0"), SOCKET, PANE, Absence::SwitchedOff),
        (Some(""), SOCKET, PANE, Absence::SwitchedOff),
        (Some("true"), SOCKET, PANE, Absence::SwitchedOff),
        (Some("1 "), SOCKET, PANE, Absence::SwitchedOff),
        (Some("0"), Some(""), Some(""), Absence::SwitchedOff),
        (Some("1"), SOCKET, None, Absence::NoPane),
        (Some("1"), None, None, Absence::NoPane),
    ];
    for (env, socket, pane, absence) in cases {
        let found = discover(env, socket, pane);
        assert_eq!(found, Discovery::NotInHerdr(absence), "{env:?} {socket:?} {pane:?}");
    }
    assert!(Absence::NoPane.to_string().contains("popup"));
}

#[test]
fn a_value_that_cannot_be_meant_is_named_with_the_reason() {
    let long = "w".repeat(5000);
    let cases = [
        (None, PANE, HERDR_SOCKET_PATH, Why::Missing),
        (Some(""), PANE, HERDR_SOCKET_PATH, Why::Empty),
        (Some("herdr.sock"), PANE, HERDR_SOCKET_PATH, Why::Relative),
        (Some("./herdr.sock"), PANE, HERDR_SOCKET_PATH, Why::Relative),
        (Some("~/herdr.sock"), PANE, HERDR_SOCKET_PATH, Why::Relative),
        (Some("/run/herdr.sock\n"), PANE, HERDR_SOCKET_PATH, Why::Blank),
        (Some("/run/herdr.sock "), PANE, HERDR_SOCKET_PATH, Why::Blank),
        (Some("\t/run/herdr.sock"), PANE, HERDR_SOCKET_PATH, Why::Blank),
        (Some(" "), PANE, HERDR_SOCKET_PATH, Why::Blank),
        (SOCKET, Some(""), HERDR_PANE_ID, Why::Empty),
        (SOCKET, Some("w1:p1\r"), HERDR_PANE_ID, Why::Blank),
        (SOCKET, Some("w1 p1"), HERDR_PANE_ID, Why::Invalid),
        (SOCKET, Some("w1\u{1b}p1"), HERDR_PANE_ID, Why::Invalid),
        (SOCKET, Some(&long), HERDR_PANE_ID, Why::Invalid),
    ];
    for (socket, pane, variable, why) in cases {
        let Discovery::Misconfigured(wrong) = discover(Some("1"), socket, pane) else {
            panic!("{socket:?} {pane:?} is fine?");
        };
        assert_eq!((wrong.variable(), wrong.why()), (variable, why));
        let text = wrong.to_string();
        assert!(text.starts_with(variable) && !text.contains(char::is_control), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_path_need_not_be_text_and_a_pane_must() {
    use std::os::unix::ffi::OsStringExt as _;

    let raw = OsString::from_vec(b"/tmp/\xff".to_vec());
    let with = |strange: &'static str| {
        let raw = raw.clone();
        Endpoint::from_env(move |name| match name {
            HERDR_ENV => Some("1".into()),
            name if name == strange => Some(raw.clone()),
            HERDR_PANE_ID => Some("w1:p1".into()),
            _ => Some("/tmp/herdr.sock".into()),
        })
    };
    let Discovery::Found(endpoint) = with(HERDR_SOCKET_PATH) else {
        panic!("a path of bytes is a path");
    };
    assert_eq!(endpoint.socket().as_os_str(), raw);
    let Discovery::Misconfigured(wrong) = with(HERDR_PANE_ID) else {
        panic!("an id that is not UTF-8 is not an id");
    };
    assert_eq!((wrong.variable(), wrong.why()), (HERDR_PANE_ID, Why::Invalid));
}

#[test]
fn no_variable_is_looked_up_twice() {
    let asked = RefCell::new(HashMap::<String, usize>::new());
    let found = Endpoint::from_env(|name| {
        *asked.borrow_mut().entry(name.to_owned()).or_default() += 1;
        match name {
            HERDR_ENV => Some("1".into()),
            HERDR_PANE_ID => Some("w1:p1".into()),
            _ => Some("/tmp/herdr.sock".into()),
        }
    });
    assert!(matches!(found, Discovery::Found(_)));
    assert_eq!(asked.borrow().len(), 3);
    assert!(asked.borrow().values().all(|&count| count == 1));
}

//! Another user's socket. Only root can put one up, so without root this says
//! that it was skipped; the rule itself is a unit test of the dial.

#![cfg(target_os = "linux")]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;

use herdr_proto::Ping;
use herdr_socket_transport::{Client, ErrorKind, Options};
use support::{PONG, block_on, read_line, without_privileges, write};

#[test]
fn a_foreign_server_gets_no_byte_unless_it_is_allowed() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can serve as another user");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let socket = folder.path().join("herdr.sock");
    let listener = without_privileges(|| UnixListener::bind(&socket)).unwrap();

    let refused = Client::new(&socket, Options::default());
    let error = block_on(refused.call(&Ping::default())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignOwner);
    assert!(error.to_string().contains("65534"), "{error}");
    let (stream, _) = listener.accept().unwrap();
    assert_eq!(read_line(&stream), b"");

    let allowed = Client::new(&socket, Options::default().allow_foreign_socket(true));
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        read_line(&stream);
        write(&stream, PONG);
    });
    block_on(allowed.call(&Ping::default())).unwrap();
    server.join().unwrap();
}

#[test]
fn a_server_of_root_is_trusted_by_everybody() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can serve as root");
        return;
    }
    let server = support::Server::answering(PONG);
    let readable = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(server.socket(), readable.clone()).unwrap();
    std::fs::set_permissions(server.socket().parent().unwrap(), readable).unwrap();
    without_privileges(|| block_on(server.client().call(&Ping::default()))).unwrap();
}

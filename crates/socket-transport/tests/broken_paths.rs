//! What is said about paths that lead to no server (failures B63 to B65).

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};

use herdr_proto::Ping;
use herdr_socket_transport::{Client, Error, ErrorKind, Options, Phase};
use support::Server;

async fn failure(path: impl Into<PathBuf>) -> Error {
    Client::new(path, Options::default()).call(&Ping::default()).await.unwrap_err()
}

/// The error's kind; every one names the path and holds what the system said.
async fn kind(path: &Path) -> ErrorKind {
    let error = failure(path).await;
    assert_eq!(error.phase(), Some(Phase::Connect), "{error}");
    assert_eq!(error.socket(), path);
    assert!(std::error::Error::source(&error).is_some(), "{error}");
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(error.to_string().contains(name), "{error}");
    error.kind()
}

#[tokio::test]
async fn nothing_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone.sock");
    assert_eq!(kind(&gone).await, ErrorKind::NoSuchSocket);
    assert_eq!(kind(&folder.path().join("no/folder.sock")).await, ErrorKind::NoSuchSocket);

    let dangling = folder.path().join("dangling.sock");
    symlink(&gone, &dangling).unwrap();
    assert_eq!(kind(&dangling).await, ErrorKind::NoSuchSocket);
    assert!(failure(&dangling).await.to_string().contains("leads nowhere"));

    let circle = folder.path().join("circle.sock");
    symlink(&circle, &circle).unwrap();
    assert_eq!(kind(&circle).await, ErrorKind::NoSuchSocket);

    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(kind(&file.join("below.sock")).await, ErrorKind::NoSuchSocket);
}

#[tokio::test]
async fn nobody_listens() {
    let folder = tempfile::tempdir().unwrap();
    let stale = folder.path().join("stale.sock");
    drop(UnixListener::bind(&stale).unwrap());
    assert_eq!(kind(&stale).await, ErrorKind::Refused);

    let link = folder.path().join("link.sock");
    symlink(&stale, &link).unwrap();
    assert_eq!(kind(&link).await, ErrorKind::Refused);
}

#[tokio::test]
async fn something_else_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file.sock");
    fs::write(&file, "not a socket").unwrap();
    assert_eq!(kind(&file).await, ErrorKind::NotASocket);
    assert!(failure(&file).await.to_string().contains("a regular file"));

    assert_eq!(kind(folder.path()).await, ErrorKind::NotASocket);
    assert!(failure(folder.path()).await.to_string().contains("a folder"));

    let link = folder.path().join("link.sock");
    symlink(&file, &link).unwrap();
    assert_eq!(kind(&link).await, ErrorKind::NotASocket);

    assert_eq!(kind(Path::new("/dev/null")).await, ErrorKind::NotASocket);

    let datagrams = folder.path().join("datagrams.sock");
    let _bound = UnixDatagram::bind(&datagrams).unwrap();
    assert_eq!(kind(&datagrams).await, ErrorKind::NotASocket);
}

#[cfg(target_os = "linux")]
#[test]
fn a_forbidden_path_names_sandboxes_as_a_cause() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let socket = folder.path().join("herdr.sock");
    let _listening = UnixListener::bind(&socket).unwrap();
    for (folder_mode, socket_mode) in [(0o755, 0o000), (0o000, 0o777)] {
        mode(&socket, socket_mode);
        mode(folder.path(), folder_mode);
        let error = support::without_privileges(|| support::block_on(failure(&socket)));
        assert_eq!(error.kind(), ErrorKind::Permission, "{folder_mode:o} {socket_mode:o}");
        assert!(error.to_string().contains("sandbox"), "{error}");
    }
    mode(folder.path(), 0o755);
}

#[tokio::test]
async fn a_path_over_the_limit_is_told_before_anything_is_tried() {
    for length in [108, 120, 5000] {
        let path = format!("/{}", "x".repeat(length - 1));
        let error = failure(&path).await;
        assert_eq!(error.kind(), ErrorKind::PathTooLong);
        assert_eq!(error.phase(), None);
        assert!(error.to_string().contains(&length.to_string()), "{error}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_longest_path_works_and_so_does_a_short_link_to_a_longer_one() {
    let folder = tempfile::tempdir().unwrap();
    let room = 107 - folder.path().as_os_str().len() - 1;
    let longest = folder.path().join("x".repeat(room));
    let listener = UnixListener::bind(&longest).unwrap();
    let server = std::thread::spawn(move || {
        for _ in 0..2 {
            let (stream, _) = listener.accept().unwrap();
            support::read_line(&stream);
            support::write(&stream, support::PONG);
        }
    });
    let options = Options::default();
    Client::new(&longest, options).call(&Ping::default()).await.unwrap();

    // The same socket by a way of 150 bytes, and a link that makes it short.
    let detour = folder.path().join("y".repeat(150 - room));
    symlink(folder.path(), &detour).unwrap();
    let long_way = detour.join("x".repeat(room));
    assert_eq!(failure(&long_way).await.kind(), ErrorKind::PathTooLong);
    let short = folder.path().join("s");
    symlink(&long_way, &short).unwrap();
    Client::new(&short, options).call(&Ping::default()).await.unwrap();
    server.join().unwrap();
}

#[tokio::test]
async fn an_empty_path_is_no_address_without_a_name() {
    let error = failure("").await;
    assert_eq!(error.kind(), ErrorKind::NoSuchSocket);
    assert_eq!(error.phase(), None);
}

#[tokio::test]
async fn one_client_outlives_any_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("herdr.sock");
    let client = Client::new(&path, Options::default());
    let ping = Ping::default();
    assert_eq!(client.call(&ping).await.unwrap_err().kind(), ErrorKind::NoSuchSocket);
    drop(UnixListener::bind(&path).unwrap());
    assert_eq!(client.call(&ping).await.unwrap_err().kind(), ErrorKind::Refused);
    fs::remove_file(&path).unwrap();
    let server = Server::answering(support::PONG);
    symlink(server.socket(), &path).unwrap();
    assert_eq!(client.call(&ping).await.unwrap().protocol, 20);
}

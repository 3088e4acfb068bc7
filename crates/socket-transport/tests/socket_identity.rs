//! A replaced socket is noticed (failures B75 and B79).

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{UnixListener, UnixStream};

use herdr_socket_transport::inode;

#[test]
fn it_stays_while_the_socket_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("herdr.sock");
    assert_eq!(inode(&socket), None);
    let listener = UnixListener::bind(&socket).unwrap();
    let first = inode(&socket);
    assert!(first.is_some());

    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).unwrap();
    let _client = UnixStream::connect(&socket).unwrap();
    drop(listener.accept().unwrap());
    assert_eq!(inode(&socket), first);

    let link = folder.path().join("link.sock");
    symlink(&socket, &link).unwrap();
    assert_eq!(inode(&link), first);
}

#[test]
fn it_changes_with_every_new_socket_at_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("herdr.sock");
    let mut seen = Vec::new();
    for _ in 0..5 {
        // The number of the inode is free again by now. Time stamps of files
        // are as coarse as the kernel's tick, so wait for the next one.
        let before = fs::metadata(folder.path()).unwrap().modified().unwrap();
        let tick = folder.path().join("tick");
        loop {
            fs::write(&tick, "").unwrap();
            if fs::metadata(&tick).unwrap().modified().unwrap() > before {
                break;
            }
        }
        let listener = UnixListener::bind(&socket).unwrap();
        let now = inode(&socket).unwrap();
        assert!(!seen.contains(&now), "the same again");
        seen.push(now);
        drop(listener);
        fs::remove_file(&socket).unwrap();
        assert_eq!(inode(&socket), None);
    }
}

//! The ends of what is allowed: the longest reply, the oddest first line, and
//! paths of every kind.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod support;

use std::ffi::OsStr;
use std::net::Shutdown;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use herdr_proto::Ping;
use herdr_socket_transport::{Client, DEFAULT_REPLY_CAP, ErrorKind, Options, Phase};
use support::{PONG, Server, drain, read_line, write};

/// A reply to `ping` of so many bytes, its newline not counted.
fn pong_of(length: usize) -> Vec<u8> {
    let head = PONG.strip_suffix(b"}\n").unwrap();
    let padding = length - head.len() - b",\"pad\":\"\"}".len();
    let reply = [head, b",\"pad\":\"", &vec![b'x'; padding], b"\"}\n"].concat();
    assert_eq!(reply.len(), length + 1);
    reply
}

#[tokio::test]
async fn a_reply_of_one_mebibyte_is_the_longest() {
    assert_eq!(DEFAULT_REPLY_CAP, 1 << 20);
    let longest = Server::answering(pong_of(1 << 20));
    assert_eq!(longest.client().call(&Ping::default()).await.unwrap().protocol, 20);
    let over = Server::answering(pong_of((1 << 20) + 1));
    let error = over.client().call(&Ping::default()).await.unwrap_err();
    assert_eq!((error.kind(), error.phase()), (ErrorKind::Oversize, Some(Phase::Read)));
}

#[tokio::test]
async fn a_byte_order_mark_is_no_json() {
    let server = Server::answering([b"\xef\xbb\xbf", PONG].concat());
    let error = server.client().call(&Ping::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
}

/// A server that has said all it will say, and stays.
#[tokio::test]
async fn a_half_close_of_the_server_is_its_end() {
    for (said, kind) in
        [(&b""[..], ErrorKind::ClosedWithoutReply), (&PONG[..9], ErrorKind::ClosedMidReply)]
    {
        let server = Server::start(move |stream| {
            read_line(&stream);
            write(&stream, said);
            stream.shutdown(Shutdown::Write).unwrap();
            // Until the client goes.
            drain(&stream);
        });
        let error = server.client().call(&Ping::default()).await.unwrap_err();
        assert_eq!(error.kind(), kind);
    }
    let server = Server::start(|stream| {
        read_line(&stream);
        write(&stream, PONG);
        stream.shutdown(Shutdown::Write).unwrap();
        drain(&stream);
    });
    server.client().call(&Ping::default()).await.unwrap();
}

/// A path with a zero byte is none, and never an address without a file: what
/// listens at one is not reached by writing its name as a path.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_address_without_a_file_is_not_reached() {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::SocketAddr;

    let name = format!("herdr-transport-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _listening = UnixListener::bind_addr(&address).unwrap();
    let zero = [b"\0", name.as_bytes()].concat();
    for path in [Path::new(OsStr::from_bytes(&zero)), Path::new(&format!("@{name}"))] {
        let client = Client::new(path, Options::default());
        let error = client.call(&Ping::default()).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Io | ErrorKind::NoSuchSocket),
            "{path:?}: {error}"
        );
        assert!(!error.to_string().contains('\0'), "{error:?}");
    }
}

/// The client takes a path as it is; that a variable has to hold an absolute
/// one is the endpoint's affair.
#[tokio::test]
async fn a_relative_path_is_one_from_here() {
    let server = Server::answering(PONG);
    let here = std::env::current_dir().unwrap();
    let up: std::path::PathBuf = here.components().skip(1).map(|_| "..").collect();
    let relative = up.join(server.socket().strip_prefix("/").unwrap());
    assert!(relative.is_relative());
    Client::new(&relative, Options::default()).call(&Ping::default()).await.unwrap();
}

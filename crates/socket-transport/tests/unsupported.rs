//! Where there are no Unix sockets, everything says so and nothing is tried
//! (failure B68).

#![cfg(not(unix))]

use herdr_proto::Ping;
use herdr_socket_transport::{Client, ErrorKind, Options, inode};

#[tokio::test]
async fn every_request_says_so() {
    let client = Client::new(r"C:\Users\ada\AppData\Roaming\herdr\herdr.sock", Options::default());
    let errors = [
        client.call(&Ping::default()).await.unwrap_err(),
        client.exchange(b"{}\n").await.unwrap_err(),
        client.hold().await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!((error.kind(), error.phase()), (ErrorKind::Unsupported, None));
    }
    assert_eq!(inode(client.socket()), None);
}

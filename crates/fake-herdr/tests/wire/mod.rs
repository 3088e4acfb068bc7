//! A minimal client.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses a part of this, and tests may panic"
)]

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

/// Far longer than any operation in these tests takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn connect(path: &Path) -> UnixStream {
    let connection = UnixStream::connect(path).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    connection.set_write_timeout(Some(PATIENCE)).unwrap();
    connection
}

pub(crate) fn line(method: &str, params: &Value) -> Vec<u8> {
    format!("{}\n", json!({ "id": "t", "method": method, "params": params })).into_bytes()
}

pub(crate) fn ping() -> Vec<u8> {
    line("ping", &json!({}))
}

pub(crate) fn report(state: &str) -> Vec<u8> {
    let params =
        json!({ "pane_id": "w1:p1", "source": "custom:a", "agent": "bot", "state": state });
    line("pane.report_agent", &params)
}

/// Reads until the connection closes or is reset.
pub(crate) fn rest(connection: &UnixStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    match { connection }.read_to_end(&mut bytes) {
        Ok(_) => bytes,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => bytes,
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn send(path: &Path, bytes: &[u8]) -> String {
    let mut connection = connect(path);
    connection.write_all(bytes).unwrap();
    String::from_utf8(rest(&connection)).unwrap()
}

pub(crate) fn subscribe(path: &Path, subscriptions: &Value) -> BufReader<UnixStream> {
    let mut connection = connect(path);
    let params = json!({ "subscriptions": subscriptions });
    connection.write_all(&line("events.subscribe", &params)).unwrap();
    let mut reader = BufReader::new(connection);
    let mut reply = String::new();
    reader.read_line(&mut reply).unwrap();
    assert!(reply.contains("subscription_started"), "{reply}");
    reader
}

//! Forwards one connection byte for byte.

use std::future::pending;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};
use tokio_util::io::InspectReader;

use super::log::Log;
use crate::control::is_ours;

/// How long connecting to the server is put off until the client's first bytes. A server that
/// finds none at once looks again 100 ms later (protocol 7.3). A client that sends nothing is
/// connected after this time.
const FIRST: Duration = Duration::from_millis(50);
/// How long a full backlog is waited for, and how often connecting is tried.
const BACKLOG: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(10);
/// How many bytes are read at a time.
const CHUNK: usize = 16 * 1024;

#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) socket: PathBuf,
    pub(super) may_be_foreign: bool,
}

impl Server {
    async fn connect(&self) -> io::Result<UnixStream> {
        let connecting = async {
            loop {
                match UnixStream::connect(&self.socket).await {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(AGAIN).await,
                    outcome => return outcome,
                }
            }
        };
        let full = |_| io::Error::new(io::ErrorKind::TimedOut, "its backlog stays full");
        let stream = timeout(BACKLOG, connecting).await.map_err(full)??;
        if self.may_be_foreign || is_ours(&stream) {
            Ok(stream)
        } else {
            let what = "another user serves it (--allow-foreign-socket lifts this)";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, what))
        }
    }
}

/// Forwards until the server ends the connection or the client is gone.
pub(super) async fn forward(mut client: UnixStream, server: Server, log: Log, number: u64) {
    let mut first = Vec::with_capacity(CHUNK);
    // Whether the client sent something, closed or stayed silent is found out again below.
    let _ = timeout(FIRST, client.read_buf(&mut first)).await;
    let mut upstream = match server.connect().await {
        Ok(upstream) => upstream,
        Err(error) => {
            log.note(number, &format!("no connection to {}: {error}", server.socket.display()));
            return;
        }
    };
    let mut requests = log.direction(number, '>');
    let mut replies = log.direction(number, '<');
    {
        let (from_server, mut to_server) = upstream.split();
        let (from_client, mut to_client) = client.split();
        let asked = AsyncReadExt::chain(&first[..], from_client);
        let mut asked = InspectReader::new(asked, |bytes| requests.bytes(bytes));
        let mut answered = InspectReader::new(from_server, |bytes| replies.bytes(bytes));
        let asking = async {
            if copy(&mut asked, &mut to_server).await.is_ok() {
                let _ = to_server.shutdown().await;
            }
            // The server may still answer a client that has sent everything, or say why it
            // reads no further.
            pending::<()>().await;
        };
        tokio::select! {
            () = asking => {}
            answered = copy(&mut answered, &mut to_client) => {
                if answered.is_ok() {
                    let _ = to_client.shutdown().await;
                }
            }
        }
    }
    requests.end();
    replies.end();
}

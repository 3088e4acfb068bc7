//! Whether a server answers.

use std::time::Duration;

use herdr_proto::Ping;
use herdr_reporter::DiagnosticKind;
use herdr_socket_transport::{Client, Endpoint, ErrorKind, Options};

use crate::exit::Exit;
use crate::wait::blocking;

/// Why the server cannot be used.
pub(crate) struct Unreached {
    pub(crate) kind: DiagnosticKind,
    pub(crate) detail: String,
    pub(crate) exit: Exit,
}

pub(crate) fn reach(
    pane: &Endpoint,
    allow_foreign_socket: bool,
    limit: Duration,
) -> Result<(), Unreached> {
    let options = Options::default().deadline(limit).allow_foreign_socket(allow_foreign_socket);
    let client = Client::new(pane.socket(), options);
    let Some(Err(error)) = blocking(client.call(&Ping::default())) else { return Ok(()) };
    let (kind, exit) = match error.kind() {
        ErrorKind::Rejected => (DiagnosticKind::ProtocolRejected, Exit::Refused),
        ErrorKind::NotPaneApi => (DiagnosticKind::NotPaneApi, Exit::Unreachable),
        ErrorKind::Timeout(_) | ErrorKind::Busy => (DiagnosticKind::Timeout, Exit::Unreachable),
        _ => (DiagnosticKind::ConnectFailed, Exit::Unreachable),
    };
    Err(Unreached { kind, detail: error.to_string(), exit })
}

use herdr_socket_transport::{Error, ErrorKind, Phase};

use crate::machine::{Failure, FailureKind};

/// What the machine can do about a transport's error.
pub(super) fn failure(error: &Error) -> Failure {
    let kind = match error.kind() {
        ErrorKind::NoSuchSocket
        | ErrorKind::Refused
        | ErrorKind::Busy
        | ErrorKind::Timeout(Phase::Connect) => FailureKind::Unreachable,
        ErrorKind::Timeout(_) => FailureKind::Timeout,
        ErrorKind::NotASocket
        | ErrorKind::Permission
        | ErrorKind::PathTooLong
        | ErrorKind::ForeignOwner
        | ErrorKind::InvalidRequest
        | ErrorKind::Unsupported => FailureKind::Unusable,
        ErrorKind::NotPaneApi => FailureKind::NotPaneApi,
        ErrorKind::Malformed | ErrorKind::Oversize => FailureKind::Malformed,
        ErrorKind::Rejected => match error.rejection() {
            Some(rejection) => FailureKind::Rejected(rejection.code.clone()),
            None => FailureKind::Broken,
        },
        _ => FailureKind::Broken,
    };
    Failure::new(kind, error.to_string())
}

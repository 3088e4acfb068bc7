//! What a line of the server means.

use std::path::Path;

use herdr_proto::{Event, Reply, decode, decode_event};
use serde::de::DeserializeOwned;

use crate::error::Error;

/// The reply that a line is.
pub(crate) fn reply<R: DeserializeOwned>(line: &[u8], socket: &Path) -> Result<R, Error> {
    said(line, socket, decode)
}

/// The event that a line is.
pub(crate) fn event(line: &[u8], socket: &Path) -> Result<Event, Error> {
    said(line, socket, decode_event)
}

fn said<T>(
    line: &[u8],
    socket: &Path,
    decode: impl FnOnce(&[u8]) -> Result<Reply<T>, herdr_proto::Error>,
) -> Result<T, Error> {
    match decode(line) {
        Ok(Ok(said)) => Ok(said),
        Ok(Err(rejection)) => Err(Error::rejected(rejection, socket)),
        Err(cause) => Err(Error::undecodable(cause, socket)),
    }
}

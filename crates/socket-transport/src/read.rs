//! Reading the lines of the server.

use std::path::Path;

use herdr_proto::decode;
use serde::de::DeserializeOwned;

use crate::error::Error;

/// Reads a line as a reply.
pub(crate) fn reply<R: DeserializeOwned>(line: &[u8], socket: &Path) -> Result<R, Error> {
    match decode(line) {
        Ok(Ok(said)) => Ok(said),
        Ok(Err(rejection)) => Err(Error::rejected(rejection, socket)),
        Err(cause) => Err(Error::undecodable(cause, socket)),
    }
}

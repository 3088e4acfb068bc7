//! Takes the place of connections on platforms without Unix sockets.

use std::path::Path;

use bytes::Bytes;

use crate::error::{Error, ErrorKind};
use crate::options::Options;
use crate::peer::Peer;

/// A connection, of which there is none on this platform.
#[derive(Debug)]
pub(crate) enum Connection {}

impl Connection {
    #[expect(clippy::unused_async, reason = "the Unix one waits")]
    pub(crate) async fn request(
        socket: &Path,
        _options: &Options,
        _line: &[u8],
    ) -> Result<(Self, Bytes), Error> {
        Err(Error::new(ErrorKind::Unsupported, socket))
    }

    #[expect(clippy::unused_async, reason = "the Unix one waits")]
    pub(crate) async fn next_line(&mut self) -> Result<Option<Bytes>, Error> {
        match *self {}
    }

    pub(crate) fn peer(&self) -> Peer {
        match *self {}
    }

    pub(crate) fn shut_down(&self) {
        match *self {}
    }
}

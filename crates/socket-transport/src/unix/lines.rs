use std::io;

use bytes::{Bytes, BytesMut};
use tokio_util::codec::Decoder;

/// Splits the server's output at newlines.
///
/// The line codec of `tokio_util` also returns the text before the end of the stream as a line.
/// Here that is an error, because half a reply must never be read as a whole one.
/// whole one.
#[derive(Debug)]
pub(crate) struct Lines {
    cap: usize,
    /// How much of the buffer has been searched, so that a long line that arrives byte by byte
    /// is not searched from its start each time.
    searched: usize,
}

/// Why there is no further line.
#[derive(Debug)]
pub(crate) enum LineError {
    /// The line is over the cap.
    Oversize,
    /// The stream ended in the middle of a line.
    Broken,
    /// The connection failed.
    Io(io::Error),
}

impl From<io::Error> for LineError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Lines {
    /// Lines of at most `cap` bytes, not counting the newline.
    pub(crate) fn capped(cap: usize) -> Self {
        Self { cap, searched: 0 }
    }
}

impl Decoder for Lines {
    type Item = Bytes;
    type Error = LineError;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, LineError> {
        let newline = buffer[self.searched..].iter().position(|&byte| byte == b'\n');
        let length = newline.map_or(buffer.len(), |found| self.searched + found);
        if length > self.cap {
            return Err(LineError::Oversize);
        }
        if newline.is_none() {
            self.searched = length;
            return Ok(None);
        }
        self.searched = 0;
        let mut line = buffer.split_to(length + 1);
        line.truncate(length);
        Ok(Some(line.freeze()))
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, LineError> {
        match self.decode(buffer)? {
            Some(line) => Ok(Some(line)),
            None if buffer.is_empty() => Ok(None),
            None => Err(LineError::Broken),
        }
    }
}

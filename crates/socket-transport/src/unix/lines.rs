use std::io;

use bytes::{Bytes, BytesMut};
use tokio_util::codec::Decoder;

/// Splits what the server sends at newlines.
///
/// `tokio_util`'s own line codec takes what stands before the end of the stream
/// for a line. Here that is a broken end: half a reply must never be read as a
/// whole one.
#[derive(Debug)]
pub(crate) struct Lines {
    cap: usize,
    /// How much of the buffer was searched already, so that a long line that
    /// comes byte by byte is not searched from its start each time.
    searched: usize,
}

/// Why no further line comes.
#[derive(Debug)]
pub(crate) enum LineError {
    /// The line is over the cap.
    Oversize,
    /// The stream ended within a line.
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
    /// Lines of at most `cap` bytes, the newline not counted.
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

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use tokio::io::AsyncWriteExt as _;
    use tokio_util::codec::FramedRead;

    use super::*;

    /// Every line and the way the stream ends, for input that arrives in the
    /// given pieces.
    async fn read(cap: usize, pieces: &[&[u8]]) -> (Vec<Bytes>, Option<LineError>) {
        let (mut peer, ours) = tokio::io::duplex(64);
        let mut frames = FramedRead::new(ours, Lines::capped(cap));
        let write = async {
            for piece in pieces {
                // A reader that has seen enough goes away; that is its right.
                let _ = peer.write_all(piece).await;
                tokio::task::yield_now().await;
            }
            drop(peer);
        };
        let read = async {
            let mut lines = Vec::new();
            let mut end = None;
            while let Some(frame) = frames.next().await {
                match frame {
                    Ok(line) => lines.push(line),
                    Err(error) => {
                        end = Some(error);
                        break;
                    }
                }
            }
            drop(frames);
            (lines, end)
        };
        tokio::join!(write, read).1
    }

    #[tokio::test]
    async fn lines_come_whole_however_they_were_cut() {
        let text = b"one\ntwo\n\nfour\r\n";
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        for pieces in [vec![&text[..]], bytes, text.chunks(5).collect()] {
            let (lines, end) = read(16, &pieces).await;
            assert_eq!(lines, [&b"one"[..], b"two", b"", b"four\r"]);
            assert!(end.is_none());
        }
    }

    #[tokio::test]
    async fn the_rest_before_the_end_is_no_line() {
        let (lines, end) = read(16, &[b"one\ntw"]).await;
        assert_eq!(lines, [&b"one"[..]]);
        assert!(matches!(end, Some(LineError::Broken)));
    }

    #[tokio::test]
    async fn the_cap_counts_the_line_without_its_newline() {
        let (lines, end) = read(4, &[b"four\n", b"fives\n"]).await;
        assert_eq!(lines, [&b"four"[..]]);
        assert!(matches!(end, Some(LineError::Oversize)));
    }

    #[tokio::test]
    async fn a_line_over_the_cap_ends_before_its_newline_is_seen() {
        let chunk = [b'x'; 64];
        let endless = vec![&chunk[..]; 1000];
        let (lines, end) = read(100, &endless).await;
        assert!(lines.is_empty());
        assert!(matches!(end, Some(LineError::Oversize)));
    }

    #[test]
    fn the_buffer_never_holds_much_more_than_the_cap() {
        let mut lines = Lines::capped(1000);
        let mut buffer = BytesMut::with_capacity(64);
        let refused = (0..100).find(|_| {
            buffer.extend_from_slice(&[b'x'; 64]);
            lines.decode(&mut buffer).is_err()
        });
        assert_eq!(refused, Some(15));
        assert!(buffer.capacity() <= 4096);
    }
}

//! Messages on a socket: a little-endian length of four bytes, then the bytes.

use std::io::{self, ErrorKind, Read};

/// The longest message in bytes. A larger length is an error.
const MAX_BYTES: usize = 1 << 30;
const PREFIX: usize = 4;

/// Messages one after the other, each after its length, ready to be sent.
#[derive(Debug, Default)]
pub(super) struct FrameList {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl FrameList {
    /// Adds the message that `write` makes.
    ///
    /// # Errors
    /// The message is too long.
    pub(super) fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; PREFIX]);
        write(&mut self.bytes);
        let len = self.bytes.len() - start - PREFIX;
        if len > MAX_BYTES {
            return Err(too_long(len));
        }
        // MAX_BYTES fits into 32 bits.
        self.bytes[start..start + PREFIX].copy_from_slice(&(len as u32).to_le_bytes());
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// Removes all messages and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Returns each message with its length.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }
}

/// Reads one message without its length. Returns false if the other side has ended between two messages.
///
/// # Errors
/// The stream's; [`ErrorKind::UnexpectedEof`] within a message, [`ErrorKind::InvalidData`] for one that is too long.
pub(super) fn read(stream: &mut impl Read, message: &mut Vec<u8>) -> io::Result<bool> {
    let mut prefix = [0; PREFIX];
    let first = loop {
        match stream.read(&mut prefix) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    if first == 0 {
        return Ok(false);
    }
    stream.read_exact(&mut prefix[first..])?;
    let len = u32::from_le_bytes(prefix) as usize;
    if len > MAX_BYTES {
        return Err(too_long(len));
    }
    message.resize(len, 0);
    stream.read_exact(message)?;
    Ok(true)
}

fn too_long(len: usize) -> io::Error {
    let reason = format!("a message of {len} bytes: expected at most {MAX_BYTES}");
    io::Error::new(ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(messages: &[&[u8]]) -> FrameList {
        let mut frames = FrameList::default();
        for message in messages {
            frames.add(|bytes| bytes.extend_from_slice(message)).unwrap();
        }
        frames
    }

    #[test]
    fn messages_come_out_as_they_went_in() {
        let messages: [&[u8]; 4] = [b"first", b"", &[7; 70_000], b"last"];
        let mut frames = frames(&messages);
        let sent: Vec<u8> = frames.iter().flatten().copied().collect();
        let (mut stream, mut message) = (&sent[..], Vec::new());
        for expected in messages {
            assert!(read(&mut stream, &mut message).unwrap());
            assert_eq!(message, expected);
        }
        assert!(!read(&mut stream, &mut message).unwrap());
        frames.clear();
        assert_eq!(frames.iter().count(), 0);
    }

    #[test]
    fn a_cut_or_endless_message_is_an_error() {
        let sent: Vec<u8> = frames(&[b"message"]).iter().flatten().copied().collect();
        for end in 1..sent.len() {
            let error = read(&mut &sent[..end], &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{end}");
        }
        let error = read(&mut &u32::MAX.to_le_bytes()[..], &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }

    /// Gives one byte at a time.
    struct Slowly<'a>(&'a [u8]);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let some = buffer.len().min(1);
            self.0.read(&mut buffer[..some])
        }
    }

    #[test]
    fn a_message_may_come_in_pieces() {
        let sent: Vec<u8> = frames(&[b"in pieces"]).iter().flatten().copied().collect();
        let mut message = Vec::new();
        assert!(read(&mut Slowly(&sent), &mut message).unwrap());
        assert_eq!(message, b"in pieces");
    }
}

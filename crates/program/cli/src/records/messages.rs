//! Messages of Arrow IPC, checked before `arrow-ipc` reserves as much memory as they say. The format is that of Apache
//! Arrow's "Columnar Format", sections "Encapsulated message format" and "Compression".

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use arrow_ipc::{Block, root_as_message};

use super::error::BatchFault;

/// The bytes in front of a message's length, but in files and streams that are older than version 0.15.
const CONTINUATION: [u8; 4] = [0xFF; 4];

/// The most bytes that one byte of LZ4 stands for: each byte of a length adds at most this.
const MAX_LZ4_RATIO: u64 = 255;

/// The bytes in front of a compressed buffer: its length before compression, or -1 if it is not compressed.
const PREFIX_LEN: u64 = 8;

/// A stream of messages. A message is read as a whole, so one that is truncated is never passed on.
pub(super) struct CheckedStream<R> {
    input: R,
    /// The message that was checked last.
    message: Cursor<Vec<u8>>,
}

impl<R: Read> CheckedStream<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, message: Cursor::default() }
    }

    /// Reads the next message. It is empty at the end of the input.
    fn next(&mut self) -> Result<(), BatchFault> {
        self.message.set_position(0);
        let message = self.message.get_mut();
        message.clear();
        let mut lens = [0; 8];
        let mut prefix = &mut lens[..4];
        loop {
            // Up to three bytes at the end are left to `arrow-ipc`, which takes them for the end.
            let read = read_up_to(&mut self.input, prefix)?;
            message.extend_from_slice(&prefix[..read]);
            if read < prefix.len() {
                return Ok(());
            }
            if message.len() > 4 || prefix != CONTINUATION {
                break;
            }
            prefix = &mut lens[4..];
        }
        let Some(len) =
            usize::try_from(i32::from_le_bytes(message.last_chunk().copied().unwrap_or_default()))
                .ok()
                .filter(|len| *len > 0)
        else {
            // The mark of the end, or a length that `arrow-ipc` refuses.
            return Ok(());
        };
        let start = message.len();
        append(&mut self.input, message, len as u64)?;
        let (body_len, prefixes) = prefixes(&message[start..])?;
        let body = message.len();
        append(&mut self.input, message, body_len)?;
        for buffer in prefixes {
            buffer.check(prefix_at(&message[body..], buffer.start)?)?;
        }
        Ok(())
    }
}

impl<R: Read> Read for CheckedStream<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.message.position() == self.message.get_ref().len() as u64 {
            // `arrow-ipc` takes the kind `UnexpectedEof` for the end of a stream, so a fault has another.
            self.next().map_err(io::Error::other)?;
        }
        self.message.read(out)
    }
}

/// Checks the message of a block of a file. The block must lie in the file.
pub(super) fn check_block(file: &mut (impl Read + Seek), block: &Block) -> Result<(), BatchFault> {
    // `check_footer` has excluded negative numbers.
    let (start, len) = (block.offset().cast_unsigned(), u64::from(block.metaDataLength().cast_unsigned()));
    file.seek(SeekFrom::Start(start))?;
    let mut message = Vec::new();
    append(file, &mut message, len)?;
    let metadata = match message.strip_prefix(&CONTINUATION) {
        Some(rest) => rest.get(4..),
        None => message.get(4..),
    };
    let (_, prefixes) = prefixes(metadata.ok_or(BatchFault::Malformed)?)?;
    for buffer in prefixes {
        let mut bytes = [0; PREFIX_LEN as usize];
        file.seek(SeekFrom::Start((start + len).saturating_add(buffer.start)))?;
        file.read_exact(&mut bytes)?;
        buffer.check(bytes)?;
    }
    Ok(())
}

/// A buffer that may be compressed.
#[derive(Clone, Copy)]
struct CompressedBuffer {
    /// The offset in the body.
    start: u64,
    len: u64,
}

impl CompressedBuffer {
    /// Checks the prefix of the buffer: no LZ4 of this length stands for more bytes than it says.
    fn check(self, prefix: [u8; PREFIX_LEN as usize]) -> Result<(), BatchFault> {
        let most = (self.len - PREFIX_LEN).saturating_mul(MAX_LZ4_RATIO);
        match i64::from_le_bytes(prefix) {
            -1 => Ok(()),
            len if u64::try_from(len).is_ok_and(|len| len <= most) => Ok(()),
            _ => Err(BatchFault::Malformed),
        }
    }
}

/// Returns the length of a message's body and its compressed buffers.
fn prefixes(metadata: &[u8]) -> Result<(u64, Vec<CompressedBuffer>), BatchFault> {
    let message = root_as_message(metadata).map_err(|_| BatchFault::Malformed)?;
    let body_len = u64::try_from(message.bodyLength()).map_err(|_| BatchFault::Malformed)?;
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let batch = dictionary.or_else(|| message.header_as_record_batch());
    let buffers = batch.filter(|batch| batch.compression().is_some()).and_then(|batch| batch.buffers());
    let buffers = buffers.into_iter().flatten().filter(|buffer| buffer.length() != 0);
    let compressed = buffers.map(|buffer| {
        let start = u64::try_from(buffer.offset()).map_err(|_| BatchFault::Malformed)?;
        let len = u64::try_from(buffer.length()).map_err(|_| BatchFault::Malformed)?;
        let lies_inside = start.checked_add(len).is_some_and(|end| end <= body_len);
        if lies_inside && len >= PREFIX_LEN {
            Ok(CompressedBuffer { start, len })
        } else {
            Err(BatchFault::Malformed)
        }
    });
    Ok((body_len, compressed.collect::<Result<_, BatchFault>>()?))
}

/// Appends `len` bytes, which may be fewer in truth: memory grows with what is there.
fn append(input: &mut impl Read, message: &mut Vec<u8>, len: u64) -> Result<(), BatchFault> {
    let read = input.take(len).read_to_end(message)? as u64;
    if read == len { Ok(()) } else { Err(BatchFault::Truncated) }
}

/// Reads until `out` is full or the input ends, and returns the number of bytes.
fn read_up_to(input: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < out.len() {
        match input.read(&mut out[count..]) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// Returns the eight bytes of a body from an offset on.
fn prefix_at(body: &[u8], start: u64) -> Result<[u8; PREFIX_LEN as usize], BatchFault> {
    let rest = usize::try_from(start).ok().and_then(|start| body.get(start..));
    rest.and_then(|rest| rest.first_chunk().copied()).ok_or(BatchFault::Malformed)
}

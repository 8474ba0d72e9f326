//! Records of TLS in user space.

use oarlock::Accelerator;
use oarlock_measure::sockets::{SocketSuite, record_keys};
use oarlock_sockets::{Content, Opened, Opener};

/// The bytes of a record's header.
pub(super) const HEADER_LEN: usize = 5;
/// The bytes of an AEAD's tag.
pub(super) const TAG_LEN: usize = 16;
/// The type of application data.
pub(super) const APPLICATION_DATA: u8 = 23;

/// Returns the header of a record of TLS 1.3 with content of this length.
pub(super) fn header(content: usize) -> [u8; HEADER_LEN] {
    // The content's type and the tag follow it. Contents have at most 2^14 bytes.
    let [high, low] = ((content + 1 + TAG_LEN) as u16).to_be_bytes();
    [APPLICATION_DATA, 3, 3, high, low]
}

/// Opens all records that arrived at a connection, and returns their contents.
///
/// # Errors
/// The reason that they are not whole records of application data.
pub(super) fn open_all(
    accelerator: &Accelerator,
    suite: SocketSuite,
    stream: usize,
    mut sealed: Vec<u8>,
) -> Result<Vec<Vec<u8>>, String> {
    let keys = record_keys(suite, stream).map_err(|error| error.to_string())?;
    let mut opener = Opener::new(accelerator, keys).map_err(|error| error.to_string())?;
    let (mut rest, mut contents) = (&mut sealed[..], Vec::new());
    while !rest.is_empty() {
        let used = match opener.next(rest) {
            Ok(Opened::Record(record)) if record.content == Content::ApplicationData => {
                contents.push(record.data.to_vec());
                record.used
            }
            Ok(Opened::Record(record)) => return Err(format!("{} arrived", record.content)),
            Ok(Opened::NeedMore(missing)) => return Err(format!("{missing} bytes of a record are missing")),
            Err(error) => return Err(error.to_string()),
        };
        rest = &mut rest[used..];
    }
    Ok(contents)
}

/// Returns the bytes that a sealer copies for each byte of content. An AEAD is sealed from the content's place into the
/// record; a cipher and a MAC go through the columns of a batch.
pub(super) fn copied_bytes_per_byte(suite: SocketSuite) -> f64 {
    if suite.kernel_cipher().is_some() { 0.0 } else { 2.0 }
}

//! Records of TLS in user space, and the keys of the measured connections.

use oarlock::Accelerator;
use oarlock_sockets::{Content, DerivationError, ExposedKeys, Keys, Opened, Opener, Sealer};

use super::args::SocketSuite;

/// The bytes of a record's header.
pub(super) const HEADER_LEN: usize = 5;
/// The bytes of an AEAD's tag.
pub(super) const TAG_LEN: usize = 16;
/// The type of application data.
pub(super) const APPLICATION_DATA: u8 = 23;

/// The keys of a connection of the measurement. They protect nothing.
#[derive(Debug)]
pub(super) struct StreamKeys {
    pub(super) key: Vec<u8>,
    pub(super) mac_key: Vec<u8>,
    pub(super) iv: Vec<u8>,
}

impl StreamKeys {
    /// Returns the keys of a connection, the same at every run.
    pub(super) fn of(suite: SocketSuite, stream: usize) -> Self {
        let suite = suite.record_suite();
        let bytes =
            |len: usize, from: usize| (0..len).map(|at| ((at + from) * 29 + stream * 17 + 5) as u8).collect();
        Self {
            key: bytes(suite.key_len(), 0),
            mac_key: bytes(suite.mac_key_len(), 100),
            iv: bytes(suite.iv_len(), 64),
        }
    }

    /// Returns the nonce of a record of TLS 1.3 (RFC 8446 5.3).
    pub(super) fn nonce(&self, sequence: u64) -> [u8; 12] {
        let mut nonce = [0; 12];
        for (own, byte) in nonce.iter_mut().zip(&self.iv) {
            *own = *byte;
        }
        for (own, other) in nonce[4..].iter_mut().zip(sequence.to_be_bytes()) {
            *own ^= other;
        }
        nonce
    }
}

/// Returns the header of a record of TLS 1.3 with content of this length.
pub(super) fn header(content: usize) -> [u8; HEADER_LEN] {
    // The content's type and the tag follow it. Contents have at most 2^14 bytes.
    let [high, low] = ((content + 1 + TAG_LEN) as u16).to_be_bytes();
    [APPLICATION_DATA, 3, 3, high, low]
}

/// Makes the sealer of a connection.
pub(super) fn sealer(
    accelerator: &Accelerator,
    suite: SocketSuite,
    stream: usize,
) -> Result<Sealer, DerivationError> {
    Sealer::new(accelerator, keys(suite, stream)?)
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
    let keys = keys(suite, stream).map_err(|error| error.to_string())?;
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

fn keys(suite: SocketSuite, stream: usize) -> Result<Keys, DerivationError> {
    let keys = StreamKeys::of(suite, stream);
    let exposed = ExposedKeys { key: &keys.key, mac_key: &keys.mac_key, iv: &keys.iv, sequence: 0 };
    Keys::new(suite.record_suite(), &exposed)
}

/// Returns the bytes that a sealer copies for each byte of content. An AEAD is sealed from the content's place into the
/// record; a cipher and a MAC go through the columns of a batch.
pub(super) fn copied_bytes_per_byte(suite: SocketSuite) -> f64 {
    if suite.kernel_cipher().is_some() { 0.0 } else { 2.0 }
}

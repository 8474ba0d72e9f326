//! The keys of the measured connections, and the records that user space seals with them.

use oarlock::Accelerator;
use oarlock_sockets::{DerivationError, ExposedKeys, Keys, Sealer};

use super::suite::SocketSuite;

/// The keys of a connection of the measurement. They protect nothing.
#[derive(Debug)]
pub struct StreamKeys {
    /// The key of the cipher.
    pub key: Vec<u8>,
    /// The key of the MAC; empty for AEADs.
    pub mac_key: Vec<u8>,
    /// The IV, from which nonces are made.
    pub iv: Vec<u8>,
}

impl StreamKeys {
    /// Returns the keys of a connection, the same at every run.
    #[must_use]
    pub fn for_stream(suite: SocketSuite, stream: usize) -> Self {
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
    #[must_use]
    pub fn nonce(&self, sequence: u64) -> [u8; 12] {
        let mut nonce = [0; 12];
        for (to, byte) in nonce.iter_mut().zip(&self.iv) {
            *to = *byte;
        }
        for (to, other) in nonce[4..].iter_mut().zip(sequence.to_be_bytes()) {
            *to ^= other;
        }
        nonce
    }
}

/// Makes the sealer of a connection.
///
/// # Errors
/// The keys are not those of a suite that can be sealed here.
pub fn sealer(
    accelerator: &Accelerator,
    suite: SocketSuite,
    stream: usize,
) -> Result<Sealer, DerivationError> {
    Sealer::new(accelerator, record_keys(suite, stream)?)
}

/// Returns the keys of a connection's records.
///
/// # Errors
/// The keys are not those of a suite that can be sealed here.
pub fn record_keys(suite: SocketSuite, stream: usize) -> Result<Keys, DerivationError> {
    let keys = StreamKeys::for_stream(suite, stream);
    let exposed = ExposedKeys { key: &keys.key, mac_key: &keys.mac_key, iv: &keys.iv, sequence: 0 };
    Keys::new(suite.record_suite(), &exposed)
}

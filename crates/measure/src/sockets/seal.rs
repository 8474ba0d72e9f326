//! Records of TLS 1.3 in user space.

use aws_lc_rs::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
};

use super::args::SocketSuite;

/// The bytes of a record's header.
pub(super) const HEADER_LEN: usize = 5;
/// The bytes of a tag.
pub(super) const TAG_LEN: usize = 16;
/// The type of application data.
pub(super) const APPLICATION_DATA: u8 = 23;

/// The key and the IV of a connection of the measurement. They protect nothing.
#[derive(Debug)]
pub(super) struct StreamKeys {
    pub(super) key: Vec<u8>,
    pub(super) iv: [u8; 12],
}

impl StreamKeys {
    /// Returns the keys of a connection, the same at every run.
    pub(super) fn of(suite: SocketSuite, stream: usize) -> Self {
        let byte = |at: usize| (at * 29 + stream * 17 + 5) as u8;
        let key = (0..suite.kernel_cipher().key_len()).map(byte).collect();
        Self { key, iv: std::array::from_fn(|at| byte(at + 64)) }
    }

    /// Returns the nonce of a record (RFC 8446 5.3).
    pub(super) fn nonce(&self, sequence: u64) -> [u8; 12] {
        let mut nonce = self.iv;
        for (own, other) in nonce[4..].iter_mut().zip(sequence.to_be_bytes()) {
            *own ^= other;
        }
        nonce
    }
}

/// Returns the header of a record with content of this length.
pub(super) fn header(content: usize) -> [u8; HEADER_LEN] {
    // The content's type and the tag follow it. Contents have at most 2^14 bytes.
    let [high, low] = ((content + 1 + TAG_LEN) as u16).to_be_bytes();
    [APPLICATION_DATA, 3, 3, high, low]
}

/// Seals the records of a connection.
pub(super) trait RecordSealer {
    /// Appends a sealed record of application data to `out`. False if it cannot be sealed.
    fn seal(&mut self, content: &[u8], out: &mut Vec<u8>) -> bool;

    /// Returns the bytes that are copied for each byte of content.
    fn copied_bytes_per_byte(&self) -> f64;
}

/// Seals with AWS-LC.
#[derive(Debug)]
pub(super) struct AwsLcSealer {
    aead: LessSafeKey,
    keys: StreamKeys,
    sequence: u64,
}

impl AwsLcSealer {
    /// Makes the sealer of a connection. None if AWS-LC rejects the key, which has the right length.
    pub(super) fn new(suite: SocketSuite, stream: usize) -> Option<Self> {
        let algorithm: &'static Algorithm = match suite {
            SocketSuite::Aes128Gcm => &AES_128_GCM,
            SocketSuite::Aes256Gcm => &AES_256_GCM,
            SocketSuite::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        };
        let keys = StreamKeys::of(suite, stream);
        let aead = LessSafeKey::new(UnboundKey::new(algorithm, &keys.key).ok()?);
        Some(Self { aead, keys, sequence: 0 })
    }
}

impl RecordSealer for AwsLcSealer {
    fn seal(&mut self, content: &[u8], out: &mut Vec<u8>) -> bool {
        let header = header(content.len());
        out.extend_from_slice(&header);
        let begins = out.len();
        out.extend_from_slice(content);
        out.push(APPLICATION_DATA);
        let nonce = Nonce::assume_unique_for_key(self.keys.nonce(self.sequence));
        let tag = self.aead.seal_in_place_separate_tag(nonce, Aad::from(header), &mut out[begins..]);
        self.sequence += 1;
        match tag {
            Ok(tag) => out.extend_from_slice(tag.as_ref()),
            Err(_) => return false,
        }
        true
    }

    fn copied_bytes_per_byte(&self) -> f64 {
        1.0
    }
}

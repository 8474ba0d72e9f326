//! The keys of one direction of a connection.

use std::fmt;

use ktls_core::{AeadKey, ConnectionTrafficSecrets, ProtocolVersion};
use zeroize::Zeroizing;

/// A version of TLS that the kernel knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelTlsVersion {
    /// TLS 1.2.
    Tls12,
    /// TLS 1.3.
    Tls13,
}

impl KernelTlsVersion {
    /// All versions.
    pub const ALL: [Self; 2] = [Self::Tls12, Self::Tls13];

    pub(super) fn protocol(self) -> ProtocolVersion {
        match self {
            Self::Tls12 => ProtocolVersion::TLSv1_2,
            Self::Tls13 => ProtocolVersion::TLSv1_3,
        }
    }
}

impl fmt::Display for KernelTlsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tls12 => "TLS 1.2",
            Self::Tls13 => "TLS 1.3",
        })
    }
}

/// A cipher that the kernel and common TLS libraries know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelCipher {
    /// AES-GCM with a key of 128 bits.
    Aes128Gcm,
    /// AES-GCM with a key of 256 bits.
    Aes256Gcm,
    /// ChaCha20-Poly1305.
    ChaCha20Poly1305,
}

impl KernelCipher {
    /// All ciphers.
    pub const ALL: [Self; 3] = [Self::Aes128Gcm, Self::Aes256Gcm, Self::ChaCha20Poly1305];

    /// Returns the length of a key in bytes.
    #[must_use]
    pub fn key_len(self) -> usize {
        if self == Self::Aes128Gcm { 16 } else { 32 }
    }
}

impl fmt::Display for KernelCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Aes128Gcm => "aes128-gcm",
            Self::Aes256Gcm => "aes256-gcm",
            Self::ChaCha20Poly1305 => "chacha20-poly1305",
        })
    }
}

/// Keys that the caller gave are not keys of their cipher.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum KernelKeysError {
    /// The key has a wrong length.
    #[error("the key has {found} bytes, but {cipher} takes {}: pass the key of the negotiated suite", cipher.key_len())]
    KeyLength {
        cipher: KernelCipher,
        /// The length of the key in bytes.
        found: usize,
    },
}

/// The keys of one direction: cipher, key, IV and the sequence number of the next record.
#[derive(Clone)]
pub struct KernelKeys {
    version: KernelTlsVersion,
    cipher: KernelCipher,
    key: Zeroizing<Vec<u8>>,
    iv: Zeroizing<[u8; 12]>,
    sequence: u64,
}

impl KernelKeys {
    /// Makes the keys of one direction. `sequence` is the number of the next record. For AES-GCM in TLS 1.2, `iv` is
    /// the 4 bytes of the key block, and 8 bytes that user space combined with the sequence number, which may be
    /// zeros.
    ///
    /// # Errors
    /// The key has a wrong length.
    pub fn new(
        version: KernelTlsVersion,
        cipher: KernelCipher,
        key: &[u8],
        iv: &[u8; 12],
        sequence: u64,
    ) -> Result<Self, KernelKeysError> {
        if key.len() != cipher.key_len() {
            return Err(KernelKeysError::KeyLength { cipher, found: key.len() });
        }
        let (key, iv) = (Zeroizing::new(key.to_vec()), Zeroizing::new(*iv));
        Ok(Self { version, cipher, key, iv, sequence })
    }

    /// Returns the version of TLS.
    #[must_use]
    pub fn version(&self) -> KernelTlsVersion {
        self.version
    }

    /// Returns the cipher.
    #[must_use]
    pub fn cipher(&self) -> KernelCipher {
        self.cipher
    }

    pub(super) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns the keys as the kernel takes them: the IV of AES-GCM in two pieces.
    pub(super) fn secrets(&self) -> ConnectionTrafficSecrets {
        let [a, b, c, d, tail @ ..] = *self.iv;
        let (salt, iv) = ([a, b, c, d], self.varying_iv(tail));
        match self.cipher {
            KernelCipher::Aes128Gcm => {
                ConnectionTrafficSecrets::Aes128Gcm { key: AeadKey::new(self.key_array()), iv, salt }
            }
            KernelCipher::Aes256Gcm => {
                ConnectionTrafficSecrets::Aes256Gcm { key: AeadKey::new(self.key_array()), iv, salt }
            }
            KernelCipher::ChaCha20Poly1305 => ConnectionTrafficSecrets::Chacha20Poly1305 {
                key: AeadKey::new(self.key_array()),
                iv: *self.iv,
                salt: [],
            },
        }
    }

    /// Returns the last 8 bytes of the IV of AES-GCM.
    ///
    /// TLS 1.2 sends them with each record (RFC 5288 3). User space makes them as `tail ^ sequence`; the kernel adds
    /// one for each record, from the value that it is given. With the same start, the kernel would repeat a nonce of
    /// user space. So the kernel counts in the half that user space does not use: its first bit is the opposite one.
    fn varying_iv(&self, tail: [u8; 8]) -> [u8; 8] {
        const FIRST_BIT: u64 = 1 << 63;
        match self.version {
            KernelTlsVersion::Tls13 => tail,
            KernelTlsVersion::Tls12 => {
                let other_half = !u64::from_be_bytes(tail) & FIRST_BIT;
                (other_half | (self.sequence & !FIRST_BIT)).to_be_bytes()
            }
        }
    }

    fn key_array<const N: usize>(&self) -> [u8; N] {
        let mut array = [0; N];
        // The constructor checked the length.
        let len = N.min(self.key.len());
        array[..len].copy_from_slice(&self.key[..len]);
        array
    }
}

impl fmt::Debug for KernelKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("KernelKeys");
        shown.field("version", &self.version).field("cipher", &self.cipher);
        shown.field("sequence", &self.sequence).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(version: KernelTlsVersion, iv: [u8; 12], sequence: u64) -> KernelKeys {
        KernelKeys::new(version, KernelCipher::Aes128Gcm, &[0xa5; 16], &iv, sequence).unwrap()
    }

    #[test]
    fn a_key_of_another_length_is_an_error() {
        for cipher in KernelCipher::ALL {
            for found in [0, 15, 17, 31, 33] {
                let error = KernelKeys::new(KernelTlsVersion::Tls13, cipher, &vec![7; found], &[0; 12], 0);
                assert_eq!(error.unwrap_err(), KernelKeysError::KeyLength { cipher, found });
            }
        }
    }

    #[test]
    fn debug_shows_no_key() {
        let text = format!("{:?}", keys(KernelTlsVersion::Tls13, [0xa5; 12], 3));
        assert!(!text.contains("165") && !text.contains("a5"), "{text}");
    }

    /// Nonces of user space are `tail ^ sequence` up to the hand-over, those of the kernel count from its start.
    #[test]
    fn the_kernel_repeats_no_nonce_of_user_space_in_tls_1_2() {
        let tails = [0, 1, 7, u64::MAX, u64::MAX >> 1, 1 << 63, 0x0123_4567_89ab_cdef];
        for tail in tails {
            for sequence in [0_u64, 1, 2, 5, 300] {
                let mut iv = [9; 12];
                iv[4..].copy_from_slice(&tail.to_be_bytes());
                let keys = keys(KernelTlsVersion::Tls12, iv, sequence);
                let start = u64::from_be_bytes(keys.varying_iv(tail.to_be_bytes()));
                let of_user: Vec<u64> = (0..sequence).map(|number| tail ^ number).collect();
                for step in 0..1000 {
                    assert!(!of_user.contains(&start.wrapping_add(step)), "{tail:x} {sequence} {step}");
                }
            }
        }
    }

    #[test]
    fn tls_1_3_keeps_the_whole_iv() {
        let iv: [u8; 12] = std::array::from_fn(|at| at as u8);
        let keys = keys(KernelTlsVersion::Tls13, iv, 5);
        let ConnectionTrafficSecrets::Aes128Gcm { iv, salt, .. } = keys.secrets() else {
            panic!("not AES-128")
        };
        assert_eq!((salt, iv), ([0, 1, 2, 3], [4, 5, 6, 7, 8, 9, 10, 11]));
    }
}

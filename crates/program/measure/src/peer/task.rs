//! The work of a peer: the same keys and inputs, in the same order, as those of Oarlock's engines.

use std::fmt;

use zeroize::Zeroize;

use super::PeerError;

/// The operation of a task. It decides the meaning of the task's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeerAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 8.2) from digest; keys PKCS#8.
    RsaSign,
    /// The same, verified; keys SPKI, extras signatures.
    RsaVerify,
    /// ECDSA on any curve from digest to DER; keys PKCS#8.
    EcdsaSign,
    /// The same, verified; keys SPKI, extras signatures in DER.
    EcdsaVerify,
    /// Ed25519 of whole messages; keys PKCS#8.
    Ed25519Sign,
    /// The same, verified; keys SPKI, extras signatures.
    Ed25519Verify,
    /// X25519; keys PKCS#8, inputs the peer's 32-byte public values.
    X25519,
    /// ECDH on any curve; keys PKCS#8, inputs the peer's SPKI.
    Ecdh,
    /// ML-KEM encapsulation; keys PKCS#8, inputs empty; output ciphertext and secret.
    MlKemEncaps,
    /// ML-KEM decapsulation; keys PKCS#8, inputs ciphertexts.
    MlKemDecaps,
    /// ML-DSA of whole messages without a context; keys PKCS#8.
    MlDsaSign,
    /// The same, verified; keys SPKI, extras signatures.
    MlDsaVerify,
    /// SLH-DSA of whole messages without a context; keys PKCS#8.
    SlhDsaSign,
    /// The same, verified; keys SPKI, extras signatures.
    SlhDsaVerify,
    /// LMS of whole messages; keys SPKI of HSS with one level, extras signatures.
    LmsVerify,
    /// CBC encryption without padding; keys raw, extras IVs.
    Cbc(CbcCipher),
    /// AES in counter mode; keys of 16 or 32 bytes, extras first counter blocks.
    AesCtr,
    /// ChaCha20-Poly1305, with extras and output as for [`PeerAlgorithm::AesGcm`].
    ChaCha20Poly1305,
    /// AES-GCM; keys of 16 or 32 bytes, extras 12-byte IVs, no associated data; output ciphertext and 16-byte tag.
    AesGcm,
    /// AES-GCM-SIV (RFC 8452), with extras and output as for [`PeerAlgorithm::AesGcm`].
    AesGcmSiv,
    /// TLS records with an HMAC, padded and encrypted (RFC 5246 6.2.3.2), without an IV in the record; keys of the
    /// cipher, extras IV, header without its length, and MAC key.
    Chain(CbcCipher, ChainHash),
    /// SHA-1 of whole messages, no keys.
    Sha1,
    /// SHA-224 of whole messages, no keys.
    Sha224,
    /// SHA-256 of whole messages, no keys.
    Sha256,
    /// SHA-512 of whole messages, no keys.
    Sha512,
    /// SHA3-256 of whole messages, no keys.
    Sha3_256,
    /// SHA3-512 of whole messages, no keys.
    Sha3_512,
    /// SHAKE128 of whole messages with an output of 32 bytes, no keys.
    Shake128,
    /// SHAKE256 of whole messages with an output of 64 bytes, no keys.
    Shake256,
    /// ISO 9797-1 algorithm 1 with DES, inputs already padded; keys of 8 bytes.
    DesMac,
    /// AES-CMAC (RFC 4493); keys of 16 or 32 bytes.
    AesCmac,
    /// HMAC with SHA-512 (RFC 2104); keys of any length.
    HmacSha512,
}

/// Hash functions of [`PeerAlgorithm::Chain`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChainHash {
    Sha1,
    Sha256,
}

impl ChainHash {
    /// Returns the bytes of a MAC.
    pub(super) fn tag_len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// Block ciphers of [`PeerAlgorithm::Cbc`] and [`PeerAlgorithm::Chain`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CbcCipher {
    Des,
    /// Keys of 24 bytes; two-key TDES repeats the first.
    Tdes,
    /// Keys of 16 or 32 bytes.
    Aes,
}

impl PeerAlgorithm {
    /// Returns the algorithm of an operation name of `oarlock speed`. Sizes and `-hot` do not matter.
    pub(crate) fn of_operation(name: &str) -> Option<Self> {
        let (family, rest) = name.split_once('-')?;
        let mut words = rest.split('-');
        let (verb, second) = (words.next()?, words.next());
        Some(match (family, verb) {
            ("ml", "kem") if words.next() == Some("encaps") => Self::MlKemEncaps,
            ("ml", "kem") => Self::MlKemDecaps,
            ("ml", "dsa") if words.next() == Some("sign") => Self::MlDsaSign,
            ("ml", "dsa") => Self::MlDsaVerify,
            ("slh", "dsa") if name.ends_with("-sign") => Self::SlhDsaSign,
            ("slh", "dsa") => Self::SlhDsaVerify,
            ("hss", _) => Self::LmsVerify,
            // The SSH form of ChaCha20-Poly1305 is not in libcrypto.
            ("chacha20", "poly1305") if second == Some("ssh") => return None,
            // Before the plain modes below, whose names begin in the same way.
            (cipher @ ("tdes" | "aes128" | "aes256"), "cbc") if matches!(second, Some("sha1" | "sha256")) => {
                let hash = if second == Some("sha1") { ChainHash::Sha1 } else { ChainHash::Sha256 };
                Self::Chain(if cipher == "tdes" { CbcCipher::Tdes } else { CbcCipher::Aes }, hash)
            }
            ("aes128" | "aes256", "gcm") if second == Some("siv") => Self::AesGcmSiv,
            ("rsa1024" | "rsa2048" | "rsa3072" | "rsa4096", "sign") => Self::RsaSign,
            ("rsa1024" | "rsa2048" | "rsa3072" | "rsa4096", "verify") => Self::RsaVerify,
            ("p256" | "p384", "sign") => Self::EcdsaSign,
            ("p256" | "p384", "verify") => Self::EcdsaVerify,
            ("ed25519", "sign") => Self::Ed25519Sign,
            ("ed25519", "verify") => Self::Ed25519Verify,
            ("x25519", "derive") => Self::X25519,
            ("p256" | "p384", "derive") => Self::Ecdh,
            ("des", "cbc") => Self::Cbc(CbcCipher::Des),
            ("tdes", "cbc") => Self::Cbc(CbcCipher::Tdes),
            ("aes128" | "aes256", "cbc") => Self::Cbc(CbcCipher::Aes),
            ("aes128" | "aes256", "ctr") => Self::AesCtr,
            ("aes128" | "aes256", "gcm") => Self::AesGcm,
            ("chacha20", "poly1305") => Self::ChaCha20Poly1305,
            ("des", "mac") => Self::DesMac,
            ("aes", "cmac") => Self::AesCmac,
            ("sha1", _) => Self::Sha1,
            ("sha224", _) => Self::Sha224,
            ("sha256", _) => Self::Sha256,
            ("hmac", "sha512") => Self::HmacSha512,
            ("sha512", _) => Self::Sha512,
            ("sha3", "256") => Self::Sha3_256,
            ("sha3", "512") => Self::Sha3_512,
            ("shake128", _) => Self::Shake128,
            ("shake256", _) => Self::Shake256,
            _ => return None,
        })
    }

    /// True if an item has an IV or a signature beside its input.
    pub(super) fn wants_extra(self) -> bool {
        matches!(
            self,
            Self::RsaVerify
                | Self::EcdsaVerify
                | Self::Ed25519Verify
                | Self::MlDsaVerify
                | Self::SlhDsaVerify
                | Self::LmsVerify
                | Self::Cbc(_)
                | Self::Chain(..)
                | Self::AesCtr
                | Self::AesGcm
                | Self::AesGcmSiv
                | Self::ChaCha20Poly1305
        )
    }

    /// True if items have keys.
    pub(super) fn wants_key(self) -> bool {
        !matches!(
            self,
            Self::Sha1
                | Self::Sha224
                | Self::Sha256
                | Self::Sha512
                | Self::Sha3_256
                | Self::Sha3_512
                | Self::Shake128
                | Self::Shake256
        )
    }
}

/// Byte strings stored end to end, so that a long column needs no pointer per value. Zeroized when dropped.
#[derive(Clone, Default)]
pub(crate) struct ByteColumn {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The length of each value if all have the same: a peer that takes tens of nanoseconds must not wait for `ends`.
    width: Option<usize>,
}

impl ByteColumn {
    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Value `index`; empty past the end.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &[u8] {
        if let Some(width) = self.width.filter(|_| index < self.ends.len()) {
            return self.bytes.get(index * width..(index + 1) * width).unwrap_or_default();
        }
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(index).and_then(|&end| self.bytes.get(start..end)).unwrap_or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl<T: AsRef<[u8]>> FromIterator<T> for ByteColumn {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut column = Self::default();
        for value in values {
            column.bytes.extend_from_slice(value.as_ref());
            column.ends.push(column.bytes.len());
        }
        let first = column.ends.first().copied();
        column.width =
            first.filter(|width| (1..).zip(&column.ends).all(|(count, end)| count * width == *end));
        column
    }
}

impl Drop for ByteColumn {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

impl fmt::Debug for ByteColumn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Column({} values, {} bytes)", self.ends.len(), self.bytes.len())
    }
}

/// Items that are worked through in order, again and again.
#[derive(Debug, Clone)]
pub(crate) struct PeerTask {
    pub(crate) algorithm: PeerAlgorithm,
    /// The keys, each once: PKCS#8 or SPKI in DER for public-key work, raw bytes for ciphers and MACs.
    pub(crate) keys: ByteColumn,
    /// The index of each item's key; empty if there are no keys.
    pub(crate) key_of: Vec<u32>,
    /// The digest, message, record or peer value of each item.
    pub(crate) inputs: ByteColumn,
    /// The IV or the signature of each item; empty if the algorithm has neither.
    pub(crate) extras: ByteColumn,
}

impl PeerTask {
    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        self.inputs.len()
    }

    #[inline]
    pub(super) fn key_index(&self, item: usize) -> usize {
        self.key_of.get(item).map_or(0, |&index| index as usize)
    }

    pub(super) fn key(&self, item: usize) -> &[u8] {
        self.keys.get(self.key_index(item))
    }

    /// True if each key serves several items, so that a program would keep what it prepares for a key.
    pub(super) fn has_recurring_keys(&self) -> bool {
        self.keys.len() > 0 && self.keys.len() <= self.len() / 2
    }

    pub(super) fn validate(&self) -> Result<(), PeerError> {
        let items = self.len();
        if items == 0 {
            return Err(fault("at least one item", "none"));
        }
        if self.algorithm.wants_extra() && self.extras.len() != items {
            return Err(fault(&format!("{items} extras"), self.extras.len()));
        }
        if self.algorithm.wants_key() && self.key_of.len() != items {
            return Err(fault(&format!("{items} key indices"), self.key_of.len()));
        }
        match self.key_of.iter().find(|&&index| index as usize >= self.keys.len()) {
            Some(index) => Err(fault(&format!("a key index below {}", self.keys.len()), index)),
            None => Ok(()),
        }
    }
}

pub(super) fn fault(expected: &str, found: impl fmt::Display) -> PeerError {
    PeerError::Task { expected: expected.into(), found: found.to_string() }
}

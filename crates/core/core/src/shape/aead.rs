//! Algorithms that encrypt and authenticate, and those that keep the format of a text.

use std::ops::RangeInclusive;

/// An AEAD algorithm.
///
/// Tags of AES-GCM have 12 to 16 bytes and IVs 1 byte or more; 12 is the fast length (NIST SP 800-38D).
///
/// AES-SIV (RFC 5297) has two AES keys side by side, of which the first makes the tag. The associated data is a
/// component of its input unless it is [absent](crate::Span::ABSENT), and the IV is one more if it is not empty. The tag
/// has 16 bytes. Without an IV the same input gives the same output, and an IV may repeat. A record without associated
/// data is opened too if it was sealed with one empty string of it, as versions before 0.1 did.
///
/// AES-GCM-SIV (RFC 8452) has IVs of 12 bytes and tags of 16. An IV may repeat; then only equal inputs show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AeadAlg {
    /// AES-128 in Galois/counter mode.
    Aes128Gcm,
    /// AES-256 in Galois/counter mode.
    Aes256Gcm,
    /// ChaCha20-Poly1305 with a 32-byte key, a 12-byte IV and a 16-byte tag. RFC 8439.
    ChaCha20Poly1305,
    /// `chacha20-poly1305@openssh.com`: a 64-byte key, an IV of 8 bytes and a 16-byte tag.
    ///
    /// The first half of the key encrypts the packet and the second half encrypts its length, as the key exchange
    /// yields them. The IV is the sequence number, big-endian. The input is the packet's length in 4 bytes and then
    /// the packet. The output is as long: the encrypted length and the encrypted packet. The tag covers the output.
    /// There is no associated data. Sealing 4 bytes that are an encrypted length yields the length itself, because
    /// the cipher is a key stream. draft-ietf-sshm-chacha20-poly1305.
    ChaCha20Poly1305Ssh,
    /// AES-SIV with two AES-128 keys.
    Aes128Siv,
    /// AES-SIV with two AES-192 keys.
    Aes192Siv,
    /// AES-SIV with two AES-256 keys.
    Aes256Siv,
    /// AES-GCM-SIV with an AES-128 key.
    Aes128GcmSiv,
    /// AES-GCM-SIV with an AES-256 key.
    Aes256GcmSiv,
}

/// An algorithm that keeps the length and the alphabet of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FpeAlg {
    /// FF1 with a 16-byte key.
    Aes128Ff1,
    /// FF1 with a 24-byte key.
    Aes192Ff1,
    /// FF1 with a 32-byte key.
    Aes256Ff1,
}

impl AeadAlg {
    /// Every AEAD algorithm.
    pub const ALL: [Self; 9] = [
        Self::Aes128Gcm,
        Self::Aes256Gcm,
        Self::ChaCha20Poly1305,
        Self::ChaCha20Poly1305Ssh,
        Self::Aes128Siv,
        Self::Aes192Siv,
        Self::Aes256Siv,
        Self::Aes128GcmSiv,
        Self::Aes256GcmSiv,
    ];

    /// Returns the number of bytes of a key.
    #[must_use]
    pub fn key_len(self) -> usize {
        match self {
            Self::Aes128Gcm | Self::Aes128GcmSiv => 16,
            Self::Aes256Gcm | Self::Aes256GcmSiv | Self::ChaCha20Poly1305 | Self::Aes128Siv => 32,
            Self::Aes192Siv => 48,
            Self::ChaCha20Poly1305Ssh | Self::Aes256Siv => 64,
        }
    }

    /// Returns the length of the IVs that the accelerator makes, and of most others.
    #[must_use]
    pub fn usual_iv_len(self) -> usize {
        match self {
            Self::Aes128Gcm
            | Self::Aes256Gcm
            | Self::ChaCha20Poly1305
            | Self::Aes128GcmSiv
            | Self::Aes256GcmSiv => 12,
            Self::ChaCha20Poly1305Ssh => 8,
            Self::Aes128Siv | Self::Aes192Siv | Self::Aes256Siv => 0,
        }
    }

    /// Returns the permitted lengths of an IV. NIST SP 800-38D 5.2.1.1 asks for at least one bit.
    #[must_use]
    pub fn iv_lens(self) -> RangeInclusive<usize> {
        match self {
            Self::Aes128Gcm | Self::Aes256Gcm => 1..=usize::MAX,
            Self::Aes128Siv | Self::Aes192Siv | Self::Aes256Siv => 0..=usize::MAX,
            _ => self.usual_iv_len()..=self.usual_iv_len(),
        }
    }

    /// Returns the permitted lengths of a tag. The shorter tags of NIST SP 800-38D 5.2.1.2 are for special
    /// applications and not offered.
    #[must_use]
    pub fn tag_lens(self) -> RangeInclusive<usize> {
        match self {
            Self::Aes128Gcm | Self::Aes256Gcm => 12..=16,
            _ => 16..=16,
        }
    }

    /// True if an IV may repeat under one key: what repeats then shows at most that inputs are equal.
    #[must_use]
    pub fn may_repeat_ivs(self) -> bool {
        self.is_siv() || self.is_gcm_siv()
    }

    /// True for AES-SIV.
    #[must_use]
    pub fn is_siv(self) -> bool {
        matches!(self, Self::Aes128Siv | Self::Aes192Siv | Self::Aes256Siv)
    }

    /// True for AES-GCM-SIV.
    #[must_use]
    pub fn is_gcm_siv(self) -> bool {
        matches!(self, Self::Aes128GcmSiv | Self::Aes256GcmSiv)
    }

    /// Returns the smallest input: 4 bytes of a packet's length for SSH, 0 otherwise.
    #[must_use]
    pub fn min_input_len(self) -> usize {
        if self == Self::ChaCha20Poly1305Ssh { 4 } else { 0 }
    }
}

impl FpeAlg {
    /// Every algorithm.
    pub const ALL: [Self; 3] = [Self::Aes128Ff1, Self::Aes192Ff1, Self::Aes256Ff1];

    /// Returns the number of bytes of a key.
    #[must_use]
    pub fn key_len(self) -> usize {
        match self {
            Self::Aes128Ff1 => 16,
            Self::Aes192Ff1 => 24,
            Self::Aes256Ff1 => 32,
        }
    }
}

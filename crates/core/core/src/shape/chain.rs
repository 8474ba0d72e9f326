//! A cipher and a MAC in one record: the order of the two, and the lengths of TLS records in CBC mode.

use std::fmt;

use super::{BlockCipher, CipherMode, CipherSpec, MacAlg};

/// The order of the cipher and the MAC in a [`Shape::Chain`](crate::Shape::Chain).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ChainOrder {
    /// The MAC of the plaintext is encrypted with it. CBC mode only. RFC 5246 6.2.3.2.
    ///
    /// The associated data has 11 bytes: sequence number, content type and version. The engine appends the two bytes
    /// of the fragment's length. Sealing writes the ciphertext of fragment, MAC and the shortest padding, of
    /// [`mte_sealed_len`] bytes. Opening takes whole blocks and writes all decrypted bytes, as many as the input has;
    /// [`mte_fragment_len`] finds the end of the fragment. Every failure is one verdict, in a time that depends on
    /// the length of the input only.
    MacThenEncrypt,
    /// The MAC covers the associated data and the ciphertext. The tag is detached. RFC 7366, SSH `-etm`, ESP.
    ///
    /// Opening compares the tag before it decrypts. There is no padding: in CBC mode the input has whole blocks.
    EncryptThenMac,
    /// The MAC covers the associated data and the plaintext. The tag is detached and not encrypted. RFC 4253 6.4.
    EncryptAndMac,
}

/// The bytes of associated data of [`ChainOrder::MacThenEncrypt`]. RFC 5246 6.2.3.1.
pub const MTE_AAD_LEN: usize = 11;

/// The largest fragment of [`ChainOrder::MacThenEncrypt`]. RFC 5246 6.2.2.
pub const MAX_MTE_FRAGMENT: usize = (1 << 14) + 1024;

/// The largest ciphertext of [`ChainOrder::MacThenEncrypt`] without its IV. RFC 5246 6.2.3.
pub const MAX_MTE_SEALED: usize = (1 << 14) + 2048;

impl ChainOrder {
    /// Every order.
    pub const ALL: [Self; 3] = [Self::MacThenEncrypt, Self::EncryptThenMac, Self::EncryptAndMac];

    /// True if a record has a tag apart from its output.
    #[must_use]
    pub fn has_detached_tag(self) -> bool {
        self != Self::MacThenEncrypt
    }

    /// True if the order, the cipher and the MAC form a [`Shape::Chain`](crate::Shape::Chain).
    ///
    /// Ciphers are AES and three-key triple DES in CBC mode and AES in CTR mode. MACs are HMAC with SHA-1, SHA-256
    /// and SHA-512. TLS pads to whole blocks, so its order has CBC mode only.
    #[must_use]
    pub fn joins(self, cipher: CipherSpec, mac: MacAlg) -> bool {
        let is_mac = matches!(mac, MacAlg::HmacSha1 | MacAlg::HmacSha256 | MacAlg::HmacSha512);
        let is_cipher = match cipher.alg {
            BlockCipher::Aes128 | BlockCipher::Aes256 => true,
            BlockCipher::Tdes3 => cipher.mode == CipherMode::Cbc,
            BlockCipher::Des | BlockCipher::Tdes2 => false,
        };
        is_mac && is_cipher && (self.has_detached_tag() || cipher.mode == CipherMode::Cbc)
    }
}

/// Returns the number of ciphertext bytes of a fragment in [`ChainOrder::MacThenEncrypt`]: fragment, MAC and the
/// shortest padding. RFC 5246 6.2.3.2.
#[must_use]
pub fn mte_sealed_len(cipher: BlockCipher, mac: MacAlg, fragment_len: usize) -> usize {
    // One byte of padding at least: the byte that states its length.
    (fragment_len + mac.tag_len() + 1).next_multiple_of(cipher.block_len())
}

/// Returns the number of fragment bytes at the start of a record that was opened in [`ChainOrder::MacThenEncrypt`], or
/// None if the bytes are no such record.
#[must_use]
pub fn mte_fragment_len(opened: &[u8], mac: MacAlg) -> Option<usize> {
    let padding_len = usize::from(*opened.last()?);
    opened.len().checked_sub(padding_len + 1 + mac.tag_len())
}

/// Writes short stable names: `mte`, `etm`, `eam`.
impl fmt::Display for ChainOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MacThenEncrypt => "mte",
            Self::EncryptThenMac => "etm",
            Self::EncryptAndMac => "eam",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_fragment_has_one_to_sixteen_bytes_of_padding() {
        for len in 0..40 {
            let sealed = mte_sealed_len(BlockCipher::Aes128, MacAlg::HmacSha1, len);
            assert!(sealed.is_multiple_of(16) && (1..=16).contains(&(sealed - len - 20)));
        }
        assert!(mte_sealed_len(BlockCipher::Aes256, MacAlg::HmacSha512, MAX_MTE_FRAGMENT) <= MAX_MTE_SEALED);
    }

    #[test]
    fn the_last_byte_states_the_end_of_the_fragment() {
        let mut opened = vec![3; 32];
        assert_eq!(mte_fragment_len(&opened, MacAlg::HmacSha1), Some(8));
        opened[31] = 12;
        assert_eq!(mte_fragment_len(&opened, MacAlg::HmacSha1), None);
        assert_eq!(mte_fragment_len(&[], MacAlg::HmacSha1), None);
    }

    #[test]
    fn combinations_without_a_protocol_are_no_shapes() {
        let spec = |alg, mode| CipherSpec { alg, mode };
        let (cbc, ctr) = (CipherMode::Cbc, CipherMode::Ctr);
        let etm = ChainOrder::EncryptThenMac;
        assert!(etm.joins(spec(BlockCipher::Aes128, ctr), MacAlg::HmacSha512));
        assert!(ChainOrder::MacThenEncrypt.joins(spec(BlockCipher::Tdes3, cbc), MacAlg::HmacSha1));
        assert!(!ChainOrder::MacThenEncrypt.joins(spec(BlockCipher::Aes128, ctr), MacAlg::HmacSha1));
        assert!(!etm.joins(spec(BlockCipher::Tdes3, ctr), MacAlg::HmacSha1));
        assert!(!etm.joins(spec(BlockCipher::Des, cbc), MacAlg::HmacSha1));
        assert!(!etm.joins(spec(BlockCipher::Aes128, cbc), MacAlg::Aes128Cmac));
        assert!(!etm.joins(spec(BlockCipher::Aes128, cbc), MacAlg::HmacSha224));
    }
}

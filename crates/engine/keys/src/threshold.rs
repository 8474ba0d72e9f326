//! Shares of an RSA key for threshold signatures after Shoup, "Practical Threshold Signatures", EUROCRYPT 2000.
//!
//! [`split`] deals a key to `shares` servers. Any `threshold` of them sign together; fewer cannot sign. The dealer must
//! be trusted: it holds the key while it deals, and the key should be destroyed afterwards. The mathematics are in
//! `docs/math/threshold-rsa.md`. **Experimental**: this module and its files may change without notice.
//!
//! There are two files, both PEM (RFC 7468) of DER, with integers in their shortest form:
//!
//! ```text
//! OARLOCK RSA THRESHOLD KEY         ThresholdKey ::= SEQUENCE {
//!                                     version           INTEGER (1),
//!                                     modulus           INTEGER,          -- n, 512 to 8192 bits
//!                                     publicExponent    INTEGER,          -- e, a prime above the number of shares
//!                                     threshold         INTEGER (2..16),  -- k
//!                                     verificationBase  INTEGER,          -- v
//!                                     verificationKeys  SEQUENCE SIZE (2..16) OF INTEGER }  -- v_1 to v_l
//! OARLOCK RSA SHARE                 Share ::= SEQUENCE {
//!                                     version           INTEGER (1),
//!                                     key               ThresholdKey,
//!                                     index             INTEGER (1..16),
//!                                     secret            OCTET STRING }    -- s_i, as long as the modulus
//! OARLOCK ENCRYPTED RSA SHARE       EncryptedPrivateKeyInfo around a Share. RFC 5958 section 3, RFC 8018 6.2
//! ```

mod check;
mod deal;
mod format;

use std::sync::Arc;

use oarlock_core::Key;

pub use deal::split;

/// The maximum number of servers that share a key.
pub const MAX_SHARES: u8 = 16;

/// The public part of a shared key: n, e, the number of servers that sign together, and the values that verify
/// partial signatures. A cheap handle.
#[derive(Clone, Debug)]
pub struct ThresholdKey {
    public: Key,
    threshold: u8,
    /// v, v_1, ... v_l, each at the modulus's width.
    verification: Arc<[Vec<u8>]>,
}

/// One server's share. A cheap handle; `Debug` shows the public part and the index.
#[derive(Clone, Debug)]
pub struct Share {
    public: ThresholdKey,
    index: u8,
    key: Key,
}

impl ThresholdKey {
    /// The public key under which combined signatures verify like any other.
    #[must_use]
    pub fn public(&self) -> &Key {
        &self.public
    }

    /// Returns k, the number of servers that sign together.
    #[must_use]
    pub fn threshold(&self) -> u8 {
        self.threshold
    }

    /// Returns l, the number of servers that have a share.
    #[must_use]
    pub fn shares(&self) -> u8 {
        // unreachable because there are at most MAX_SHARES verification keys
        u8::try_from(self.verification.len().saturating_sub(1)).unwrap_or(MAX_SHARES)
    }

    /// Returns the length of the modulus in bits.
    #[must_use]
    pub fn modulus_bits(&self) -> u16 {
        self.public.rsa_public().map_or(0, oarlock_core::RsaPublicParts::bits)
    }

    /// Returns the length of the modulus in bytes, which is the width of every integer modulo n.
    #[must_use]
    pub fn modulus_len(&self) -> usize {
        usize::from(self.modulus_bits()).div_ceil(8)
    }

    /// Returns n, big-endian without leading zeros.
    #[must_use]
    pub fn modulus(&self) -> &[u8] {
        self.public.rsa_public().map_or(&[], |public| &public.n)
    }

    /// Returns v at the modulus's width. Shoup 2000, Protocol 1.
    #[must_use]
    pub fn verification_base(&self) -> &[u8] {
        self.verification.first().map_or(&[], Vec::as_slice)
    }

    /// Returns `v_i = v^(s_i) mod n` of the server with this index (1 to [`shares`](Self::shares)), at the modulus's
    /// width. Shoup 2000, Protocol 1.
    #[must_use]
    pub fn verification_key(&self, index: u8) -> Option<&[u8]> {
        self.verification.get(usize::from(index)).filter(|_| index > 0).map(Vec::as_slice)
    }
}

impl Share {
    /// Returns the public part.
    #[must_use]
    pub fn public(&self) -> &ThresholdKey {
        &self.public
    }

    /// Returns i, the index of the server, 1 to [`ThresholdKey::shares`].
    #[must_use]
    pub fn index(&self) -> u8 {
        self.index
    }

    /// Returns the secret s_i as a [`ModExp`](oarlock_core::Shape::ModExp) key modulo n. Its exponent is at most as long
    /// as n.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }
}

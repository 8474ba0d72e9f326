//! Public keys of the stateful hash-based signatures, HSS (RFC 8554) and XMSS with XMSS^MT (RFC 8391), in the parameter
//! sets of NIST SP 800-208.
//!
//! A key names its parameter set itself, so that it is parsed once and its lengths are right from then on.

mod hss;
mod xmss;

use std::fmt;

pub use hss::{HssPublicKey, HssSet, LmsSet};
pub use xmss::{XmssPublicKey, XmssSet};

/// A hash function of the trees, with the number of bytes that are kept of its values. SP 800-208 sections 4 and 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TreeHash {
    /// SHA-256.
    Sha256,
    /// The first 24 bytes of SHA-256.
    Sha256Short,
    /// SHAKE256 with 32 bytes of output.
    Shake256,
    /// SHAKE256 with 24 bytes of output.
    Shake256Short,
}

impl TreeHash {
    /// Every function, in the order of the type codes of SP 800-208.
    pub const ALL: [Self; 4] = [Self::Sha256, Self::Sha256Short, Self::Shake256, Self::Shake256Short];

    /// Returns n, the number of bytes of a value: 32 or 24.
    #[must_use]
    pub fn n(self) -> usize {
        match self {
            Self::Sha256 | Self::Shake256 => 32,
            Self::Sha256Short | Self::Shake256Short => 24,
        }
    }

    /// True for SHAKE256, false for SHA-256.
    #[must_use]
    pub fn is_shake(self) -> bool {
        matches!(self, Self::Shake256 | Self::Shake256Short)
    }
}

/// Writes short stable names: `sha256`, `shake256-192`.
impl fmt::Display for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha256 => "sha256",
            Self::Sha256Short => "sha256-192",
            Self::Shake256 => "shake256",
            Self::Shake256Short => "shake256-192",
        })
    }
}

/// The reason why bytes are not a public key of HSS, XMSS or XMSS^MT.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatefulKeyError {
    /// The key has another length than its type codes ask for.
    #[error("{scheme} public key: expected {expected} bytes, found {found}")]
    Length {
        /// `HSS`, `XMSS` or `XMSS^MT`.
        scheme: &'static str,
        /// The length of a key with these type codes, or of the codes if these are cut.
        expected: usize,
        /// The length that was given.
        found: usize,
    },
    /// The number of levels is out of its range. RFC 8554 section 6.
    #[error("number of levels in an HSS public key: expected 1 to 8, found {found}")]
    Levels {
        /// The number that the key states.
        found: u32,
    },
    /// The type of the trees is not in SP 800-208.
    #[error("LMS type of an HSS public key: expected a type of SP 800-208, 5 to 24, found {found}")]
    LmsType {
        /// The code that the key states.
        found: u32,
    },
    /// The type of the one-time signatures is not in SP 800-208.
    #[error("LM-OTS type of an HSS public key: expected a type of SP 800-208, 1 to 16, found {found}")]
    LmOtsType {
        /// The code that the key states.
        found: u32,
    },
    /// Trees and one-time signatures have different hash functions. SP 800-208 section 4.
    #[error(
        "types of an HSS public key: expected one hash function, found {lms} for LMS and {lm_ots} for LM-OTS"
    )]
    HashFunctions {
        /// The function of the LMS type.
        lms: TreeHash,
        /// The function of the LM-OTS type.
        lm_ots: TreeHash,
    },
    /// The parameter set is not in SP 800-208.
    #[error(
        "parameter set of an {scheme} public key: expected SHA2 or SHAKE256 with 192 or 256 bits (SP 800-208), found {}",
        shown_set(*.found, .name.as_deref())
    )]
    XmssOid {
        /// `XMSS` or `XMSS^MT`.
        scheme: &'static str,
        /// The identifier that the key states.
        found: u32,
        /// The name of the set if RFC 8391 has it.
        name: Option<String>,
    },
}

fn shown_set(found: u32, name: Option<&str>) -> String {
    name.map_or_else(|| format!("the unknown identifier {found:#010x}"), str::to_owned)
}

/// Splits a big-endian number of 32 bits from the beginning.
fn split_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    bytes.split_first_chunk().map(|(number, rest)| (u32::from_be_bytes(*number), rest))
}

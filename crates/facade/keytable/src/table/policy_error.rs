//! Faults that a policy can have.

use super::{KeyAlgorithm, KeyOperation, MIN_MAC_LEN};
use oarlock_core::KeyType;

/// The reason why a policy makes no sense, or no safe one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// Keys of this type do not do this.
    #[error("a {key_type} key does no {algorithm:?}")]
    Algorithm {
        /// The algorithm that was allowed.
        algorithm: KeyAlgorithm,
        /// The key's type.
        key_type: KeyType,
    },
    /// GCM-SIV and FF1 encrypt blocks that another algorithm under the same key could show.
    #[error("a key that does {algorithm:?} may do nothing else, found {other:?}: use two keys")]
    NotAlone {
        /// The algorithm that must stand alone.
        algorithm: KeyAlgorithm,
        /// The other algorithm.
        other: KeyAlgorithm,
    },
    /// A key that wraps must not do anything else: with decryption or a MAC, wrapped keys can be taken apart. Clulow,
    /// CHES 2003.
    #[error("a key that wraps or unwraps keys may do nothing else, found {operation:?}")]
    WrapsAndMore {
        /// The other operation that it was to do.
        operation: KeyOperation,
    },
    /// Unwrapping was allowed, but no type of key to come out.
    #[error("a key that unwraps must say what may come out (Policy::unwraps)")]
    NothingToUnwrap,
    /// Halves of a triple-DES key would come out as DES keys.
    #[error("legacy wraps must give keys of one type, of the DES family, found {found}")]
    LegacyTypes {
        /// The types that were named.
        found: String,
    },
    /// Two ways to make IVs.
    #[error("IVs are made at random or by one counter, not both")]
    TwoGenerators,
    /// Callers who choose nonces could repeat generated ones, and read what others sealed.
    #[error(
        "GCM keys with random or counted IVs take no IVs of the caller: allow either these alone (\"ivs\": \
         [\"column\"]), or the caller's for CBC only (\"column-cbc\")"
    )]
    CallersBesideGenerated,
    /// CBC encrypts a counter block of GCM to its key stream if the caller chooses or predicts the IV.
    #[error(
        "a key that encrypts under CBC and GCM takes random IVs only: CBC under an IV that the caller knows before shows what \
         GCM encrypts with. Allow one of the two (\"algorithms\": [\"gcm\"], or [\"cbc\"]), or random IVs alone (\"ivs\": \
         [\"random\"], no \"counter\")"
    )]
    BlockOracleBesideGcm,
    /// Another use of the key forges its codes of blocks.
    #[error(
        "a key that makes codes by {mac:?} does no {other:?} too, which forges them: use two keys (\"algorithms\": [\"cbc\"] in \
         one line, and \"operations\": [\"mac\"] in the other)"
    )]
    BlockOracleBesideMac {
        /// The algorithm of the codes.
        mac: KeyAlgorithm,
        /// The algorithm that forges them.
        other: KeyAlgorithm,
    },
    /// The length of cut codes is out of range.
    #[error(
        "codes of {found} bytes: expected {} to {max}, the length of a whole code (\"mac_length\")",
        MIN_MAC_LEN
    )]
    MacLength {
        /// The length that was stated, in bytes.
        found: usize,
        /// The length of the longest whole code under the key.
        max: usize,
    },
    /// A length of codes was stated for a key that makes none.
    #[error("a key that makes no codes has no length of codes (\"mac_length\")")]
    LengthWithoutMac,
    /// A caller could wrap a key that must stay inside and then unwrap it in clear. Clulow, CHES 2003.
    #[error("a key that wraps keys from slots may not unwrap in clear too: use two keys")]
    WrapsAndUnwrapsInClear,
    /// The wrap does not say which type of key it holds, so the caller would choose.
    #[error(
        "{first} and {second} keys may have the same length, and the wrap does not tell them apart: name one of them, and \
         use another wrapping key for the other"
    )]
    AmbiguousTypes {
        /// One type.
        first: KeyType,
        /// The other.
        second: KeyType,
    },
    /// A counter that starts over after a crash would repeat IVs.
    #[error("the IVs of GCM need a counter that is kept on disk")]
    VolatileCounter,
    /// A policy for keys to be unwrapped is at fault.
    #[error("unwrapped {key_type} keys: {reason}")]
    Unwrapped {
        /// The type of key.
        key_type: KeyType,
        /// The fault of the policy.
        reason: Box<PolicyError>,
    },
}

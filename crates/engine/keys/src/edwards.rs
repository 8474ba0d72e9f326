//! Ed25519 and X25519 keys, of 32 bytes each.

use aws_lc_rs::agreement::{PrivateKey, X25519};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use oarlock_core::{Ed25519PrivateParts, KeyParts, SecretBytes, X25519PrivateParts};

use crate::KeyError;

/// Imports an Ed25519 seed. If `public` is given, it must be the key of this seed. RFC 8032 5.1.5.
pub(crate) fn ed25519_private(seed: &[u8], public: Option<&[u8]>) -> Result<KeyParts, KeyError> {
    let seed = SecretBytes::from(exactly_32("Ed25519 seed", seed)?.as_slice());
    // Every seed is valid. The function is called unchecked because it compares no public key; `agree` does that.
    let pair = Ed25519KeyPair::from_seed_unchecked(seed.expose())
        .map_err(|_| KeyError::Machine { what: "deriving an Ed25519 public key" })?;
    let derived = *exactly_32("Ed25519 public key", pair.public_key().as_ref())?;
    agree("Ed25519", &derived, public)?;
    Ok(KeyParts::Ed25519Private(Ed25519PrivateParts { seed, public: derived }))
}

/// Imports an Ed25519 public key. Bytes that do not encode a point are accepted too: no signature verifies under such
/// a key. RFC 8032 5.1.7.
pub(crate) fn ed25519_public(bytes: &[u8]) -> Result<KeyParts, KeyError> {
    exactly_32("Ed25519 public key", bytes).map(|public| KeyParts::Ed25519Public(*public))
}

/// Imports an X25519 scalar. If `public` is given, it must be the key of this scalar. RFC 7748 6.1.
pub(crate) fn x25519_private(scalar: &[u8], public: Option<&[u8]>) -> Result<KeyParts, KeyError> {
    let failed = KeyError::Machine { what: "deriving an X25519 public key" };
    let scalar = SecretBytes::from(exactly_32("X25519 scalar", scalar)?.as_slice());
    let key = PrivateKey::from_private_key(&X25519, scalar.expose()).map_err(|_| failed.clone())?;
    let derived = key.compute_public_key().map_err(|_| failed)?;
    let derived = *exactly_32("X25519 public key", derived.as_ref())?;
    agree("X25519", &derived, public)?;
    Ok(KeyParts::X25519Private(X25519PrivateParts { scalar, public: derived }))
}

/// Imports an X25519 public key. Every string of 32 bytes is valid. RFC 7748 section 5.
pub(crate) fn x25519_public(bytes: &[u8]) -> Result<KeyParts, KeyError> {
    exactly_32("X25519 public key", bytes).map(|public| KeyParts::X25519Public(*public))
}

fn exactly_32<'a>(what: &'static str, bytes: &'a [u8]) -> Result<&'a [u8; 32], KeyError> {
    let wrong = KeyError::Length { what, expected: "32 bytes".to_owned(), found: bytes.len() };
    bytes.try_into().map_err(|_| wrong)
}

fn agree(algorithm: &'static str, derived: &[u8; 32], public: Option<&[u8]>) -> Result<(), KeyError> {
    match public {
        Some(public) if public != derived => Err(KeyError::PublicMismatch { algorithm }),
        _ => Ok(()),
    }
}

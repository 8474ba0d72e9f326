//! Keys from bare bytes without structure. The caller states their meaning.

use oarlock_core::{Curve, Key, KeyParts, MlDsaSet, MlKemSet, SecretBytes, SlhDsaSet};

use crate::{KeyError, ec, edwards, fingerprint, hash_based, lattice, stateful};

/// The maximum length of a symmetric key in bytes.
pub const MAX_SECRET_LEN: usize = u16::MAX as usize;

/// Imports an EC private key from a big-endian scalar in [1, n-1] at the curve's width. SEC 1 2.3.6.
///
/// # Errors
/// [`KeyError::Length`], [`KeyError::ScalarRange`].
pub fn ec_private(curve: Curve, scalar: &[u8]) -> Result<Key, KeyError> {
    // A file may hold a scalar without leading zeros, and the import then widens it. Here the caller states the width.
    let width = curve.scalar_len();
    if scalar.len() != width {
        let expected = format!("{width} bytes");
        return Err(KeyError::Length { what: "EC private scalar", expected, found: scalar.len() });
    }
    fingerprint::local(ec::private(curve, scalar, None)?)
}

/// Imports an EC public key from a compressed or uncompressed point. SEC 1 2.3.4.
///
/// # Errors
/// [`KeyError::PointForm`], [`KeyError::PointAtInfinity`], [`KeyError::PointOffCurve`].
pub fn ec_public(curve: Curve, point: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(ec::public(curve, point)?)
}

/// Imports an Ed25519 private key from its seed of 32 bytes. RFC 8032 5.1.5.
///
/// # Errors
/// [`KeyError::Length`].
pub fn ed25519_private(seed: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(edwards::ed25519_private(seed, None)?)
}

/// Imports an Ed25519 public key of 32 bytes. Bytes that do not encode a point are accepted too: no signature verifies
/// under such a key. RFC 8032 5.1.7.
///
/// # Errors
/// [`KeyError::Length`].
pub fn ed25519_public(bytes: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(edwards::ed25519_public(bytes)?)
}

/// Imports an X25519 private key from its scalar of 32 bytes, clamped or not. RFC 7748 section 5.
///
/// # Errors
/// [`KeyError::Length`].
pub fn x25519_private(scalar: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(edwards::x25519_private(scalar, None)?)
}

/// Imports an X25519 public key, a u-coordinate of 32 bytes. RFC 7748 section 5.
///
/// # Errors
/// [`KeyError::Length`].
pub fn x25519_public(bytes: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(edwards::x25519_public(bytes)?)
}

/// Imports an ML-KEM private key from its seed d || z of 64 bytes. FIPS 203 algorithm 16.
///
/// # Errors
/// [`KeyError::Length`].
pub fn ml_kem_seed(set: MlKemSet, seed: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(KeyParts::MlKemPrivate(lattice::from_seed(set, seed)?))
}

/// Imports an ML-KEM private key in expanded form. FIPS 203 7.3.
///
/// # Errors
/// [`KeyError::Length`], [`KeyError::ExpandedKey`].
pub fn ml_kem_expanded(set: MlKemSet, expanded: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(KeyParts::MlKemPrivate(lattice::from_expanded(set, expanded)?))
}

/// Imports an ML-KEM encapsulation key. FIPS 203 7.2.
///
/// # Errors
/// [`KeyError::Length`], [`KeyError::EncapsulationKey`].
pub fn ml_kem_public(set: MlKemSet, public: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(lattice::ml_kem_public(set, public)?)
}

/// Imports an ML-DSA private key from its seed xi of 32 bytes. FIPS 204 algorithm 6.
///
/// # Errors
/// [`KeyError::Length`].
pub fn ml_dsa_seed(set: MlDsaSet, seed: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(KeyParts::MlDsaPrivate(lattice::from_seed(set, seed)?))
}

/// Imports an ML-DSA private key in expanded form. FIPS 204 algorithm 25.
///
/// # Errors
/// [`KeyError::Length`], [`KeyError::ExpandedKey`].
pub fn ml_dsa_expanded(set: MlDsaSet, expanded: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(KeyParts::MlDsaPrivate(lattice::from_expanded(set, expanded)?))
}

/// Imports an ML-DSA public key. FIPS 204 algorithm 23.
///
/// # Errors
/// [`KeyError::Length`].
pub fn ml_dsa_public(set: MlDsaSet, public: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(lattice::ml_dsa_public(set, public)?)
}

/// Imports an SLH-DSA private key SK.seed || SK.prf || PK.seed || PK.root. PK.root is computed again, which takes 0.2
/// ms to 0.2 s. FIPS 205 section 9.1.
///
/// # Errors
/// [`KeyError::Length`], [`KeyError::PublicMismatch`].
pub fn slh_dsa_private(set: SlhDsaSet, private: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(hash_based::private(set, private, None)?)
}

/// Makes an SLH-DSA private key of its seeds SK.seed || SK.prf || PK.seed, n bytes each. FIPS 205 algorithm 18.
///
/// # Errors
/// [`KeyError::Length`].
pub fn slh_dsa_seeds(set: SlhDsaSet, seeds: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(hash_based::from_seeds(set, seeds)?)
}

/// Imports an SLH-DSA public key PK.seed || PK.root. FIPS 205 section 9.1.
///
/// # Errors
/// [`KeyError::Length`].
pub fn slh_dsa_public(set: SlhDsaSet, public: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(hash_based::public(set, public)?)
}

/// Imports an HSS public key: the number of levels, and the public key of the highest tree. RFC 8554 section 6.1.
///
/// # Errors
/// [`KeyError::Stateful`].
pub fn hss_public(public: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(stateful::hss(public)?)
}

/// Imports an XMSS public key: the identifier of its set, the root and SEED. RFC 8391 section 4.1.7.
///
/// # Errors
/// [`KeyError::Stateful`].
pub fn xmss_public(public: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(stateful::xmss(public)?)
}

/// Imports an XMSS^MT public key, in the form of an XMSS key. RFC 8391 section 4.2.2.
///
/// # Errors
/// [`KeyError::Stateful`].
pub fn xmss_mt_public(public: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(stateful::xmss_mt(public)?)
}

/// Imports a symmetric key of 1 to [`MAX_SECRET_LEN`] bytes. Two imports of the same bytes have different fingerprints.
///
/// # Errors
/// [`KeyError::Length`].
pub fn secret(bytes: impl Into<SecretBytes>) -> Result<Key, KeyError> {
    let secret = bytes.into();
    if secret.is_empty() || secret.len() > MAX_SECRET_LEN {
        let expected = format!("1 to {MAX_SECRET_LEN} bytes");
        return Err(KeyError::Length { what: "symmetric key", expected, found: secret.len() });
    }
    fingerprint::local(KeyParts::Secret(secret))
}

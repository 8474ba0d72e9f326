//! Composite keys: the key of ML-DSA, and behind it that of the other algorithm. draft-ietf-lamps-pq-composite-sigs-13
//! sections 5.1 and 5.2.

use oarlock_core::{CompositeAlg, CompositeParts, KeyKind, KeyParts, MlDsaSet};

use super::{pkcs1, sec1};
use crate::{KeyError, ec, edwards, export, fingerprint, lattice};

/// Imports a private key: the seed of ML-DSA and a PKCS#1 RSAPrivateKey, a SEC 1 ECPrivateKey or a seed of Ed25519.
/// `public` is the public key that PKCS#8 version 2 may contain.
pub(super) fn private(
    alg: CompositeAlg,
    content: &[u8],
    public: Option<&[u8]>,
) -> Result<KeyParts, KeyError> {
    let (seed, traditional) = split(alg, "seed", MlDsaSet::SEED_LEN, content)?;
    let traditional = match alg.traditional_kind() {
        KeyKind::RsaPrivate(bits) => of_size(pkcs1::private(traditional)?, bits)?,
        KeyKind::EcPrivate(curve) => sec1::private(traditional, Some(curve))?,
        _ => edwards::ed25519_private(traditional, None)?,
    };
    let ml_dsa = fingerprint::local(KeyParts::MlDsaPrivate(lattice::from_seed(alg.set(), seed)?))?;
    let parts = CompositeParts { alg, ml_dsa, traditional: fingerprint::local(traditional)? };
    match public {
        Some(public) if public != export::composite_public(&parts)? => {
            Err(KeyError::PublicMismatch { algorithm: alg.standard_name() })
        }
        _ => Ok(KeyParts::CompositePrivate(parts)),
    }
}

/// Imports a public key: that of ML-DSA and a PKCS#1 RSAPublicKey, an uncompressed point or a public key of Ed25519.
pub(super) fn public(alg: CompositeAlg, content: &[u8]) -> Result<KeyParts, KeyError> {
    let (ml_dsa, traditional) = split(alg, "public key of ML-DSA", alg.set().public_len(), content)?;
    let traditional = match alg.traditional_kind() {
        KeyKind::RsaPrivate(bits) => of_size(pkcs1::public(traditional)?, bits)?,
        KeyKind::EcPrivate(curve) => {
            let expected = 1 + 2 * curve.scalar_len();
            if traditional.len() != expected {
                let expected = format!("an uncompressed point of {expected} bytes");
                let what = alg.standard_name();
                return Err(KeyError::Length { what, expected, found: traditional.len() });
            }
            ec::public(curve, traditional)?
        }
        _ => edwards::ed25519_public(traditional)?,
    };
    let ml_dsa = fingerprint::local(lattice::ml_dsa_public(alg.set(), ml_dsa)?)?;
    let traditional = fingerprint::local(traditional)?;
    Ok(KeyParts::CompositePublic(CompositeParts { alg, ml_dsa, traditional }))
}

fn split<'a>(
    alg: CompositeAlg,
    what: &str,
    len: usize,
    content: &'a [u8],
) -> Result<(&'a [u8], &'a [u8]), KeyError> {
    content.split_at_checked(len).ok_or_else(|| KeyError::Length {
        what: alg.standard_name(),
        expected: format!("{what} of {len} bytes and another key behind it"),
        found: content.len(),
    })
}

/// The name of the algorithm contains the length of the modulus.
fn of_size(rsa: KeyParts, bits: u16) -> Result<KeyParts, KeyError> {
    match rsa.kind() {
        KeyKind::RsaPrivate(found) | KeyKind::RsaPublic(found) if found != bits => {
            let bits = u32::from(bits);
            Err(KeyError::ModulusBits { min: bits, max: bits, found: u64::from(found) })
        }
        _ => Ok(rsa),
    }
}

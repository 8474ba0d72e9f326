//! Public keys in SubjectPublicKeyInfo. RFC 5280 4.1.2.7.

use der::Decode;
use der::asn1::BitStringRef;
use oarlock_core::KeyParts;
use spki::SubjectPublicKeyInfoRef;

use super::{composite, pkcs1};
use crate::asn1::{self, AlgorithmId};
use crate::{KeyError, ec, edwards, hash_based, lattice, stateful};

const STRUCTURE: &str = "SubjectPublicKeyInfo";

pub(super) fn public(bytes: &[u8]) -> Result<KeyParts, KeyError> {
    let spki = SubjectPublicKeyInfoRef::from_der(bytes).map_err(asn1::malformed(STRUCTURE))?;
    let key = whole_bytes(STRUCTURE, spki.subject_public_key)?;
    match AlgorithmId::parse(&spki.algorithm)? {
        AlgorithmId::Rsa => pkcs1::public(key),
        AlgorithmId::Ec(curve) => ec::public(curve, key),
        AlgorithmId::Ed25519 => edwards::ed25519_public(key),
        AlgorithmId::X25519 => edwards::x25519_public(key),
        AlgorithmId::MlKem(set) => lattice::ml_kem_public(set, key),
        AlgorithmId::MlDsa(set) => lattice::ml_dsa_public(set, key),
        AlgorithmId::SlhDsa(set) => hash_based::public(set, key),
        AlgorithmId::Composite(alg) => composite::public(alg, key),
        AlgorithmId::Hss => stateful::hss(key),
        AlgorithmId::Xmss => stateful::xmss(key),
        AlgorithmId::XmssMt => stateful::xmss_mt(key),
    }
}

/// Returns the bytes of a bit string without unused bits. Keys never have unused bits.
pub(super) fn whole_bytes<'a>(structure: &'static str, bits: BitStringRef<'a>) -> Result<&'a [u8], KeyError> {
    let reason = "BIT STRING of a key: expected whole bytes, found unused bits";
    bits.as_bytes().ok_or_else(|| KeyError::Der { structure, reason: reason.to_owned() })
}

//! The export of the public half of any asymmetric key, and of the private half of a local key on explicit demand.
//!
//! Symmetric keys, modulus-exponent keys and held keys are not exported. Private keys have the form that OpenSSL
//! writes: PKCS#8 version 1, and EC keys with their public point. Keys of ML-KEM and ML-DSA are written as their seed.
//! A key that was imported without a seed is written in expanded form.

#[cfg(feature = "key-files")]
mod files;

use der::Encode;
use der::asn1::{BitStringRef, OctetStringRef, UintRef};
use oarlock_core::{
    CompositeParts, EcPrivateParts, Key, KeyHome, KeyParts, LatticePrivate, RsaPrivateParts, RsaPublicParts,
    SecretBytes,
};
use pkcs1::{RsaPrivateKey, RsaPublicKeyRef};
use pkcs8::PrivateKeyInfoRef;
use sec1::{EcParameters, EcPrivateKey};
use spki::SubjectPublicKeyInfoRef;
use zeroize::Zeroizing;

use crate::asn1::{AlgorithmId, not_encoded, secret_octets};
use crate::{KeyError, ec, lattice};

#[cfg(feature = "threshold")]
pub(crate) use self::files::encrypted;
#[cfg(feature = "key-files")]
pub use self::files::{Protection, encrypted_pkcs8_der, encrypted_pkcs8_pem, private_pkcs8_pem, spki_pem};

/// Returns the public half as SubjectPublicKeyInfo: RSA with NULL parameters, EC on its named curve and uncompressed.
/// RFC 5280 4.1.2.7.
///
/// # Errors
/// [`KeyError::NotExportable`] if the key has no public half, or if the public half is unknown.
pub fn spki_der(key: &Key) -> Result<Vec<u8>, KeyError> {
    let refused = |reason| KeyError::NotExportable { what: "public key", reason };
    let parts = key.parts().ok_or(refused("its holder has not reported it"))?;
    spki_of(parts)?.ok_or(refused("this kind of key has none"))
}

/// Returns the private key, unencrypted, as PKCS#8.
///
/// # Errors
/// [`KeyError::NotExportable`] for public, symmetric, modulus-exponent and held keys.
pub fn private_pkcs8_der(key: &Key) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let refused = |reason| KeyError::NotExportable { what: "private key", reason };
    if let KeyHome::Held { .. } = key.home() {
        return Err(refused("it lives with its holder"));
    }
    match key.parts().ok_or(refused("it is not here"))? {
        KeyParts::RsaPrivate(parts) => wrap(AlgorithmId::Rsa, &rsa_private(parts)?),
        KeyParts::EcPrivate(parts) => wrap(AlgorithmId::Ec(parts.curve), &ec_private(parts)?),
        // RFC 8410 section 7: the key is an OCTET STRING within the OCTET STRING of PKCS#8.
        KeyParts::Ed25519Private(parts) => wrap(AlgorithmId::Ed25519, &secret_octets(parts.seed.expose())?),
        KeyParts::X25519Private(parts) => wrap(AlgorithmId::X25519, &secret_octets(parts.scalar.expose())?),
        KeyParts::MlKemPrivate(parts) => {
            wrap(AlgorithmId::MlKem(parts.set), &lattice::pkcs8_content(&parts.private)?)
        }
        KeyParts::MlDsaPrivate(parts) => {
            wrap(AlgorithmId::MlDsa(parts.set), &lattice::pkcs8_content(&parts.private)?)
        }
        // RFC 9909 section 6: the bytes of the key themselves.
        KeyParts::SlhDsaPrivate(set, private) => wrap(AlgorithmId::SlhDsa(*set), private.expose()),
        KeyParts::CompositePrivate(parts) => {
            wrap(AlgorithmId::Composite(parts.alg), &composite_private(parts)?)
        }
        KeyParts::Secret(_) => Err(refused("symmetric keys do not leave")),
        KeyParts::ModExp(_) => Err(refused("there is no PKCS#8 for a modulus with a secret exponent")),
        _ => Err(refused("it is a public key")),
    }
}

/// Returns a local private key of ML-KEM or ML-DSA in expanded form, which is computed if the key was imported as a
/// seed. FIPS 203 algorithm 16, FIPS 204 algorithm 24.
///
/// # Errors
/// [`KeyError::NotExportable`] for every other key; [`KeyError::Machine`].
pub fn expanded(key: &Key) -> Result<SecretBytes, KeyError> {
    match key.parts() {
        Some(KeyParts::MlKemPrivate(parts)) => lattice::expanded(parts),
        Some(KeyParts::MlDsaPrivate(parts)) => lattice::expanded(parts),
        _ => {
            let reason = "only a local private key of ML-KEM or ML-DSA has one";
            Err(KeyError::NotExportable { what: "expanded key", reason })
        }
    }
}

/// Returns the SubjectPublicKeyInfo of parts that have a public half.
pub(crate) fn spki_of(parts: &KeyParts) -> Result<Option<Vec<u8>>, KeyError> {
    let Some((algorithm, bytes)) = public_of(parts)? else { return Ok(None) };
    let subject_public_key = BitStringRef::from_bytes(&bytes).map_err(not_encoded)?;
    let spki = SubjectPublicKeyInfoRef { algorithm: algorithm.identifier()?, subject_public_key };
    spki.to_der().map(Some).map_err(not_encoded)
}

/// Returns the public half of parts that have one, as in the BIT STRING of a SubjectPublicKeyInfo.
fn public_of(parts: &KeyParts) -> Result<Option<(AlgorithmId, Vec<u8>)>, KeyError> {
    Ok(Some(match parts {
        KeyParts::RsaPrivate(rsa) => (AlgorithmId::Rsa, rsa_public(&rsa.public)?),
        KeyParts::RsaPublic(rsa) => (AlgorithmId::Rsa, rsa_public(rsa)?),
        KeyParts::EcPrivate(ec) => (AlgorithmId::Ec(ec.curve), ec.public.clone()),
        KeyParts::EcPublic(curve, point) => (AlgorithmId::Ec(*curve), point.clone()),
        KeyParts::Ed25519Private(ed) => (AlgorithmId::Ed25519, ed.public.to_vec()),
        KeyParts::Ed25519Public(public) => (AlgorithmId::Ed25519, public.to_vec()),
        KeyParts::X25519Private(x) => (AlgorithmId::X25519, x.public.to_vec()),
        KeyParts::X25519Public(public) => (AlgorithmId::X25519, public.to_vec()),
        KeyParts::MlKemPrivate(kem) if kem.public.is_empty() => return Ok(None),
        KeyParts::MlKemPrivate(kem) => (AlgorithmId::MlKem(kem.set), kem.public.clone()),
        KeyParts::MlKemPublic(set, public) => (AlgorithmId::MlKem(*set), public.clone()),
        KeyParts::MlDsaPrivate(dsa) => (AlgorithmId::MlDsa(dsa.set), dsa.public.clone()),
        KeyParts::MlDsaPublic(set, public) => (AlgorithmId::MlDsa(*set), public.clone()),
        KeyParts::SlhDsaPrivate(set, private) => {
            let public = private.expose().get(set.public_len()..).unwrap_or_default();
            (AlgorithmId::SlhDsa(*set), public.to_vec())
        }
        KeyParts::SlhDsaPublic(set, public) => (AlgorithmId::SlhDsa(*set), public.clone()),
        KeyParts::HssPublic(public) => (AlgorithmId::Hss, public.bytes().to_vec()),
        KeyParts::XmssPublic(public) if public.set().is_layered() => {
            (AlgorithmId::XmssMt, public.bytes().to_vec())
        }
        KeyParts::XmssPublic(public) => (AlgorithmId::Xmss, public.bytes().to_vec()),
        KeyParts::CompositePrivate(parts) | KeyParts::CompositePublic(parts) => {
            (AlgorithmId::Composite(parts.alg), composite_public(parts)?)
        }
        _ => return Ok(None),
    }))
}

fn rsa_public(public: &RsaPublicParts) -> Result<Vec<u8>, KeyError> {
    RsaPublicKeyRef { modulus: uint(&public.n)?, public_exponent: uint(&public.e)? }
        .to_der()
        .map_err(not_encoded)
}

fn rsa_private(parts: &RsaPrivateParts) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let key = RsaPrivateKey {
        modulus: uint(&parts.public.n)?,
        public_exponent: uint(&parts.public.e)?,
        private_exponent: uint(parts.d.expose())?,
        prime1: uint(parts.p.expose())?,
        prime2: uint(parts.q.expose())?,
        exponent1: uint(parts.dp.expose())?,
        exponent2: uint(parts.dq.expose())?,
        coefficient: uint(parts.qinv.expose())?,
        other_prime_infos: None,
    };
    key.to_der().map(Zeroizing::new).map_err(not_encoded)
}

/// Encodes an ECPrivateKey without its curve, which the algorithm identifier of PKCS#8 already names. OpenSSL writes
/// the same form. RFC 5915 section 3.
fn ec_private(parts: &EcPrivateParts) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let key = EcPrivateKey {
        private_key: parts.scalar.expose(),
        parameters: None,
        public_key: Some(&parts.public),
    };
    key.to_der().map(Zeroizing::new).map_err(not_encoded)
}

/// Returns the public key of ML-DSA and that of the other algorithm, without its algorithm identifier.
/// draft-ietf-lamps-pq-composite-sigs-13 section 5.1.
pub(crate) fn composite_public(parts: &CompositeParts) -> Result<Vec<u8>, KeyError> {
    let bytes = |key: &Key| match key.parts().map(public_of).transpose()?.flatten() {
        Some((_, bytes)) => Ok(bytes),
        None => Err(not_encoded("a key without a public half")),
    };
    Ok([bytes(&parts.ml_dsa)?, bytes(&parts.traditional)?].concat())
}

/// Returns the seed of ML-DSA, and behind it the private key of the other algorithm. An ECPrivateKey names its curve
/// and leaves its point out. draft-ietf-lamps-pq-composite-sigs-13 section 5.2.
fn composite_private(parts: &CompositeParts) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let seed = match parts.ml_dsa.parts() {
        Some(KeyParts::MlDsaPrivate(ml_dsa)) => match &ml_dsa.private {
            LatticePrivate::Seed(seed) => seed.expose(),
            LatticePrivate::Expanded(_) => return Err(not_encoded("a key without its seed")),
        },
        _ => return Err(not_encoded("a key of another kind")),
    };
    let traditional = match parts.traditional.parts() {
        Some(KeyParts::RsaPrivate(rsa)) => rsa_private(rsa)?,
        Some(KeyParts::EcPrivate(private)) => {
            let parameters = Some(EcParameters::NamedCurve(*ec::facts(private.curve)?.oid));
            let key = EcPrivateKey { private_key: private.scalar.expose(), parameters, public_key: None };
            key.to_der().map(Zeroizing::new).map_err(not_encoded)?
        }
        Some(KeyParts::Ed25519Private(ed)) => Zeroizing::new(ed.seed.expose().to_vec()),
        _ => return Err(not_encoded("a key of another kind")),
    };
    Ok(Zeroizing::new([seed, &traditional].concat()))
}

fn uint(bytes: &[u8]) -> Result<UintRef<'_>, KeyError> {
    UintRef::new(bytes).map_err(not_encoded)
}

fn wrap(algorithm: AlgorithmId, private: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let private = OctetStringRef::new(private).map_err(not_encoded)?;
    PrivateKeyInfoRef::new(algorithm.identifier()?, private).to_der().map(Zeroizing::new).map_err(not_encoded)
}

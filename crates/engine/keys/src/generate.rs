//! New keys, from AWS-LC's random generator.

mod prime;
mod safe;
mod short;

use aws_lc_rs::agreement::{ECDH_P256, ECDH_P384, PrivateKey};
use aws_lc_rs::encoding::{AsBigEndian, AsDer, EcPrivateKeyBin, Pkcs8V1Der};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::RsaKeyPair;
use oarlock_core::{
    CompositeAlg, CompositeParts, Curve, Key, KeyKind, KeyParts, MlDsaSet, MlKemSet, SecretBytes, SlhDsaSet,
};
use zeroize::Zeroizing;

use crate::{KeyError, fingerprint, import, random, raw};
pub use safe::{SafePrimeProgress, rsa_safe};

/// Generates an RSA key of 1024, 2048, 3072, 4096 or 8192 bits with the public exponent 65537.
///
/// A key of 1024 bits is too short to be safe. It is for systems that cannot use a longer one.
///
/// # Errors
/// [`KeyError::CannotGenerate`] for other lengths.
pub fn rsa(bits: u16) -> Result<Key, KeyError> {
    let size = match bits {
        // AWS-LC generates no key this short.
        1024 => return short::key(1024),
        2048 => KeySize::Rsa2048,
        3072 => KeySize::Rsa3072,
        4096 => KeySize::Rsa4096,
        8192 => KeySize::Rsa8192,
        _ => {
            let remedy = "only 1024, 2048, 3072, 4096 and 8192 bits are made here; use `openssl genrsa` and import the key";
            return Err(KeyError::CannotGenerate { what: format!("an RSA key of {bits} bits"), remedy });
        }
    };
    let failed = KeyError::Machine { what: "generating an RSA key" };
    let pair = RsaKeyPair::generate(size).map_err(|_| failed.clone())?;
    // AWS-LC gives the numbers of the pair only in this form. The import also checks them.
    let pkcs8 = AsDer::<Pkcs8V1Der<'_>>::as_der(&pair).map_err(|_| failed)?;
    import::pkcs8_der(pkcs8.as_ref())
}

/// Generates an EC key.
///
/// # Errors
/// [`KeyError::CannotGenerate`] for an unknown curve, [`KeyError::Machine`].
pub fn ec(curve: Curve) -> Result<Key, KeyError> {
    let algorithm = match curve {
        Curve::P256 => &ECDH_P256,
        Curve::P384 => &ECDH_P384,
        other => {
            let remedy = "the curve is not known here";
            return Err(KeyError::CannotGenerate { what: format!("a key on {other}"), remedy });
        }
    };
    let failed = KeyError::Machine { what: "generating an EC key" };
    let key = PrivateKey::generate(algorithm).map_err(|_| failed.clone())?;
    let scalar: EcPrivateKeyBin<'_> = key.as_be_bytes().map_err(|_| failed)?;
    raw::ec_private(curve, scalar.as_ref())
}

/// Generates an Ed25519 key from a seed of 32 random bytes. RFC 8032 5.1.5.
///
/// # Errors
/// [`KeyError::Machine`].
pub fn ed25519() -> Result<Key, KeyError> {
    raw::ed25519_private(&*Zeroizing::new(random::draw_bytes::<32>()?))
}

/// Generates an X25519 key from a scalar of 32 random bytes, which is clamped in use. RFC 7748 6.1.
///
/// # Errors
/// [`KeyError::Machine`].
pub fn x25519() -> Result<Key, KeyError> {
    raw::x25519_private(&*Zeroizing::new(random::draw_bytes::<32>()?))
}

/// Generates an ML-KEM key from a seed of 64 random bytes. FIPS 203 algorithm 19.
///
/// # Errors
/// [`KeyError::Machine`].
pub fn ml_kem(set: MlKemSet) -> Result<Key, KeyError> {
    raw::ml_kem_seed(set, &*Zeroizing::new(random::draw_bytes::<{ MlKemSet::SEED_LEN }>()?))
}

/// Generates an ML-DSA key from a seed of 32 random bytes. FIPS 204 algorithm 1.
///
/// # Errors
/// [`KeyError::Machine`].
pub fn ml_dsa(set: MlDsaSet) -> Result<Key, KeyError> {
    raw::ml_dsa_seed(set, &*Zeroizing::new(random::draw_bytes::<{ MlDsaSet::SEED_LEN }>()?))
}

/// Generates an SLH-DSA key from three random seeds of n bytes each. It takes 0.2 ms to 0.2 s. FIPS 205 algorithm 21.
///
/// # Errors
/// [`KeyError::Machine`].
pub fn slh_dsa(set: SlhDsaSet) -> Result<Key, KeyError> {
    // Three seeds of at most 32 bytes.
    let seeds = Zeroizing::new(random::draw_bytes::<96>()?);
    raw::slh_dsa_seeds(set, &seeds[..3 * set.n()])
}

/// Generates the two keys of a composite. draft-ietf-lamps-pq-composite-sigs-13 section 4.1.
///
/// # Errors
/// [`KeyError::Machine`].
pub fn composite(alg: CompositeAlg) -> Result<Key, KeyError> {
    let traditional = match alg.traditional_kind() {
        KeyKind::RsaPrivate(bits) => rsa(bits)?,
        KeyKind::EcPrivate(curve) => ec(curve)?,
        _ => ed25519()?,
    };
    let parts = CompositeParts { alg, ml_dsa: ml_dsa(alg.set())?, traditional };
    fingerprint::local(KeyParts::CompositePrivate(parts))
}

/// Generates a symmetric key of `len` random bytes, 1 to [`raw::MAX_SECRET_LEN`].
///
/// # Errors
/// [`KeyError::Length`], [`KeyError::Machine`].
pub fn secret(len: usize) -> Result<Key, KeyError> {
    let mut bytes = Zeroizing::new(vec![0; len.min(raw::MAX_SECRET_LEN + 1)]);
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| KeyError::Machine { what: "drawing random bytes" })?;
    raw::secret(SecretBytes::from(bytes.as_slice()))
}

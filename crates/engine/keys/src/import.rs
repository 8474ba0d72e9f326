//! Keys from DER, and with the feature `key-files` from PEM, encrypted PKCS#8 and BIND's format.
//!
//! Each named function accepts one structure and rejects all others. With `key-files`, `any` finds the format by a PEM
//! label, the outline of the DER or BIND's first line. Text before, between and after PEM blocks is skipped, and so
//! are `EC PARAMETERS` blocks. A file with two private keys is rejected.
//!
//! PEM may have lines of any length, with LF or CRLF. It may have lost its line ends, with blanks, `\n` as two
//! characters, or nothing in their place. DER in base64 is read without BEGIN and END lines too.
//!
//! Formats of other programs are recognised and rejected, with the command that converts them. No error quotes the
//! file.

mod composite;
#[cfg(feature = "key-files")]
mod files;
mod outline;
mod pkcs1;
mod pkcs8;
mod sec1;
mod spki;

use oarlock_core::Key;
use outline::Structure;

#[cfg(feature = "key-files")]
pub use self::files::{
    any, certificates, der, encrypted_pkcs8_der, encrypted_pkcs8_pem, pem, pkcs1_private_pem,
    pkcs1_public_pem, pkcs8_pem, private_key_format, sec1_pem, slh_dsa_set, spki_pem,
};
#[cfg(feature = "key-files")]
pub(crate) use self::files::{own_pem, public_key};
use crate::{KeyError, fingerprint};

/// The maximum length of an input in bytes. A key has a few kilobytes; the rest is for certificates and text around it.
pub const MAX_INPUT_LEN: usize = 1 << 20;

/// Imports a private key in PKCS#8 DER, version 1 or 2: RSA, EC, Ed25519, X25519, ML-KEM, ML-DSA, SLH-DSA or a
/// composite. RFC 5958, RFC 5915, RFC 8410, RFC 9935, RFC 9881, RFC 9909, draft-ietf-lamps-pq-composite-sigs-13.
///
/// Keys of ML-KEM and ML-DSA may state a seed, an expanded key, or both; OpenSSL's bare forms are read too.
///
/// # Errors
/// [`KeyError::Der`], [`KeyError::UnsupportedAlgorithm`], [`KeyError::UnsupportedCurve`], and those of the parts.
pub fn pkcs8_der(bytes: &[u8]) -> Result<Key, KeyError> {
    pkcs8::key(expect(Structure::Pkcs8, bytes)?)
}

/// Imports an RSA private key in PKCS#1 DER, two primes. RFC 8017 A.1.2.
///
/// # Errors
/// [`KeyError::Der`], [`KeyError::MultiPrime`], and those of [`rsa::private`](crate::rsa::private).
pub fn pkcs1_private_der(bytes: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(pkcs1::private(expect(Structure::Pkcs1Private, bytes)?)?)
}

/// Imports an RSA public key in PKCS#1 DER. RFC 8017 A.1.1.
///
/// # Errors
/// [`KeyError::Der`], and those of [`rsa::public`](crate::rsa::public).
pub fn pkcs1_public_der(bytes: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(pkcs1::public(expect(Structure::Pkcs1Public, bytes)?)?)
}

/// Imports an EC private key in SEC 1 DER that names its curve. RFC 5915 section 3.
///
/// # Errors
/// [`KeyError::Der`], [`KeyError::UnsupportedCurve`], [`KeyError::ScalarRange`], [`KeyError::PublicMismatch`].
pub fn sec1_der(bytes: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(sec1::private(expect(Structure::Sec1, bytes)?, None)?)
}

/// Imports a public key in SubjectPublicKeyInfo DER: RSA, EC, Ed25519, X25519, ML-KEM, ML-DSA, SLH-DSA, HSS, XMSS or a
/// composite. RFC 5280 4.1.2.7, RFC 5480, RFC 8410, RFC 9935, RFC 9881, RFC 9909, RFC 9802,
/// draft-ietf-lamps-pq-composite-sigs-13.
///
/// # Errors
/// [`KeyError::Der`], [`KeyError::UnsupportedAlgorithm`], [`KeyError::UnsupportedCurve`], and those of the parts.
pub fn spki_der(bytes: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(spki::public(expect(Structure::Spki, bytes)?)?)
}

/// Imports a SubjectPublicKeyInfo in DER. With the feature `key-files` it may be in PEM too.
#[cfg(not(feature = "key-files"))]
pub(crate) fn public_key(bytes: &[u8]) -> Result<Key, KeyError> {
    spki_der(bytes)
}

pub(crate) fn bounded(bytes: &[u8]) -> Result<&[u8], KeyError> {
    match bytes.len() {
        0..=MAX_INPUT_LEN => Ok(bytes),
        found => Err(KeyError::InputTooLong { limit: MAX_INPUT_LEN, found }),
    }
}

/// Checks that bytes do not have another known structure. Damaged bytes pass: the parser describes the damage better.
fn expect(expected: Structure, bytes: &[u8]) -> Result<&[u8], KeyError> {
    match Structure::from_der(bounded(bytes)?) {
        Ok(found) if found != expected => {
            Err(KeyError::Structure { expected: expected.name(), found: found.name() })
        }
        _ => Ok(bytes),
    }
}

//! Private keys in PKCS#8. RFC 5958 section 2.

use der::Decode;
use der::asn1::OctetStringRef;
use oarlock_core::{Key, KeyParts};
use pkcs8::PrivateKeyInfoRef;

use super::{pkcs1, sec1, spki};
use crate::asn1::{self, AlgorithmId};
use crate::{KeyError, ec, edwards, fingerprint};

const STRUCTURE: &str = "PKCS#8 PrivateKeyInfo";

pub(super) fn key(bytes: &[u8]) -> Result<Key, KeyError> {
    let info = PrivateKeyInfoRef::try_from(bytes).map_err(asn1::malformed(STRUCTURE))?;
    let public = info.public_key.map(|bits| spki::whole_bytes(STRUCTURE, bits)).transpose()?;
    fingerprint::local(parts(AlgorithmId::parse(&info.algorithm)?, info.private_key.as_bytes(), public)?)
}

fn parts(algorithm: AlgorithmId, private: &[u8], public: Option<&[u8]>) -> Result<KeyParts, KeyError> {
    match algorithm {
        AlgorithmId::Rsa => rsa(private, public),
        AlgorithmId::Ec(curve) => {
            let parts = sec1::private(private, Some(curve))?;
            // The point may be compressed, so it is brought to the uncompressed form before the comparison.
            let own = public.map(|point| ec::public(curve, point)).transpose()?;
            agree("EC", parts, own)
        }
        AlgorithmId::Ed25519 => edwards::ed25519_private(curve_private_key(private)?, public),
        AlgorithmId::X25519 => edwards::x25519_private(curve_private_key(private)?, public),
    }
}

fn rsa(private: &[u8], public: Option<&[u8]>) -> Result<KeyParts, KeyError> {
    let parts = pkcs1::private(private)?;
    let own = public.map(pkcs1::public).transpose()?;
    agree("RSA", parts, own)
}

/// Checks the public key that version 2 may contain beside the private key. RFC 5958 section 2.
fn agree(algorithm: &'static str, parts: KeyParts, public: Option<KeyParts>) -> Result<KeyParts, KeyError> {
    let is_own = match (&parts, &public) {
        (_, None) => true,
        (KeyParts::RsaPrivate(own), Some(KeyParts::RsaPublic(given))) => own.public == *given,
        (KeyParts::EcPrivate(own), Some(KeyParts::EcPublic(_, given))) => own.public == *given,
        _ => false,
    };
    if is_own { Ok(parts) } else { Err(KeyError::PublicMismatch { algorithm }) }
}

/// Unwraps `CurvePrivateKey ::= OCTET STRING`. RFC 8410 section 7.
fn curve_private_key(private: &[u8]) -> Result<&[u8], KeyError> {
    let inner = <&OctetStringRef>::from_der(private).map_err(asn1::malformed("RFC 8410 CurvePrivateKey"))?;
    Ok(inner.as_bytes())
}

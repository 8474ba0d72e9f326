//! Private keys in PKCS#8. RFC 5958 section 2.

use der::asn1::{AnyRef, BitStringRef, OctetStringRef};
use der::{Decode, Reader, SliceReader, TagNumber, Tagged};
use oarlock_core::{Key, KeyParts};
use pkcs8::PrivateKeyInfoRef;
use spki::AlgorithmIdentifierRef;

use super::{composite, pkcs1, sec1};
use crate::asn1::{self, AlgorithmId};
use crate::{KeyError, ec, edwards, fingerprint, hash_based, lattice};

const STRUCTURE: &str = "PKCS#8 PrivateKeyInfo";

pub(super) fn key(bytes: &[u8]) -> Result<Key, KeyError> {
    let (algorithm, private, public) = members(bytes)?;
    let public = public.map(|bits| super::spki::whole_bytes(STRUCTURE, bits)).transpose()?;
    fingerprint::local(parts(AlgorithmId::parse(&algorithm)?, private.as_bytes(), public)?)
}

#[cfg(feature = "key-files")]
pub(super) fn algorithm(bytes: &[u8]) -> Result<AlgorithmId, KeyError> {
    AlgorithmId::parse(&members(bytes)?.0)
}

fn members(bytes: &[u8]) -> Result<Members<'_>, KeyError> {
    match PrivateKeyInfoRef::try_from(bytes) {
        Ok(info) => Ok((info.algorithm, info.private_key, info.public_key)),
        Err(error) => explicit_public(bytes).ok_or_else(|| asn1::malformed(STRUCTURE)(error)),
    }
}

/// The members of a PKCS#8 private key that this crate reads.
type Members<'a> = (AlgorithmIdentifierRef<'a>, &'a OctetStringRef, Option<BitStringRef<'a>>);

/// Reads the form of ring before version 0.17 and of rcgen for years after it: the public key of version 2 is tagged
/// explicitly, as `[1] { BIT STRING }`, where RFC 5958 asks for an implicit tag.
fn explicit_public(bytes: &[u8]) -> Option<Members<'_>> {
    let outer = AnyRef::from_der(bytes).ok()?;
    let mut reader = SliceReader::new(outer.value()).ok()?;
    let _version = u8::decode(&mut reader).ok()?;
    let algorithm = AlgorithmIdentifierRef::decode(&mut reader).ok()?;
    let private = <&OctetStringRef>::decode(&mut reader).ok()?;
    let tagged = AnyRef::decode(&mut reader).ok()?;
    let tag = tagged.tag();
    let is_public = tag.is_context_specific() && tag.is_constructed() && tag.number() == TagNumber(1);
    let public = BitStringRef::from_der(tagged.value()).ok()?;
    (is_public && reader.is_finished()).then_some((algorithm, private, Some(public)))
}

fn parts(algorithm: AlgorithmId, private: &[u8], public: Option<&[u8]>) -> Result<KeyParts, KeyError> {
    match algorithm {
        AlgorithmId::Rsa => rsa(private, public),
        AlgorithmId::Ec(curve) => {
            let parts = sec1::private(private, Some(curve))?;
            // The point may be compressed, so it is brought to the uncompressed form before the comparison.
            let public = public.map(|point| ec::public(curve, point)).transpose()?;
            agree("EC", parts, public)
        }
        AlgorithmId::Ed25519 => edwards::ed25519_private(curve_private_key(private)?, public),
        AlgorithmId::X25519 => edwards::x25519_private(curve_private_key(private)?, public),
        AlgorithmId::MlKem(set) => lattice::pkcs8_private(set, private, public).map(KeyParts::MlKemPrivate),
        AlgorithmId::MlDsa(set) => lattice::pkcs8_private(set, private, public).map(KeyParts::MlDsaPrivate),
        AlgorithmId::SlhDsa(set) => hash_based::private(set, private, public),
        AlgorithmId::Composite(alg) => composite::private(alg, private, public),
        AlgorithmId::Hss => Err(KeyError::StatefulPrivate { algorithm: "HSS" }),
        AlgorithmId::Xmss => Err(KeyError::StatefulPrivate { algorithm: "XMSS" }),
        AlgorithmId::XmssMt => Err(KeyError::StatefulPrivate { algorithm: "XMSS^MT" }),
    }
}

fn rsa(private: &[u8], public: Option<&[u8]>) -> Result<KeyParts, KeyError> {
    let parts = pkcs1::private(private)?;
    let public = public.map(pkcs1::public).transpose()?;
    agree("RSA", parts, public)
}

/// Checks the public key that version 2 may contain beside the private key. RFC 5958 section 2.
fn agree(algorithm: &'static str, parts: KeyParts, public: Option<KeyParts>) -> Result<KeyParts, KeyError> {
    let is_own = match (&parts, &public) {
        (_, None) => true,
        (KeyParts::RsaPrivate(private), Some(KeyParts::RsaPublic(given))) => private.public == *given,
        (KeyParts::EcPrivate(private), Some(KeyParts::EcPublic(_, given))) => private.public == *given,
        _ => false,
    };
    if is_own { Ok(parts) } else { Err(KeyError::PublicMismatch { algorithm }) }
}

/// Unwraps `CurvePrivateKey ::= OCTET STRING`. RFC 8410 section 7.
fn curve_private_key(private: &[u8]) -> Result<&[u8], KeyError> {
    let inner = <&OctetStringRef>::from_der(private).map_err(asn1::malformed("RFC 8410 CurvePrivateKey"))?;
    Ok(inner.as_bytes())
}

//! Object identifiers, algorithm identifiers, and the wording of DER errors.

use std::fmt::Display;

use der::Encode;
use der::asn1::OctetStringRef;
use der::asn1::{AnyRef, Null, ObjectIdentifier};
#[cfg(feature = "key-files")]
use der::{Header, Length, Tag};
use oarlock_core::{CompositeAlg, Curve, MlDsaSet, MlKemSet, SlhDsaSet};
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use crate::{KeyError, ec, oid};

/// rsaEncryption. RFC 8017 A.1.
pub(crate) const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
/// id-ecPublicKey. RFC 5480 2.1.1.
pub(crate) const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
/// id-X25519. RFC 8410 section 3.
pub(crate) const X25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.110");
/// id-Ed25519. RFC 8410 section 3.
pub(crate) const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

/// id-alg-ml-kem-512. RFC 9935 section 3.
pub(crate) const ML_KEM_512: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.4.1");
/// id-alg-ml-kem-768.
pub(crate) const ML_KEM_768: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.4.2");
/// id-alg-ml-kem-1024.
pub(crate) const ML_KEM_1024: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.4.3");
/// id-ml-dsa-44. RFC 9881 section 3.
pub(crate) const ML_DSA_44: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.17");
/// id-ml-dsa-65.
pub(crate) const ML_DSA_65: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.18");
/// id-ml-dsa-87.
pub(crate) const ML_DSA_87: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.19");

/// id-slh-dsa-sha2-128s and the others, in the order of [`SlhDsaSet::ALL`]. RFC 9909 section 3.
const SLH_DSA: [ObjectIdentifier; 12] = [
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.20"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.21"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.22"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.23"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.24"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.25"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.26"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.27"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.28"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.29"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.30"),
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.31"),
];

/// id-alg-hss-lms-hashsig. RFC 9708 section 4, RFC 9802 section 3.
pub(crate) const HSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.3.17");
/// id-alg-xmss-hashsig. RFC 9802 section 3.
pub(crate) const XMSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.34");
/// id-alg-xmssmt-hashsig. RFC 9802 section 3.
pub(crate) const XMSS_MT: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.35");

/// id-MLDSA44-RSA2048-PSS-SHA256 and the others, in the order of [`CompositeAlg::ALL`].
/// draft-ietf-lamps-pq-composite-sigs-13 section 7.
const COMPOSITES: [ObjectIdentifier; 14] = [
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.37"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.38"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.39"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.40"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.41"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.42"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.43"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.44"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.45"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.46"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.48"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.49"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.52"),
    ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.53"),
];

/// The algorithm that an identifier names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlgorithmId {
    Rsa,
    Ec(Curve),
    Ed25519,
    X25519,
    MlKem(MlKemSet),
    MlDsa(MlDsaSet),
    SlhDsa(SlhDsaSet),
    Hss,
    Xmss,
    XmssMt,
    Composite(CompositeAlg),
}

impl AlgorithmId {
    pub(crate) fn parse(identifier: &AlgorithmIdentifierRef<'_>) -> Result<Self, KeyError> {
        let parameters = identifier.parameters;
        match identifier.oid {
            RSA => null_or_absent(parameters).map(|()| Self::Rsa),
            EC => named_curve(parameters).map(Self::Ec),
            ED25519 => absent("Ed25519", parameters).map(|()| Self::Ed25519),
            X25519 => absent("X25519", parameters).map(|()| Self::X25519),
            ML_KEM_512 => absent("ML-KEM-512", parameters).map(|()| Self::MlKem(MlKemSet::MlKem512)),
            ML_KEM_768 => absent("ML-KEM-768", parameters).map(|()| Self::MlKem(MlKemSet::MlKem768)),
            ML_KEM_1024 => absent("ML-KEM-1024", parameters).map(|()| Self::MlKem(MlKemSet::MlKem1024)),
            ML_DSA_44 => absent("ML-DSA-44", parameters).map(|()| Self::MlDsa(MlDsaSet::MlDsa44)),
            ML_DSA_65 => absent("ML-DSA-65", parameters).map(|()| Self::MlDsa(MlDsaSet::MlDsa65)),
            ML_DSA_87 => absent("ML-DSA-87", parameters).map(|()| Self::MlDsa(MlDsaSet::MlDsa87)),
            HSS => absent("HSS", parameters).map(|()| Self::Hss),
            XMSS => absent("XMSS", parameters).map(|()| Self::Xmss),
            XMSS_MT => absent("XMSS^MT", parameters).map(|()| Self::XmssMt),
            other => {
                if let Some((set, _)) = SlhDsaSet::ALL.into_iter().zip(SLH_DSA).find(|(_, oid)| *oid == other)
                {
                    return absent(set.standard_name(), parameters).map(|()| Self::SlhDsa(set));
                }
                match CompositeAlg::ALL.into_iter().zip(COMPOSITES).find(|(_, oid)| *oid == other) {
                    Some((alg, _)) => absent(alg.standard_name(), parameters).map(|()| Self::Composite(alg)),
                    None => Err(KeyError::UnsupportedAlgorithm { found: oid::shown(&other) }),
                }
            }
        }
    }

    /// Returns the identifier: RSA with NULL, EC with the named curve, the others without parameters.
    pub(crate) fn identifier(self) -> Result<AlgorithmIdentifierRef<'static>, KeyError> {
        let (oid, parameters) = match self {
            // RFC 8017 A.1 and RFC 4055 1.2 require NULL for rsaEncryption. An absent field would change the
            // SubjectPublicKeyInfo, and so the fingerprint.
            Self::Rsa => (RSA, Some(AnyRef::from(Null))),
            Self::Ec(curve) => (EC, Some(ec::facts(curve)?.oid.into())),
            Self::Ed25519 => (ED25519, None),
            Self::X25519 => (X25519, None),
            Self::MlKem(MlKemSet::MlKem512) => (ML_KEM_512, None),
            Self::MlKem(MlKemSet::MlKem768) => (ML_KEM_768, None),
            Self::MlKem(MlKemSet::MlKem1024) => (ML_KEM_1024, None),
            Self::MlDsa(MlDsaSet::MlDsa44) => (ML_DSA_44, None),
            Self::MlDsa(MlDsaSet::MlDsa65) => (ML_DSA_65, None),
            Self::MlDsa(MlDsaSet::MlDsa87) => (ML_DSA_87, None),
            Self::SlhDsa(set) => {
                let known = SlhDsaSet::ALL.into_iter().zip(SLH_DSA).find(|(known, _)| *known == set);
                (known.ok_or_else(|| not_encoded("an unknown parameter set"))?.1, None)
            }
            Self::Composite(alg) => {
                let known = CompositeAlg::ALL.into_iter().zip(COMPOSITES).find(|(known, _)| *known == alg);
                (known.ok_or_else(|| not_encoded("an unknown composite"))?.1, None)
            }
            Self::Hss => (HSS, None),
            Self::Xmss => (XMSS, None),
            Self::XmssMt => (XMSS_MT, None),
            Self::MlKem(_) | Self::MlDsa(_) => return Err(not_encoded("an unknown parameter set")),
        };
        Ok(AlgorithmIdentifierRef { oid, parameters })
    }
}

/// Accepts NULL, which RFC 8017 A.1 requires, and absent parameters, which some programs write.
fn null_or_absent(parameters: Option<AnyRef<'_>>) -> Result<(), KeyError> {
    match parameters {
        Some(any) if !any.is_null() => {
            Err(KeyError::AlgorithmParameters { algorithm: "RSA", expected: "NULL" })
        }
        _ => Ok(()),
    }
}

/// Rejects any parameters. RFC 8410 section 3.
fn absent(algorithm: &'static str, parameters: Option<AnyRef<'_>>) -> Result<(), KeyError> {
    match parameters {
        Some(_) => Err(KeyError::AlgorithmParameters { algorithm, expected: "nothing" }),
        None => Ok(()),
    }
}

/// Returns the named curve. RFC 5480 2.1.1 forbids implicit and explicit curves.
fn named_curve(parameters: Option<AnyRef<'_>>) -> Result<Curve, KeyError> {
    let Some(any) = parameters else {
        return Err(KeyError::UnsupportedCurve { found: "no curve".to_owned() });
    };
    match any.decode_as::<ObjectIdentifier>() {
        Ok(oid) => ec::curve(oid),
        // NULL is implicitCurve: the curve is that of the certificate's issuer.
        Err(_) if any.is_null() => Err(KeyError::UnsupportedCurve {
            found: "the curve of an issuer (implicit parameters)".to_owned(),
        }),
        Err(_) => Err(KeyError::ExplicitCurve),
    }
}

/// Encodes a SEQUENCE of encoded members. The result is made in one piece, so that a caller who wipes it leaves no
/// copy.
#[cfg(feature = "key-files")]
pub(crate) fn sequence(members: &[&[u8]]) -> Result<Vec<u8>, KeyError> {
    let content_len = members.iter().map(|member| member.len()).sum::<usize>();
    let len = Length::try_from(content_len).map_err(not_encoded)?;
    let header = Header::new(Tag::Sequence, len).to_der().map_err(not_encoded)?;
    // A buffer that grew would leave parts of a private key in freed memory, which the caller cannot wipe.
    let mut der = Vec::with_capacity(header.len() + content_len);
    der.extend_from_slice(&header);
    members.iter().for_each(|member| der.extend_from_slice(member));
    Ok(der)
}

/// An OCTET STRING.
#[cfg(feature = "key-files")]
pub(crate) fn octets(bytes: &[u8]) -> Result<Vec<u8>, KeyError> {
    OctetStringRef::new(bytes).and_then(|octets| octets.to_der()).map_err(not_encoded)
}

/// An INTEGER of big-endian bytes, never negative.
#[cfg(feature = "threshold")]
pub(crate) fn integer(bytes: &[u8]) -> Result<Vec<u8>, KeyError> {
    der::asn1::UintRef::new(bytes).and_then(|integer| integer.to_der()).map_err(not_encoded)
}

/// An OCTET STRING of secret bytes.
pub(crate) fn secret_octets(bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    OctetStringRef::new(bytes).and_then(|octets| octets.to_der()).map(Zeroizing::new).map_err(not_encoded)
}

/// Turns a parser's error into a [`KeyError`] with the reason and its position, and without content of the file.
pub(crate) fn malformed<E: Display>(structure: &'static str) -> impl Fn(E) -> KeyError {
    move |error| {
        let reason = error.to_string();
        // In a damaged file an identifier may consist of bytes of the key.
        let shown = reason.split_once("OID: ").map_or(reason.as_str(), |(before, _)| before);
        KeyError::Der { structure, reason: shown.trim_end().to_owned() }
    }
}

/// Turns an encoder's error into a [`KeyError`]. Encoders fail only on lengths that no validated key has.
pub(crate) fn not_encoded<E>(_: E) -> KeyError {
    KeyError::Machine { what: "encoding a key" }
}

//! Public halves of keys, from attributes of objects and from certificates.

use cryptoki::object::{Attribute, KeyType, MlDsaParameterSetType, MlKemParameterSetType, ParameterSetType};
use oarlock::keys::{KeyError, raw, rsa};
use oarlock::{Curve, Key, MlDsaSet, MlKemSet};

/// A public key in the form in which tokens have it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PublicHalf {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    Ec(Curve, Vec<u8>),
    Ed25519(Vec<u8>),
    X25519(Vec<u8>),
    MlDsa(MlDsaSet, Vec<u8>),
    MlKem(MlKemSet, Vec<u8>),
}

/// The values of `CKA_EC_PARAMS`: an OBJECT IDENTIFIER, or the name of a curve as a PrintableString. PKCS#11 3.0 2.3.3,
/// RFC 5480 2.1.1.1, RFC 8410 section 3.
const P256: &[u8] = b"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
const P384: &[u8] = b"\x06\x05\x2b\x81\x04\x00\x22";
const ED25519: [&[u8]; 2] = [b"\x06\x03\x2b\x65\x70", b"\x13\x0cedwards25519"];
const X25519: [&[u8]; 2] = [b"\x06\x03\x2b\x65\x6e", b"\x13\x0acurve25519"];

const OCTET_STRING: u8 = 0x04;
const SEQUENCE: u8 = 0x30;
/// The version of a certificate, which is explicitly tagged. RFC 5280 4.1.
const VERSION: u8 = 0xA0;

impl PublicHalf {
    /// Returns the key of attributes, or `None` if one is missing or the curve or the parameter set is unknown.
    pub(crate) fn from_attributes(key_type: KeyType, attributes: &[Attribute]) -> Option<Self> {
        match (key_type, attributes) {
            (KeyType::RSA, [Attribute::Modulus(n), Attribute::PublicExponent(e)])
                if !n.is_empty() && !e.is_empty() =>
            {
                Some(Self::Rsa { modulus: stripped(n), exponent: stripped(e) })
            }
            (_, [Attribute::EcParams(curve), Attribute::EcPoint(point)]) => on_curve(curve, point),
            (KeyType::ML_DSA, [Attribute::ParameterSet(set), Attribute::Value(public)]) => {
                Some(Self::MlDsa(ml_dsa_set(*set)?, public.clone()))
            }
            (KeyType::ML_KEM, [Attribute::ParameterSet(set), Attribute::Value(public)]) => {
                Some(Self::MlKem(ml_kem_set(*set)?, public.clone()))
            }
            _ => None,
        }
    }

    /// Imports the key, which checks it.
    pub(crate) fn import(&self) -> Result<Key, KeyError> {
        match self {
            Self::Rsa { modulus, exponent } => rsa::public(modulus, exponent),
            Self::Ec(curve, point) => raw::ec_public(*curve, point),
            Self::Ed25519(public) => raw::ed25519_public(public),
            Self::X25519(public) => raw::x25519_public(public),
            Self::MlDsa(set, public) => raw::ml_dsa_public(*set, public),
            Self::MlKem(set, public) => raw::ml_kem_public(*set, public),
        }
    }
}

/// Returns the SubjectPublicKeyInfo of a certificate in DER, or `None` if the structure is another one. RFC 5280 4.1.
pub(crate) fn certificate_spki(der: &[u8]) -> Option<&[u8]> {
    let certificate = content(SEQUENCE, der)?;
    let mut fields = content(SEQUENCE, certificate)?;
    if fields.first() == Some(&VERSION) {
        fields = split_element(fields)?.1;
    }
    // Serial number, signature algorithm, issuer, validity and subject.
    for _ in 0..5 {
        fields = split_element(fields)?.1;
    }
    let (spki, _) = split_element(fields)?;
    (spki.first() == Some(&SEQUENCE)).then_some(spki)
}

fn on_curve(curve: &[u8], point: &[u8]) -> Option<PublicHalf> {
    // The standard wants an OCTET STRING around the point; some modules give the point itself.
    let whole = split_element(point).filter(|(element, rest)| element[0] == OCTET_STRING && rest.is_empty());
    let bare = whole.and_then(|(element, _)| content(OCTET_STRING, element));
    let sized = |len: usize| if point.len() == len { Some(point.to_vec()) } else { bare.map(<[u8]>::to_vec) };
    match curve {
        P256 => Some(PublicHalf::Ec(Curve::P256, sized(65)?)),
        P384 => Some(PublicHalf::Ec(Curve::P384, sized(97)?)),
        _ if ED25519.contains(&curve) => Some(PublicHalf::Ed25519(sized(32)?)),
        _ if X25519.contains(&curve) => Some(PublicHalf::X25519(sized(32)?)),
        _ => None,
    }
}

fn ml_dsa_set(set: ParameterSetType) -> Option<MlDsaSet> {
    let set = MlDsaParameterSetType::from(set);
    let sets = [
        (MlDsaParameterSetType::ML_DSA_44, MlDsaSet::MlDsa44),
        (MlDsaParameterSetType::ML_DSA_65, MlDsaSet::MlDsa65),
        (MlDsaParameterSetType::ML_DSA_87, MlDsaSet::MlDsa87),
    ];
    sets.into_iter().find(|(known, _)| *known == set).map(|(_, set)| set)
}

fn ml_kem_set(set: ParameterSetType) -> Option<MlKemSet> {
    let set = MlKemParameterSetType::from(set);
    let sets = [
        (MlKemParameterSetType::ML_KEM_512, MlKemSet::MlKem512),
        (MlKemParameterSetType::ML_KEM_768, MlKemSet::MlKem768),
        (MlKemParameterSetType::ML_KEM_1024, MlKemSet::MlKem1024),
    ];
    sets.into_iter().find(|(known, _)| *known == set).map(|(_, set)| set)
}

/// Returns a big-endian number without leading zeros.
fn stripped(number: &[u8]) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number[zeros..].to_vec()
}

fn content(tag: u8, der: &[u8]) -> Option<&[u8]> {
    let (element, _) = split_element(der)?;
    let header = 2 + long_form_len(element[1]);
    (element[0] == tag).then(|| &element[header..])
}

/// Returns the first element of DER with its header, and the bytes behind it. It has at least two bytes.
fn split_element(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let [_, first, rest @ ..] = der else { return None };
    let extra = long_form_len(*first);
    let len = match extra {
        0 if *first < 0x80 => usize::from(*first),
        // 0x80 is the indefinite length, which DER does not have. X.690 10.1. Four bytes are more than any certificate.
        1..=4 => rest.get(..extra)?.iter().fold(0, |len, byte| len << 8 | usize::from(*byte)),
        _ => return None,
    };
    der.split_at_checked(len.checked_add(2 + extra)?)
}

fn long_form_len(first: u8) -> usize {
    if first < 0x80 { 0 } else { usize::from(first & 0x7F) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_taken_bare_and_as_octet_strings() {
        let key = oarlock::keys::generate::ec(Curve::P256).unwrap();
        let spki = oarlock::keys::export::spki_der(&key).unwrap();
        let point = &spki[spki.len() - 65..];
        let wrapped = [&[OCTET_STRING, 65][..], point].concat();
        for form in [point, &wrapped] {
            let attributes = [Attribute::EcParams(P256.to_vec()), Attribute::EcPoint(form.to_vec())];
            let half = PublicHalf::from_attributes(KeyType::EC, &attributes).unwrap();
            assert_eq!(half.import().unwrap().fingerprint(), key.fingerprint());
        }
        let ed = [Attribute::EcParams(ED25519[1].to_vec()), Attribute::EcPoint(vec![4; 32])];
        assert_eq!(
            PublicHalf::from_attributes(KeyType::EC_EDWARDS, &ed),
            Some(PublicHalf::Ed25519(vec![4; 32]))
        );
        let other =
            [Attribute::EcParams(b"\x06\x05\x2b\x81\x04\x00\x23".to_vec()), Attribute::EcPoint(vec![4; 133])];
        assert_eq!(PublicHalf::from_attributes(KeyType::EC, &other), None);
    }

    #[test]
    fn the_key_of_a_certificate_is_found_and_damage_is_refused() {
        let element = |tag: u8, content: &[u8]| {
            [&[tag, 0x82, (content.len() >> 8) as u8, content.len() as u8][..], content].concat()
        };
        let key = oarlock::keys::generate::ed25519().unwrap();
        let spki = oarlock::keys::export::spki_der(&key).unwrap();
        let fields = [
            element(0x02, &[1]),
            element(0x30, &[]),
            element(0x30, &[7; 300]),
            element(0x30, &[]),
            element(0x30, &[]),
        ];
        for version in [element(VERSION, &[2, 1, 2]), Vec::new()] {
            let tbs = [version, fields.concat(), spki.clone(), element(0xA3, &[])].concat();
            let certificate = element(0x30, &[element(0x30, &tbs), element(0x30, &[])].concat());
            assert_eq!(certificate_spki(&certificate), Some(&spki[..]));
            for len in 0..certificate.len() {
                assert_eq!(certificate_spki(&certificate[..len]), None, "{len}");
            }
        }
        assert_eq!(certificate_spki(b"\x30\x80\x30\x00\x00\x00"), None);
        assert_eq!(certificate_spki(&[0x30, 0x89, 1, 1, 1, 1, 1, 1, 1, 1, 1]), None);
    }
}

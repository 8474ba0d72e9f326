//! The few DER values in attributes: names of curves, and points in octet strings.

use oarlock::{Curve, Key};

use crate::constants::{KeyTypeNumber, ReturnCode};

/// A curve that `CKA_EC_PARAMS` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedCurve {
    Nist(Curve),
    Edwards25519,
    Curve25519,
}

/// The object identifiers, in DER. RFC 5480 2.1.1.1, RFC 8410 section 3.
const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const P384: &[u8] = &[6, 5, 0x2b, 0x81, 4, 0, 0x22];
const ED25519: &[u8] = &[6, 3, 0x2b, 0x65, 0x70];
const X25519: &[u8] = &[6, 3, 0x2b, 0x65, 0x6e];
/// The names that PKCS#11 allows in place of identifiers: those of SEC 2, X9.62, FIPS 186 and RFC 7748. PKCS#11 3.2
/// 6.3.3.
const NAMES: [(&str, NamedCurve); 7] = [
    ("secp256r1", NamedCurve::Nist(Curve::P256)),
    ("prime256v1", NamedCurve::Nist(Curve::P256)),
    ("P-256", NamedCurve::Nist(Curve::P256)),
    ("secp384r1", NamedCurve::Nist(Curve::P384)),
    ("P-384", NamedCurve::Nist(Curve::P384)),
    ("edwards25519", NamedCurve::Edwards25519),
    ("curve25519", NamedCurve::Curve25519),
];

impl NamedCurve {
    /// Reads `CKA_EC_PARAMS`.
    pub(crate) fn read(params: &[u8]) -> Result<Self, ReturnCode> {
        match params {
            P256 => Ok(Self::Nist(Curve::P256)),
            P384 => Ok(Self::Nist(Curve::P384)),
            ED25519 => Ok(Self::Edwards25519),
            X25519 => Ok(Self::Curve25519),
            // A PrintableString of less than 128 bytes.
            [0x13, len, name @ ..] if name.len() == usize::from(*len) => {
                let named = NAMES.into_iter().find(|(candidate, _)| candidate.as_bytes() == name);
                named.map(|(_, curve)| curve).ok_or(ReturnCode::CurveNotSupported)
            }
            // Another identifier, or explicit parameters. RFC 5480 2.1.1.
            [6 | 0x30, ..] => Err(ReturnCode::CurveNotSupported),
            _ => Err(ReturnCode::DomainParamsInvalid),
        }
    }

    /// Returns the curve of a key.
    pub(crate) fn from_key(key: &Key) -> Option<Self> {
        if let Some((curve, _)) = key.ec_public() {
            return Some(Self::Nist(curve));
        }
        if key.ed25519_public().is_some() {
            return Some(Self::Edwards25519);
        }
        key.x25519_public().map(|_| Self::Curve25519)
    }

    /// Returns `CKA_EC_PARAMS`.
    pub(crate) fn params(self) -> &'static [u8] {
        match self {
            Self::Nist(Curve::P256) => P256,
            Self::Nist(_) => P384,
            Self::Edwards25519 => ED25519,
            Self::Curve25519 => X25519,
        }
    }

    /// Returns the type of keys on the curve.
    pub(crate) fn key_type(self) -> KeyTypeNumber {
        match self {
            Self::Nist(_) => KeyTypeNumber::EC,
            Self::Edwards25519 => KeyTypeNumber::EC_EDWARDS,
            Self::Curve25519 => KeyTypeNumber::EC_MONTGOMERY,
        }
    }

    /// Returns the lengths in which a point may come without an octet string around it.
    fn point_lens(self) -> &'static [usize] {
        match self {
            Self::Nist(Curve::P256) => &[33, 65],
            Self::Nist(_) => &[49, 97],
            Self::Edwards25519 | Self::Curve25519 => &[32],
        }
    }

    /// Returns the point of `CKA_EC_POINT`, which is an octet string in DER, or bare as old programs write it.
    pub(crate) fn point(self, value: &[u8]) -> &[u8] {
        let is_bare = self.point_lens().contains(&value.len());
        // An octet string is two bytes longer than its content, so no length is both.
        if is_bare { value } else { unwrap_octets(value).unwrap_or(value) }
    }
}

/// Returns the content of an octet string of less than 256 bytes.
pub(crate) fn unwrap_octets(value: &[u8]) -> Option<&[u8]> {
    match value {
        // DER has one way to write a length: one byte below 128, and 0x81 before the byte from there on.
        [4, len @ 0..=0x7f, content @ ..] | [4, 0x81, len @ 0x80..=0xff, content @ ..]
            if content.len() == usize::from(*len) =>
        {
            Some(content)
        }
        _ => None,
    }
}

/// Wraps less than 256 bytes into an octet string.
pub(crate) fn wrap_octets(content: &[u8]) -> Vec<u8> {
    // The longest content is a point of P-384 with 97 bytes, so nothing is cut off.
    let len = content.len() as u8;
    let header: &[u8] = if len < 0x80 { &[4, len] } else { &[4, 0x81, len] };
    [header, content].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_come_in_octet_strings_or_bare() {
        let point = [4; 65];
        let curve = NamedCurve::Nist(Curve::P256);
        assert_eq!(curve.point(&wrap_octets(&point)), point);
        assert_eq!(curve.point(&point), point);
        let long = [9; 200];
        assert_eq!(unwrap_octets(&wrap_octets(&long)), Some(&long[..]));
        assert_eq!(unwrap_octets(&[4, 3, 1, 2]), None);
    }

    #[test]
    fn a_curve_is_read_as_it_is_written() {
        for curve in [
            NamedCurve::Nist(Curve::P256),
            NamedCurve::Nist(Curve::P384),
            NamedCurve::Edwards25519,
            NamedCurve::Curve25519,
        ] {
            assert_eq!(NamedCurve::read(curve.params()), Ok(curve));
        }
        for (name, curve) in NAMES {
            let read = |tag, len: usize| NamedCurve::read(&[&[tag, len as u8][..], name.as_bytes()].concat());
            assert_eq!(read(0x13, name.len()), Ok(curve), "{name}");
            // Too long, and a UTF8String.
            assert_eq!(read(0x13, name.len() + 1), Err(ReturnCode::DomainParamsInvalid), "{name}");
            assert_eq!(read(0x0c, name.len()), Err(ReturnCode::DomainParamsInvalid), "{name}");
        }
        assert_eq!(NamedCurve::read(b"\x13\x09secp521r1"), Err(ReturnCode::CurveNotSupported));
        let p521 = [6, 5, 0x2b, 0x81, 4, 0, 0x23];
        assert_eq!(NamedCurve::read(&p521), Err(ReturnCode::CurveNotSupported));
        assert_eq!(NamedCurve::read(&[]), Err(ReturnCode::DomainParamsInvalid));
    }
}

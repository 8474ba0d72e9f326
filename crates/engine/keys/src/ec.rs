//! EC scalars and points: their forms and ranges, and the check that they belong together.

use aws_lc_rs::agreement::{self, ECDH_P256, ECDH_P384, ParsedPublicKey, PrivateKey, UnparsedPublicKey};
use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, Integer, Odd};
use der::asn1::ObjectIdentifier;
use oarlock_core::{Curve, EcPrivateParts, KeyParts, SecretBytes};
use zeroize::Zeroizing;

use crate::{KeyError, oid};

/// The constants of one curve.
pub(crate) struct CurveFacts {
    curve: Curve,
    /// RFC 5480 2.1.1.1.
    pub(crate) oid: &'static ObjectIdentifier,
    agreement: &'static agreement::Algorithm,
    /// p and b of `y^2 = x^3 - 3x + b (mod p)`, p = 3 mod 4. SEC 2 2.4.2 and 2.5.1.
    p: &'static str,
    b: &'static str,
}

static CURVES: [CurveFacts; 2] = [
    CurveFacts {
        curve: Curve::P256,
        oid: &ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7"),
        agreement: &ECDH_P256,
        p: "FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF",
        b: "5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B",
    },
    CurveFacts {
        curve: Curve::P384,
        oid: &ObjectIdentifier::new_unwrap("1.3.132.0.34"),
        agreement: &ECDH_P384,
        p: "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFFFF0000000000000000FFFFFFFF",
        b: "B3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF",
    },
];

pub(crate) fn facts(curve: Curve) -> Result<&'static CurveFacts, KeyError> {
    let found = CURVES.iter().find(|facts| facts.curve == curve);
    found.ok_or_else(|| KeyError::UnsupportedCurve { found: curve.to_string() })
}

/// Returns the curve of an object identifier.
pub(crate) fn curve(oid: ObjectIdentifier) -> Result<Curve, KeyError> {
    let found = CURVES.iter().find(|facts| *facts.oid == oid);
    found.map(|facts| facts.curve).ok_or_else(|| KeyError::UnsupportedCurve { found: oid::shown(&oid) })
}

/// Imports a scalar in [1, n-1]. If `public` is given, it must be the scalar's own point. SEC 1 3.2.1.
pub(crate) fn private(curve: Curve, scalar: &[u8], public: Option<&[u8]>) -> Result<KeyParts, KeyError> {
    let scalar = at_width(scalar, curve.scalar_len())?;
    let derived = derive(curve, &scalar)?;
    if let Some(public) = public
        && uncompressed(curve, public)? != derived
    {
        return Err(KeyError::PublicMismatch { algorithm: "EC" });
    }
    let scalar = SecretBytes::from(scalar.as_slice());
    Ok(KeyParts::EcPrivate(EcPrivateParts { curve, scalar, public: derived }))
}

/// A public key of a point on the curve, compressed or not.
pub(crate) fn public(curve: Curve, point: &[u8]) -> Result<KeyParts, KeyError> {
    Ok(KeyParts::EcPublic(curve, uncompressed(curve, point)?))
}

/// Brings a scalar to the width of its curve. RFC 5915 section 3 fixes the width, but some writers strip leading
/// zeros and some add one.
fn at_width(scalar: &[u8], width: usize) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let excess = scalar.len().saturating_sub(width);
    // All excess bytes are combined before the comparison, so that the time does not depend on their values.
    if scalar.is_empty() || scalar[..excess].iter().fold(0, |all, byte| all | byte) != 0 {
        let expected = format!("{width} bytes");
        return Err(KeyError::Length { what: "EC private scalar", expected, found: scalar.len() });
    }
    let digits = &scalar[excess..];
    let mut wide = Zeroizing::new(vec![0; width]);
    wide[width - digits.len()..].copy_from_slice(digits);
    Ok(wide)
}

fn derive(curve: Curve, scalar: &[u8]) -> Result<Vec<u8>, KeyError> {
    // AWS-LC checks the range [1, n-1] here.
    let key = PrivateKey::from_private_key(facts(curve)?.agreement, scalar)
        .map_err(|_| KeyError::ScalarRange { curve })?;
    let public = key.compute_public_key();
    let public = public.map_err(|_| KeyError::Machine { what: "deriving an EC public key" })?;
    Ok(public.as_ref().to_vec())
}

/// Checks that a point is on the curve and returns it as `04 || x || y`. SEC 1 2.3.4 and 3.2.2.1.
fn uncompressed(curve: Curve, point: &[u8]) -> Result<Vec<u8>, KeyError> {
    let width = curve.scalar_len();
    let (compressed, full) = (1 + width, 1 + 2 * width);
    let point = match (point.first().copied(), point.len()) {
        // SEC 1 2.3.3: the single byte 0 encodes the point at infinity.
        (Some(0), 1) => return Err(KeyError::PointAtInfinity { curve }),
        (Some(4), len) if len == full => point.to_vec(),
        (Some(form @ (2 | 3)), len) if len == compressed => decompress(curve, form == 3, &point[1..])?,
        (form, found) => {
            let form = form.unwrap_or(0);
            return Err(KeyError::PointForm { curve, compressed, uncompressed: full, form, found });
        }
    };
    // Both curves have cofactor 1: every point on the curve except infinity has order n. So the check of the order,
    // SEC 1 3.2.2.1 step 4, is not needed.
    let is_on_curve = match curve {
        // A tenth of AWS-LC's time, which first reads the bytes as SubjectPublicKeyInfo. TLS has such keys in every
        // handshake with a client certificate.
        Curve::P256 => crrl::p256::Point::decode(&point).is_some(),
        _ => ParsedPublicKey::try_from(&UnparsedPublicKey::new(facts(curve)?.agreement, &point)).is_ok(),
    };
    if is_on_curve { Ok(point) } else { Err(KeyError::PointOffCurve { curve }) }
}

/// Computes `y = (x^3 - 3x + b)^((p+1)/4)` with the given parity. SEC 1 2.3.4 step 2.
fn decompress(curve: Curve, is_odd: bool, x: &[u8]) -> Result<Vec<u8>, KeyError> {
    let facts = facts(curve)?;
    let p = number(facts.p)?;
    let x_number = BoxedUint::from_be_slice_vartime(x);
    if x_number >= *p {
        return Err(KeyError::PointOffCurve { curve });
    }
    // p = 3 mod 4 for both curves, so this power of a square is one of its roots. The point is public, so the time may
    // depend on it.
    let quarter = p.as_ref().wrapping_add(BoxedUint::one()).wrapping_shr_vartime(2);
    let field = BoxedMontyParams::new_vartime(p);
    let x_field = BoxedMontyForm::new(x_number, &field);
    let b = BoxedMontyForm::new(number(facts.b)?.get(), &field);
    let three_x = x_field.double().add(&x_field);
    let square = x_field.square().mul(&x_field).sub(&three_x).add(&b);
    let root = square.pow(&quarter);
    // About half of all x belong to no point. The power is then not a root.
    if root.square() != square {
        return Err(KeyError::PointOffCurve { curve });
    }
    let has_parity = bool::from(root.retrieve().is_odd()) == is_odd;
    let y = if has_parity { root } else { root.neg() };
    Ok([&[4], x, &y.retrieve().to_be_bytes()].concat())
}

/// Reads p or b of a curve. All four are odd.
fn number(hex: &str) -> Result<Odd<BoxedUint>, KeyError> {
    let bits = 4 * u32::try_from(hex.len()).unwrap_or(u32::MAX);
    let number = BoxedUint::from_be_hex(hex, bits).into_option().and_then(|n| n.into_odd().into_option());
    number.ok_or(KeyError::Machine { what: "reading the constants of a curve" })
}

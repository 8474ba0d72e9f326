//! EC private keys in SEC 1 form. RFC 5915 section 3.

use der::asn1::{AnyRef, OctetStringRef};
use der::{Decode, SliceReader, Tag, Tagged};
use oarlock_core::{Curve, KeyParts};
use sec1::EcPrivateKey;

use crate::{KeyError, asn1, ec};

/// Imports a key. `outer` is the curve of the PKCS#8 around it, if there is one; otherwise the key must name its curve.
pub(super) fn private(bytes: &[u8], outer: Option<Curve>) -> Result<KeyParts, KeyError> {
    // The parser accepts named curves only. The second look gives explicit curves an error of their own.
    let key = EcPrivateKey::from_der(bytes).map_err(|error| match has_explicit_curve(bytes) {
        true => KeyError::ExplicitCurve,
        false => asn1::malformed("SEC 1 ECPrivateKey")(error),
    })?;
    let named = key.parameters.and_then(|parameters| parameters.named_curve());
    let inner = named.map(ec::curve).transpose()?;
    let curve = match (outer, inner) {
        (Some(outer), Some(inner)) if outer != inner => return Err(KeyError::CurvesDiffer { outer, inner }),
        (Some(curve), _) | (None, Some(curve)) => curve,
        (None, None) => return Err(KeyError::UnsupportedCurve { found: "no curve".to_owned() }),
    };
    ec::private(curve, key.private_key, key.public_key)
}

/// Returns true if `parameters [0]` is a SEQUENCE with the curve's parameters and not the name of a curve.
fn has_explicit_curve(bytes: &[u8]) -> bool {
    let parameters = || {
        let outer = AnyRef::from_der(bytes).ok()?;
        let mut members = SliceReader::new(outer.value()).ok()?;
        u8::decode(&mut members).ok()?;
        <&OctetStringRef>::decode(&mut members).ok()?;
        let tagged = AnyRef::decode(&mut members).ok()?;
        AnyRef::decode(&mut SliceReader::new(tagged.value()).ok()?).ok().map(|inner| (tagged, inner.tag()))
    };
    parameters().is_some_and(|(tagged, inner)| tagged.tag().is_context_specific() && inner == Tag::Sequence)
}

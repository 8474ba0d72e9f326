//! EC private keys in SEC 1 form. RFC 5915 section 3.

use der::Decode;
use oarlock_core::{Curve, KeyParts};
use sec1::EcPrivateKey;

use crate::{KeyError, asn1, ec};

/// `outer` is the curve that a PKCS#8 around it names; without one the key has to name it itself.
pub(super) fn private(bytes: &[u8], outer: Option<Curve>) -> Result<KeyParts, KeyError> {
    let key = EcPrivateKey::from_der(bytes).map_err(asn1::malformed("SEC 1 ECPrivateKey"))?;
    let named = key.parameters.and_then(|parameters| parameters.named_curve());
    let inner = named.map(ec::curve).transpose()?;
    let curve = match (outer, inner) {
        (Some(outer), Some(inner)) if outer != inner => return Err(KeyError::CurvesDiffer { outer, inner }),
        (Some(curve), _) | (None, Some(curve)) => curve,
        (None, None) => return Err(KeyError::UnsupportedCurve { found: "no curve".to_owned() }),
    };
    ec::private(curve, key.private_key, key.public_key)
}

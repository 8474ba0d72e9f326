//! Public keys of HSS, XMSS and XMSS^MT. They are the raw keys of RFC 8554 and RFC 8391, without a wrapper. RFC 9802
//! section 3.

use der::Decode;
use der::asn1::OctetStringRef;
use oarlock_core::{HssPublicKey, KeyParts, XmssPublicKey};

use crate::KeyError;

/// Imports an HSS public key.
pub(crate) fn hss(public: &[u8]) -> Result<KeyParts, KeyError> {
    // The module of RFC 8708 wrapped the key in an OCTET STRING, and programs of its time do. A raw key begins with zero,
    // because it has at most eight levels.
    let wrapped = <&OctetStringRef>::from_der(public).ok();
    let raw = wrapped.map_or(public, OctetStringRef::as_bytes);
    Ok(KeyParts::HssPublic(HssPublicKey::parse(raw)?))
}

/// Imports an XMSS public key.
pub(crate) fn xmss(public: &[u8]) -> Result<KeyParts, KeyError> {
    Ok(KeyParts::XmssPublic(XmssPublicKey::parse(public)?))
}

/// Imports an XMSS^MT public key.
pub(crate) fn xmss_mt(public: &[u8]) -> Result<KeyParts, KeyError> {
    Ok(KeyParts::XmssPublic(XmssPublicKey::parse_layered(public)?))
}

//! The fingerprints of keys.

use aws_lc_rs::digest;
use oarlock_core::{Curve, EcPrivateParts, Fingerprint, Key, KeyParts, X25519PrivateParts};

use crate::{KeyError, export, random};

/// Makes a local key of validated parts, with its fingerprint.
pub(crate) fn local(parts: KeyParts) -> Result<Key, KeyError> {
    let fingerprint = of(&parts)?;
    Ok(Key::local(parts, fingerprint))
}

/// The bytes before the key in a SubjectPublicKeyInfo. RFC 8410 section 4, RFC 5480 section 2.
const X25519_HEAD: &[u8] = b"\x30\x2A\x30\x05\x06\x03\x2B\x65\x6E\x03\x21\x00";
const P256_HEAD: &[u8] = b"\x30\x59\x30\x13\x06\x07\x2A\x86\x48\xCE\x3D\x02\x01\
    \x06\x08\x2A\x86\x48\xCE\x3D\x03\x01\x07\x03\x42\x00";
const P384_HEAD: &[u8] = b"\x30\x76\x30\x10\x06\x07\x2A\x86\x48\xCE\x3D\x02\x01\
    \x06\x05\x2B\x81\x04\x00\x22\x03\x62\x00";

/// Returns SHA-256 of the SubjectPublicKeyInfo, or 32 random bytes if there is no public half.
pub(crate) fn of(parts: &KeyParts) -> Result<Fingerprint, KeyError> {
    // Every handshake has such keys, so they are not encoded by the general way.
    if let Some((head, public)) = split_encoding(parts) {
        let mut hash = digest::Context::new(&digest::SHA256);
        hash.update(head);
        hash.update(public);
        return Ok(Fingerprint::new(bytes_of(&hash.finish())));
    }
    match export::spki_of(parts)? {
        Some(spki) => Ok(Fingerprint::new(bytes_of(&digest::digest(&digest::SHA256, &spki)))),
        // Fingerprints are shown and logged. A short secret could be found by a search for its hash.
        None => random::draw_bytes().map(Fingerprint::new),
    }
}

/// Returns the SubjectPublicKeyInfo of a key on a curve as the bytes before the public half, and that half.
fn split_encoding(parts: &KeyParts) -> Option<(&'static [u8], &[u8])> {
    let (curve, point) = match parts {
        KeyParts::X25519Public(public) | KeyParts::X25519Private(X25519PrivateParts { public, .. }) => {
            return Some((X25519_HEAD, public));
        }
        KeyParts::EcPublic(curve, point) => (curve, point),
        KeyParts::EcPrivate(EcPrivateParts { curve, public, .. }) => (curve, public),
        _ => return None,
    };
    match curve {
        Curve::P256 => Some((P256_HEAD, point)),
        Curve::P384 => Some((P384_HEAD, point)),
        _ => None,
    }
}

fn bytes_of(hash: &digest::Digest) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(hash.as_ref());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{generate, raw};

    #[test]
    fn keys_on_curves_have_the_fingerprint_of_their_encoding() {
        let mut keys = vec![generate::x25519().unwrap(), raw::x25519_public(&[9; 32]).unwrap()];
        for curve in [Curve::P256, Curve::P384] {
            let private = generate::ec(curve).unwrap();
            let Some(KeyParts::EcPrivate(EcPrivateParts { public, .. })) = private.parts() else { panic!() };
            keys.extend([raw::ec_public(curve, public).unwrap(), private]);
        }
        for key in keys {
            let parts = key.parts().unwrap();
            let spki = export::spki_of(parts).unwrap().unwrap();
            let (head, public) = split_encoding(parts).unwrap();
            assert_eq!([head, public].concat(), spki);
            let expected = Fingerprint::new(bytes_of(&digest::digest(&digest::SHA256, &spki)));
            assert_eq!(key.fingerprint(), expected);
        }
    }
}

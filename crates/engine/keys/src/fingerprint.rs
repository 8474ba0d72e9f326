//! The fingerprints of keys.

use aws_lc_rs::digest;
use oarlock_core::{Fingerprint, Key, KeyParts, X25519PrivateParts};

use crate::{KeyError, export, random};

/// Makes a local key of validated parts, with its fingerprint.
pub(crate) fn local(parts: KeyParts) -> Result<Key, KeyError> {
    let fingerprint = of(&parts)?;
    Ok(Key::local(parts, fingerprint))
}

/// The bytes before the key in a SubjectPublicKeyInfo of X25519. RFC 8410 section 4.
const X25519_HEAD: [u8; 12] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x6E, 0x03, 0x21, 0x00];

/// Returns SHA-256 of the SubjectPublicKeyInfo, or 32 random bytes if there is no public half.
pub(crate) fn of(parts: &KeyParts) -> Result<Fingerprint, KeyError> {
    // Two keys of every handshake, so they are not encoded by the general way.
    if let KeyParts::X25519Public(public) | KeyParts::X25519Private(X25519PrivateParts { public, .. }) = parts
    {
        let mut spki = [0; X25519_HEAD.len() + 32];
        spki[..X25519_HEAD.len()].copy_from_slice(&X25519_HEAD);
        spki[X25519_HEAD.len()..].copy_from_slice(public);
        return Ok(Fingerprint::new(sha256(&spki)));
    }
    match export::spki_of(parts)? {
        Some(spki) => Ok(Fingerprint::new(sha256(&spki))),
        // Fingerprints are shown and logged. A short secret could be found by a search for its hash.
        None => random::draw_bytes().map(Fingerprint::new),
    }
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x25519_keys_have_the_fingerprint_of_their_encoding() {
        for key in [crate::generate::x25519().unwrap(), crate::raw::x25519_public(&[9; 32]).unwrap()] {
            let spki = export::spki_of(key.parts().unwrap()).unwrap().unwrap();
            assert_eq!(key.fingerprint(), Fingerprint::new(sha256(&spki)));
        }
    }
}

//! The fingerprints of keys.

use aws_lc_rs::digest;
use oarlock_core::{Fingerprint, Key, KeyParts};

use crate::{KeyError, export, random};

/// Makes a local key of validated parts, with its fingerprint.
pub(crate) fn local(parts: KeyParts) -> Result<Key, KeyError> {
    let fingerprint = of(&parts)?;
    Ok(Key::local(parts, fingerprint))
}

/// Returns SHA-256 of the SubjectPublicKeyInfo, or 32 random bytes if there is no public half.
pub(crate) fn of(parts: &KeyParts) -> Result<Fingerprint, KeyError> {
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

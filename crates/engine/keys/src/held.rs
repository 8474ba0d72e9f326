//! Keys whose private part lives with a holder, such as an HSM or a remote server.

use oarlock_core::{Key, KeyKind};

use crate::{KeyError, import};

/// Creates a held key from its public half, a SubjectPublicKeyInfo in DER or, with the feature `key-files`, in PEM.
///
/// The key is of the private kind and has the fingerprint that the local key would have. `holder` is
/// [`Holder::name`](oarlock_core::Holder::name), and `reference` the holder's name for the key.
///
/// # Errors
/// [`KeyError::EmptyName`], and the errors of importing the public key.
pub fn from_spki(spki: &[u8], holder: &str, reference: &str) -> Result<Key, KeyError> {
    for (what, name) in [("holder name", holder), ("reference", reference)] {
        if name.is_empty() {
            return Err(KeyError::EmptyName { what });
        }
    }
    let public = import::public_key(spki)?;
    // The fingerprint depends on the public half only, so the held key and a local copy have the same one.
    let kind = private_kind(public.kind());
    Ok(Key::held(kind, holder, reference, public.parts().cloned(), public.fingerprint()))
}

fn private_kind(public: KeyKind) -> KeyKind {
    match public {
        KeyKind::RsaPublic(bits) => KeyKind::RsaPrivate(bits),
        KeyKind::EcPublic(curve) => KeyKind::EcPrivate(curve),
        KeyKind::Ed25519Public => KeyKind::Ed25519Private,
        KeyKind::X25519Public => KeyKind::X25519Private,
        KeyKind::MlKemPublic(set) => KeyKind::MlKemPrivate(set),
        KeyKind::MlDsaPublic(set) => KeyKind::MlDsaPrivate(set),
        KeyKind::SlhDsaPublic(set) => KeyKind::SlhDsaPrivate(set),
        KeyKind::CompositePublic(alg) => KeyKind::CompositePrivate(alg),
        other => other,
    }
}

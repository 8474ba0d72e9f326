//! Keys of OpenSSL's key managers: imported from the numbers of another provider's key, and exported as numbers.

mod import;
mod sizes;

use std::ffi::{CStr, c_int};
use std::sync::{PoisonError, RwLock};

use oarlock::Key;
use oarlock::engine_api::{KeyParts, RsaPrivateParts};
use oarlock::keys::{self, raw, rsa};
use oarlock::{Curve, KeyHome, KeyKind};

use self::import::{import_ec, import_edwards, import_rsa};
use self::sizes::KeySizes;
use crate::error::ProviderError;
use crate::ffi::libcrypto::params::{ParamList, ParamReader, ParamWriter};

/// The families of keys. Each has a key manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyFamily {
    Rsa,
    Ec,
    Ed25519,
    X25519,
}

impl KeyFamily {
    /// Returns the family of a key, or None if this provider has no key manager for it.
    pub(crate) fn of_key(key: &Key) -> Option<Self> {
        Some(match key.kind() {
            KeyKind::RsaPrivate(_) | KeyKind::RsaPublic(_) => Self::Rsa,
            KeyKind::EcPrivate(_) | KeyKind::EcPublic(_) => Self::Ec,
            KeyKind::Ed25519Private | KeyKind::Ed25519Public => Self::Ed25519,
            KeyKind::X25519Private | KeyKind::X25519Public => Self::X25519,
            _ => return None,
        })
    }

    /// Returns the family's name in OpenSSL.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rsa => "RSA",
            Self::Ec => "EC",
            Self::Ed25519 => "ED25519",
            Self::X25519 => "X25519",
        }
    }
}

/// A selection of a key's parts: `OSSL_KEYMGMT_SELECT_*`.
#[derive(Clone, Copy)]
pub(crate) struct KeySelection(pub(crate) c_int);

impl KeySelection {
    /// True if the private half is selected.
    pub(crate) fn private(self) -> bool {
        self.0 & 1 != 0
    }

    /// True if either half is selected.
    pub(crate) fn keypair(self) -> bool {
        self.0 & 3 != 0
    }

    /// True if the parameters are selected that keys of one group share.
    pub(crate) fn domain(self) -> bool {
        self.0 & 4 != 0
    }
}

/// Names of parameters: `core_names.h`.
pub(crate) mod name {
    use std::ffi::CStr;
    pub(crate) const N: &CStr = c"n";
    pub(crate) const E: &CStr = c"e";
    pub(crate) const D: &CStr = c"d";
    pub(crate) const FACTOR1: &CStr = c"rsa-factor1";
    pub(crate) const FACTOR2: &CStr = c"rsa-factor2";
    pub(crate) const FACTOR3: &CStr = c"rsa-factor3";
    pub(crate) const EXPONENT1: &CStr = c"rsa-exponent1";
    pub(crate) const EXPONENT2: &CStr = c"rsa-exponent2";
    pub(crate) const COEFFICIENT1: &CStr = c"rsa-coefficient1";
    pub(crate) const GROUP: &CStr = c"group";
    pub(crate) const PUBLIC: &CStr = c"pub";
    pub(crate) const PRIVATE: &CStr = c"priv";
    pub(crate) const ENCODED_PUBLIC: &CStr = c"encoded-pub-key";
    pub(crate) const BITS: &CStr = c"bits";
    pub(crate) const PRIMES: &CStr = c"primes";
    pub(crate) const SECURITY_BITS: &CStr = c"security-bits";
    pub(crate) const MAX_SIZE: &CStr = c"max-size";
    pub(crate) const DEFAULT_DIGEST: &CStr = c"default-digest";
    pub(crate) const MANDATORY_DIGEST: &CStr = c"mandatory-digest";
    pub(crate) const POINT_FORMAT: &CStr = c"point-format";
    pub(crate) const ENCODING: &CStr = c"encoding";
}

/// A key of a key manager. It starts empty, and an import or a parameter fills it.
#[derive(Debug)]
pub(crate) struct ProviderKey {
    pub(crate) family: KeyFamily,
    // OpenSSL lends a key to several threads at once, and fills it through a pointer that others may share.
    content: RwLock<KeyContent>,
}

#[derive(Clone, Debug)]
enum KeyContent {
    Empty,
    /// The parameters of a key without the key.
    Curve(Curve),
    Key(Key),
}

impl ProviderKey {
    pub(crate) fn new(family: KeyFamily, key: Option<Key>) -> Self {
        Self { family, content: RwLock::new(key.map_or(KeyContent::Empty, KeyContent::Key)) }
    }

    /// Makes the parameters of EC keys without a key.
    pub(crate) fn of_curve(curve: Curve) -> Self {
        Self { family: KeyFamily::Ec, content: RwLock::new(KeyContent::Curve(curve)) }
    }

    pub(crate) fn get(&self) -> Option<Key> {
        match self.content() {
            KeyContent::Key(key) => Some(key),
            KeyContent::Empty | KeyContent::Curve(_) => None,
        }
    }

    /// Returns the curve of an EC key or of EC parameters.
    pub(crate) fn curve(&self) -> Option<Curve> {
        match self.content() {
            KeyContent::Empty => None,
            KeyContent::Curve(curve) => Some(curve),
            KeyContent::Key(key) => key.ec_public().map(|(curve, _)| curve),
        }
    }

    fn content(&self) -> KeyContent {
        // A content is replaced as a whole, so that a panic leaves the former content or the new one.
        self.content.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, content: KeyContent) {
        *self.content.write().unwrap_or_else(PoisonError::into_inner) = content;
    }

    /// True if it has all selected parts. Only EC keys have parameters that may be missing.
    pub(crate) fn has(&self, selection: KeySelection) -> bool {
        if selection.domain() && self.family == KeyFamily::Ec && self.curve().is_none() {
            return false;
        }
        match self.get() {
            _ if !selection.keypair() => true,
            None => false,
            Some(key) => !selection.private() || is_private(&key),
        }
    }

    /// True if the selected parts of both keys are equal. Fingerprints compare public halves.
    pub(crate) fn matches(&self, other: &Self, selection: KeySelection) -> bool {
        if self.family != other.family || selection.domain() && self.curve() != other.curve() {
            return false;
        }
        match (self.get(), other.get()) {
            (Some(own), Some(other)) if selection.keypair() => own.fingerprint() == other.fingerprint(),
            (own, other) => !selection.keypair() || (own.is_none() && other.is_none()),
        }
    }

    /// Copies the selected parts. None if the public half is selected alone and is not a valid key.
    pub(crate) fn copy_selected(&self, selection: KeySelection) -> Option<Self> {
        let content = match self.content() {
            KeyContent::Key(key) if !selection.keypair() => {
                let curve = key.ec_public().map(|(curve, _)| curve).filter(|_| selection.domain());
                curve.map_or(KeyContent::Empty, KeyContent::Curve)
            }
            KeyContent::Key(key) if !selection.private() => KeyContent::Key(public_half(&key)?),
            content => content,
        };
        Some(Self { family: self.family, content: RwLock::new(content) })
    }

    /// Imports a key from the numbers of another provider. False if this provider does not support the key, so that the
    /// other provider keeps it.
    pub(crate) fn import(&self, params: ParamReader<'_>, selection: KeySelection) -> bool {
        if !selection.keypair() {
            return match self.family {
                KeyFamily::Ec if selection.domain() => {
                    let curve = params.text(name::GROUP).and_then(curve_by_name);
                    curve.map(|curve| self.replace(KeyContent::Curve(curve))).is_some()
                }
                _ => true,
            };
        }
        let key = match self.family {
            KeyFamily::Rsa => import_rsa(params, selection),
            KeyFamily::Ec => import_ec(params, selection),
            KeyFamily::Ed25519 => {
                import_edwards(params, selection, raw::ed25519_private, raw::ed25519_public)
            }
            KeyFamily::X25519 => import_edwards(params, selection, raw::x25519_private, raw::x25519_public),
        };
        key.map(|key| self.replace(KeyContent::Key(key))).is_some()
    }

    /// Exports the selected parts, or only the public half of a key that lives elsewhere. None without a key.
    pub(crate) fn export(&self, selection: KeySelection) -> Option<ParamList> {
        let mut made = ParamList::default();
        let key = match self.content() {
            KeyContent::Key(key) => key,
            _ if selection.keypair() => return None,
            KeyContent::Empty => return Some(made),
            KeyContent::Curve(curve) => {
                made.text(name::GROUP, group_name(curve).to_str().unwrap_or_default());
                return Some(made);
            }
        };
        let private = key.parts().filter(|_| selection.private());
        match self.family {
            KeyFamily::Rsa => {
                let public = key.rsa_public()?;
                made.integer(name::N, &public.n).integer(name::E, &public.e);
                if let Some(KeyParts::RsaPrivate(parts)) = private {
                    export_rsa_private(parts, &mut made);
                }
            }
            KeyFamily::Ec => {
                let (curve, point) = key.ec_public()?;
                made.text(name::GROUP, group_name(curve).to_str().unwrap_or_default());
                made.octets(name::PUBLIC, point);
                if let Some(KeyParts::EcPrivate(parts)) = private {
                    made.integer(name::PRIVATE, parts.scalar.expose());
                }
            }
            KeyFamily::Ed25519 => {
                made.octets(name::PUBLIC, key.ed25519_public()?);
                if let Some(KeyParts::Ed25519Private(parts)) = private {
                    made.octets(name::PRIVATE, parts.seed.expose());
                }
            }
            KeyFamily::X25519 => {
                made.octets(name::PUBLIC, key.x25519_public()?);
                if let Some(KeyParts::X25519Private(parts)) = private {
                    made.octets(name::PRIVATE, parts.scalar.expose());
                }
            }
        }
        Some(made)
    }

    /// Writes the parameters that are asked for. False if a buffer is too small.
    pub(crate) fn describe(&self, wanted: &mut ParamWriter<'_>) -> bool {
        let key = match self.content() {
            KeyContent::Empty => return true,
            KeyContent::Curve(curve) => {
                return KeySizes::of_kind(KeyKind::EcPublic(curve)).describe(wanted)
                    & wanted.text(name::GROUP, group_name(curve));
            }
            KeyContent::Key(key) => key,
        };
        let is_written = KeySizes::of_kind(key.kind()).describe(wanted);
        let is_own_written = match self.family {
            KeyFamily::Rsa => key.rsa_public().is_none_or(|public| {
                wanted.text(name::DEFAULT_DIGEST, c"SHA256")
                    & wanted.integer(name::N, &public.n)
                    & wanted.integer(name::E, &public.e)
            }),
            KeyFamily::Ec => key.ec_public().is_none_or(|(curve, point)| {
                wanted.text(name::DEFAULT_DIGEST, c"SHA256")
                    & wanted.text(name::GROUP, group_name(curve))
                    & wanted.text(name::POINT_FORMAT, c"uncompressed")
                    & wanted.text(name::ENCODING, c"named_curve")
                    & wanted.octets(name::PUBLIC, point)
                    & wanted.octets(name::ENCODED_PUBLIC, point)
            }),
            KeyFamily::Ed25519 => {
                wanted.text(name::MANDATORY_DIGEST, c"")
                    & key.ed25519_public().is_none_or(|public| wanted.octets(name::PUBLIC, public))
            }
            KeyFamily::X25519 => key.x25519_public().is_none_or(|public| {
                wanted.octets(name::PUBLIC, public)
                    & wanted.octets(name::ENCODED_PUBLIC, public)
                    & wanted.text(name::GROUP, c"x25519")
            }),
        };
        // OpenSSL reads private numbers as parameters too: `openssl pkey -text`, EVP_PKEY_get_bn_param(3).
        let private = match key.parts() {
            Some(KeyParts::X25519Private(parts)) => wanted.octets(name::PRIVATE, parts.scalar.expose()),
            Some(KeyParts::Ed25519Private(parts)) => wanted.octets(name::PRIVATE, parts.seed.expose()),
            Some(KeyParts::EcPrivate(parts)) => wanted.integer(name::PRIVATE, parts.scalar.expose()),
            Some(KeyParts::RsaPrivate(parts)) => wanted.integer(name::D, parts.d.expose()),
            _ => true,
        };
        is_written & is_own_written & private
    }

    /// Sets a peer's public key as TLS encodes it. RFC 8446 4.2.8.2.
    pub(crate) fn set_encoded_public(&self, bytes: &[u8]) -> Result<(), ProviderError> {
        let key = match self.family {
            KeyFamily::X25519 => raw::x25519_public(bytes)?,
            KeyFamily::Ed25519 => raw::ed25519_public(bytes)?,
            KeyFamily::Ec => raw::ec_public(self.curve().ok_or(ProviderError::NoKey)?, bytes)?,
            KeyFamily::Rsa => {
                let what = format!("an encoded public key for {}", self.family.name());
                return Err(ProviderError::Unsupported { what });
            }
        };
        self.replace(KeyContent::Key(key));
        Ok(())
    }
}

impl Clone for ProviderKey {
    fn clone(&self) -> Self {
        Self { family: self.family, content: RwLock::new(self.content()) }
    }
}

/// True if the key allows private operations, in this process or in a cryptoserver.
pub(crate) fn is_private(key: &Key) -> bool {
    matches!(
        key.kind(),
        KeyKind::RsaPrivate(_) | KeyKind::EcPrivate(_) | KeyKind::Ed25519Private | KeyKind::X25519Private
    )
}

/// Returns a key's public half as a key of this process.
fn public_half(key: &Key) -> Option<Key> {
    match KeyFamily::of_key(key)? {
        KeyFamily::Rsa => key.rsa_public().and_then(|public| rsa::public(&public.n, &public.e).ok()),
        KeyFamily::Ec => key.ec_public().and_then(|(curve, point)| raw::ec_public(curve, point).ok()),
        KeyFamily::Ed25519 => raw::ed25519_public(key.ed25519_public()?).ok(),
        KeyFamily::X25519 => raw::x25519_public(key.x25519_public()?).ok(),
    }
}

/// Returns the name of a key that a cryptoserver holds.
pub(crate) fn held_name(key: &Key) -> Option<&str> {
    match key.home() {
        KeyHome::Held { reference, .. } => Some(reference),
        KeyHome::Local => None,
    }
}

/// Returns OpenSSL's name of a curve.
pub(crate) fn group_name(curve: Curve) -> &'static CStr {
    match curve {
        Curve::P384 => c"secp384r1",
        _ => c"prime256v1",
    }
}

/// Finds the curve of an OpenSSL name, or None if this provider does not offer it.
pub(crate) fn curve_by_name(name: &str) -> Option<Curve> {
    let is_one_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    if is_one_of(&["prime256v1", "P-256", "secp256r1", "1.2.840.10045.3.1.7"]) {
        return Some(Curve::P256);
    }
    is_one_of(&["secp384r1", "P-384", "1.3.132.0.34"]).then_some(Curve::P384)
}

fn export_rsa_private(parts: &RsaPrivateParts, made: &mut ParamList) {
    made.integer(name::D, parts.d.expose())
        .integer(name::FACTOR1, parts.p.expose())
        .integer(name::FACTOR2, parts.q.expose())
        .integer(name::EXPONENT1, parts.dp.expose())
        .integer(name::EXPONENT2, parts.dq.expose())
        .integer(name::COEFFICIENT1, parts.qinv.expose());
}

/// Makes the key that a cryptoserver holds under `name` from its public half.
pub(crate) fn held_key(name: &str, spki: &[u8]) -> Result<Key, ProviderError> {
    Ok(keys::held::from_spki(spki, "cryptoserver", name)?)
}

#[cfg(test)]
mod tests {
    use oarlock::keys::generate;

    use super::*;

    const PRIVATE: KeySelection = KeySelection(1);
    const PUBLIC: KeySelection = KeySelection(2);
    const DOMAIN: KeySelection = KeySelection(4);

    #[test]
    fn a_copy_has_the_selected_parts_and_no_others() {
        let keys = [generate::rsa(1024), generate::ec(Curve::P256), generate::ed25519(), generate::x25519()];
        for key in keys.map(Result::unwrap) {
            let family = KeyFamily::of_key(&key).unwrap();
            let key = ProviderKey::new(family, Some(key));
            let parameters = key.copy_selected(DOMAIN).unwrap();
            assert!(!parameters.has(PUBLIC) && parameters.matches(&key, DOMAIN), "{family:?}");
            let public = key.copy_selected(KeySelection(PUBLIC.0 | DOMAIN.0)).unwrap();
            assert!(!public.has(PRIVATE) && public.matches(&key, PUBLIC), "{family:?}");
            let all = key.copy_selected(KeySelection(7)).unwrap();
            assert!(all.has(PRIVATE) && all.matches(&key, PUBLIC), "{family:?}");
        }
        let empty = ProviderKey::new(KeyFamily::Ec, None).copy_selected(KeySelection(7)).unwrap();
        assert!(!empty.has(DOMAIN));
    }
}

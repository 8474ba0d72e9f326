//! Keys of OpenSSL's key managers: imported from the numbers of another provider's key, and exported as numbers.

mod import;
mod sizes;

use std::ffi::{CStr, c_int, c_void};
use std::sync::{Arc, PoisonError, RwLock};

use oarlock::Key;
use oarlock::engine_api::{KeyParts, LatticePrivate, RsaPrivateParts};
use oarlock::keys::{self, raw, rsa};
use oarlock::{Curve, KeyKind, MlDsaSet, MlKemSet, SecretBytes, SlhDsaSet};

use self::import::{import_ec, import_edwards, import_ml_dsa, import_ml_kem, import_rsa, import_slh_dsa};
use self::sizes::KeySizes;
use crate::error::ProviderError;
use crate::ffi::libcrypto::fallback::FallbackKey;
use crate::ffi::libcrypto::params::{Callback, ParamList, ParamReader, ParamWriter};
use crate::kem::{KemKey, KemSource};
pub(crate) use crate::parameters::{KeySelection, name};
use crate::provider::{LoadedProvider, held_name};

/// The families of keys. Each has a key manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyFamily {
    Rsa,
    Ec,
    Ed25519,
    X25519,
    MlKem(MlKemSet),
    MlDsa(MlDsaSet),
    SlhDsa(SlhDsaSet),
}

impl KeyFamily {
    /// Returns the family of a key, or None if this provider has no key manager for it.
    pub(crate) fn of_key(key: &Key) -> Option<Self> {
        Some(match key.kind() {
            KeyKind::RsaPrivate(_) | KeyKind::RsaPublic(_) => Self::Rsa,
            KeyKind::EcPrivate(_) | KeyKind::EcPublic(_) => Self::Ec,
            KeyKind::Ed25519Private | KeyKind::Ed25519Public => Self::Ed25519,
            KeyKind::X25519Private | KeyKind::X25519Public => Self::X25519,
            KeyKind::MlKemPrivate(set) | KeyKind::MlKemPublic(set) => Self::MlKem(set),
            KeyKind::MlDsaPrivate(set) | KeyKind::MlDsaPublic(set) => Self::MlDsa(set),
            KeyKind::SlhDsaPrivate(set) | KeyKind::SlhDsaPublic(set) => Self::SlhDsa(set),
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
            Self::MlKem(MlKemSet::MlKem512) => "ML-KEM-512",
            Self::MlKem(MlKemSet::MlKem768) => "ML-KEM-768",
            Self::MlKem(_) => "ML-KEM-1024",
            Self::MlDsa(MlDsaSet::MlDsa44) => "ML-DSA-44",
            Self::MlDsa(MlDsaSet::MlDsa65) => "ML-DSA-65",
            Self::MlDsa(_) => "ML-DSA-87",
            Self::SlhDsa(set) => set.standard_name(),
        }
    }

    /// True for ML-DSA and SLH-DSA, which sign whole messages with a context.
    pub(crate) fn signs_messages(self) -> bool {
        matches!(self, Self::MlDsa(_) | Self::SlhDsa(_))
    }

    /// Returns the object identifier of keys and signatures, in DER with tag and length, for ML-KEM, ML-DSA and
    /// SLH-DSA. RFC 9935 section 3, RFC 9881 section 3, RFC 9909 section 3.
    pub(crate) fn oid(self) -> Option<&'static [u8]> {
        Some(match self {
            Self::MlKem(MlKemSet::MlKem512) => b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x04\x01",
            Self::MlKem(MlKemSet::MlKem768) => b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x04\x02",
            Self::MlKem(_) => b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x04\x03",
            Self::MlDsa(MlDsaSet::MlDsa44) => b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x03\x11",
            Self::MlDsa(MlDsaSet::MlDsa65) => b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x03\x12",
            Self::MlDsa(_) => b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x03\x13",
            Self::SlhDsa(set) => {
                let index = SlhDsaSet::ALL.iter().position(|known| *known == set)?;
                SLH_DSA_OIDS.get(index)?
            }
            Self::Rsa | Self::Ec | Self::Ed25519 | Self::X25519 => return None,
        })
    }
}

/// The object identifiers of SLH-DSA, in the order of [`SlhDsaSet::ALL`]: 2.16.840.1.101.3.4.3.20 to 31.
const SLH_DSA_OIDS: [[u8; 11]; 12] = {
    let mut oids = [*b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x03\x14"; 12];
    let mut index = 0;
    while index < oids.len() {
        oids[index][10] += index as u8;
        index += 1;
    }
    oids
};

/// The attributes of EC keys that only the fallback keeps: they change encodings and no operation.
const ATTRIBUTES: [&CStr; 5] =
    [name::ENCODING, name::POINT_FORMAT, name::INCLUDE_PUBLIC, name::COFACTOR_FLAG, name::GROUP_CHECK];

/// The parameters of EC keys that only the fallback knows.
const CURVE_NUMBERS: [&CStr; 13] = [
    name::QX,
    name::QY,
    name::FIELD_TYPE,
    name::P,
    name::A,
    name::B,
    name::GENERATOR,
    name::ORDER,
    name::COFACTOR,
    name::SEED,
    name::INCLUDE_PUBLIC,
    name::COFACTOR_FLAG,
    name::GROUP_CHECK,
];

/// A key of a key manager. It starts empty, and an import or a parameter fills it.
pub(crate) struct ProviderKey {
    provider: LoadedProvider,
    pub(crate) family: KeyFamily,
    // OpenSSL lends a key to several threads at once, and fills it through a pointer that others may share.
    content: RwLock<KeyContent>,
}

#[derive(Clone)]
enum KeyContent {
    Empty,
    /// The parameters of a key without the key.
    Curve(Curve),
    Key(Key),
    /// A key or parameters at the fallback. `key` is the same key if this provider computes with it.
    Foreign {
        key: Option<Key>,
        foreign: Arc<FallbackKey>,
    },
}

impl ProviderKey {
    pub(crate) fn new(provider: &LoadedProvider, family: KeyFamily, key: Option<Key>) -> Self {
        Self::with(provider, family, key.map_or(KeyContent::Empty, KeyContent::Key))
    }

    /// Makes the parameters of EC keys without a key.
    pub(crate) fn of_curve(provider: &LoadedProvider, curve: Curve) -> Self {
        Self::with(provider, KeyFamily::Ec, KeyContent::Curve(curve))
    }

    /// Takes a key that the fallback has made.
    pub(crate) fn of_foreign(provider: &LoadedProvider, family: KeyFamily, foreign: FallbackKey) -> Self {
        let key = Self::with(provider, family, KeyContent::Empty);
        key.adopt(Arc::new(foreign));
        key
    }

    fn with(provider: &LoadedProvider, family: KeyFamily, content: KeyContent) -> Self {
        Self { provider: provider.clone(), family, content: RwLock::new(content) }
    }

    /// Returns the key that this provider computes with.
    pub(crate) fn get(&self) -> Option<Key> {
        match self.content() {
            KeyContent::Key(key) | KeyContent::Foreign { key: Some(key), .. } => Some(key),
            KeyContent::Empty | KeyContent::Curve(_) | KeyContent::Foreign { key: None, .. } => None,
        }
    }

    /// Returns the key if only the fallback computes with it.
    pub(crate) fn foreign(&self) -> Option<Arc<FallbackKey>> {
        match self.content() {
            KeyContent::Foreign { key: None, foreign } => Some(foreign),
            _ => None,
        }
    }

    /// Returns the key as one of the fallback, without the private half of a held key. None if there is no fallback.
    pub(crate) fn to_fallback(&self) -> Option<Arc<FallbackKey>> {
        let selection = match self.content() {
            KeyContent::Foreign { foreign, .. } => return Some(foreign),
            KeyContent::Empty => return None,
            KeyContent::Curve(_) => KeySelection(4),
            KeyContent::Key(key) => KeySelection::all(!key.kind().is_public() && held_name(&key).is_none()),
        };
        self.export(selection)?.with(|params| self.import_foreign(params, selection))
    }

    /// Returns the curve of an EC key or of EC parameters.
    pub(crate) fn curve(&self) -> Option<Curve> {
        match self.content() {
            KeyContent::Curve(curve) => Some(curve),
            KeyContent::Key(key) | KeyContent::Foreign { key: Some(key), .. } => {
                key.ec_public().map(|(curve, _)| curve)
            }
            KeyContent::Empty | KeyContent::Foreign { key: None, .. } => None,
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
        if let KeyContent::Foreign { foreign, .. } = self.content() {
            return foreign.has(selection.0);
        }
        if selection.domain() && self.family == KeyFamily::Ec && self.curve().is_none() {
            return false;
        }
        match self.get() {
            _ if !selection.keypair() => true,
            None => false,
            Some(key) => !selection.private() || !key.kind().is_public(),
        }
    }

    /// True if the selected parts of both keys are equal. Fingerprints compare public halves.
    pub(crate) fn matches(&self, other: &Self, selection: KeySelection) -> bool {
        if self.family != other.family {
            return false;
        }
        if self.is_foreign() || other.is_foreign() {
            let both = self.to_fallback().zip(other.to_fallback());
            return both.is_some_and(|(one, other)| one.matches(&other, selection.0));
        }
        if selection.domain() && self.curve() != other.curve() {
            return false;
        }
        match (self.get(), other.get()) {
            (Some(one), Some(other)) if selection.keypair() => one.fingerprint() == other.fingerprint(),
            (one, other) => !selection.keypair() || (one.is_none() && other.is_none()),
        }
    }

    /// True if the selected parts are valid. `kind` is `OSSL_KEYMGMT_VALIDATE_*`.
    pub(crate) fn is_valid(&self, selection: KeySelection, kind: c_int) -> bool {
        match self.content() {
            KeyContent::Foreign { foreign, .. } => foreign.is_valid(selection.0, kind),
            // Import validates keys, so that every other key of this provider is valid.
            _ => self.has(selection),
        }
    }

    /// True for a key of the fallback, also if this provider computes with it.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self.content(), KeyContent::Foreign { .. })
    }

    /// Copies the selected parts. None if the public half is selected alone and is not a valid key.
    pub(crate) fn copy_selected(&self, selection: KeySelection) -> Option<Self> {
        let content = match self.content() {
            KeyContent::Key(key) if !selection.keypair() => {
                let curve = key.ec_public().map(|(curve, _)| curve).filter(|_| selection.domain());
                curve.map_or(KeyContent::Empty, KeyContent::Curve)
            }
            KeyContent::Key(key) if !selection.private() => KeyContent::Key(public_half(&key)?),
            KeyContent::Foreign { foreign, .. } => {
                return Some(Self::of_foreign(
                    &self.provider,
                    self.family,
                    foreign.copy_selected(selection.0)?,
                ));
            }
            content => content,
        };
        Some(Self::with(&self.provider, self.family, content))
    }

    /// Imports a key from the numbers of another provider. False if neither this provider nor the fallback supports it.
    pub(crate) fn import(&self, params: ParamReader<'_>, selection: KeySelection) -> bool {
        let content = match self.import_own(params, selection) {
            Some(content) if !has_attributes(params) => Some(content),
            content => {
                let foreign = self.import_foreign(params, selection);
                let key = match &content {
                    Some(KeyContent::Key(key)) => Some(key.clone()),
                    _ => None,
                };
                foreign.map(|foreign| KeyContent::Foreign { key, foreign }).or(content)
            }
        };
        content.map(|content| self.replace(content)).is_some()
    }

    /// Returns the content that an import makes. None if this provider does not support the key.
    fn import_own(&self, params: ParamReader<'_>, selection: KeySelection) -> Option<KeyContent> {
        if !selection.keypair() {
            return match self.family {
                KeyFamily::Ec if selection.domain() => {
                    params.text(name::GROUP).and_then(curve_by_name).map(KeyContent::Curve)
                }
                _ => Some(self.content()),
            };
        }
        let key = match self.family {
            KeyFamily::Rsa => import_rsa(params, selection),
            KeyFamily::Ec => import_ec(params, selection),
            KeyFamily::Ed25519 => {
                import_edwards(params, selection, raw::ed25519_private, raw::ed25519_public)
            }
            KeyFamily::X25519 => import_edwards(params, selection, raw::x25519_private, raw::x25519_public),
            KeyFamily::MlKem(set) => import_ml_kem(&self.provider, params, selection, set),
            KeyFamily::MlDsa(set) => import_ml_dsa(&self.provider, params, selection, set),
            KeyFamily::SlhDsa(set) => import_slh_dsa(&self.provider, params, selection, set),
        };
        key.map(KeyContent::Key)
    }

    fn import_foreign(&self, params: ParamReader<'_>, selection: KeySelection) -> Option<Arc<FallbackKey>> {
        let fallback = self.provider.fallback()?;
        FallbackKey::import(fallback, self.family.name(), selection.0, params).map(Arc::new)
    }

    /// Takes a key of the fallback, as an own one if this provider computes with it.
    fn adopt(&self, foreign: Arc<FallbackKey>) {
        let selection = [KeySelection::all(true), KeySelection::all(false), KeySelection(4)]
            .into_iter()
            .find(|selection| foreign.has(selection.0));
        let imported = selection.and_then(|selection| {
            let read = |params: ParamReader<'_>| {
                self.import_own(params, selection).map(|content| (content, has_attributes(params)))
            };
            foreign.with_numbers(selection.0, read).flatten()
        });
        self.replace(match imported {
            Some((content, false)) => content,
            Some((KeyContent::Key(key), true)) => KeyContent::Foreign { key: Some(key), foreign },
            _ => KeyContent::Foreign { key: None, foreign },
        });
    }

    /// Passes the selected parts to a callback. False without a key, or if the callback fails.
    pub(crate) fn export_to(
        &self,
        selection: KeySelection,
        callback: Option<Callback>,
        argument: *mut c_void,
    ) -> bool {
        match self.content() {
            KeyContent::Foreign { foreign, .. } => foreign.export(selection.0, callback, argument),
            _ => self.export(selection).is_some_and(|mut made| made.pass_to(callback, argument)),
        }
    }

    /// Exports the selected parts, or only the public half of a key that lives elsewhere. None without a key.
    fn export(&self, selection: KeySelection) -> Option<ParamList> {
        let mut made = ParamList::default();
        let key = match self.content() {
            KeyContent::Key(key) => key,
            KeyContent::Foreign { .. } => return None,
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
            KeyFamily::MlKem(_) | KeyFamily::MlDsa(_) => {
                made.octets(name::PUBLIC, lattice_public(&key)?);
                if let Some(LatticePrivate::Seed(seed)) =
                    lattice_private(&key).filter(|_| selection.private())
                {
                    made.octets(name::SEED, seed.expose());
                }
                if private.is_some_and(is_private_lattice) {
                    made.octets(name::PRIVATE, self.expanded(&key)?.expose());
                }
            }
            KeyFamily::SlhDsa(_) => {
                made.octets(name::PUBLIC, key.slh_dsa_public()?.1);
                if let Some(KeyParts::SlhDsaPrivate(_, private)) = private {
                    made.octets(name::PRIVATE, private.expose());
                }
            }
        }
        Some(made)
    }

    /// Writes the parameters that are asked for. False if a buffer is too small.
    pub(crate) fn describe(&self, wanted: &mut ParamWriter<'_>) -> bool {
        let is_written = self.describe_own(wanted);
        if self.family != KeyFamily::Ec || !wanted.lacks_any_of(&CURVE_NUMBERS) {
            return is_written;
        }
        self.to_fallback().map_or(is_written, |foreign| foreign.describe(wanted))
    }

    fn describe_own(&self, wanted: &mut ParamWriter<'_>) -> bool {
        let key = match self.content() {
            KeyContent::Foreign { foreign, .. } => return foreign.describe(wanted),
            // OpenSSL keeps the sizes that it gets first, and these do not depend on the key.
            KeyContent::Empty => {
                let kind = match self.family {
                    KeyFamily::Ed25519 => KeyKind::Ed25519Public,
                    KeyFamily::X25519 => KeyKind::X25519Public,
                    KeyFamily::MlKem(set) => KeyKind::MlKemPublic(set),
                    KeyFamily::MlDsa(set) => KeyKind::MlDsaPublic(set),
                    KeyFamily::SlhDsa(set) => KeyKind::SlhDsaPublic(set),
                    KeyFamily::Rsa | KeyFamily::Ec => return true,
                };
                return KeySizes::of_kind(kind).describe(wanted);
            }
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
                    & wanted.number(name::DECODED_FROM_EXPLICIT, 0)
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
            KeyFamily::MlKem(_) => {
                wanted.number(name::CMS_RECIPIENT, CMS_KEM_RECIPIENT)
                    & wanted.octets(name::CMS_KDF, HKDF_SHA256)
                    & key.ml_kem_public().is_none_or(|(_, public)| {
                        wanted.octets(name::PUBLIC, public) & wanted.octets(name::ENCODED_PUBLIC, public)
                    })
            }
            KeyFamily::MlDsa(_) => {
                wanted.text(name::MANDATORY_DIGEST, c"")
                    & key.ml_dsa_public().is_none_or(|(_, public)| wanted.octets(name::PUBLIC, public))
            }
            KeyFamily::SlhDsa(_) => {
                wanted.text(name::MANDATORY_DIGEST, c"")
                    & key.slh_dsa_public().is_none_or(|(_, public)| wanted.octets(name::PUBLIC, public))
            }
        };
        // OpenSSL reads private numbers as parameters too: `openssl pkey -text`, EVP_PKEY_get_bn_param(3).
        let private = match key.parts() {
            Some(KeyParts::X25519Private(parts)) => wanted.octets(name::PRIVATE, parts.scalar.expose()),
            Some(KeyParts::Ed25519Private(parts)) => wanted.octets(name::PRIVATE, parts.seed.expose()),
            Some(KeyParts::EcPrivate(parts)) => wanted.integer(name::PRIVATE, parts.scalar.expose()),
            Some(KeyParts::RsaPrivate(parts)) => {
                wanted.integer(name::D, parts.d.expose())
                    & wanted.integer(name::FACTOR1, parts.p.expose())
                    & wanted.integer(name::FACTOR2, parts.q.expose())
                    & wanted.integer(name::EXPONENT1, parts.dp.expose())
                    & wanted.integer(name::EXPONENT2, parts.dq.expose())
                    & wanted.integer(name::COEFFICIENT1, parts.qinv.expose())
            }
            Some(KeyParts::SlhDsaPrivate(_, private)) => wanted.octets(name::PRIVATE, private.expose()),
            Some(parts) if is_private_lattice(parts) => self.describe_private_lattice(&key, wanted),
            _ => true,
        };
        is_written & is_own_written & private
    }

    fn describe_private_lattice(&self, key: &Key, wanted: &mut ParamWriter<'_>) -> bool {
        let seed = match lattice_private(key) {
            Some(LatticePrivate::Seed(seed)) => wanted.octets(name::SEED, seed.expose()),
            _ => true,
        };
        // The expansion of a seed costs as much as a new key.
        let expanded = !wanted.wants(name::PRIVATE)
            || self.expanded(key).is_some_and(|expanded| wanted.octets(name::PRIVATE, expanded.expose()));
        seed & expanded
    }

    /// Returns the expanded private key of ML-KEM or ML-DSA.
    fn expanded(&self, key: &Key) -> Option<SecretBytes> {
        self.provider.off_fibre(|| keys::export::expanded(key)).ok()?.ok()
    }

    /// Sets parameters. Unknown parameters are ignored: OSSL_PARAM(3).
    pub(crate) fn set(&self, params: ParamReader<'_>) -> bool {
        let has_attributes = self.family == KeyFamily::Ec && ATTRIBUTES.iter().any(|name| params.has(name));
        if !self.is_foreign() && !has_attributes {
            let encoded = params.octets(name::ENCODED_PUBLIC);
            return encoded.is_none_or(|bytes| self.set_encoded_public(bytes).is_ok());
        }
        // Without a fallback nothing would read these attributes.
        let Some(foreign) = self.to_fallback() else { return true };
        let is_set = foreign.set(params);
        self.adopt(foreign);
        is_set
    }

    /// Sets a peer's public key as TLS encodes it. RFC 8446 4.2.8.2.
    fn set_encoded_public(&self, bytes: &[u8]) -> Result<(), ProviderError> {
        let key = match self.family {
            KeyFamily::X25519 => raw::x25519_public(bytes)?,
            KeyFamily::Ed25519 => raw::ed25519_public(bytes)?,
            KeyFamily::Ec => raw::ec_public(self.curve().ok_or(ProviderError::NoKey)?, bytes)?,
            KeyFamily::MlKem(set) => raw::ml_kem_public(set, bytes)?,
            KeyFamily::Rsa | KeyFamily::MlDsa(_) | KeyFamily::SlhDsa(_) => {
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
        Self::with(&self.provider, self.family, self.content())
    }
}

impl KemSource for ProviderKey {
    fn kem_key(&self) -> Option<KemKey> {
        self.get().map(KemKey::MlKem)
    }
}

/// `CMS_RECIPINFO_KEM`.
const CMS_KEM_RECIPIENT: i64 = 5;

/// The AlgorithmIdentifier of HKDF with SHA-256, by which CMS derives a key from the secret. RFC 8619, RFC 9936.
const HKDF_SHA256: &[u8] = b"\x30\x0d\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x03\x1c";

fn lattice_public(key: &Key) -> Option<&[u8]> {
    let of_dsa = || key.ml_dsa_public().map(|(_, public)| public);
    key.ml_kem_public().map(|(_, public)| public).or_else(of_dsa)
}

fn lattice_private(key: &Key) -> Option<&LatticePrivate> {
    match key.parts()? {
        KeyParts::MlKemPrivate(parts) => Some(&parts.private),
        KeyParts::MlDsaPrivate(parts) => Some(&parts.private),
        _ => None,
    }
}

fn is_private_lattice(parts: &KeyParts) -> bool {
    matches!(parts, KeyParts::MlKemPrivate(_) | KeyParts::MlDsaPrivate(_))
}

/// True if an EC key has attributes that its own form here does not keep.
fn has_attributes(params: ParamReader<'_>) -> bool {
    let is_other = |name, usual: &str| params.text(name).is_some_and(|value| value != usual);
    is_other(name::ENCODING, "named_curve")
        || is_other(name::POINT_FORMAT, "uncompressed")
        || params.number(name::INCLUDE_PUBLIC) == Some(0)
        || params.number(name::COFACTOR_FLAG).is_some_and(|flag| flag != 0)
}

/// Returns a key's public half as a key of this process.
fn public_half(key: &Key) -> Option<Key> {
    match KeyFamily::of_key(key)? {
        KeyFamily::Rsa => key.rsa_public().and_then(|public| rsa::public(&public.n, &public.e).ok()),
        KeyFamily::Ec => key.ec_public().and_then(|(curve, point)| raw::ec_public(curve, point).ok()),
        KeyFamily::Ed25519 => raw::ed25519_public(key.ed25519_public()?).ok(),
        KeyFamily::X25519 => raw::x25519_public(key.x25519_public()?).ok(),
        KeyFamily::MlKem(set) => raw::ml_kem_public(set, lattice_public(key)?).ok(),
        KeyFamily::MlDsa(set) => raw::ml_dsa_public(set, lattice_public(key)?).ok(),
        KeyFamily::SlhDsa(set) => raw::slh_dsa_public(set, key.slh_dsa_public()?.1).ok(),
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
        let provider = LoadedProvider::detached();
        let keys = [
            generate::rsa(1024),
            generate::ec(Curve::P256),
            generate::ed25519(),
            generate::x25519(),
            generate::ml_kem(MlKemSet::MlKem768),
            generate::ml_dsa(MlDsaSet::MlDsa44),
        ];
        for key in keys.map(Result::unwrap) {
            let family = KeyFamily::of_key(&key).unwrap();
            let key = ProviderKey::new(&provider, family, Some(key));
            let parameters = key.copy_selected(DOMAIN).unwrap();
            assert!(!parameters.has(PUBLIC) && parameters.matches(&key, DOMAIN), "{family:?}");
            let public = key.copy_selected(KeySelection(PUBLIC.0 | DOMAIN.0)).unwrap();
            assert!(!public.has(PRIVATE) && public.matches(&key, PUBLIC), "{family:?}");
            let all = key.copy_selected(KeySelection(7)).unwrap();
            assert!(all.has(PRIVATE) && all.matches(&key, PUBLIC), "{family:?}");
        }
        let empty = ProviderKey::new(&provider, KeyFamily::Ec, None).copy_selected(KeySelection(7)).unwrap();
        assert!(!empty.has(DOMAIN));
    }

    /// The numbers of a key make the same key again: its seed, its expanded form, both, and its public half.
    #[test]
    fn lattice_keys_are_imported_from_what_they_export() {
        let provider = LoadedProvider::detached();
        let made = MlKemSet::ALL
            .map(generate::ml_kem)
            .into_iter()
            .chain(MlDsaSet::ALL.map(generate::ml_dsa))
            .chain([SlhDsaSet::Sha2_128f, SlhDsaSet::Shake192f].map(generate::slh_dsa))
            .map(Result::unwrap);
        for key in made {
            let family = KeyFamily::of_key(&key).unwrap();
            let key = ProviderKey::new(&provider, family, Some(key));
            let import = |names: &[&'static CStr], other: Option<&'static CStr>| {
                let mut params = ParamList::default();
                key.export(KeySelection(3)).unwrap().with(|all| {
                    for name in names {
                        let mut value = all.octets(name).unwrap().to_vec();
                        value[7] ^= u8::from(other == Some(*name));
                        params.octets(name, &value);
                    }
                });
                let copy = ProviderKey::new(&provider, family, None);
                let selection = KeySelection(if names == [name::PUBLIC] { 2 } else { 3 });
                params.with(|params| copy.import(params, selection)).then_some(copy)
            };
            // Keys of SLH-DSA have no seed.
            let is_seeded = !matches!(family, KeyFamily::SlhDsa(_));
            let all: &[_] = match is_seeded {
                true => &[name::PUBLIC, name::SEED, name::PRIVATE],
                false => &[name::PUBLIC, name::PRIVATE],
            };
            let some = [all, &[name::SEED], &[name::PRIVATE], &[name::PUBLIC, name::SEED], &[name::PUBLIC]];
            for names in some.into_iter().filter(|names| is_seeded || !names.contains(&name::SEED)) {
                let copy = import(names, None).unwrap();
                assert!(copy.matches(&key, PUBLIC), "{family:?} {names:?}");
                assert_eq!(copy.has(PRIVATE), names != [name::PUBLIC], "{family:?} {names:?}");
            }
            // A private key whose public half, seed or expanded form belongs to another one.
            for other in all {
                assert!(import(all, Some(other)).is_none(), "{family:?} {other:?}");
            }
        }
    }
}

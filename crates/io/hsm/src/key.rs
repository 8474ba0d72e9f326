//! Keys as devices describe them.

use std::sync::Arc;

use oarlock::Key;
use oarlock::keys::{export, held};
use oarlock_keytable::KeyType;
use serde::{Deserialize, Serialize};

use crate::settings::HSM_HOLDER;
use crate::{HsmError, Pkcs11Uri};

/// A key that a device has described.
#[derive(Clone, Debug)]
pub enum HsmKey {
    /// A private key as a held key with its public half.
    Private(Key),
    /// A secret key, for records.
    Secret {
        /// The name by which its holder knows it, a URI.
        reference: Arc<str>,
        /// The tasks that it is for, and its length.
        key_type: KeyType,
    },
}

/// The description of a key on its way from the process of a device.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HsmKeyDescription {
    /// The public half of a private key, a SubjectPublicKeyInfo in DER.
    Public(Vec<u8>),
    /// The name of a secret key's type, such as `aes256`.
    Secret(String),
}

impl HsmKey {
    /// Returns the private key.
    ///
    /// # Errors
    /// [`HsmError::KeyName`] if `uri` has named a secret one.
    pub fn into_private(self, uri: &Pkcs11Uri) -> Result<Key, HsmError> {
        match self {
            Self::Private(key) => Ok(key),
            Self::Secret { .. } => Err(HsmError::KeyName { found: uri.to_string() }),
        }
    }

    /// Returns true if both are the same key, as far as descriptions tell: those of secret keys have names and types
    /// alone.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Private(one), Self::Private(other)) => one.fingerprint() == other.fingerprint(),
            (
                Self::Secret { reference, key_type },
                Self::Secret { reference: other, key_type: other_type },
            ) => (reference, key_type) == (other, other_type),
            _ => false,
        }
    }

    /// Returns the description, from which [`HsmKeyDescription::into_key`] makes the key again.
    ///
    /// # Errors
    /// [`HsmError::PublicHalf`] if a private key has none.
    pub fn describe(&self) -> Result<HsmKeyDescription, HsmError> {
        match self {
            Self::Private(key) => export::spki_der(key)
                .map(HsmKeyDescription::Public)
                .map_err(|reason| HsmError::PublicHalf { key: key.fingerprint().to_string(), reason }),
            Self::Secret { key_type, .. } => Ok(HsmKeyDescription::Secret(key_type.to_string())),
        }
    }
}

impl HsmKeyDescription {
    /// Returns the key that the holder [`HSM_HOLDER`] knows by the URI `reference`.
    ///
    /// # Errors
    /// [`HsmError::PublicHalf`] if the public half is none, and [`HsmError::KeyType`] for an unknown type.
    pub fn into_key(self, reference: &str) -> Result<HsmKey, HsmError> {
        let key = || reference.to_owned();
        match self {
            Self::Public(spki) => held::from_spki(&spki, HSM_HOLDER, reference)
                .map(HsmKey::Private)
                .map_err(|reason| HsmError::PublicHalf { key: key(), reason }),
            Self::Secret(name) => {
                let key_type = KeyType::ALL.into_iter().find(|key_type| key_type.to_string() == name);
                let key_type = key_type.ok_or_else(|| HsmError::KeyType { key: key(), found: name })?;
                Ok(HsmKey::Secret { reference: reference.into(), key_type })
            }
        }
    }
}

//! An object: its attributes, and its key that is opened at first use.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use oarlock::{Key, KeyHome, SecretBytes};

use super::laws::is_readable;
use super::material::{NewObject, key_from_values, secret_value};
use super::permitted::is_secret_kind;
use crate::attribute::{AttributeQuery, AttributeSet, AttributeValue};
use crate::constants::{AttributeType as A, KeyTypeNumber, ObjectClass, ReturnCode};
use crate::handle::SessionHandle;
use crate::token::{TokenObjectId, TokenObjects};

/// An object. It never changes: a change of attributes makes another object with the same key.
#[derive(Clone)]
pub(crate) struct Object {
    pub(crate) attributes: AttributeSet,
    pub(crate) class: ObjectClass,
    pub(crate) origin: ObjectOrigin,
    secrets: Arc<ObjectSecrets>,
}

/// The place of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectOrigin {
    /// It ends with the session that made it.
    Session(SessionHandle),
    Token(TokenObjectId),
    /// It describes the token itself.
    BuiltIn,
}

/// The values that an object keeps out of its attributes. All versions of the object share it.
#[derive(Default)]
struct ObjectSecrets {
    key: OnceLock<Key>,
    /// The value of a data object that is private.
    value: OnceLock<SecretBytes>,
    /// Held while the secrets are read from the token, so that one thread does it for all.
    opening: Mutex<()>,
}

impl Object {
    pub(crate) fn new(attributes: AttributeSet, origin: ObjectOrigin) -> Self {
        let class = ObjectClass(attributes.number(A::CLASS).unwrap_or(u64::MAX));
        Self { attributes, class, origin, secrets: Arc::default() }
    }

    /// Adds a key that is known already.
    pub(crate) fn with_key(self, key: Option<Key>) -> Self {
        self.keep_secrets(key, None);
        self
    }

    /// Keeps a key, and the private value of a data object, that are known already.
    pub(crate) fn keep_secrets(&self, key: Option<Key>, value: Option<SecretBytes>) {
        // Secrets that are there already are the same.
        if let Some(key) = key {
            let _ = self.secrets.key.set(key);
        }
        if let Some(value) = value {
            let _ = self.secrets.value.set(value);
        }
    }

    /// Returns the same object with other attributes.
    pub(crate) fn with_attributes(&self, attributes: AttributeSet) -> Self {
        Self { attributes, ..self.clone() }
    }

    /// Returns an object with the opened secrets of an earlier version of it.
    pub(crate) fn with_secrets_of(self, earlier: &Self) -> Self {
        Self { secrets: earlier.secrets.clone(), ..self }
    }

    /// Returns the same object with its key closed.
    pub(crate) fn without_secrets(&self) -> Self {
        Self { secrets: Arc::default(), ..self.clone() }
    }

    pub(crate) fn key_type(&self) -> Option<KeyTypeNumber> {
        self.attributes.number(A::KEY_TYPE).map(KeyTypeNumber)
    }

    pub(crate) fn is_private(&self) -> bool {
        self.attributes.is_true(A::PRIVATE)
    }

    /// Returns the key, which is opened once.
    ///
    /// # Errors
    /// [`ReturnCode::KeyHandleInvalid`] if the object is not a key, and those of [`TokenObjects::open_secrets`].
    pub(crate) fn key(&self, token: &dyn TokenObjects) -> Result<Key, ReturnCode> {
        if let Some(key) = self.secrets.key.get() {
            return Ok(key.clone());
        }
        let key_type = self.key_type().ok_or(ReturnCode::KeyHandleInvalid)?;
        let _opening = self.secrets.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = self.secrets.key.get() {
            return Ok(key.clone());
        }
        let secrets = match (self.class, self.origin) {
            (ObjectClass::PUBLIC_KEY, _) => AttributeSet::new(),
            (ObjectClass::PRIVATE_KEY | ObjectClass::SECRET_KEY, ObjectOrigin::Token(id)) => {
                token.open_secrets(id)?
            }
            _ => return Err(ReturnCode::KeyHandleInvalid),
        };
        // Values that were a key when they were stored and are none now are damage.
        let key = key_from_values(self.class, key_type, [&self.attributes, &secrets])
            .map_err(|_| ReturnCode::DeviceError)?;
        // `keep_secrets` takes no lock, so a key may have been set meanwhile. It is the same, and the first one stays.
        Ok(self.secrets.key.get_or_init(|| key).clone())
    }

    /// Returns the value of a data object that is private.
    fn private_value(&self, token: &dyn TokenObjects) -> Result<&SecretBytes, ReturnCode> {
        if let Some(value) = self.secrets.value.get() {
            return Ok(value);
        }
        let ObjectOrigin::Token(id) = self.origin else { return Err(ReturnCode::AttributeTypeInvalid) };
        let _opening = self.secrets.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.secrets.value.get() {
            return Ok(value);
        }
        let mut secrets = token.open_secrets(id)?;
        let Some(AttributeValue::Secret(value)) = secrets.remove(A::VALUE) else {
            return Err(ReturnCode::DeviceError);
        };
        Ok(self.secrets.value.get_or_init(|| value))
    }

    /// Returns a new object with the same secrets and other attributes.
    ///
    /// # Errors
    /// [`ReturnCode::KeyUnextractable`] for a copy on the token of a key that is not here.
    pub(crate) fn copy_with(
        &self,
        attributes: AttributeSet,
        token: &dyn TokenObjects,
    ) -> Result<NewObject, ReturnCode> {
        let key = if self.key_type().is_some() { Some(self.key(token)?) } else { None };
        let is_held = key.as_ref().is_some_and(|key| key.home() != &KeyHome::Local);
        if is_held && attributes.is_true(A::TOKEN) {
            return Err(ReturnCode::KeyUnextractable);
        }
        // Data without CKA_VALUE among the attributes are private, and their value is a secret.
        let has_value = self.class == ObjectClass::DATA && !self.attributes.contains(A::VALUE);
        let mut new = NewObject { attributes, key, private_value: None };
        if has_value {
            new.private_value = Some(self.private_value(token)?.clone());
        } else if self.class == ObjectClass::DATA && new.attributes.is_true(A::PRIVATE) {
            // A copy that becomes private hides its value too.
            if let Some(AttributeValue::Bytes(value)) = new.attributes.remove(A::VALUE) {
                new.private_value = Some(SecretBytes::new(value));
            }
        }
        Ok(new)
    }

    /// True if secret values of the key may be read.
    pub(crate) fn is_readable(&self) -> bool {
        is_readable(&self.attributes)
    }

    /// Answers a query of `C_GetAttributeValue`.
    ///
    /// # Errors
    /// [`ReturnCode::AttributeSensitive`], [`ReturnCode::AttributeTypeInvalid`], [`ReturnCode::BufferTooSmall`].
    pub(crate) fn read(
        &self,
        query: &mut AttributeQuery<'_>,
        token: &dyn TokenObjects,
    ) -> Result<(), ReturnCode> {
        // CK_UNAVAILABLE_INFORMATION, until the query is answered. PKCS#11 3.2 5.7.5.
        query.len = None;
        if let Some(value) = self.attributes.get(query.kind) {
            if value.as_template().is_some() && query.buffer.is_some() {
                // Its entries have pointers of the caller.
                return Err(ReturnCode::AttributeValueInvalid);
            }
            return answer(query, value.encoded_len(), |out| value.encode(out));
        }
        if !is_secret_kind(self.class, self.key_type(), query.kind) {
            return Err(ReturnCode::AttributeTypeInvalid);
        }
        // Private data are visible to the user alone, who may also read them.
        if self.class == ObjectClass::DATA {
            let value = self.private_value(token)?;
            return answer(query, value.len(), |out| out.copy_from_slice(value.expose()));
        }
        if !self.is_readable() {
            return Err(ReturnCode::AttributeSensitive);
        }
        let key = self.key(token)?;
        // A key that a server holds has no value in this process.
        let value = secret_value(&key, query.kind)?;
        answer(query, value.len(), |out| out.copy_from_slice(value.expose()))
    }

    /// Returns the bytes of all values that can be read.
    pub(crate) fn size(&self) -> usize {
        self.attributes.iter().map(|(_, value)| value.encoded_len()).sum()
    }

    /// True if the object has every attribute of a template, or if there is no template.
    pub(crate) fn fits(&self, template: Option<&[(A, AttributeValue)]>) -> bool {
        let mut entries = template.unwrap_or_default().iter();
        entries.all(|(kind, value)| self.attributes.get(*kind) == Some(value))
    }

    /// True if every attribute of a search is there with an equal value.
    pub(crate) fn matches(&self, wanted: &AttributeSet) -> bool {
        wanted.iter().all(|(kind, value)| self.attributes.get(kind) == Some(value))
    }
}

fn answer(
    query: &mut AttributeQuery<'_>,
    len: usize,
    write: impl FnOnce(&mut [u8]),
) -> Result<(), ReturnCode> {
    match &mut query.buffer {
        None => query.len = Some(len),
        Some(buffer) => {
            // A buffer that is too short gets CK_UNAVAILABLE_INFORMATION and not the length. PKCS#11 3.2 5.7.5.
            write(buffer.get_mut(..len).ok_or(ReturnCode::BufferTooSmall)?);
            query.len = Some(len);
        }
    }
    Ok(())
}

/// Shows the class and the origin only.
impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({}, {:?})", self.class, self.origin)
    }
}

//! A token in a file of objects, which programs read and write.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use oarlock_cryptoki::{
    AttributeSet, AttributeType as A, AttributeValue, ObjectClass, ObjectContent, ReturnCode,
    TokenDescription, TokenObject, TokenObjectId, TokenObjects, UserType, token_flags,
};
use oarlock_io::objects::{
    ChangedObject, ObjectId, ObjectStore, ObjectStoreError, PinLevel, PinRole, PinRules, StoreChange,
    StoreFault, StoreLogin, StoredAttributes, StoredObject, StoredValue, UnstoredObject,
};
use zeroize::Zeroizing;

use super::keys::serial_number;
use crate::message::print_line;

/// A token in a file.
pub(crate) struct StoreToken {
    path: PathBuf,
    // Both locks are held for a look or a replacement, and never while a file is read or a PIN is tried.
    store: Mutex<Option<Arc<ObjectStore>>>,
    login: Mutex<Option<StoreLogin>>,
}

impl StoreToken {
    /// Makes a token, which opens its file at first use. The file may be missing until `C_InitToken` makes it.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, store: Mutex::default(), login: Mutex::default() }
    }

    /// Returns the store, or `None` if the file is missing.
    fn find_store(&self) -> Result<Option<Arc<ObjectStore>>, ReturnCode> {
        if let Some(store) = &*self.store.lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(Some(Arc::clone(store)));
        }
        match ObjectStore::open(&self.path) {
            Ok(store) => Ok(Some(self.keep(store))),
            Err(ObjectStoreError { fault: StoreFault::Missing, .. }) => Ok(None),
            Err(error) => Err(to_return_code(error)),
        }
    }

    fn store(&self) -> Result<Arc<ObjectStore>, ReturnCode> {
        self.find_store()?.ok_or(ReturnCode::TokenNotRecognized)
    }

    /// Keeps a store that was opened. Another thread may have been faster, and its store is used then.
    fn keep(&self, store: ObjectStore) -> Arc<ObjectStore> {
        let mut kept = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(kept.get_or_insert_with(|| Arc::new(store)))
    }

    fn login_now(&self) -> Option<StoreLogin> {
        self.login.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_login(&self, login: Option<StoreLogin>) {
        let mut kept = self.login.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *kept, login);
        drop(kept);
        // Dropped outside of the lock: it zeroizes.
        drop(before);
    }
}

impl TokenObjects for StoreToken {
    fn describe(&self) -> Result<TokenDescription, ReturnCode> {
        let flags = token_flags::RNG | token_flags::LOGIN_REQUIRED | token_flags::ASYNC_SESSION_SUPPORTED;
        let rules = PinRules::default();
        let Some(store) = self.find_store()? else {
            let (min, max) = (rules.min_bytes, rules.max_bytes);
            return Ok(description(String::new(), serial_number(&self.path), flags, (min, max)));
        };
        let about = store.describe().map_err(to_return_code)?;
        let user = store.pin_state(PinRole::User).map_err(to_return_code)?;
        let officer = store.pin_state(PinRole::SecurityOfficer).map_err(to_return_code)?;
        let mut flags = flags | token_flags::TOKEN_INITIALIZED;
        if user.is_set {
            flags |= token_flags::USER_PIN_INITIALIZED;
            flags |= level_flags(user.level(), token_flags::USER_PIN_COUNT_LOW);
        }
        flags |= level_flags(officer.level(), token_flags::SO_PIN_COUNT_LOW);
        let lens = (about.pin_rules.min_bytes, about.pin_rules.max_bytes);
        Ok(description(about.label, about.serial, flags, lens))
    }

    fn data_version(&self) -> Result<u64, ReturnCode> {
        match self.find_store()? {
            Some(store) => store.data_version().map_err(to_return_code),
            None => Ok(0),
        }
    }

    fn list(&self) -> Result<Vec<TokenObject>, ReturnCode> {
        let Some(store) = self.find_store()? else { return Ok(Vec::new()) };
        // The security officer sees what everybody sees.
        let login = self.login_now().filter(|login| login.role() == PinRole::User);
        let listed = store.list(login.as_ref()).map_err(to_return_code)?;
        listed.iter().map(shown_object).collect()
    }

    fn open_secrets(&self, id: TokenObjectId) -> Result<AttributeSet, ReturnCode> {
        let login = self.login_now();
        let object = self.store()?.read(login.as_ref(), ObjectId(id.0)).map_err(to_return_code)?;
        let class = class_of(&object)?;
        let mut secrets = AttributeSet::new();
        for (kind, value) in &object.attributes {
            match value {
                StoredValue::Secret(bytes) => {
                    secrets.set(A(*kind), secret_value(A(*kind), class, bytes)?);
                }
                StoredValue::Concealed => return Err(ReturnCode::UserNotLoggedIn),
                StoredValue::Plain(_) => {}
            }
        }
        Ok(secrets)
    }

    fn create(&self, objects: &[ObjectContent]) -> Result<Vec<TokenObjectId>, ReturnCode> {
        let changes: Vec<_> = objects.iter().map(|object| StoreChange::Insert(unstored(object))).collect();
        let created = self.store()?.apply(self.login_now().as_ref(), &changes).map_err(to_return_code)?;
        Ok(created.into_iter().map(|object| TokenObjectId(object.id.0)).collect())
    }

    fn update(&self, id: TokenObjectId, attributes: &AttributeSet) -> Result<(), ReturnCode> {
        let (store, login) = (self.store()?, self.login_now());
        let old = store.read(login.as_ref(), ObjectId(id.0)).map_err(to_return_code)?;
        let set = plain_attributes(attributes);
        let is_gone = |(kind, value): &(&u64, &StoredValue)| !value.is_secret() && !set.contains_key(kind);
        let remove = old.attributes.iter().filter(is_gone).map(|(kind, _)| *kind).collect();
        let known = ChangedObject { id: old.id, version: old.version };
        store.update(login.as_ref(), known, set, remove).map_err(to_return_code)?;
        Ok(())
    }

    fn destroy(&self, id: TokenObjectId) -> Result<(), ReturnCode> {
        self.store()?.remove(self.login_now().as_ref(), ObjectId(id.0)).map_err(to_return_code)?;
        Ok(())
    }

    fn login(&self, user: UserType, pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        let role = match user {
            UserType::SecurityOfficer => PinRole::SecurityOfficer,
            UserType::User | UserType::ContextSpecific => PinRole::User,
        };
        // Without a PIN the token would have to ask for it, which a file cannot.
        let pin = pin.ok_or(ReturnCode::PinIncorrect)?;
        let login = self.store()?.login(role, pin).map_err(to_return_code)?;
        if user != UserType::ContextSpecific {
            self.set_login(Some(login));
        }
        Ok(())
    }

    fn logout(&self) -> Result<(), ReturnCode> {
        self.set_login(None);
        Ok(())
    }

    fn init_token(&self, so_pin: Option<&[u8]>, label: &str) -> Result<(), ReturnCode> {
        let so_pin = so_pin.ok_or(ReturnCode::PinIncorrect)?;
        self.set_login(None);
        if let Some(store) = self.find_store()? {
            return store.initialise_again(so_pin, label).map_err(to_return_code);
        }
        let store = ObjectStore::create(&self.path, label, so_pin, PinRules::default());
        self.keep(store.map_err(to_return_code)?);
        Ok(())
    }

    fn init_pin(&self, pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        let login = self.login_now().ok_or(ReturnCode::UserNotLoggedIn)?;
        let pin = pin.ok_or(ReturnCode::PinInvalid)?;
        self.store()?.init_pin(&login, pin).map_err(to_return_code)
    }

    fn set_pin(&self, user: UserType, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<(), ReturnCode> {
        let role = match user {
            UserType::SecurityOfficer => PinRole::SecurityOfficer,
            UserType::User | UserType::ContextSpecific => PinRole::User,
        };
        let old = old.ok_or(ReturnCode::PinIncorrect)?;
        let new = new.ok_or(ReturnCode::PinInvalid)?;
        self.store()?.set_pin(role, old, new).map_err(to_return_code)
    }
}

fn description(label: String, serial_number: String, flags: u64, pin_lens: (u32, u32)) -> TokenDescription {
    TokenDescription {
        label,
        manufacturer: "Oarlock".to_owned(),
        model: "token file".to_owned(),
        serial_number,
        flags,
        min_pin_len: u64::from(pin_lens.0),
        max_pin_len: u64::from(pin_lens.1),
    }
}

/// Returns the flags of a PIN. The three flags of a role stand side by side, `COUNT_LOW` first.
fn level_flags(level: PinLevel, count_low: u64) -> u64 {
    let (final_try, locked) = (count_low << 1, count_low << 2);
    match level {
        PinLevel::Full => 0,
        PinLevel::Low => count_low,
        PinLevel::FinalTry => count_low | final_try,
        PinLevel::Locked => locked,
    }
}

/// Returns what a store keeps of an object.
fn unstored(object: &ObjectContent) -> UnstoredObject {
    let mut attributes = plain_attributes(&object.attributes);
    let secrets = object.secrets.iter();
    attributes.extend(secrets.map(|(kind, value)| (kind.0, StoredValue::Secret(value.to_stored()))));
    UnstoredObject { is_private: object.attributes.is_true(A::PRIVATE), attributes }
}

fn plain_attributes(attributes: &AttributeSet) -> StoredAttributes {
    let plain = attributes.iter();
    plain.map(|(kind, value)| (kind.0, StoredValue::Plain(value.to_stored().to_vec()))).collect()
}

/// Returns an object as the library lists it, without secret values.
fn shown_object(object: &StoredObject) -> Result<TokenObject, ReturnCode> {
    let class = class_of(object)?;
    let plain = object.attributes.iter().filter_map(|(kind, value)| match value {
        StoredValue::Plain(bytes) => Some((A(*kind), bytes)),
        StoredValue::Secret(_) | StoredValue::Concealed => None,
    });
    let attributes: Result<BTreeMap<_, _>, _> = plain
        .map(|(kind, bytes)| Ok((kind, AttributeValue::from_stored(kind, class, bytes).map_err(damaged)?)))
        .collect();
    let attributes = attributes?.into_iter().collect();
    Ok(TokenObject { id: TokenObjectId(object.id.0), attributes, key: None })
}

/// Returns the class of an object, which decides the forms of its other attributes.
fn class_of(object: &StoredObject) -> Result<ObjectClass, ReturnCode> {
    let class = object.attributes.get(&A::CLASS.0).and_then(StoredValue::bytes);
    let number = class.and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    number.map(ObjectClass).ok_or(ReturnCode::DeviceError)
}

/// Reads a secret value. A private data object has a secret `CKA_VALUE`, which is plain bytes elsewhere.
fn secret_value(
    kind: A,
    class: ObjectClass,
    bytes: &Zeroizing<Vec<u8>>,
) -> Result<AttributeValue, ReturnCode> {
    if class == ObjectClass::DATA {
        return Ok(AttributeValue::Secret(bytes.as_slice().into()));
    }
    AttributeValue::from_stored(kind, class, bytes).map_err(damaged)
}

/// Values that fitted when they were stored and do not fit now are damage.
fn damaged(_: ReturnCode) -> ReturnCode {
    ReturnCode::DeviceError
}

/// Returns the return code of a fault. Faults that the user of the program must repair are printed.
fn to_return_code(error: ObjectStoreError) -> ReturnCode {
    match &error.fault {
        StoreFault::PinLength { .. } => ReturnCode::PinLenRange,
        StoreFault::PinWrong { .. } => ReturnCode::PinIncorrect,
        StoreFault::PinLocked(_) => ReturnCode::PinLocked,
        StoreFault::PinNotSet(_) => ReturnCode::UserPinNotInitialized,
        StoreFault::Label { .. } => ReturnCode::ArgumentsBad,
        StoreFault::LoginNeeded(_) | StoreFault::LoginToInsert | StoreFault::WrongRole { .. } => {
            ReturnCode::UserNotLoggedIn
        }
        StoreFault::LoginEnded => ReturnCode::UserNotLoggedIn,
        StoreFault::NoObject(_) => ReturnCode::ObjectHandleInvalid,
        // The caller asks again and sees the other process's change.
        StoreFault::Conflict { .. } => ReturnCode::FunctionFailed,
        StoreFault::ObjectLength { .. } => ReturnCode::DeviceMemory,
        fault => {
            print_line(&error.to_string());
            match fault {
                StoreFault::Full => ReturnCode::DeviceMemory,
                StoreFault::ReadOnly => ReturnCode::TokenWriteProtected,
                StoreFault::NotAStore | StoreFault::Format { .. } => ReturnCode::TokenNotRecognized,
                StoreFault::Machine(_) => ReturnCode::FunctionFailed,
                _ => ReturnCode::DeviceError,
            }
        }
    }
}

impl fmt::Debug for StoreToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreToken({})", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use oarlock::SecretBytes;

    use super::*;

    fn token(folder: &tempfile::TempDir) -> StoreToken {
        StoreToken::new(folder.path().join("token"))
    }

    fn initialised(folder: &tempfile::TempDir) -> StoreToken {
        let token = token(folder);
        token.init_token(Some(b"so-pin"), "a label").unwrap();
        token.login(UserType::SecurityOfficer, Some(b"so-pin")).unwrap();
        token.init_pin(Some(b"user-pin")).unwrap();
        token.logout().unwrap();
        token
    }

    fn secret_key() -> ObjectContent {
        let mut object = ObjectContent::default();
        object.attributes.set(A::CLASS, ObjectClass::SECRET_KEY.0);
        object.attributes.set(A::LABEL, "k");
        object.attributes.set(A::PRIVATE, true);
        object.secrets.set(A::VALUE, SecretBytes::from(&[7; 32][..]));
        object
    }

    #[test]
    fn a_missing_file_is_a_token_that_is_not_initialised() {
        let folder = tempfile::tempdir().unwrap();
        let token = token(&folder);
        assert_eq!(token.describe().unwrap().flags & token_flags::TOKEN_INITIALIZED, 0);
        assert_eq!(token.list().unwrap().len(), 0);
        assert_eq!(token.login(UserType::User, Some(b"1234")), Err(ReturnCode::TokenNotRecognized));
    }

    #[test]
    fn objects_come_back_with_their_secrets_after_a_login_only() {
        let folder = tempfile::tempdir().unwrap();
        let token = initialised(&folder);
        assert_eq!(token.create(&[secret_key()]), Err(ReturnCode::UserNotLoggedIn));
        token.login(UserType::User, Some(b"user-pin")).unwrap();
        let version = token.data_version().unwrap();
        let id = token.create(&[secret_key()]).unwrap()[0];
        assert_ne!(token.data_version().unwrap(), version);
        let listed = token.list().unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].attributes, secret_key().attributes);
        assert_eq!(token.open_secrets(id).unwrap(), secret_key().secrets);
        token.logout().unwrap();
        assert!(token.list().unwrap().is_empty());
        assert_eq!(token.open_secrets(id), Err(ReturnCode::UserNotLoggedIn));
    }

    #[test]
    fn an_update_replaces_attributes_and_keeps_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let token = initialised(&folder);
        token.login(UserType::User, Some(b"user-pin")).unwrap();
        let id = token.create(&[secret_key()]).unwrap()[0];
        let mut attributes = secret_key().attributes;
        attributes.set(A::LABEL, "renamed");
        token.update(id, &attributes).unwrap();
        assert_eq!(token.list().unwrap()[0].attributes, attributes);
        assert_eq!(token.open_secrets(id).unwrap(), secret_key().secrets);
        token.destroy(id).unwrap();
        assert_eq!(token.destroy(id), Err(ReturnCode::ObjectHandleInvalid));
    }

    #[test]
    fn wrong_pins_are_counted_in_the_flags() {
        let folder = tempfile::tempdir().unwrap();
        let token = initialised(&folder);
        let flags = |token: &StoreToken| token.describe().unwrap().flags;
        assert_eq!(flags(&token) & token_flags::USER_PIN_COUNT_LOW, 0);
        assert_eq!(token.login(UserType::User, Some(b"wrong")), Err(ReturnCode::PinIncorrect));
        assert_ne!(flags(&token) & token_flags::USER_PIN_COUNT_LOW, 0);
        assert_eq!(token.login(UserType::User, Some(b"")), Err(ReturnCode::PinLenRange));
        token.login(UserType::User, Some(b"user-pin")).unwrap();
        assert_eq!(flags(&token) & token_flags::USER_PIN_COUNT_LOW, 0);
        token.set_pin(UserType::User, Some(b"user-pin"), Some(b"another")).unwrap();
        assert_eq!(token.login(UserType::User, Some(b"user-pin")), Err(ReturnCode::PinIncorrect));
    }

    #[test]
    fn the_flags_of_a_pin_are_those_of_the_standard() {
        for (low, final_try, locked) in [
            (token_flags::USER_PIN_COUNT_LOW, token_flags::USER_PIN_FINAL_TRY, token_flags::USER_PIN_LOCKED),
            (token_flags::SO_PIN_COUNT_LOW, token_flags::SO_PIN_FINAL_TRY, token_flags::SO_PIN_LOCKED),
        ] {
            assert_eq!(level_flags(PinLevel::Full, low), 0);
            assert_eq!(level_flags(PinLevel::Low, low), low);
            assert_eq!(level_flags(PinLevel::FinalTry, low), low | final_try);
            assert_eq!(level_flags(PinLevel::Locked, low), locked);
        }
    }
}

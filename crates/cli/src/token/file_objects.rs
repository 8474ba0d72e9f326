//! A token file as the PKCS#11 library sees it.

use std::sync::{PoisonError, RwLock};

use oarlock::SecretBytes;
use oarlock_cryptoki::{
    AttributeSet, AttributeType, AttributeValue, ObjectClass, ObjectContent, ReturnCode, TokenDescription,
    TokenObject, TokenObjectId, TokenObjects, UserType, token_flags,
};
use oarlock_io::objects::{
    ChangedObject, ObjectId, ObjectStore, ObjectStoreError, PinLevel, PinRole, PinState, StoreChange,
    StoreFault, StoreLogin, StoredAttributes, StoredValue, UnstoredObject,
};

/// The number of times that an update is repeated if another process changes the same object at the same time.
const MAX_CONFLICTS: usize = 100;

/// The objects of a token file.
#[derive(Debug)]
pub(super) struct TokenFileObjects {
    store: ObjectStore,
    login: RwLock<TokenLogin>,
}

#[derive(Clone, Debug, Default)]
struct TokenLogin {
    login: Option<StoreLogin>,
    /// The number of logins and logouts, which change what is seen.
    changes: u64,
}

impl TokenFileObjects {
    pub(super) fn new(store: ObjectStore) -> Self {
        Self { store, login: RwLock::default() }
    }

    fn login_now(&self) -> TokenLogin {
        self.login.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_login(&self, login: Option<StoreLogin>) {
        let mut own = self.login.write().unwrap_or_else(PoisonError::into_inner);
        own.login = login;
        own.changes += 1;
    }

    fn update_once(&self, id: ObjectId, attributes: &AttributeSet) -> Result<(), StoreFault> {
        let login = self.login_now().login;
        let old = self.store.read(login.as_ref(), id).map_err(|error| error.fault)?;
        let is_gone = |(attribute, value): (&u64, &StoredValue)| {
            let is_gone = !value.is_secret() && !attributes.contains(AttributeType(*attribute));
            is_gone.then_some(*attribute)
        };
        let removed = old.attributes.iter().filter_map(is_gone).collect();
        let old = ChangedObject { id, version: old.version };
        let updated = self.store.update(login.as_ref(), old, encode_set(attributes), removed);
        updated.map(drop).map_err(|error| error.fault)
    }
}

impl TokenObjects for TokenFileObjects {
    fn describe(&self) -> Result<TokenDescription, ReturnCode> {
        let about = self.store.describe().map_err(return_code)?;
        let [officer, user] = PinRole::ALL.map(|role| self.store.pin_state(role));
        let (officer, user) = (officer.map_err(return_code)?, user.map_err(return_code)?);
        Ok(TokenDescription {
            label: about.label,
            manufacturer: "Oarlock".to_owned(),
            model: "file".to_owned(),
            serial_number: about.serial,
            flags: flags(officer, user),
            min_pin_len: about.pin_rules.min_bytes.into(),
            max_pin_len: about.pin_rules.max_bytes.into(),
        })
    }

    fn data_version(&self) -> Result<u64, ReturnCode> {
        let changes = self.store.data_version().map_err(return_code)?;
        // Both numbers only grow, so their sum changes with each of them.
        Ok(changes.wrapping_add(self.login_now().changes))
    }

    fn list(&self) -> Result<Vec<TokenObject>, ReturnCode> {
        let listed = self.store.list(self.login_now().login.as_ref()).map_err(return_code)?;
        let token_object = |object: oarlock_io::objects::StoredObject| {
            let id = TokenObjectId(object.id.0);
            Ok(TokenObject { id, attributes: decode_plain(&object.attributes)?, key: None })
        };
        listed.into_iter().map(token_object).collect()
    }

    fn open_secrets(&self, id: TokenObjectId) -> Result<AttributeSet, ReturnCode> {
        let object = self.store.read(self.login_now().login.as_ref(), ObjectId(id.0)).map_err(return_code)?;
        decode_secrets(&object.attributes)
    }

    fn create(&self, objects: &[ObjectContent]) -> Result<Vec<TokenObjectId>, ReturnCode> {
        let changes: Vec<StoreChange> = objects.iter().map(encode_object).map(StoreChange::Insert).collect();
        let created = self.store.apply(self.login_now().login.as_ref(), &changes).map_err(return_code)?;
        Ok(created.iter().map(|object| TokenObjectId(object.id.0)).collect())
    }

    fn update(&self, id: TokenObjectId, attributes: &AttributeSet) -> Result<(), ReturnCode> {
        for _ in 0..MAX_CONFLICTS {
            match self.update_once(ObjectId(id.0), attributes) {
                Err(StoreFault::Conflict { .. }) => {}
                done => return done.map_err(|fault| code_of_fault(&fault)),
            }
        }
        Err(ReturnCode::FunctionFailed)
    }

    fn destroy(&self, id: TokenObjectId) -> Result<(), ReturnCode> {
        self.store.remove(self.login_now().login.as_ref(), ObjectId(id.0)).map(drop).map_err(return_code)
    }

    fn login(&self, user: UserType, pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        let pin = pin.ok_or(ReturnCode::ArgumentsBad)?;
        let login = self.store.login(role(user), pin).map_err(return_code)?;
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
        let pin = so_pin.ok_or(ReturnCode::ArgumentsBad)?;
        self.store.initialise_again(pin, label).map_err(return_code)?;
        self.set_login(None);
        Ok(())
    }

    fn init_pin(&self, pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        let login = self.login_now().login.ok_or(ReturnCode::UserNotLoggedIn)?;
        let pin = pin.ok_or(ReturnCode::ArgumentsBad)?;
        self.store.init_pin(&login, pin).map_err(return_code)
    }

    fn set_pin(&self, user: UserType, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<(), ReturnCode> {
        let (old, new) = old.zip(new).ok_or(ReturnCode::ArgumentsBad)?;
        self.store.set_pin(role(user), old, new).map_err(return_code)
    }
}

fn role(user: UserType) -> PinRole {
    match user {
        UserType::SecurityOfficer => PinRole::SecurityOfficer,
        UserType::User | UserType::ContextSpecific => PinRole::User,
    }
}

fn flags(officer: PinState, user: PinState) -> u64 {
    let level = |state: PinState, [low, final_try, locked]: [u64; 3]| match state.level() {
        PinLevel::Full => 0,
        PinLevel::Low => low,
        // One of several tries is left only after wrong ones.
        PinLevel::FinalTry => final_try | if state.max_tries > 1 { low } else { 0 },
        PinLevel::Locked => locked | low,
    };
    let common = token_flags::RNG | token_flags::LOGIN_REQUIRED | token_flags::TOKEN_INITIALIZED;
    let user_pin = if user.is_set { token_flags::USER_PIN_INITIALIZED } else { 0 };
    let user_level = level(
        user,
        [token_flags::USER_PIN_COUNT_LOW, token_flags::USER_PIN_FINAL_TRY, token_flags::USER_PIN_LOCKED],
    );
    let officer_level = level(
        officer,
        [token_flags::SO_PIN_COUNT_LOW, token_flags::SO_PIN_FINAL_TRY, token_flags::SO_PIN_LOCKED],
    );
    common | user_pin | user_level | officer_level
}

fn encode_object(object: &ObjectContent) -> UnstoredObject {
    let mut attributes = encode_set(&object.attributes);
    let secrets = object.secrets.iter();
    attributes.extend(secrets.map(|(kind, value)| (kind.0, StoredValue::Secret(value.to_stored()))));
    UnstoredObject { is_private: object.attributes.is_true(AttributeType::PRIVATE), attributes }
}

fn encode_set(set: &AttributeSet) -> StoredAttributes {
    set.iter().map(|(kind, value)| (kind.0, StoredValue::Plain(value.to_stored().to_vec()))).collect()
}

/// Returns the attributes that are not secret.
fn decode_plain(attributes: &StoredAttributes) -> Result<AttributeSet, ReturnCode> {
    // The form of a value depends on the class, which every object has.
    let class = attributes.get(&AttributeType::CLASS.0).and_then(StoredValue::bytes);
    let class = class.and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    let class = ObjectClass(class.ok_or(ReturnCode::DeviceError)?);
    let plain = attributes.iter().filter(|(_, value)| !value.is_secret());
    let decoded = plain.map(|(kind, value)| {
        let kind = AttributeType(*kind);
        let bytes = value.bytes().ok_or(ReturnCode::DeviceError)?;
        let value = AttributeValue::from_stored(kind, class, bytes).map_err(|_| ReturnCode::DeviceError)?;
        Ok((kind, value))
    });
    decoded.collect()
}

/// Returns the secret attributes, which the login shows. They are bytes, of whichever class.
fn decode_secrets(attributes: &StoredAttributes) -> Result<AttributeSet, ReturnCode> {
    let secrets = attributes.iter().filter(|(_, value)| value.is_secret());
    let decoded = secrets.map(|(kind, value)| {
        let bytes = value.bytes().ok_or(ReturnCode::UserNotLoggedIn)?;
        Ok((AttributeType(*kind), AttributeValue::Secret(SecretBytes::from(bytes))))
    });
    decoded.collect()
}

fn return_code(error: ObjectStoreError) -> ReturnCode {
    code_of_fault(&error.fault)
}

fn code_of_fault(fault: &StoreFault) -> ReturnCode {
    match fault {
        StoreFault::PinLength { .. } => ReturnCode::PinLenRange,
        StoreFault::PinWrong { .. } => ReturnCode::PinIncorrect,
        StoreFault::PinLocked(_) => ReturnCode::PinLocked,
        StoreFault::PinNotSet(_) => ReturnCode::UserPinNotInitialized,
        StoreFault::Label { .. } => ReturnCode::ArgumentsBad,
        StoreFault::LoginNeeded(_)
        | StoreFault::LoginToInsert
        | StoreFault::LoginEnded
        | StoreFault::WrongRole { .. } => ReturnCode::UserNotLoggedIn,
        StoreFault::NoObject(_) => ReturnCode::ObjectHandleInvalid,
        StoreFault::Full | StoreFault::ObjectLength { .. } => ReturnCode::DeviceMemory,
        StoreFault::ReadOnly => ReturnCode::TokenWriteProtected,
        StoreFault::Missing => ReturnCode::TokenNotPresent,
        StoreFault::NotAStore | StoreFault::Format { .. } => ReturnCode::TokenNotRecognized,
        StoreFault::Busy | StoreFault::Conflict { .. } => ReturnCode::FunctionFailed,
        StoreFault::NoValue { .. } => ReturnCode::GeneralError,
        _ => ReturnCode::DeviceError,
    }
}

#[cfg(test)]
mod tests {
    use oarlock_cryptoki::MechanismType;
    use oarlock_io::objects::PinRules;

    use super::*;

    fn token() -> (tempfile::TempDir, TokenFileObjects) {
        let folder = tempfile::tempdir().unwrap();
        let store =
            ObjectStore::create(&folder.path().join("t"), "label", b"so-pin", PinRules::default()).unwrap();
        let token = TokenFileObjects::new(store);
        token.login(UserType::SecurityOfficer, Some(b"so-pin")).unwrap();
        token.init_pin(Some(b"user-pin")).unwrap();
        token.logout().unwrap();
        (folder, token)
    }

    fn content() -> ObjectContent {
        let mut content = ObjectContent::default();
        content.attributes.set(AttributeType::PRIVATE, true);
        content.attributes.set(AttributeType::CLASS, 4_u64);
        content.attributes.set(AttributeType::LABEL, "a label");
        content.attributes.set(AttributeType::ID, "");
        let kinds = vec![MechanismType(1), MechanismType(u64::MAX)];
        content.attributes.set(AttributeType::ALLOWED_MECHANISMS, AttributeValue::Mechanisms(kinds));
        content.secrets.set(AttributeType::VALUE, SecretBytes::from(&b"secret"[..]));
        content
    }

    #[test]
    fn objects_come_back_as_the_library_gave_them() {
        let (_folder, token) = token();
        assert_eq!(token.create(&[content()]).unwrap_err(), ReturnCode::UserNotLoggedIn);
        token.login(UserType::User, Some(b"user-pin")).unwrap();
        let before = token.data_version().unwrap();
        let ids = token.create(&[content(), content()]).unwrap();
        assert_eq!(token.data_version().unwrap(), before + 1, "one change");
        let listed = token.list().unwrap();
        assert_eq!(listed.iter().map(|object| object.id).collect::<Vec<_>>(), ids);
        assert_eq!(listed[0].attributes, content().attributes);
        assert_eq!(token.open_secrets(ids[0]).unwrap(), content().secrets);
        let mut attributes = content().attributes;
        attributes.set(AttributeType::LABEL, "another");
        attributes.remove(AttributeType::ID);
        token.update(ids[0], &attributes).unwrap();
        assert_eq!(token.list().unwrap()[0].attributes, attributes);
        assert_eq!(token.open_secrets(ids[0]).unwrap(), content().secrets, "secrets stay");
        token.destroy(ids[0]).unwrap();
        assert_eq!(token.destroy(ids[0]).unwrap_err(), ReturnCode::ObjectHandleInvalid);
        let version = token.data_version().unwrap();
        token.logout().unwrap();
        assert!(token.list().unwrap().is_empty() && token.data_version().unwrap() > version);
        assert_eq!(token.open_secrets(ids[1]).unwrap_err(), ReturnCode::UserNotLoggedIn);
    }

    #[test]
    fn pins_have_the_codes_and_flags_of_the_standard() {
        let (_folder, token) = token();
        let flags = |token: &TokenFileObjects| token.describe().unwrap().flags;
        let login = |pin: &[u8]| token.login(UserType::User, Some(pin));
        assert_eq!(login(b"").unwrap_err(), ReturnCode::PinLenRange);
        assert_eq!(flags(&token) & token_flags::USER_PIN_COUNT_LOW, 0);
        for left in (0..10).rev() {
            assert_eq!(login(b"wrong").unwrap_err(), ReturnCode::PinIncorrect);
            assert_eq!(flags(&token) & token_flags::USER_PIN_FINAL_TRY != 0, left == 1);
            assert_eq!(flags(&token) & token_flags::USER_PIN_LOCKED != 0, left == 0);
            assert_ne!(flags(&token) & token_flags::USER_PIN_COUNT_LOW, 0);
        }
        assert_eq!(login(b"user-pin").unwrap_err(), ReturnCode::PinLocked);
        assert_eq!(token.init_token(Some(b"wrong"), "x").unwrap_err(), ReturnCode::PinIncorrect);
        token.init_token(Some(b"so-pin"), "x").unwrap();
        assert_eq!(flags(&token) & token_flags::USER_PIN_INITIALIZED, 0);
        assert_eq!(login(b"user-pin").unwrap_err(), ReturnCode::UserPinNotInitialized);
        assert_eq!(token.init_pin(Some(b"user-pin")).unwrap_err(), ReturnCode::UserNotLoggedIn);
    }

    #[test]
    fn values_that_do_not_fit_their_attribute_are_an_error() {
        let class = (AttributeType::CLASS.0, StoredValue::Plain(4_u64.to_le_bytes().to_vec()));
        let decode = |entries: &[(u64, StoredValue)]| decode_plain(&entries.iter().cloned().collect());
        assert!(decode(std::slice::from_ref(&class)).is_ok());
        let flag = |bytes: &[u8]| (AttributeType::PRIVATE.0, StoredValue::Plain(bytes.to_vec()));
        assert!(decode(&[class.clone(), flag(&[1])]).is_ok());
        for entries in [vec![flag(&[1])], vec![class.clone(), flag(&[])], vec![class, flag(&[1, 1])]] {
            assert_eq!(decode(&entries).unwrap_err(), ReturnCode::DeviceError);
        }
    }
}

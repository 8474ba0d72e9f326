//! A file of objects as a token of PKCS#11.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oarlock::SecretBytes;
use oarlock_cryptoki::{
    AttributeSet, AttributeType, AttributeValue, ObjectClass, ObjectContent, ReturnCode, TokenDescription,
    TokenObject, TokenObjectId, TokenObjects, UserType, token_flags,
};

use crate::objects::{
    ChangedObject, DamagedContent, ObjectId, ObjectStore, ObjectStoreError, PinLevel, PinRole, PinRules,
    PinState, StoreChange, StoreFault, StoreLogin, StoredAttributes, StoredObject, StoredValue,
    UnstoredObject,
};

/// A token whose objects are in a file ([`objects`](crate::objects)). It has one login, as a token has.
///
/// Faults become return codes. [`report_faults`](Self::report_faults) passes those on that somebody must repair: a full
/// disk, a damaged file, wrong permissions.
pub struct TokenFile {
    path: PathBuf,
    report: Option<fn(&ObjectStoreError)>,
    // Both locks are held for a look or a replacement, and never while a file is read or a PIN is tried.
    store: Mutex<Option<Arc<ObjectStore>>>,
    login: Mutex<TokenLogin>,
    /// The damage of objects that listings have left out, each once.
    left_out: Mutex<Vec<DamagedContent>>,
}

#[derive(Clone, Default)]
struct TokenLogin {
    login: Option<StoreLogin>,
    /// The number of logins and logouts, which change what is seen.
    changes: u64,
}

impl TokenFile {
    /// Makes a token that opens its file at first use. If the file is missing, the token is not initialised, and
    /// [`init_token`](TokenObjects::init_token) makes the file.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            report: None,
            store: Mutex::default(),
            login: Mutex::default(),
            left_out: Mutex::default(),
        }
    }

    /// Makes a token of a file that is open.
    #[must_use]
    pub fn from_store(store: ObjectStore) -> Self {
        let token = Self::new(store.path().to_owned());
        token.keep(store);
        token
    }

    /// Passes faults on that somebody must repair. Return codes do not name the file and the next step.
    #[must_use]
    pub fn report_faults(self, report: fn(&ObjectStoreError)) -> Self {
        Self { report: Some(report), ..self }
    }

    /// Returns the damage of the objects that listings have left out so far.
    #[must_use]
    pub fn left_out(&self) -> Vec<DamagedContent> {
        lock(&self.left_out).clone()
    }

    /// Notes that a listing leaves an object out, and reports it the first time.
    fn leave_out(&self, what: DamagedContent) {
        let mut left_out = lock(&self.left_out);
        if left_out.contains(&what) {
            return;
        }
        left_out.push(what.clone());
        drop(left_out);
        if let Some(report) = self.report {
            report(&ObjectStoreError { path: self.path.clone(), fault: StoreFault::LeftOut { what } });
        }
    }

    /// Returns the store, or `None` if the file is missing.
    fn find_store(&self) -> Result<Option<Arc<ObjectStore>>, ReturnCode> {
        if let Some(store) = &*lock(&self.store) {
            return Ok(Some(Arc::clone(store)));
        }
        match ObjectStore::open(&self.path) {
            Ok(store) => Ok(Some(self.keep(store))),
            Err(ObjectStoreError { fault: StoreFault::Missing, .. }) => Ok(None),
            Err(error) => Err(self.return_code(error)),
        }
    }

    fn store(&self) -> Result<Arc<ObjectStore>, ReturnCode> {
        self.find_store()?.ok_or(ReturnCode::TokenNotRecognized)
    }

    /// Keeps a store that was opened. Another thread may have been faster, and its store is used then.
    fn keep(&self, store: ObjectStore) -> Arc<ObjectStore> {
        Arc::clone(lock(&self.store).get_or_insert_with(|| Arc::new(store)))
    }

    fn login_now(&self) -> TokenLogin {
        lock(&self.login).clone()
    }

    fn set_login(&self, login: Option<StoreLogin>) {
        let mut state = lock(&self.login);
        state.changes += 1;
        let before = std::mem::replace(&mut state.login, login);
        drop(state);
        // Dropped outside of the lock: it zeroizes.
        drop(before);
    }

    fn return_code(&self, error: ObjectStoreError) -> ReturnCode {
        if let Some(report) = self.report
            && needs_repair(&error.fault)
        {
            report(&error);
        }
        code_of_fault(&error.fault)
    }
}

impl TokenObjects for TokenFile {
    fn describe(&self) -> Result<TokenDescription, ReturnCode> {
        let Some(store) = self.find_store()? else {
            // The serial number is drawn when the file is made.
            return Ok(description(String::new(), String::new(), common_flags(), PinRules::default()));
        };
        let failed = |error| self.return_code(error);
        let about = store.describe().map_err(failed)?;
        let officer = store.pin_state(PinRole::SecurityOfficer).map_err(failed)?;
        let user = store.pin_state(PinRole::User).map_err(failed)?;
        Ok(description(about.label, about.serial, flags(officer, user), about.pin_rules))
    }

    fn data_version(&self) -> Result<u64, ReturnCode> {
        let changes = match self.find_store()? {
            Some(store) => store.data_version().map_err(|error| self.return_code(error))?,
            None => 0,
        };
        // Both numbers only grow, so their sum changes with each of them.
        Ok(changes.wrapping_add(lock(&self.login).changes))
    }

    fn list(&self) -> Result<Vec<TokenObject>, ReturnCode> {
        let Some(store) = self.find_store()? else { return Ok(Vec::new()) };
        let listing = store.list(self.login_now().login.as_ref()).map_err(|error| self.return_code(error))?;
        listing.damaged.into_iter().for_each(|what| self.leave_out(what));
        let token_object = |object: StoredObject| match decode_plain(&object.attributes) {
            Ok(attributes) => Some(TokenObject { id: TokenObjectId(object.id.0), attributes, key: None }),
            Err(_) => {
                self.leave_out(DamagedContent::Meaning(object.id));
                None
            }
        };
        Ok(listing.objects.into_iter().filter_map(token_object).collect())
    }

    fn open_secrets(&self, id: TokenObjectId) -> Result<AttributeSet, ReturnCode> {
        let object = self.store()?.read(self.login_now().login.as_ref(), ObjectId(id.0));
        decode_secrets(&object.map_err(|error| self.return_code(error))?.attributes)
    }

    fn create(&self, objects: &[ObjectContent]) -> Result<Vec<TokenObjectId>, ReturnCode> {
        let changes: Vec<StoreChange> = objects.iter().map(encode_object).map(StoreChange::Insert).collect();
        let created = self.store()?.apply(self.login_now().login.as_ref(), &changes);
        let created = created.map_err(|error| self.return_code(error))?;
        Ok(created.iter().map(|object| TokenObjectId(object.id.0)).collect())
    }

    fn update(
        &self,
        id: TokenObjectId,
        known: &AttributeSet,
        attributes: &AttributeSet,
    ) -> Result<bool, ReturnCode> {
        let (store, login) = (self.store()?, self.login_now().login);
        let old = store.read(login.as_ref(), ObjectId(id.0)).map_err(|error| self.return_code(error))?;
        if decode_plain(&old.attributes)? != *known {
            return Ok(false);
        }
        let is_gone = |attribute: &u64| !attributes.contains(AttributeType(*attribute));
        let plain = old.attributes.iter().filter(|(_, value)| !value.is_secret());
        let removed = plain.map(|(attribute, _)| *attribute).filter(is_gone).collect();
        let old = ChangedObject { id: old.id, version: old.version };
        match store.update(login.as_ref(), old, encode_set(attributes), removed) {
            Ok(_) => Ok(true),
            // Another process was faster.
            Err(ObjectStoreError { fault: StoreFault::Conflict { .. }, .. }) => Ok(false),
            Err(error) => Err(self.return_code(error)),
        }
    }

    fn destroy(&self, id: TokenObjectId) -> Result<(), ReturnCode> {
        let removed = self.store()?.remove(self.login_now().login.as_ref(), ObjectId(id.0));
        removed.map(drop).map_err(|error| self.return_code(error))
    }

    fn login(&self, user: UserType, pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        let pin = required_pin(pin)?;
        let login = self.store()?.login(role(user), pin).map_err(|error| self.return_code(error))?;
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
        let so_pin = required_pin(so_pin)?;
        let failed = |error| self.return_code(error);
        match self.find_store()? {
            Some(store) => store.initialise_again(so_pin, label).map_err(failed)?,
            None => {
                let rules = PinRules::default();
                self.keep(ObjectStore::create(&self.path, label, so_pin, rules).map_err(failed)?);
            }
        }
        self.set_login(None);
        Ok(())
    }

    fn init_pin(&self, pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        let login = self.login_now().login.ok_or(ReturnCode::UserNotLoggedIn)?;
        self.store()?.init_pin(&login, required_pin(pin)?).map_err(|error| self.return_code(error))
    }

    fn set_pin(&self, user: UserType, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<(), ReturnCode> {
        let (old, new) = (required_pin(old)?, required_pin(new)?);
        self.store()?.set_pin(role(user), old, new).map_err(|error| self.return_code(error))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Without a PIN the token would have to ask for it, which a file cannot.
fn required_pin(pin: Option<&[u8]>) -> Result<&[u8], ReturnCode> {
    pin.ok_or(ReturnCode::ArgumentsBad)
}

fn role(user: UserType) -> PinRole {
    match user {
        UserType::SecurityOfficer => PinRole::SecurityOfficer,
        UserType::User | UserType::ContextSpecific => PinRole::User,
    }
}

fn description(label: String, serial_number: String, flags: u64, rules: PinRules) -> TokenDescription {
    TokenDescription {
        label,
        manufacturer: "Oarlock".to_owned(),
        model: "token file".to_owned(),
        serial_number,
        flags,
        min_pin_len: rules.min_bytes.into(),
        max_pin_len: rules.max_bytes.into(),
    }
}

fn common_flags() -> u64 {
    token_flags::RNG | token_flags::LOGIN_REQUIRED
}

fn flags(officer: PinState, user: PinState) -> u64 {
    let user_pin = if user.is_set { token_flags::USER_PIN_INITIALIZED } else { 0 };
    let user_level = level_flags(
        user,
        [token_flags::USER_PIN_COUNT_LOW, token_flags::USER_PIN_FINAL_TRY, token_flags::USER_PIN_LOCKED],
    );
    let officer_level = level_flags(
        officer,
        [token_flags::SO_PIN_COUNT_LOW, token_flags::SO_PIN_FINAL_TRY, token_flags::SO_PIN_LOCKED],
    );
    common_flags() | token_flags::TOKEN_INITIALIZED | user_pin | user_level | officer_level
}

/// Returns the flags of a PIN. `COUNT_LOW` says that there was a wrong try since the last login, so it stands beside
/// the two others. PKCS#11 v3.2 3.2, `CK_TOKEN_INFO`.
fn level_flags(state: PinState, [low, final_try, locked]: [u64; 3]) -> u64 {
    match state.level() {
        PinLevel::Full => 0,
        PinLevel::Low => low,
        // If only one try is allowed, it may be left without a wrong one.
        PinLevel::FinalTry => final_try | if state.max_tries > 1 { low } else { 0 },
        PinLevel::Locked => locked | low,
    }
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
    // The form of a value depends on the class, which every object has. Values that fitted when they were stored and do
    // not fit now are damage.
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

/// Returns the secret attributes, which the login shows. They are bytes in every class: the `CKA_VALUE` of a private
/// data object too, which is not secret elsewhere.
fn decode_secrets(attributes: &StoredAttributes) -> Result<AttributeSet, ReturnCode> {
    let secrets = attributes.iter().filter(|(_, value)| value.is_secret());
    let decoded = secrets.map(|(kind, value)| {
        let bytes = value.bytes().ok_or(ReturnCode::UserNotLoggedIn)?;
        Ok((AttributeType(*kind), AttributeValue::Secret(SecretBytes::from(bytes))))
    });
    decoded.collect()
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
        StoreFault::Missing | StoreFault::NotAStore | StoreFault::Format { .. } => {
            ReturnCode::TokenNotRecognized
        }
        StoreFault::Busy | StoreFault::Conflict { .. } | StoreFault::Machine(_) => ReturnCode::FunctionFailed,
        _ => ReturnCode::DeviceError,
    }
}

/// True if the caller cannot mend the fault by other arguments or another call.
fn needs_repair(fault: &StoreFault) -> bool {
    let is_of_caller = matches!(
        fault,
        StoreFault::PinLength { .. }
            | StoreFault::PinWrong { .. }
            | StoreFault::PinLocked(_)
            | StoreFault::PinNotSet(_)
            | StoreFault::Label { .. }
            | StoreFault::LoginNeeded(_)
            | StoreFault::LoginToInsert
            | StoreFault::LoginEnded
            | StoreFault::WrongRole { .. }
            | StoreFault::NoObject(_)
            | StoreFault::ObjectLength { .. }
            | StoreFault::Conflict { .. }
    );
    !is_of_caller
}

/// Shows the path only.
impl fmt::Debug for TokenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TokenFile").field(&self.path).finish()
    }
}

#[cfg(test)]
mod tests;

//! A token in memory, for tests and for programs that keep nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use oarlock::SecretBytes;

use super::objects::{ObjectContent, TokenDescription, TokenObject, TokenObjectId, TokenObjects, UserType};
use crate::attribute::AttributeSet;
use crate::constants::{AttributeType, ReturnCode, token_flags};

/// The number of wrong PINs after which a PIN is locked.
const MAX_TRIES: u32 = 3;
const MIN_PIN_LEN: usize = 4;
const MAX_PIN_LEN: usize = 255;

/// A token whose objects live in memory and end with it.
///
/// Three wrong PINs in a row lock a PIN. The security officer unlocks the user's PIN by setting it anew.
pub struct MemoryToken(Mutex<MemoryState>);

#[derive(Default)]
struct MemoryState {
    label: Option<String>,
    so_pin: MemoryPin,
    user_pin: MemoryPin,
    user: Option<UserType>,
    objects: BTreeMap<TokenObjectId, ObjectContent>,
    next_id: u64,
    version: u64,
}

#[derive(Default)]
struct MemoryPin {
    value: Option<SecretBytes>,
    failures: u32,
}

impl MemoryToken {
    /// Creates a token that is not initialised.
    #[must_use]
    pub fn blank() -> Self {
        Self(Mutex::default())
    }

    /// Creates an initialised token with both PINs set.
    #[must_use]
    pub fn initialized(label: &str, so_pin: &[u8], user_pin: &[u8]) -> Self {
        let pin = |value: &[u8]| MemoryPin { value: Some(SecretBytes::from(value)), failures: 0 };
        Self(Mutex::new(MemoryState {
            label: Some(label.into()),
            so_pin: pin(so_pin),
            user_pin: pin(user_pin),
            ..MemoryState::default()
        }))
    }

    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenObjects for MemoryToken {
    fn describe(&self) -> Result<TokenDescription, ReturnCode> {
        let state = self.lock();
        let mut flags = token_flags::RNG | token_flags::LOGIN_REQUIRED;
        if state.label.is_some() {
            flags |= token_flags::TOKEN_INITIALIZED;
        }
        if state.user_pin.value.is_some() {
            flags |= token_flags::USER_PIN_INITIALIZED;
        }
        flags |= state.user_pin.flags(
            token_flags::USER_PIN_COUNT_LOW,
            token_flags::USER_PIN_FINAL_TRY,
            token_flags::USER_PIN_LOCKED,
        );
        flags |= state.so_pin.flags(
            token_flags::SO_PIN_COUNT_LOW,
            token_flags::SO_PIN_FINAL_TRY,
            token_flags::SO_PIN_LOCKED,
        );
        Ok(TokenDescription {
            label: state.label.clone().unwrap_or_default(),
            manufacturer: "Oarlock".into(),
            model: "memory".into(),
            serial_number: "0".into(),
            flags,
            min_pin_len: MIN_PIN_LEN as u64,
            max_pin_len: MAX_PIN_LEN as u64,
        })
    }

    fn data_version(&self) -> Result<u64, ReturnCode> {
        Ok(self.lock().version)
    }

    fn list(&self) -> Result<Vec<TokenObject>, ReturnCode> {
        let state = self.lock();
        let sees_private = state.user == Some(UserType::User);
        let visible = state
            .objects
            .iter()
            .filter(|(_, object)| sees_private || !object.attributes.is_true(AttributeType::PRIVATE));
        Ok(visible
            .map(|(id, object)| TokenObject { id: *id, attributes: object.attributes.clone(), key: None })
            .collect())
    }

    fn open_secrets(&self, id: TokenObjectId) -> Result<AttributeSet, ReturnCode> {
        let state = self.lock();
        let object = state.objects.get(&id).ok_or(ReturnCode::ObjectHandleInvalid)?;
        if object.attributes.is_true(AttributeType::PRIVATE) && state.user != Some(UserType::User) {
            return Err(ReturnCode::UserNotLoggedIn);
        }
        Ok(object.secrets.clone())
    }

    fn create(&self, objects: &[ObjectContent]) -> Result<Vec<TokenObjectId>, ReturnCode> {
        let mut state = self.lock();
        // One step for all objects: `TokenWrite::end` takes more for the change of somebody else.
        state.version += 1;
        let mut ids = Vec::with_capacity(objects.len());
        for object in objects {
            let id = TokenObjectId(state.next_id);
            state.next_id += 1;
            state.objects.insert(id, object.clone());
            ids.push(id);
        }
        Ok(ids)
    }

    fn update(
        &self,
        id: TokenObjectId,
        known: &AttributeSet,
        attributes: &AttributeSet,
    ) -> Result<bool, ReturnCode> {
        let mut state = self.lock();
        let object = state.objects.get_mut(&id).ok_or(ReturnCode::ObjectHandleInvalid)?;
        if object.attributes != *known {
            return Ok(false);
        }
        object.attributes = attributes.clone();
        state.version += 1;
        Ok(true)
    }

    fn destroy(&self, id: TokenObjectId) -> Result<(), ReturnCode> {
        let mut state = self.lock();
        state.objects.remove(&id).ok_or(ReturnCode::ObjectHandleInvalid)?;
        state.version += 1;
        Ok(())
    }

    fn login(&self, user: UserType, pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        let mut state = self.lock();
        match user {
            UserType::SecurityOfficer => state.so_pin.check(pin)?,
            UserType::User | UserType::ContextSpecific => state.user_pin.check(pin)?,
        }
        if user != UserType::ContextSpecific {
            state.user = Some(user);
            // Private objects are visible from now on, so the index must be read again.
            state.version += 1;
        }
        Ok(())
    }

    fn logout(&self) -> Result<(), ReturnCode> {
        let mut state = self.lock();
        state.user = None;
        state.version += 1;
        Ok(())
    }

    fn init_token(&self, so_pin: Option<&[u8]>, label: &str) -> Result<(), ReturnCode> {
        let mut state = self.lock();
        let pin = checked_len(so_pin)?;
        if state.label.is_some() {
            state.so_pin.check(Some(pin))?;
        }
        state.so_pin = MemoryPin { value: Some(SecretBytes::from(pin)), failures: 0 };
        state.user_pin = MemoryPin::default();
        state.objects.clear();
        state.label = Some(label.into());
        state.version += 1;
        Ok(())
    }

    fn init_pin(&self, pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        let pin = checked_len(pin)?;
        self.lock().user_pin = MemoryPin { value: Some(SecretBytes::from(pin)), failures: 0 };
        Ok(())
    }

    fn set_pin(&self, user: UserType, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<(), ReturnCode> {
        let new = checked_len(new)?;
        let mut state = self.lock();
        let pin = match user {
            UserType::SecurityOfficer => &mut state.so_pin,
            UserType::User | UserType::ContextSpecific => &mut state.user_pin,
        };
        // Counts wrong tries as a login does. Otherwise C_SetPIN would be a way around the lock.
        pin.check(old)?;
        pin.value = Some(SecretBytes::from(new));
        Ok(())
    }
}

impl MemoryPin {
    fn check(&mut self, pin: Option<&[u8]>) -> Result<(), ReturnCode> {
        let value = self.value.as_ref().ok_or(ReturnCode::UserPinNotInitialized)?;
        // A locked PIN is not even compared: the right one must not open the token.
        if self.failures >= MAX_TRIES {
            return Err(ReturnCode::PinLocked);
        }
        let pin = pin.ok_or(ReturnCode::ArgumentsBad)?;
        if *value != SecretBytes::from(pin) {
            self.failures += 1;
            return Err(ReturnCode::PinIncorrect);
        }
        self.failures = 0;
        Ok(())
    }

    fn flags(&self, low: u64, final_try: u64, locked: u64) -> u64 {
        match MAX_TRIES.saturating_sub(self.failures) {
            0 => locked,
            1 => low | final_try,
            left if left < MAX_TRIES => low,
            _ => 0,
        }
    }
}

fn checked_len(pin: Option<&[u8]>) -> Result<&[u8], ReturnCode> {
    let pin = pin.ok_or(ReturnCode::ArgumentsBad)?;
    if (MIN_PIN_LEN..=MAX_PIN_LEN).contains(&pin.len()) { Ok(pin) } else { Err(ReturnCode::PinLenRange) }
}

impl fmt::Debug for MemoryToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryToken({} objects)", self.lock().objects.len())
    }
}

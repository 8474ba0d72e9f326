//! The rights of a caller: its session, its login, and the keys that it names.

use std::sync::Arc;

use oarlock::Key;

use super::{Cryptoki, SlotRuntime};
use crate::attribute::{AttributeSet, AttributeValue};
use crate::constants::{AttributeType as A, ReturnCode, session_flags, token_flags};
use crate::handle::{ObjectHandle, SessionHandle};
use crate::mechanism::{Mechanism, MechanismFacts, facts};
use crate::object::{Object, TemplateContext};
use crate::operation::check_verified_len;
use crate::session::Session;
use crate::token::{SlotId, UserType};

/// The caller of a function: a session and its slot.
pub(super) struct Caller<'a> {
    pub(super) slot: &'a SlotRuntime,
    pub(super) session: SessionHandle,
    pub(super) flags: u64,
}

/// The return codes for a key that does not fit its function.
#[derive(Clone, Copy)]
pub(super) struct KeyFaults {
    handle: ReturnCode,
    key_type: ReturnCode,
}

impl KeyFaults {
    pub(super) const USUAL: Self =
        Self { handle: ReturnCode::KeyHandleInvalid, key_type: ReturnCode::KeyTypeInconsistent };
    pub(super) const WRAPPING: Self = Self {
        handle: ReturnCode::WrappingKeyHandleInvalid,
        key_type: ReturnCode::WrappingKeyTypeInconsistent,
    };
    pub(super) const UNWRAPPING: Self = Self {
        handle: ReturnCode::UnwrappingKeyHandleInvalid,
        key_type: ReturnCode::UnwrappingKeyTypeInconsistent,
    };
}

/// A key that may be used as asked.
pub(super) struct UsableKey {
    pub(super) object: Arc<Object>,
    pub(super) key: Key,
    pub(super) facts: &'static MechanismFacts,
}

impl UsableKey {
    /// True if the key wants the PIN for each use.
    pub(super) fn needs_login(&self) -> bool {
        self.object.attributes.is_true(A::ALWAYS_AUTHENTICATE)
    }
}

impl Cryptoki {
    pub(super) fn slot(&self, id: SlotId) -> Result<(usize, &SlotRuntime), ReturnCode> {
        let found = self.slots.iter().enumerate().find(|(_, slot)| slot.settings.id == id);
        found.ok_or(ReturnCode::SlotIdInvalid)
    }

    pub(super) fn slot_at(&self, index: usize) -> Result<&SlotRuntime, ReturnCode> {
        self.slots.get(index).ok_or(ReturnCode::GeneralError)
    }

    /// Returns the caller of a function.
    ///
    /// # Errors
    /// [`ReturnCode::SessionHandleInvalid`].
    pub(super) fn caller(&self, session: SessionHandle) -> Result<Caller<'_>, ReturnCode> {
        self.caller_if(session, |_| Ok(()))
    }

    /// Returns the caller of a function if its session is in the right state.
    pub(super) fn caller_if(
        &self,
        session: SessionHandle,
        check: impl FnOnce(&mut Session) -> Result<(), ReturnCode>,
    ) -> Result<Caller<'_>, ReturnCode> {
        let (slot, flags) = self.sessions.with(session, |found| {
            check(found)?;
            Ok((found.slot, found.flags))
        })?;
        Ok(Caller { slot: self.slot_at(slot)?, session, flags })
    }
}

impl Caller<'_> {
    pub(super) fn is_read_write(&self) -> bool {
        self.flags & session_flags::RW_SESSION != 0
    }

    pub(super) fn context(&self) -> TemplateContext {
        TemplateContext {
            is_compatible: self.slot.settings.is_compatible,
            is_security_officer: self.slot.login.user() == Some(UserType::SecurityOfficer),
            are_keys_private: self.slot.login.is_user() || self.needs_login(),
        }
    }

    /// True if the token has functions that only a user may call. Programs never log in to another token, so
    /// they make no private object there.
    fn needs_login(&self) -> bool {
        let description = self.slot.settings.objects.describe();
        // If the token does not answer, keys become private, which is the stricter default.
        description.map_or(true, |description| description.flags & token_flags::LOGIN_REQUIRED != 0)
    }

    /// Returns a visible object.
    pub(super) fn object(&self, handle: ObjectHandle) -> Result<Arc<Object>, ReturnCode> {
        self.slot.objects.get(handle, self.slot.login.is_user())
    }

    /// Returns a visible object that is named as a key. `invalid` is the return code for a wrong handle.
    pub(super) fn key_object(
        &self,
        handle: ObjectHandle,
        invalid: ReturnCode,
    ) -> Result<Arc<Object>, ReturnCode> {
        // Errors of the token keep their codes. Only a wrong handle has a code for each argument that may name a key.
        self.object(handle).map_err(|code| match code {
            ReturnCode::ObjectHandleInvalid => invalid,
            code => code,
        })
    }

    /// Checks that the session may create or change such an object.
    ///
    /// # Errors
    /// [`ReturnCode::SessionReadOnly`], [`ReturnCode::UserNotLoggedIn`].
    pub(super) fn check_write(&self, attributes: &AttributeSet) -> Result<(), ReturnCode> {
        if attributes.is_true(A::TOKEN) && !self.is_read_write() {
            return Err(ReturnCode::SessionReadOnly);
        }
        if attributes.is_true(A::PRIVATE) && !self.slot.login.is_user() {
            return Err(ReturnCode::UserNotLoggedIn);
        }
        Ok(())
    }

    /// Returns a key that has the use, and whose type fits the mechanism.
    ///
    /// `flag` is the function in [`mechanism_flags`](crate::mechanism_flags), and `usage` the attribute that allows it.
    pub(super) fn usable_key(
        &self,
        handle: ObjectHandle,
        mechanism: &Mechanism<'_>,
        (flag, usage): (u64, A),
        faults: KeyFaults,
    ) -> Result<UsableKey, ReturnCode> {
        let is_compatible = self.slot.settings.is_compatible;
        let facts = facts(mechanism.kind).filter(|facts| facts.flags_if(is_compatible) & flag != 0);
        let facts = facts.ok_or(ReturnCode::MechanismInvalid)?;
        let object = self.key_object(handle, faults.handle)?;
        // Data and certificates have no key type. Their handles are as wrong here as handles of nothing.
        let key_type = object.key_type().ok_or(faults.handle)?;
        if !facts.family.takes(key_type) {
            return Err(faults.key_type);
        }
        if !object.attributes.is_true(usage) {
            return Err(ReturnCode::KeyFunctionNotPermitted);
        }
        if let Some(AttributeValue::Mechanisms(allowed)) = object.attributes.get(A::ALLOWED_MECHANISMS)
            && !allowed.contains(&mechanism.kind)
        {
            return Err(ReturnCode::MechanismInvalid);
        }
        // A key that also signs needs no minimum: a user of it makes whole codes without guessing.
        if usage == A::VERIFY && !object.attributes.is_true(A::SIGN) && !is_compatible {
            check_verified_len(facts.family, &mechanism.parameters)?;
        }
        let key = object.key(self.slot.objects.token())?;
        Ok(UsableKey { object, key, facts })
    }
}

//! Tokens that are never written and need no login.

use std::collections::BTreeMap;

use oarlock::Key;
use oarlock_cryptoki::{
    AttributeSet, ReturnCode, TokenDescription, TokenObject, TokenObjectId, UserType, token_flags,
};

/// The minimum and the maximum length of a PIN. No PIN is needed, and any is accepted.
const PIN_LENS: (u64, u64) = (0, 255);

/// The objects of a token as it was read last, and their identities.
#[derive(Debug, Default)]
pub(super) struct ShownObjects {
    objects: Vec<ShownObject>,
    /// The identities by content, so that an object keeps its handle if another one comes or goes.
    ids: BTreeMap<Vec<u8>, TokenObjectId>,
    next_id: u64,
    version: u64,
}

#[derive(Debug)]
struct ShownObject {
    id: TokenObjectId,
    attributes: AttributeSet,
    key: Option<Key>,
}

/// An object to be shown: its identity as bytes, its attributes, and its key.
#[derive(Debug)]
pub(super) struct NewShownObject {
    /// Bytes that no other object of the token has: its class, its name, and its key's fingerprint.
    pub(super) identity: Vec<u8>,
    pub(super) attributes: AttributeSet,
    pub(super) key: Option<Key>,
}

impl ShownObjects {
    /// Replaces all objects. The version changes if an object came, went or changed.
    pub(super) fn replace(&mut self, new: Vec<NewShownObject>) {
        let before: Vec<TokenObjectId> = self.objects.iter().map(|object| object.id).collect();
        let mut objects = Vec::with_capacity(new.len());
        for NewShownObject { identity, attributes, key } in new {
            let next = TokenObjectId(self.next_id);
            let id = *self.ids.entry(identity).or_insert(next);
            if id == next {
                self.next_id += 1;
            }
            objects.push(ShownObject { id, attributes, key });
        }
        let is_same = before.iter().eq(objects.iter().map(|object| &object.id))
            && self.objects.iter().zip(&objects).all(|(old, new)| old.attributes == new.attributes);
        if !is_same {
            self.version += 1;
            self.objects = objects;
        }
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn list(&self) -> Vec<TokenObject> {
        let shown = self.objects.iter();
        shown
            .map(|object| TokenObject {
                id: object.id,
                attributes: object.attributes.clone(),
                key: object.key.clone(),
            })
            .collect()
    }

    /// Checks that an object exists. Keys are shown with the object, so there is nothing to open.
    pub(super) fn open_secrets(&self, id: TokenObjectId) -> Result<AttributeSet, ReturnCode> {
        let exists = self.objects.iter().any(|object| object.id == id);
        if exists { Ok(AttributeSet::new()) } else { Err(ReturnCode::ObjectHandleInvalid) }
    }
}

/// Returns the description of a token that is never written.
pub(super) fn description(label: &str, model: &str, serial_number: String) -> TokenDescription {
    TokenDescription {
        label: label.to_owned(),
        manufacturer: "Oarlock".to_owned(),
        model: model.to_owned(),
        serial_number,
        flags: token_flags::RNG
            | token_flags::WRITE_PROTECTED
            | token_flags::TOKEN_INITIALIZED
            | token_flags::USER_PIN_INITIALIZED
            | token_flags::ASYNC_SESSION_SUPPORTED,
        min_pin_len: PIN_LENS.0,
        max_pin_len: PIN_LENS.1,
    }
}

/// Accepts any PIN of the user. Everything is shown without a login, and programs with a configured PIN log in anyway.
pub(super) fn login(user: UserType) -> Result<(), ReturnCode> {
    match user {
        UserType::User | UserType::ContextSpecific => Ok(()),
        // The security officer of a token prepares it for writing.
        UserType::SecurityOfficer => Err(ReturnCode::TokenWriteProtected),
    }
}

/// Implements the methods of `TokenObjects` that write, for a token that is never written.
macro_rules! never_written {
    () => {
        fn create(
            &self,
            _objects: &[oarlock_cryptoki::ObjectContent],
        ) -> Result<Vec<oarlock_cryptoki::TokenObjectId>, oarlock_cryptoki::ReturnCode> {
            Err(oarlock_cryptoki::ReturnCode::TokenWriteProtected)
        }

        fn update(
            &self,
            _id: oarlock_cryptoki::TokenObjectId,
            _known: &oarlock_cryptoki::AttributeSet,
            _attributes: &oarlock_cryptoki::AttributeSet,
        ) -> Result<bool, oarlock_cryptoki::ReturnCode> {
            Err(oarlock_cryptoki::ReturnCode::TokenWriteProtected)
        }

        fn destroy(&self, _id: oarlock_cryptoki::TokenObjectId) -> Result<(), oarlock_cryptoki::ReturnCode> {
            Err(oarlock_cryptoki::ReturnCode::TokenWriteProtected)
        }

        fn login(
            &self,
            user: oarlock_cryptoki::UserType,
            _pin: Option<&[u8]>,
        ) -> Result<(), oarlock_cryptoki::ReturnCode> {
            crate::token::read_only::login(user)
        }

        fn logout(&self) -> Result<(), oarlock_cryptoki::ReturnCode> {
            Ok(())
        }

        fn init_token(
            &self,
            _so_pin: Option<&[u8]>,
            _label: &str,
        ) -> Result<(), oarlock_cryptoki::ReturnCode> {
            Err(oarlock_cryptoki::ReturnCode::TokenWriteProtected)
        }

        fn init_pin(&self, _pin: Option<&[u8]>) -> Result<(), oarlock_cryptoki::ReturnCode> {
            Err(oarlock_cryptoki::ReturnCode::TokenWriteProtected)
        }

        fn set_pin(
            &self,
            _user: oarlock_cryptoki::UserType,
            _old: Option<&[u8]>,
            _new: Option<&[u8]>,
        ) -> Result<(), oarlock_cryptoki::ReturnCode> {
            Err(oarlock_cryptoki::ReturnCode::TokenWriteProtected)
        }
    };
}
pub(super) use never_written;

#[cfg(test)]
mod tests {
    use super::*;

    fn object(identity: &[u8], label: &str) -> NewShownObject {
        let mut attributes = AttributeSet::new();
        attributes.set(oarlock_cryptoki::AttributeType::LABEL, label);
        NewShownObject { identity: identity.to_vec(), attributes, key: None }
    }

    #[test]
    fn an_object_keeps_its_identity_when_others_come_and_go() {
        let mut shown = ShownObjects::default();
        shown.replace(vec![object(b"a", "a"), object(b"b", "b")]);
        let (version, b) = (shown.version(), shown.list()[1].id);
        shown.replace(vec![object(b"a", "a"), object(b"b", "b")]);
        assert_eq!(shown.version(), version, "nothing has changed");
        shown.replace(vec![object(b"b", "b"), object(b"c", "c")]);
        assert_ne!(shown.version(), version);
        assert_eq!(shown.list()[0].id, b);
        assert!(shown.open_secrets(b).is_ok());
        assert_eq!(shown.open_secrets(TokenObjectId(99)), Err(ReturnCode::ObjectHandleInvalid));
    }

    #[test]
    fn a_changed_attribute_is_another_version() {
        let mut shown = ShownObjects::default();
        shown.replace(vec![object(b"a", "a")]);
        let version = shown.version();
        shown.replace(vec![object(b"a", "renamed")]);
        assert_ne!(shown.version(), version);
    }

    #[test]
    fn only_the_user_logs_in() {
        assert_eq!(login(UserType::User), Ok(()));
        assert_eq!(login(UserType::SecurityOfficer), Err(ReturnCode::TokenWriteProtected));
    }
}

//! The trait that says where the objects of a token are.

use std::fmt;

use oarlock::Key;

use crate::attribute::AttributeSet;
use crate::constants::ReturnCode;

/// The place of the objects of a token: a store on disk, a directory of key files, or a server.
///
/// Methods are called from many threads. No lock of this crate is held during a call, except one that keeps changes
/// in order. The implementation enforces PINs: before a login, it lists and opens no private object.
pub trait TokenObjects: Send + Sync + fmt::Debug {
    /// Returns the description of the token with its current flags.
    ///
    /// # Errors
    /// [`ReturnCode::TokenNotPresent`] if the slot is empty now.
    fn describe(&self) -> Result<TokenDescription, ReturnCode>;

    /// Returns a number that changes with every change of the objects, also by another process. It is cheap.
    ///
    /// # Errors
    /// [`ReturnCode::DeviceRemoved`], [`ReturnCode::DeviceError`].
    fn data_version(&self) -> Result<u64, ReturnCode>;

    /// Returns every object that the current login shows, without secret values.
    ///
    /// # Errors
    /// [`ReturnCode::DeviceRemoved`], [`ReturnCode::DeviceError`].
    fn list(&self) -> Result<Vec<TokenObject>, ReturnCode>;

    /// Returns the secret values of an object: what [`ObjectContent::secrets`] had.
    ///
    /// This is called once per object and login, not once per operation.
    ///
    /// # Errors
    /// [`ReturnCode::UserNotLoggedIn`] if the values are encrypted and nobody is logged in;
    /// [`ReturnCode::ObjectHandleInvalid`] if the object is gone; [`ReturnCode::DeviceError`] if the values are
    /// damaged.
    fn open_secrets(&self, id: TokenObjectId) -> Result<AttributeSet, ReturnCode>;

    /// Creates objects, all or none, and returns their identities in order.
    ///
    /// # Errors
    /// [`ReturnCode::TokenWriteProtected`], [`ReturnCode::UserNotLoggedIn`], [`ReturnCode::DeviceMemory`].
    fn create(&self, objects: &[ObjectContent]) -> Result<Vec<TokenObjectId>, ReturnCode>;

    /// Replaces the attributes of an object. Its secret values stay. `known` are the attributes on which the caller has
    /// based the change.
    ///
    /// Returns false, and changes nothing, if the object has other attributes than `known` by now. Otherwise the change
    /// of another process would be lost, and an attribute that only grows stricter could be taken back.
    ///
    /// # Errors
    /// As [`create`](Self::create), and [`ReturnCode::ObjectHandleInvalid`] if the object is gone.
    fn update(
        &self,
        id: TokenObjectId,
        known: &AttributeSet,
        attributes: &AttributeSet,
    ) -> Result<bool, ReturnCode>;

    /// Destroys an object.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    fn destroy(&self, id: TokenObjectId) -> Result<(), ReturnCode>;

    /// Checks a PIN and opens the token for a user. `None` asks for another way of authentication.
    ///
    /// `C_Login` of [`UserType::ContextSpecific`] comes here too. The implementation then only checks the PIN.
    ///
    /// # Errors
    /// [`ReturnCode::PinIncorrect`], [`ReturnCode::PinLocked`], [`ReturnCode::UserPinNotInitialized`].
    fn login(&self, user: UserType, pin: Option<&[u8]>) -> Result<(), ReturnCode>;

    /// Closes the token and forgets every opened secret.
    ///
    /// # Errors
    /// [`ReturnCode::DeviceError`].
    fn logout(&self) -> Result<(), ReturnCode>;

    /// Destroys all objects, and sets the label and the SO PIN. A token that is initialised already checks the SO PIN.
    ///
    /// # Errors
    /// [`ReturnCode::PinIncorrect`], [`ReturnCode::PinLocked`], [`ReturnCode::TokenWriteProtected`].
    fn init_token(&self, so_pin: Option<&[u8]>, label: &str) -> Result<(), ReturnCode>;

    /// Sets the user's PIN. The security officer is logged in.
    ///
    /// # Errors
    /// [`ReturnCode::PinLenRange`], [`ReturnCode::TokenWriteProtected`].
    fn init_pin(&self, pin: Option<&[u8]>) -> Result<(), ReturnCode>;

    /// Changes the PIN of a user, [`UserType::User`] or [`UserType::SecurityOfficer`].
    ///
    /// # Errors
    /// [`ReturnCode::PinIncorrect`], [`ReturnCode::PinLocked`], [`ReturnCode::PinLenRange`],
    /// [`ReturnCode::TokenWriteProtected`].
    fn set_pin(&self, user: UserType, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<(), ReturnCode>;
}

/// The identity of a token object, chosen by [`TokenObjects`]. It is never used again for another object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenObjectId(pub u64);

/// An object as [`TokenObjects::list`] shows it.
#[derive(Clone, Debug)]
pub struct TokenObject {
    /// The identity.
    pub id: TokenObjectId,
    /// The attributes, without secret values.
    pub attributes: AttributeSet,
    /// The key, if the implementation has it: a key that a server holds, or one read from a file. Otherwise the key is
    /// made from the attributes and [`TokenObjects::open_secrets`] at its first use.
    pub key: Option<Key>,
}

/// An object to be created.
#[derive(Clone, Debug, Default)]
pub struct ObjectContent {
    /// The attributes, without secret values.
    pub attributes: AttributeSet,
    /// The values that are encrypted at rest: the private numbers of a key, the value of a secret key, and the value of
    /// a data object that is private.
    pub secrets: AttributeSet,
}

/// The user of a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UserType {
    /// `CKU_SO`.
    SecurityOfficer,
    /// `CKU_USER`.
    User,
    /// `CKU_CONTEXT_SPECIFIC`: a PIN for one use of a key.
    ContextSpecific,
}

/// The description of a token, the part of `CK_TOKEN_INFO` that depends on the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenDescription {
    /// The label, at most 32 bytes. A longer one is cut.
    pub label: String,
    /// The manufacturer, at most 32 bytes.
    pub manufacturer: String,
    /// The model, at most 16 bytes.
    pub model: String,
    /// The serial number, at most 16 bytes.
    pub serial_number: String,
    /// The flags of the token: initialised, write-protected, login required, and the states of the PINs.
    pub flags: u64,
    /// The shortest PIN in bytes.
    pub min_pin_len: u64,
    /// The longest PIN in bytes.
    pub max_pin_len: u64,
}

impl TryFrom<u64> for UserType {
    type Error = ReturnCode;

    fn try_from(value: u64) -> Result<Self, ReturnCode> {
        match value {
            0 => Ok(Self::SecurityOfficer),
            1 => Ok(Self::User),
            2 => Ok(Self::ContextSpecific),
            _ => Err(ReturnCode::UserTypeInvalid),
        }
    }
}

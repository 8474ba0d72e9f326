//! Errors of the object store.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::object::ObjectId;
use super::role::PinRole;
use crate::ExposedSecret;

/// An error of an object store, with the file that it concerns.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
#[allow(missing_docs, reason = "the message names the fields")]
pub struct ObjectStoreError {
    /// The path of the store.
    pub path: PathBuf,
    pub fault: StoreFault,
}

/// A fault of an object store. No text repeats a PIN or a value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreFault {
    /// There is no file of this name.
    #[error("no such file; `oarlock token init` makes one")]
    Missing,
    /// A store would replace another file.
    #[error("the file exists already; choose another name or remove it")]
    Exists,
    /// Other users may read or write the file.
    #[error("others may read this private file (mode {:04o}); `chmod 600` keeps it private", .0.mode)]
    Exposed(ExposedSecret),
    /// The file is not a store.
    #[error("not a token file")]
    NotAStore,
    /// The file has another format.
    #[error("a token file of format {found}, but this version reads format {expected}")]
    Format {
        /// The format of the file.
        found: i64,
        /// The format that this version reads.
        expected: i64,
    },
    /// The file is damaged, or somebody changed it without the PIN. A copy of it is needed.
    #[error("the file is damaged: {what}; restore it from a backup")]
    Damaged {
        /// The damaged content.
        what: DamagedContent,
    },
    /// An object is damaged. The others are not.
    #[error(
        "{what}; it is left out, and `oarlock token list` shows it, until the file is restored from a backup"
    )]
    LeftOut {
        /// The damage.
        what: DamagedContent,
    },
    /// Another process has written, or has tried a PIN, for too long.
    #[error("another process has locked the file for too long; try again")]
    Busy,
    /// The disk, or the file's quota, is full. Nothing was changed.
    #[error("no space is left on the disk; nothing was changed")]
    Full,
    /// The file, or its folder, cannot be written. A login also writes, because it counts tries.
    #[error("the file cannot be written; the file and its folder must be writable")]
    ReadOnly,
    /// The process was forked while another of its threads used a store, so this process cannot use it.
    #[error(
        "this process was forked while a thread used a token file; open the file before or after, not during"
    )]
    Forked,
    /// The system reports an error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// SQLite reports another error.
    #[error("SQLite: {0}")]
    Database(String),
    /// A PIN is too short or too long.
    #[error("a PIN of {found} bytes; expected {min} to {max} bytes")]
    PinLength {
        /// The length in bytes.
        found: usize,
        /// The minimum length in bytes.
        min: usize,
        /// The maximum length in bytes.
        max: usize,
    },
    /// A PIN is wrong.
    #[error("the {role} PIN is wrong; {tries_left} tries are left")]
    PinWrong {
        /// The owner of the PIN.
        role: PinRole,
        /// The number of tries before the PIN is locked; 0 if it is locked now.
        tries_left: u32,
    },
    /// The PIN was wrong too often.
    #[error("the {0} PIN is locked; {hint}", hint = .0.unlock_hint())]
    PinLocked(PinRole),
    /// There is no user PIN yet.
    #[error("the {0} PIN is not set; the security officer sets it with `oarlock token pin --unlock`")]
    PinNotSet(PinRole),
    /// The rules for PINs contradict each other or exceed their limits.
    #[error("unusable rules for PINs: expected 1 <= min <= max <= 255 bytes, and 1 to 255 tries")]
    PinRules,
    /// The label is too long.
    #[error("a label of {found} bytes; expected at most {max}")]
    Label {
        /// The length in bytes.
        found: usize,
        /// The maximum length in bytes.
        max: usize,
    },
    /// The object is private or has secret attributes, and nobody has logged in.
    #[error("object {0} needs a login")]
    LoginNeeded(ObjectId),
    /// A new object is private or has secret attributes, and nobody has logged in.
    #[error("a private object or a secret attribute needs a login")]
    LoginToInsert,
    /// The login is of the other role.
    #[error("only the {expected} may do this")]
    WrongRole {
        /// The role that may do it.
        expected: PinRole,
    },
    /// The store was initialised again after the login, or the login is of another store.
    #[error("the token was initialised again after this login")]
    LoginEnded,
    /// There is no object of this number.
    #[error("there is no object {0}")]
    NoObject(ObjectId),
    /// Somebody else changed the object first.
    #[error("object {id} has version {found}, not {expected}: another process changed it")]
    Conflict {
        /// The number of the object.
        id: ObjectId,
        /// The version that the caller knows.
        expected: u64,
        /// The version in the store.
        found: u64,
    },
    /// An object is too long.
    #[error("an object of {found} bytes; expected at most {max}")]
    ObjectLength {
        /// The length of all values in bytes.
        found: usize,
        /// The maximum length in bytes.
        max: usize,
    },
    /// A new value is [`StoredValue::Concealed`](super::StoredValue::Concealed), which stands for a value that was not
    /// read.
    #[error("attribute {attribute:#x} has no value to store")]
    NoValue {
        /// The type of the attribute.
        attribute: u64,
    },
    /// The machine failed.
    #[error("{0} failed")]
    Machine(&'static str),
}

/// The damaged content of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DamagedContent {
    /// The pages of the database.
    #[error("{0}")]
    Pages(String),
    /// The description of the store, or its PINs.
    #[error("the description of the token is incomplete")]
    Description,
    /// An attribute was changed, or moved from another object, attribute or version.
    #[error("attribute {attribute:#x} of object {object} is not the value that was written there")]
    Attribute {
        /// The number of the object.
        object: ObjectId,
        /// The type of the attribute.
        attribute: u64,
    },
    /// The attributes of an object are not all those that were written.
    #[error("object {0} does not have the attributes that were written")]
    Object(ObjectId),
    /// The values of an object are those that were written, but not values of their attributes.
    #[error("object {0} has no class, or a value that does not fit its attribute")]
    Meaning(ObjectId),
}

impl StoreFault {
    pub(super) fn at(self, path: &Path) -> ObjectStoreError {
        ObjectStoreError { path: path.to_owned(), fault: self }
    }

    pub(super) fn damaged(what: DamagedContent) -> Self {
        Self::Damaged { what }
    }
}

impl From<rusqlite::Error> for StoreFault {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            // An unknown error is one of a statement. All statements are fixed, so the tables are not those of a store.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => {
                Self::damaged(DamagedContent::Pages(error.to_string()))
            }
            Some(ErrorCode::NotADatabase) => Self::NotAStore,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly,
            None if is_wrong_content(&error) => Self::damaged(DamagedContent::Description),
            // Texts of SQLite name tables and files, never values.
            _ => Self::Database(error.to_string()),
        }
    }
}

/// True if a row has another type or length than the store writes, or is missing.
fn is_wrong_content(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    matches!(
        error,
        Error::QueryReturnedNoRows
            | Error::InvalidColumnType(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::FromSqlConversionFailure(..)
            | Error::Utf8Error(..)
    )
}

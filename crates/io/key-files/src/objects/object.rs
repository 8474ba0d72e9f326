//! Objects as the store sees them: numbers, versions and attributes.

use std::collections::BTreeMap;
use std::fmt;

use zeroize::Zeroizing;

/// The maximum length of all values of an object in bytes.
pub const MAX_OBJECT_BYTES: usize = 1 << 20;

/// The number of an object in its store. A number is never used again, even if the store is initialised again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u64);

/// The attributes of an object by type.
pub type StoredAttributes = BTreeMap<u64, StoredValue>;

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq)]
pub enum StoredValue {
    /// A value that everybody sees who sees the object.
    Plain(Vec<u8>),
    /// A value that is encrypted in the file, and is read after a login only.
    Secret(Zeroizing<Vec<u8>>),
    /// A secret value that was not read.
    Concealed,
}

/// An object in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredObject {
    /// The number of the object.
    pub id: ObjectId,
    /// The number of the transaction that wrote the object last. It grows with each change of the store.
    pub version: u64,
    /// True if the object is seen after a login of the user only.
    pub is_private: bool,
    /// The attributes as the file has them.
    pub attributes: StoredAttributes,
}

/// An object that has no number yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnstoredObject {
    /// True if the object is seen after a login of the user only.
    pub is_private: bool,
    /// The attributes that the file gets.
    pub attributes: StoredAttributes,
}

/// A change of a store. Several changes can be made in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreChange {
    /// Adds an object.
    Insert(UnstoredObject),
    /// Sets and removes attributes of an object.
    Update {
        /// The number of the object.
        id: ObjectId,
        /// The version that the caller knows. If the store has another version, nothing is changed.
        version: u64,
        /// The attributes with new values.
        set: StoredAttributes,
        /// The types of attributes that are removed.
        remove: Vec<u64>,
    },
    /// Removes an object.
    Remove(ObjectId),
}

/// An object after a change: its number and its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedObject {
    /// The number of the object.
    pub id: ObjectId,
    /// The version of the object, or the number of the transaction that removed it.
    pub version: u64,
}

impl StoredValue {
    /// Returns the value, unless it was not read.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Plain(bytes) => Some(bytes),
            Self::Secret(bytes) => Some(bytes),
            Self::Concealed => None,
        }
    }

    /// True if the value is encrypted in the file.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        !matches!(self, Self::Plain(_))
    }
}

impl UnstoredObject {
    /// True if the file shows nothing of the object, or not all, without a login.
    pub(super) fn needs_login(&self) -> bool {
        self.is_private || self.attributes.values().any(StoredValue::is_secret)
    }

    /// Returns the length of all values in bytes.
    pub(super) fn len_bytes(&self) -> usize {
        self.attributes.values().filter_map(StoredValue::bytes).map(<[u8]>::len).sum()
    }
}

/// Shows lengths only: a plain value of a private object is not for logs either.
impl fmt::Debug for StoredValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(bytes) => write!(out, "Plain({} bytes)", bytes.len()),
            Self::Secret(_) => out.write_str("Secret"),
            Self::Concealed => out.write_str("Concealed"),
        }
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_shown() {
        let secret = StoredValue::Secret(Zeroizing::new(b"Tr0ub4dor".to_vec()));
        let object = UnstoredObject {
            is_private: true,
            attributes: BTreeMap::from([(1, secret), (2, StoredValue::Plain(b"Tr0ub4dor".to_vec()))]),
        };
        let shown = format!("{object:?}");
        assert!(!shown.contains("Tr0ub4dor") && !shown.contains("84, 114"), "{shown}");
        assert!(shown.contains("Secret") && shown.contains("Plain(9 bytes)"), "{shown}");
    }
}

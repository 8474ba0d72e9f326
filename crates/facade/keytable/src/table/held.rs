//! Keys of the table that live with a holder, such as a cryptoserver. The holder knows their types and policies.

use std::sync::Arc;

use oarlock_core::{Batch, Fingerprint, Key, KeyKind};

use super::{KeyTable, TableError};

/// The held keys of a table, by their index behind [`HeldKeys::FIRST`].
#[derive(Default)]
pub(super) struct HeldKeys(Vec<Option<HeldKey>>);

struct HeldKey {
    name: Arc<str>,
    key: Key,
}

impl HeldKeys {
    /// The first index of held keys. Local keys have smaller ones.
    pub(super) const FIRST: u32 = 1 << 30;

    pub(super) fn is_held(index: u32) -> bool {
        (Self::FIRST..Batch::FIRST_OUTSIDE).contains(&index)
    }

    fn get(&self, index: u32) -> Option<&HeldKey> {
        self.0.get(index.checked_sub(Self::FIRST)? as usize)?.as_ref()
    }

    pub(super) fn name(&self, index: u32) -> Option<Arc<str>> {
        self.get(index).map(|held| Arc::clone(&held.name))
    }

    pub(super) fn remove(&mut self, index: u32) {
        let position = index.checked_sub(Self::FIRST).and_then(|position| self.0.get_mut(position as usize));
        if let Some(held) = position {
            *held = None;
        }
    }

    fn push(&mut self, held: HeldKey) -> Option<u32> {
        let index = u32::try_from(self.0.len()).ok()?.checked_add(Self::FIRST)?;
        Self::is_held(index).then(|| self.0.push(Some(held)))?;
        Some(index)
    }
}

impl KeyTable {
    /// Inserts a symmetric key that lives with a holder, and returns its index. `reference` is the holder's name for
    /// the key. Inserting the same key again returns the same index.
    ///
    /// The table has no policy for the key: its holder decides about each record. A batch whose keys are held is
    /// computed by their holder as a whole.
    ///
    /// # Errors
    /// Another key has the name, or no index is left.
    pub fn insert_held(
        &self,
        name: impl Into<Arc<str>>,
        holder: &str,
        reference: &str,
    ) -> Result<u32, TableError> {
        let name = name.into();
        // The holder knows the length and the fingerprint.
        let key = Key::held(KeyKind::Secret(0), holder, reference, None, Fingerprint::new([0; 32]));
        let mut state = self.write();
        if let Some(index) = state.names.get(&name) {
            let is_same = state.held.get(*index).is_some_and(|held| held.key.home() == key.home());
            return is_same.then_some(*index).ok_or(TableError::NameTaken { name: name.to_string() });
        }
        let index = state.held.push(HeldKey { name: Arc::clone(&name), key }).ok_or(TableError::Full)?;
        state.names.insert(name, index);
        Ok(index)
    }

    /// True if an index is that of a held key.
    #[must_use]
    pub fn is_held(index: u32) -> bool {
        HeldKeys::is_held(index)
    }

    /// True if the table has held keys.
    #[must_use]
    pub fn has_held_keys(&self) -> bool {
        !self.read().held.0.is_empty()
    }

    /// Returns the held key at an index.
    pub(crate) fn held_key(&self, index: u32) -> Option<Key> {
        self.read().held.get(index).map(|held| held.key.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::KeyPolicy;
    use oarlock_core::KeyType;

    #[test]
    fn a_name_is_that_of_one_key_local_or_held() {
        let table = KeyTable::new();
        let policy = || KeyPolicy::any_data(KeyType::Aes128);
        let local = table.insert("local", KeyType::Aes128, &[1; 16][..], policy()).unwrap().index;
        let held = table.insert_held("held", "server", "k").unwrap();
        assert_eq!(table.insert_held("held", "server", "k").unwrap(), held);
        for other in [table.insert_held("held", "server", "other"), table.insert_held("local", "server", "k")]
        {
            assert!(matches!(other, Err(TableError::NameTaken { .. })));
        }
        assert!(table.insert("held", KeyType::Aes128, &[1; 16][..], policy()).is_err());
        assert_eq!([local, held].map(KeyTable::is_held), [false, true]);
        assert_eq!([local, held].map(|index| table.name(index).unwrap().to_string()), ["local", "held"]);
        assert_eq!((table.index("held"), table.len()), (Some(held), 2));
        assert!(table.info(held).is_none() && table.held_key(local).is_none());
        assert!(table.recycle("held") && table.held_key(held).is_none() && table.name(held).is_none());
        assert_ne!(table.insert("new", KeyType::Aes128, &[1; 16][..], policy()).unwrap().index, held);
        assert_ne!(table.insert_held("held", "server", "k").unwrap(), held);
    }
}

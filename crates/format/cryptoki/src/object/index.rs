//! The index of objects: by handle, by `CKA_ID`, by `CKA_LABEL` and by class.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::entity::{Object, ObjectOrigin};
use crate::attribute::AttributeSet;
use crate::constants::{AttributeType as A, ObjectClass};
use crate::handle::ObjectHandle;
use crate::token::TokenObjectId;

/// Objects that are found without a walk over all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectIndex {
    by_handle: BTreeMap<ObjectHandle, Arc<Object>>,
    by_id: HashMap<Vec<u8>, BTreeSet<ObjectHandle>>,
    by_label: HashMap<Vec<u8>, BTreeSet<ObjectHandle>>,
    by_class: HashMap<ObjectClass, BTreeSet<ObjectHandle>>,
    by_token_id: HashMap<TokenObjectId, ObjectHandle>,
}

impl ObjectIndex {
    pub(crate) fn get(&self, handle: ObjectHandle) -> Option<&Arc<Object>> {
        self.by_handle.get(&handle)
    }

    /// Returns the handle of a token object.
    pub(crate) fn handle_of(&self, id: TokenObjectId) -> Option<ObjectHandle> {
        self.by_token_id.get(&id).copied()
    }

    /// Inserts an object, or replaces the one with this handle.
    pub(crate) fn insert(&mut self, handle: ObjectHandle, object: Arc<Object>) {
        // The maps have the earlier version under its label and its id, which may be others now.
        self.remove(handle);
        let attributes = &object.attributes;
        for (map, kind) in [(&mut self.by_id, A::ID), (&mut self.by_label, A::LABEL)] {
            if let Some(value) = attributes.bytes(kind) {
                map.entry(value.to_vec()).or_default().insert(handle);
            }
        }
        self.by_class.entry(object.class).or_default().insert(handle);
        if let ObjectOrigin::Token(id) = object.origin {
            self.by_token_id.insert(id, handle);
        }
        self.by_handle.insert(handle, object);
    }

    pub(crate) fn remove(&mut self, handle: ObjectHandle) -> Option<Arc<Object>> {
        let object = self.by_handle.remove(&handle)?;
        for (map, kind) in [(&mut self.by_id, A::ID), (&mut self.by_label, A::LABEL)] {
            if let Some(value) = object.attributes.bytes(kind)
                && let Some(handles) = map.get_mut(value)
            {
                handles.remove(&handle);
                // Otherwise a program that makes and destroys keys with random ids would fill the memory.
                if handles.is_empty() {
                    map.remove(value);
                }
            }
        }
        // There are only a few classes, so an empty set may stay.
        if let Some(handles) = self.by_class.get_mut(&object.class) {
            handles.remove(&handle);
        }
        if let ObjectOrigin::Token(id) = object.origin {
            self.by_token_id.remove(&id);
        }
        Some(object)
    }

    /// Removes every object that `is_gone` picks.
    pub(crate) fn remove_if(&mut self, is_gone: impl Fn(&Object) -> bool) {
        let gone: Vec<_> =
            self.by_handle.iter().filter(|(_, object)| is_gone(object)).map(|(handle, _)| *handle).collect();
        for handle in gone {
            self.remove(handle);
        }
    }

    /// Closes the keys of the objects that `is_secret` picks.
    pub(crate) fn forget_secrets(&mut self, is_secret: impl Fn(&Object) -> bool) {
        for object in self.by_handle.values_mut().filter(|object| is_secret(object)) {
            *object = Arc::new(object.without_secrets());
        }
    }

    /// Returns the objects that match a search, in the order of their handles.
    ///
    /// Objects that describe the token are found only if the search names their class.
    pub(crate) fn find(&self, wanted: &AttributeSet, sees_private: bool) -> Vec<ObjectHandle> {
        let names_class = wanted.contains(A::CLASS);
        let is_found = |object: &Object| {
            (names_class || object.origin != ObjectOrigin::BuiltIn)
                && (sees_private || !object.is_private())
                && object.matches(wanted)
        };
        let Some(candidates) = self.candidates(wanted) else {
            let all = self.by_handle.iter();
            return all.filter(|(_, object)| is_found(object)).map(|(handle, _)| *handle).collect();
        };
        let known = candidates.into_iter().flatten();
        known.filter(|handle| self.get(**handle).is_some_and(|object| is_found(object))).copied().collect()
    }

    /// Returns the smallest set that contains every match: `Some(None)` if nothing matches, and `None` if no map helps.
    fn candidates(&self, wanted: &AttributeSet) -> Option<Option<&BTreeSet<ObjectHandle>>> {
        let mut sets = Vec::new();
        if let Some(value) = wanted.bytes(A::ID) {
            sets.push(self.by_id.get(value));
        }
        if let Some(value) = wanted.bytes(A::LABEL) {
            sets.push(self.by_label.get(value));
        }
        if let Some(class) = wanted.number(A::CLASS) {
            sets.push(self.by_class.get(&ObjectClass(class)));
        }
        sets.into_iter().min_by_key(|set| set.map_or(0, BTreeSet::len))
    }
}

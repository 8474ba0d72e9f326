//! The knowledge about secret slots before anything runs.

use std::sync::Arc;

use oarlock_core::Status;

use crate::table::{KeyPolicy, RightSet};

/// The content that a slot will have.
#[derive(Clone, Debug)]
pub(super) struct SlotClaim<'a> {
    /// The wave of the record that fills it.
    pub(super) wave: u32,
    pub(super) holds: SlotContent<'a>,
}

/// The use that a slot's content may be put to.
#[derive(Clone, Debug)]
pub(super) enum SlotContent<'a> {
    /// Nothing, because the record that was to fill the slot is refused.
    Nothing,
    /// Data, to be read by anyone (`is_open`), to be encrypted under keys that translate (`may_translate`), or both.
    Data { is_open: bool, may_translate: bool },
    /// A key.
    Key(SlotKey<'a>),
}

/// A key that comes out of another.
#[derive(Clone, Debug)]
pub(super) struct SlotKey<'a> {
    pub(super) rights: RightSet,
    /// None if a key that the caller brings along wrapped it.
    pub(super) policy: Option<&'a Arc<KeyPolicy>>,
    /// The table's key that it came out of, over any number of steps.
    pub(super) root: Option<u32>,
    /// True if the caller knows the key, or could have chosen it.
    pub(super) is_known: bool,
    /// Records that it may serve.
    pub(super) uses_left: u64,
}

/// The slots of a batch, in the order in which records fill them.
#[derive(Debug)]
pub(super) struct SlotClaims<'a>(Vec<Option<SlotClaim<'a>>>);

impl<'a> SlotClaims<'a> {
    pub(super) fn new(slots: usize) -> Self {
        Self(vec![None; slots])
    }

    /// Returns the content that an earlier record puts into a slot.
    pub(super) fn read(&self, slot: u32) -> Result<&SlotClaim<'a>, Status> {
        let claim = self.0.get(slot as usize).and_then(Option::as_ref);
        claim.ok_or(Status::Malformed)
    }

    /// True if a record may still fill the slot.
    pub(super) fn is_free(&self, slot: u32) -> bool {
        self.0.get(slot as usize).is_some_and(Option::is_none)
    }

    pub(super) fn fill(&mut self, slot: u32, claim: SlotClaim<'a>) {
        if let Some(free @ None) = self.0.get_mut(slot as usize) {
            *free = Some(claim);
        }
    }

    pub(super) fn key(&self, slot: u32) -> Result<&SlotKey<'a>, Status> {
        match &self.read(slot)?.holds {
            SlotContent::Key(key) => Ok(key),
            SlotContent::Data { .. } => Err(Status::WrongKeyType),
            SlotContent::Nothing => Err(Status::DependencyFailed),
        }
    }

    /// The key in a slot, to count its uses.
    pub(super) fn key_mut(&mut self, slot: u32) -> Option<&mut SlotKey<'a>> {
        match &mut self.0.get_mut(slot as usize)?.as_mut()?.holds {
            SlotContent::Key(key) => Some(key),
            _ => None,
        }
    }
}

//! Slots as a configuration describes them.

use std::sync::Arc;

use super::objects::TokenObjects;

/// The number of a slot, `CK_SLOT_ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub u64);

/// A slot and the token in it.
#[derive(Clone, Debug)]
pub struct SlotSettings {
    /// The number of the slot.
    pub id: SlotId,
    /// The description, at most 64 bytes.
    pub description: String,
    /// The token.
    pub objects: Arc<dyn TokenObjects>,
    /// True if a key may wrap or unwrap and also encrypt, sign or derive.
    ///
    /// Otherwise such a template is inconsistent, because a key that both wraps and decrypts reveals every extractable
    /// key.
    pub is_compatible: bool,
    /// True if the token can come and go, as that of a server does.
    pub is_removable: bool,
    /// The largest number of open sessions.
    pub max_sessions: usize,
}

impl SlotSettings {
    /// Creates a slot with a token that stays, strict rules for wrapping keys, and at most 65,536 sessions.
    #[must_use]
    pub fn new(id: SlotId, description: impl Into<String>, objects: Arc<dyn TokenObjects>) -> Self {
        Self {
            id,
            description: description.into(),
            objects,
            is_compatible: false,
            is_removable: false,
            max_sessions: 65_536,
        }
    }
}

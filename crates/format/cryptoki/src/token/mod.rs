//! The token: where its objects are, who may see them, and which slot it is in.

mod memory;
mod objects;
mod slot;

pub use self::memory::MemoryToken;
pub use self::objects::{
    ObjectContent, TokenDescription, TokenObject, TokenObjectId, TokenObjects, UserType,
};
pub use self::slot::{SlotId, SlotSettings};

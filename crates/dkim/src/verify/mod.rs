//! Signatures verified in stages, of many messages together: hash what they sign, ask for keys, verify.
//!
//! A stage takes all that the one before it has made, so that bodies and headers are hashed side by side and signatures fill
//! batches. Nothing here asks DNS: [`HashedMessages::queries`] says which records are wanted.

mod intake;
mod stages;

pub(crate) use self::intake::write_unsigned;
pub use self::intake::{VerifyIntake, body_needs};
pub use self::stages::{HashedMessages, KeyedMessages, VerifiedMessage};

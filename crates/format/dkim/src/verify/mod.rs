//! Verifying in stages, for many messages together: hash the signed data, look keys up, verify.
//!
//! Each stage takes the whole output of the one before. Bodies and headers are therefore hashed side by side, and
//! signatures fill batches. Nothing here asks DNS: [`HashedMessages::queries`] names the records to look up.

mod intake;
mod one;
mod parsed;
mod stages;

pub use self::intake::VerifyIntake;
pub use self::one::verify_one;
pub use self::parsed::ParsedSignatures;
pub use self::stages::{HashedMessages, KeyedMessages, VerifiedMessage};

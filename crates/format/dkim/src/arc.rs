//! The Authenticated Received Chain. Each intermediary adds a set of header fields that vouch for the results it saw.
//! RFC 8617.

mod seal;
mod sets;

pub use self::seal::{ArcSealer, SealError, SealIntake, SealedFields, SealedResults, SealedSet};
pub(crate) use self::sets::{
    ArcSet, ArcSets, find_sets, write_results_and_message, write_seal, write_seal_unsigned,
};

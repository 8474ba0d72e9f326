//! The Authenticated Received Chain: sets of header fields by which those who handed a message on vouch for what they saw.
//! RFC 8617.

mod chain;
mod seal;
mod sets;

pub use self::chain::{ArcChain, ChainFault};
pub use self::seal::{ArcSealer, SealError, SealIntake, SealedResults, SealedSet};
pub(crate) use self::sets::{
    ArcSet, ArcSets, find_sets, write_results_and_message, write_seal, write_seal_unsigned,
};

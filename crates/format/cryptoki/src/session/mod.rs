//! Sessions: the table that finds them, and the operations that are active in them.

mod active;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use self::active::{ActiveOperation, CallResult, PendingCall, Session};
pub(crate) use self::table::SessionTable;

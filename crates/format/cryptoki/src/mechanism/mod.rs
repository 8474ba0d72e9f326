//! Mechanisms with their parameters, and the table of what each can do.

mod message;
mod parameters;
mod table;
#[cfg(test)]
mod tests;

pub use self::message::{IvGenerator, MessageParameters};
pub use self::parameters::{Mechanism, MechanismParameters, ParameterForm};
pub use self::table::MechanismFacts;
pub(crate) use self::table::{MechanismFamily, digest_of, facts, mechanisms};

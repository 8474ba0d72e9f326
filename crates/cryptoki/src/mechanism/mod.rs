//! Mechanisms with their parameters, and the table of what each can do.

mod parameters;
mod table;
#[cfg(test)]
mod tests;

pub use self::parameters::{Mechanism, MechanismParameters, ParameterForm};
pub use self::table::MechanismFacts;
pub(crate) use self::table::{DigestRule, MechanismFamily, facts, mechanisms};

//! Attributes: values, sets, templates, and the form of each type.

mod form;
mod set;
mod stored;
mod template;
#[cfg(test)]
mod tests;
mod value;

pub use self::set::AttributeSet;
pub use self::template::{AttributeQuery, TemplateEntry};
pub(crate) use self::template::{parse, parse_search, peek_number};
pub use self::value::AttributeValue;

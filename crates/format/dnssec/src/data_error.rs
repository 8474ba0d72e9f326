//! The error of data that does not match its type. The reader of zone files and the code for record data both use it.

use crate::name::NameError;

/// An error of data that does not match its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The data ends within a field.
    #[error("the data ends too soon")]
    Short,
    /// The data continues after the last field.
    #[error("{0} bytes after the last field of the type")]
    Long(usize),
    /// A name is malformed.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The length of a digest, a fingerprint or the like does not match its kind.
    #[error("the length of {what} is {found}: {expected} are allowed")]
    Length {
        /// The field.
        what: &'static str,
        /// The length that the kind requires.
        expected: &'static str,
        /// The length of the field.
        found: usize,
    },
    /// The value of a field is not allowed.
    #[error("{0}")]
    Field(&'static str),
}

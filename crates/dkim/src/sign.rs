//! Messages signed in stages, many of them together: hash bodies, write headers, hash those, sign. RFC 6376 5.

mod field;
mod signer;
mod stages;

pub(crate) use self::field::{Head, names_of, signed, unsigned};
pub(crate) use self::signer::Name;
pub use self::signer::{Coverage, SignError, SignedFields, Signer, SignerError};
pub use self::stages::{SignIntake, Signed};
pub(crate) use self::stages::{sign_job, signed_headers};

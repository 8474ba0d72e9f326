//! Signing in stages, for many messages together: hash bodies, write headers, hash those, sign. RFC 6376 5.

mod field;
mod signer;
mod stages;

pub(crate) use self::field::{FieldStart, append_signature, names_of, write_unsigned_field};
pub(crate) use self::signer::FieldName;
pub use self::signer::{DkimSigner, HeaderCoverage, MailSignError, SignedFields, SignerError};
pub use self::stages::{SignIntake, SignOutcome};
pub(crate) use self::stages::{sign_job, signed_headers};

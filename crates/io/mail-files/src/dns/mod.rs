//! TXT records from the DNS or from a file, with the same kinds of answers.
//!
//! | item | purpose |
//! |---|---|
//! | [`TxtResolver`] | asks the name servers of the system, or others |
//! | [`KeysFile`] | answers from a file of records |
//! | [`TxtLookup`] | the trait of both |
//! | [`TxtAnswer`] | an answer: records, their absence, or a failure |
//! | `ascii_name` | converts a name to its ASCII form, with A-labels (RFC 8616) |

mod answer;
mod keys_file;
mod lookup;
mod name;
mod resolver;

pub(crate) use answer::{MAX_NEGATIVE_TTL_S, MAX_TTL_S};
pub use answer::{TempReason, TxtAnswer, TxtRecords};
pub use keys_file::{KeysFault, KeysFile, KeysFileError, KeysLineError};
pub use lookup::{LookupFuture, TxtLookup};
pub(crate) use name::ascii_name;
pub use resolver::{ResolverError, ResolverSettings, TrustedValidators, TxtResolver, server_address};

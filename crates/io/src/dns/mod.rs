//! TXT records, from the DNS or from a file, with the same answers (feature `dns`).
//!
//! | item | what it does |
//! |---|---|
//! | [`TxtResolver`] | asks the system's name servers, or others |
//! | [`KeysFile`] | answers from a file of records |
//! | [`TxtLookup`] | either of them |
//! | [`TxtAnswer`] | what there is, what there is not, and what could not be found out |
//! | [`ascii_name`] | a name as the DNS has it, with A-labels (RFC 8616) |

mod answer;
mod keys_file;
mod lookup;
mod name;
mod resolver;

pub use answer::{MAX_NEGATIVE_TTL_S, MAX_TTL_S, TempReason, TxtAnswer, TxtRecords};
pub use keys_file::{DEFAULT_TTL_S, KeysFault, KeysFile, KeysFileError, KeysLineError};
pub use lookup::{LookupFuture, TxtLookup};
pub use name::{BadName, ascii_name};
pub use resolver::{ResolverError, ResolverSettings, TxtResolver, server_address};

//! Zones signed: what goes out is put together first, then every set is signed, many at a time. RFC 4034, RFC 4035 section 2,
//! RFC 5155 section 7, RFC 8976 section 3.
//!
//! | module | what it holds |
//! |---|---|
//! | `options` | how a zone is to be signed, and for how long |
//! | `keys` | keys that sign, and which of them signs what |
//! | [`ZoneDraft`] | the zone as it will be, all but its signatures |
//! | `check`, `soa` | what no zone may say; its serial number |
//! | `nsec`, `nsec3` | the chain of names, or of hashes |
//! | [`SigningPlan`] | the sets of a draft, signed range by range, and written |
//! | `previous` | signatures that still hold |
//! | `seal` | the zone's own digest, when all else is signed |
//! | `write` | a signed zone as text |
//! | `error` | why there is no signed zone; what was changed on the way |

mod check;
mod draft;
mod error;
mod keys;
mod nsec;
mod nsec3;
mod options;
mod plan;
mod previous;
mod seal;
mod soa;
mod write;

pub use self::draft::ZoneDraft;
pub use self::error::{RecordLocation, ZoneChange, ZoneChanges, ZoneSignError};
pub use self::keys::{KeyRole, SignerKey};
pub use self::options::{
    DenialMethod, MAX_SIGNED_ITERATIONS, Nsec3Options, SerialPolicy, SignOptions, SignatureLifetime,
};
pub use self::plan::{Signatures, SigningPlan};

//! Signed zones. The zone is completed first. Then every set is signed, many at a time. RFC 4034, RFC 4035 section 2,
//! RFC 5155 section 7, RFC 8976 section 3.
//!
//! | module | content |
//! |---|---|
//! | `options` | the options of signing, and the lifetime of signatures |
//! | `keys` | signing keys, and the choice of keys for each set |
//! | [`ZoneDraft`] | the zone, complete except for its signatures |
//! | `check`, `soa` | the rules of a zone; its serial number |
//! | `load_rules`, `host_names` | the rules of name servers; names of hosts and mailboxes |
//! | `nsec`, `nsec3` | the chain of names, or of hashes |
//! | [`SigningPlan`] | the sets of a draft, signed range by range, and written |
//! | `previous` | earlier signatures that are still valid |
//! | [`PresignedSet`] | sets whose signatures were made elsewhere |
//! | `seal` | the zone digest, computed last |
//! | `write` | a signed zone as text |
//! | `error` | errors of signing, and the changes that signing makes |

mod check;
mod draft;
mod error;
mod host_names;
mod keys;
mod load_rules;
mod nsec;
mod nsec3;
mod options;
mod plan;
mod presigned;
mod previous;
mod seal;
mod soa;
mod write;

pub use self::draft::ZoneDraft;
pub use self::error::{RecordLocation, SignedPart, ZoneChange, ZoneChanges, ZoneSignError};
pub use self::keys::{KeyRole, SignerKey};
pub use self::load_rules::{LoadRule, TargetFault, TargetUse};
pub use self::options::{
    DenialMethod, LoadRules, MAX_SIGNED_ITERATIONS, Nsec3Options, SerialPolicy, SignOptions,
    SignatureLifetime,
};
pub use self::plan::{Signatures, SigningPlan};
pub use self::presigned::PresignedSet;

//! Signed key requests and responses: the key-signing key of a zone stays on a machine that is offline.
//!
//! The online machine writes a request (KSR) with the zone-signing keys of each period. The offline machine adds its
//! keys and signs, which makes the response (SKR). The online machine signs the zone with the keys of the period. The
//! files are those of `dnssec-ksr` of BIND 9.20: records in presentation format, below a comment for each bundle.
//!
//! ```text
//! ;; KeySigningRequest 1.0 20261130204522 (Mon Nov 30 20:45:22 2026)
//! example. 3600 IN DNSKEY 256 3 13 ...
//! ;; KeySigningRequest 1.0 generated at Mon Nov 30 20:45:22 2026 by ...
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`KeySigningRequest`] | requests: made from the times of keys, read and written |
//! | [`SignedKeyResponse`] | responses: read, written, and the bundle of a time |
//! | `sign` | a request signed, offline |
//! | `verify` | the signatures of a response |
//! | `bundles` | the common part of both files: headers, records, limits |
//! | `error` | errors of files, of plans and of signing |

mod bundles;
mod error;
mod request;
mod response;
mod sign;
mod verify;

pub use self::bundles::{MAX_BUNDLE_RECORDS, MAX_BUNDLES, MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES};
pub use self::error::{BundleLookupError, KeyBundleError, KeyBundleFault, KsrPlanError, KsrSignError};
pub use self::request::{KeySigningRequest, RequestBundle, TimedDnskey};
pub use self::response::{ResponseBundle, SignedKeyResponse};
pub use self::sign::{KsrSignOptions, OfflineKey};

//! Keys: parsed, validated, given a fingerprint, and from then on an immutable [`Key`](oarlock_core::Key). This crate
//! has no unsafe code and does no I/O.
//!
//! | module | content |
//! |---|---|
//! | [`import`] | PEM and DER: PKCS#8 (also encrypted), PKCS#1, SEC 1, SPKI; [`import::any`] finds the format |
//! | [`bind`] | BIND's private key files |
//! | [`raw`] | bare scalars, points, seeds and symmetric secrets |
//! | [`rsa`] | RSA from its numbers, a modulus with a secret exponent, and the consistency checks |
//! | [`held`] | keys whose private part lives with a holder |
//! | [`mod@reference`] | files that name a key at a server |
//! | [`generate`] | new keys |
//! | `threshold` | RSA keys split into shares, of which some sign together; only with the feature `threshold` |
//! | [`export`] | SPKI of any asymmetric key, PKCS#8 (also encrypted) of local private keys |
//!
//! ```
//! # fn main() -> Result<(), oarlock_keys::KeyError> {
//! use oarlock_keys::{export, generate, import};
//!
//! let key = generate::ed25519()?;
//! let public = import::any(export::spki_pem(&key)?.as_bytes(), None)?;
//! assert_eq!(public.fingerprint(), key.fingerprint());
//! # Ok(())
//! # }
//! ```
//!
//! Every failure is a [`KeyError`] with the value that was expected and the value that was found, and without key
//! material. Inputs are hostile until they are validated: lengths are checked before any arithmetic, and the cost of a
//! passphrase before the attempt ([`WorkLimits`]).
#![forbid(unsafe_code)]

mod asn1;
pub mod bind;
mod ec;
mod edwards;
mod error;
pub mod export;
mod fingerprint;
pub mod generate;
pub mod held;
pub mod import;
mod oid;
mod passphrase;
mod pbes2;
mod random;
pub mod raw;
pub mod reference;
pub mod rsa;
#[cfg(feature = "threshold")]
pub mod threshold;

pub use error::KeyError;
pub use passphrase::{Passphrase, WorkLimits};

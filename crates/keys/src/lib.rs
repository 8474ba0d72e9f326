//! Keys come in here, once: parsed, validated, given a fingerprint, and from then on an immutable
//! [`Key`](oarlock_core::Key). No unsafe code, no I/O.
//!
//! | module | what it holds |
//! |---|---|
//! | [`import`] | PEM and DER: PKCS#8 (also encrypted), PKCS#1, SEC 1, SPKI; [`import::any`] finds out which |
//! | [`bind`] | BIND's files of private keys |
//! | [`raw`] | bare scalars, points, seeds and symmetric secrets |
//! | [`rsa`] | RSA from its numbers, and modulus with secret exponent; the consistency checks |
//! | [`held`] | keys whose private part lives with a holder |
//! | [`mod@reference`] | files that name a key which lives at a server |
//! | [`generate`] | new keys |
//! | [`threshold`] | RSA keys split into shares, of which some sign together; their files |
//! | [`export`] | SPKI of any asymmetric key, PKCS#8 (also encrypted) of local private ones |
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
//! Every failure is a [`KeyError`] that says what was expected and what was found, and carries no key material.
//! Inputs are hostile until validated: lengths are checked before arithmetic, the work to try a passphrase before it
//! is spent ([`WorkLimits`]).
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
pub mod raw;
pub mod reference;
pub mod rsa;
#[cfg(feature = "threshold")]
pub mod threshold;

pub use error::KeyError;
pub use passphrase::{Passphrase, WorkLimits};

//! Keys: parsed, validated, given a fingerprint, and from then on an immutable [`Key`](oarlock_core::Key). This crate
//! has no unsafe code and does no I/O. Internal to Oarlock: the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`import`] | DER: PKCS#8, PKCS#1, SEC 1, SPKI; with `key-files` PEM and encrypted PKCS#8 too |
//! | `bind` | BIND's private key files; only with `key-files` |
//! | [`raw`] | bare scalars, points, seeds and symmetric secrets |
//! | [`rsa`] | RSA from its numbers, a modulus with a secret exponent, and the consistency checks |
//! | [`held`] | keys whose private part lives with a holder |
//! | `reference` | files that name a key at a server; only with `key-files` |
//! | [`generate`] | new keys |
//! | `threshold` | RSA keys split into shares, of which some sign together; only with `threshold` |
//! | [`text_file`] | the encoding and the line ends of text files |
//! | [`export`] | SPKI of any asymmetric key, PKCS#8 of local private keys; with `key-files` as PEM and encrypted too |
//!
//! ```
//! # fn main() -> Result<(), oarlock_keys::KeyError> {
//! use oarlock_keys::{export, generate, import};
//!
//! let key = generate::ed25519()?;
//! let public = import::spki_der(&export::spki_der(&key)?)?;
//! assert_eq!(public.fingerprint(), key.fingerprint());
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `key-files` | no | the formats of key files: PEM, encrypted PKCS#8, BIND's files, references to keys at a server |
//! | `threshold` | no | the module `threshold`; turns `key-files` on, because shares are kept in such files |
//!
//! # Errors
//!
//! Every failure is a [`KeyError`] with the value that was expected and the value that was found, and without key
//! material. Inputs are hostile until they are validated: lengths are checked before any arithmetic, and the cost of a
//! passphrase before the attempt (`WorkLimits`).
#![forbid(unsafe_code)]

mod asn1;
#[cfg(feature = "key-files")]
pub mod bind;
mod ec;
mod edwards;
mod error;
pub mod export;
mod fingerprint;
pub mod generate;
mod hash_based;
pub mod held;
pub mod import;
mod lattice;
mod oid;
#[cfg(feature = "key-files")]
mod passphrase;
#[cfg(feature = "key-files")]
mod pbes2;
mod random;
pub mod raw;
#[cfg(feature = "key-files")]
pub mod reference;
pub mod rsa;
mod stateful;
pub mod text_file;
#[cfg(feature = "threshold")]
pub mod threshold;

pub use error::KeyError;
#[cfg(feature = "key-files")]
pub use passphrase::{Passphrase, WorkLimits};

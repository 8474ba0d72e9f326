//! The only unsafe code of the crate: AWS-LC's functions behind types that own what they point at.
//!
//! Every function checks the lengths that the C side trusts. What fails is a [`LibraryError`]; the thread's error queue
//! is left empty.

mod aes;
mod curve25519;
mod des;
mod ec;
mod error;
mod gcm;
mod hash;
mod modexp;
mod number;
mod rsa;

pub(crate) use aes::{AesDecrypt, AesEncrypt};
pub(crate) use curve25519::{ed25519_sign, ed25519_verify, x25519};
pub(crate) use des::{DesKey, TdesKey};
pub(crate) use ec::{EcPrivate, EcPublic};
pub(crate) use error::LibraryError;
pub(crate) use gcm::GcmContext;
pub(crate) use hash::{HashState, Sha1, Sha256, Sha384, Sha512};
pub(crate) use modexp::ModExpContext;
pub(crate) use rsa::{RsaPrivate, RsaPublic};

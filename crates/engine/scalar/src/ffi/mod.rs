//! AWS-LC's functions behind types that own the memory they point to. This is the only unsafe code of the crate.
//!
//! Every function checks the lengths that the C side trusts. A failure is a [`LibraryError`]; afterwards the
//! thread's error queue is empty.

mod aead;
mod aes;
mod chacha;
mod curve25519;
mod des;
mod ec;
mod error;
mod modexp;
mod number;
mod rsa;

pub(crate) use aead::AeadContext;
pub(crate) use aes::{AesDecrypt, AesEncrypt};
pub(crate) use chacha::{chacha20, is_equal, poly1305};
pub(crate) use curve25519::{ed25519_sign, ed25519_verify, x25519, x25519_public};
pub(crate) use des::{DesKey, TdesKey};
pub(crate) use ec::{EcPoint, EcPrivate, EcPublic};
pub(crate) use error::LibraryError;
pub(crate) use modexp::ModExpContext;
pub(crate) use rsa::{RsaPrivate, RsaPublic};

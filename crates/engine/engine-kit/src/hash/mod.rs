//! Digests by AWS-LC: of whole messages, in pieces, and from a chaining state. FIPS 180-4 and FIPS 202. HMAC over them.

mod hasher;
mod hmac;
mod sponge;

pub use crate::ffi::hash::{HashState, Sha1, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
pub use hasher::Hasher;
pub use hmac::HmacKey;
pub use sponge::{Sha3_224, Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256, Sponge, shake128, shake256};

#[cfg(test)]
mod tests;

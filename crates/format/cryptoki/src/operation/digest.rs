//! Digests of messages that come in pieces.

use std::borrow::Cow;
use std::fmt;

use aws_lc_rs::hmac;
use oarlock::{DigestAlg, Hasher, Shape};
use zeroize::Zeroizing;

use super::compute::Computation;
use super::failure::FailureRule;
use super::record::plan_bare_record;
use crate::constants::ReturnCode;

/// A digest that has begun.
#[derive(Clone)]
pub(crate) struct DigestOperation {
    hasher: Hasher,
    is_in_pieces: bool,
}

impl DigestOperation {
    pub(crate) fn new(alg: DigestAlg) -> Result<Self, ReturnCode> {
        Ok(Self { hasher: hasher(alg)?, is_in_pieces: false })
    }

    /// Plans the digest of a whole message.
    pub(crate) fn plan<'a>(&self, message: &'a [u8]) -> Result<Computation<'a>, ReturnCode> {
        let (alg, message) = (self.hasher.alg(), Cow::Borrowed(message));
        plan_bare_record(Shape::Digest { alg }, &[], message, alg.output_len(), FailureRule::SIGN)
    }

    pub(crate) fn output_len(&self) -> usize {
        self.hasher.alg().output_len()
    }

    /// True after the first piece.
    pub(crate) fn is_in_pieces(&self) -> bool {
        self.is_in_pieces
    }

    pub(crate) fn update(&mut self, data: &[u8]) {
        self.is_in_pieces = true;
        self.hasher.update(data);
    }

    pub(crate) fn finish(self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.hasher.finish())
    }
}

impl fmt::Debug for DigestOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DigestOperation({} bytes)", self.output_len())
    }
}

fn hasher(alg: DigestAlg) -> Result<Hasher, ReturnCode> {
    Hasher::new(alg).ok_or(ReturnCode::MechanismInvalid)
}

/// Returns the algorithm of an HMAC.
pub(crate) fn hmac_algorithm(alg: DigestAlg) -> Result<hmac::Algorithm, ReturnCode> {
    match alg {
        DigestAlg::Sha1 => Ok(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
        DigestAlg::Sha224 => Ok(hmac::HMAC_SHA224),
        DigestAlg::Sha256 => Ok(hmac::HMAC_SHA256),
        DigestAlg::Sha384 => Ok(hmac::HMAC_SHA384),
        DigestAlg::Sha512 => Ok(hmac::HMAC_SHA512),
        _ => Err(ReturnCode::MechanismInvalid),
    }
}

/// Hashes pieces one behind the other.
pub(crate) fn hash(alg: DigestAlg, pieces: &[&[u8]]) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let mut hasher = hasher(alg)?;
    pieces.iter().for_each(|piece| hasher.update(piece));
    Ok(Zeroizing::new(hasher.finish()))
}

//! Digests of messages that come in pieces.

use std::borrow::Cow;
use std::fmt;

use aws_lc_rs::{digest, hmac};
use oarlock::{DigestAlg, PreHash, Shape};
use zeroize::Zeroizing;

use super::compute::Computation;
use super::failure::FailureRule;
use super::record::plan_bare_record;
use crate::constants::ReturnCode;
use crate::mechanism::Sha3Width;

/// A digest that has begun.
#[derive(Clone)]
pub(crate) struct DigestOperation {
    context: digest::Context,
    /// `None` for SHA-3, which has no shape.
    alg: Option<DigestAlg>,
    is_in_pieces: bool,
}

impl DigestOperation {
    pub(crate) fn new(alg: DigestAlg) -> Result<Self, ReturnCode> {
        Ok(Self { context: digest::Context::new(algorithm(alg)?), alg: Some(alg), is_in_pieces: false })
    }

    /// Begins a digest of SHA-3, which is computed on the caller's thread.
    pub(crate) fn sha3(width: Sha3Width) -> Self {
        let algorithm = match width {
            Sha3Width::Bits256 => &digest::SHA3_256,
            Sha3Width::Bits384 => &digest::SHA3_384,
            Sha3Width::Bits512 => &digest::SHA3_512,
        };
        Self { context: digest::Context::new(algorithm), alg: None, is_in_pieces: false }
    }

    /// Begins the digest of HashML-DSA, or returns `None` for one that is only computed of a whole message.
    pub(crate) fn of_pre_hash(digest: PreHash) -> Option<Result<Self, ReturnCode>> {
        Some(match digest {
            PreHash::Sha224 => Self::new(DigestAlg::Sha224),
            PreHash::Sha256 => Self::new(DigestAlg::Sha256),
            PreHash::Sha384 => Self::new(DigestAlg::Sha384),
            PreHash::Sha512 => Self::new(DigestAlg::Sha512),
            PreHash::Sha3_256 => Ok(Self::sha3(Sha3Width::Bits256)),
            PreHash::Sha3_384 => Ok(Self::sha3(Sha3Width::Bits384)),
            PreHash::Sha3_512 => Ok(Self::sha3(Sha3Width::Bits512)),
            _ => return None,
        })
    }

    /// Plans the digest of a whole message, or returns `None` if no engine computes it.
    pub(crate) fn plan<'a>(&self, message: &'a [u8]) -> Option<Result<Computation<'a>, ReturnCode>> {
        let alg = self.alg?;
        let message = Cow::Borrowed(message);
        Some(plan_bare_record(Shape::Digest { alg }, &[], message, alg.output_len(), FailureRule::SIGN))
    }

    pub(crate) fn output_len(&self) -> usize {
        self.context.algorithm().output_len()
    }

    /// True after the first piece.
    pub(crate) fn is_in_pieces(&self) -> bool {
        self.is_in_pieces
    }

    pub(crate) fn update(&mut self, data: &[u8]) {
        self.is_in_pieces = true;
        self.context.update(data);
    }

    pub(crate) fn finish(self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.context.finish().as_ref().to_vec())
    }
}

impl fmt::Debug for DigestOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DigestOperation({} bytes)", self.output_len())
    }
}

/// Returns the algorithm of a digest.
fn algorithm(alg: DigestAlg) -> Result<&'static digest::Algorithm, ReturnCode> {
    match alg {
        DigestAlg::Sha1 => Ok(&digest::SHA1_FOR_LEGACY_USE_ONLY),
        DigestAlg::Sha224 => Ok(&digest::SHA224),
        DigestAlg::Sha256 => Ok(&digest::SHA256),
        DigestAlg::Sha384 => Ok(&digest::SHA384),
        DigestAlg::Sha512 => Ok(&digest::SHA512),
        _ => Err(ReturnCode::MechanismInvalid),
    }
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
pub(crate) fn hash(alg: DigestAlg, pieces: &[&[u8]]) -> Result<digest::Digest, ReturnCode> {
    let mut context = digest::Context::new(algorithm(alg)?);
    pieces.iter().for_each(|piece| context.update(piece));
    Ok(context.finish())
}

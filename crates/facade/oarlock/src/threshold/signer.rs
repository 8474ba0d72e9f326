//! The work of one server: partial signatures and their proofs. Shoup 2000, Protocol 1.

use crypto_bigint::{BoxedUint, ConcatenatingMul};
use oarlock_core::{JobError, KeyParts, SecretBytes, Shape};
use oarlock_keys::threshold::{Share, ThresholdKey};
use zeroize::Zeroizing;

use super::partial::{PartialSignature, response_bits, response_len};
use super::power::{FinishedPowers, PowerBatch, PowerIndex};
use super::ring::RsaRing;
use super::verify::{ProofStatement, challenge};
use super::{SigningRequest, ThresholdError, lagrange};
use crate::schemes::hash::{prf, sha256_padded};

/// One server.
pub(super) struct ShareSigner {
    share: Share,
    secret: SecretBytes,
    ring: RsaRing,
}

/// The exponentiations of a call.
pub(super) struct SigningPowers {
    /// The powers by s_i.
    pub(super) short: PowerBatch,
    /// The powers by r.
    pub(super) long: PowerBatch,
}

/// One request on its way.
pub(super) struct StartedRequest {
    /// `x~ = x^(4 l!)`.
    base: Vec<u8>,
    nonce: SecretBytes,
    root: PowerIndex,
    commitments: [PowerIndex; 2],
}

impl ShareSigner {
    pub(super) fn new(share: &Share) -> Result<Self, ThresholdError> {
        let Some(KeyParts::ModExp(parts)) = share.key().parts() else {
            let wanted = "a partial signature".to_owned();
            return Err(JobError::KeyType { wanted, found: share.key().kind() }.into());
        };
        Ok(Self {
            share: share.clone(),
            secret: parts.exponent.clone(),
            ring: RsaRing::from_key(share.public())?,
        })
    }

    /// The exponentiations of all requests, and what is left to do with each afterwards.
    pub(super) fn start(
        &self,
        requests: &[SigningRequest<'_>],
    ) -> (SigningPowers, Vec<Result<StartedRequest, ThresholdError>>) {
        let key = self.key();
        let (short, long) = (key.modulus_bits(), response_bits(key));
        let mut work = SigningPowers { short: PowerBatch::new(key, short), long: PowerBatch::new(key, long) };
        let started = requests.iter().map(|request| self.start_one(request, &mut work)).collect();
        (work, started)
    }

    /// The partial signatures, in the order of the requests.
    pub(super) fn finish(
        &self,
        started: &[Result<StartedRequest, ThresholdError>],
        roots: &FinishedPowers,
        commitments: &FinishedPowers,
    ) -> Vec<Result<PartialSignature, ThresholdError>> {
        let finish = |started: &Result<StartedRequest, ThresholdError>| match started {
            Ok(started) => self.finish_one(started, roots, commitments),
            Err(error) => Err(error.clone()),
        };
        started.iter().map(finish).collect()
    }

    /// `x_i = (x^(2 l!))^(s_i)`, so that the secret exponent is no longer than n, and `v^r` and `x~^r`.
    fn start_one(
        &self,
        request: &SigningRequest<'_>,
        work: &mut SigningPowers,
    ) -> Result<StartedRequest, ThresholdError> {
        let encoded = self.ring.read(&request.encoded(self.key())?)?;
        let half = self.ring.power(&encoded, 2 * lagrange::factorial(self.key()));
        // x^(2 l!) is known, so x^(4 l!) costs one squaring.
        let base = self.ring.write(&half.square());
        let nonce = self.nonce(&base)?;
        let exponent = work.long.exponent(nonce.expose())?;
        let root = work.short.add(&self.ring.write(&half), self.share.key())?;
        let commitments =
            [work.long.add(self.key().verification_base(), &exponent)?, work.long.add(&base, &exponent)?];
        Ok(StartedRequest { base, nonce, root, commitments })
    }

    fn finish_one(
        &self,
        started: &StartedRequest,
        roots: &FinishedPowers,
        commitments: &FinishedPowers,
    ) -> Result<PartialSignature, ThresholdError> {
        let root = roots.get(started.root)?;
        let [of_base, of_request] = started.commitments;
        let statement = ProofStatement {
            key: self.key(),
            index: self.share.index(),
            base: &started.base,
            root_squared: &self.ring.write(&self.ring.read(root)?.square()),
        };
        let challenge = challenge(&statement, commitments.get(of_base)?, commitments.get(of_request)?);
        let response = self.response(&challenge, &started.nonce)?;
        Ok(PartialSignature::new(self.share.index(), root, &response, &challenge))
    }

    /// Returns r, of [`response_bits`] bits.
    ///
    /// Two proofs with one r would reveal s_i. So r depends on the secret, on x~ and on 32 random bytes, and a random
    /// source that repeats itself does no harm.
    fn nonce(&self, base: &[u8]) -> Result<SecretBytes, ThresholdError> {
        let mut random = Zeroizing::new([0; 32]);
        aws_lc_rs::rand::fill(&mut *random)
            .map_err(|_| self.failure("the random number generator failed"))?;
        let key = Zeroizing::new(sha256_padded(self.secret.expose(), self.key().modulus_len()));
        let label = Zeroizing::new([b"oarlock threshold rsa nonce", &random[..], base].concat());
        let mut nonce = vec![0; response_len(self.key())];
        prf(&key, &label, &mut nonce);
        nonce[0] &= 0xFF >> (nonce.len() * 8 - usize::from(response_bits(self.key())));
        Ok(SecretBytes::new(nonce))
    }

    /// `z = s_i c + r`, in steps that the lengths alone decide.
    fn response(&self, challenge: &[u8], nonce: &SecretBytes) -> Result<Vec<u8>, ThresholdError> {
        let product =
            Zeroizing::new(self.read(self.secret.expose())?.concatenating_mul(&*self.read(challenge)?));
        let sum = product.concatenating_add(&*self.read(nonce.expose())?);
        let bytes = sum.to_be_bytes();
        let (high, response) = bytes.split_at(bytes.len() - response_len(self.key()));
        // One of 2^256 nonces makes z longer than r.
        match high.iter().all(|byte| *byte == 0) {
            true => Ok(response.to_vec()),
            false => Err(self.failure("the proof is too long")),
        }
    }

    fn key(&self) -> &ThresholdKey {
        self.share.public()
    }

    /// Reads a number at a precision that holds every number here.
    fn read(&self, bytes: &[u8]) -> Result<Zeroizing<BoxedUint>, ThresholdError> {
        let bits = u32::from(response_bits(self.key())).next_multiple_of(64);
        let read = BoxedUint::from_be_slice(bytes, bits).map(Zeroizing::new);
        read.map_err(|_| self.failure("a number is too long"))
    }

    fn failure(&self, reason: &str) -> ThresholdError {
        let bits = self.key().modulus_bits();
        let shape = Shape::ModExp { bits, exponent_bits: bits };
        JobError::EngineFailed { shape, reason: reason.to_owned() }.into()
    }
}

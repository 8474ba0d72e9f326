//! Work for public-key operations: keys, inputs and signatures, owned, to be borrowed as jobs.

use oarlock::engine_api::SecondInput;
use oarlock::engine_api::selftest::sample_operations;
use oarlock::keys::{KeyError, export, generate, import, raw};
use oarlock::{
    Accelerator, Curve, DigestAlg, EcdsaEncoding, Input, Job, JobError, Key, MlDsaVariant, MlKemSet,
    NonceRule, Scheme,
};

use super::rsa_keys::rsa_keys;
use super::{KemVerb, NamedOperation, OperationError, OperationVerb};
use crate::peer::{ByteColumn, PeerAlgorithm, PeerError, PeerTask};
use crate::random::SplitMix64;

/// Jobs of one operation, all different, keys in turn.
#[derive(Debug)]
pub struct PublicKeyWork {
    pub(crate) operation: NamedOperation,
    /// Private for signatures, agreements and ML-KEM, public for verifications.
    pub(crate) keys: Vec<Key>,
    /// For each job, the index of its key.
    pub(crate) key_of: Vec<u32>,
    /// For each job, its digest, its message (Ed25519, ML-DSA, SLH-DSA), its peer's public key (X25519, ECDH), its
    /// ciphertext (decapsulation), or nothing (encapsulation).
    pub(crate) inputs: ByteColumn,
    /// For each verification, its signature; else empty.
    pub(crate) signatures: ByteColumn,
    scheme: Scheme,
}

impl NamedOperation {
    /// `count` jobs under `keys` keys. Signatures to verify are made through `accelerator`.
    ///
    /// # Errors
    /// [`OperationError::NotPublicKey`] for records; keys that cannot be made; a signature that nothing here makes.
    pub fn work(
        self,
        accelerator: &Accelerator,
        keys: usize,
        count: usize,
    ) -> Result<PublicKeyWork, OperationError> {
        if matches!(self, Self::HssVerify | Self::XmssVerify) {
            return self.published_work(count);
        }
        let signing = self.scheme(OperationVerb::Sign).ok_or_else(|| OperationError::not_public_key(self))?;
        let key_error = |error| OperationError::Key { operation: self.to_string(), error };
        let keys = self.make_keys(keys.max(1)).map_err(key_error)?;
        let key_of = (0..keys.len() as u32).cycle().take(count).collect();
        let inputs = self.inputs(count).map_err(key_error)?;
        let signatures = ByteColumn::default();
        let work = PublicKeyWork { operation: self, keys, key_of, inputs, signatures, scheme: signing };
        match self.verb() {
            _ if matches!(self, Self::MlKem { verb: KemVerb::Decapsulate, .. }) => {
                work.with_ciphertexts(accelerator)
            }
            OperationVerb::Sign => Ok(work),
            OperationVerb::Verify | OperationVerb::VerifyHot => work.into_verification(accelerator),
        }
    }

    /// Verifications of one published signature: nothing here signs with such keys.
    fn published_work(self, count: usize) -> Result<PublicKeyWork, OperationError> {
        let unpublished = || OperationError::Unpublished { operation: self.to_string() };
        let samples = sample_operations(self.shape(), 1).map_err(|_| unpublished())?;
        let sample = samples.iter().next().ok_or_else(unpublished)?;
        let SecondInput::Signature(signature) = sample.extra else { return Err(unpublished()) };
        let scheme = self.scheme(OperationVerb::Verify).ok_or_else(unpublished)?;
        let times = |bytes| std::iter::repeat_n(bytes, count).collect();
        Ok(PublicKeyWork {
            operation: self,
            keys: vec![sample.key.clone()],
            key_of: vec![0; count],
            inputs: times(sample.input),
            signatures: times(signature),
            scheme,
        })
    }

    /// Returns the use of the operation. Key agreements and encapsulations count as signatures: their result is output.
    fn verb(self) -> OperationVerb {
        match self {
            Self::Rsa { verb, .. }
            | Self::Ecdsa { verb, .. }
            | Self::Ed25519 { verb }
            | Self::MlDsa { verb, .. }
            | Self::SlhDsa { verb, .. } => verb,
            Self::HssVerify | Self::XmssVerify => OperationVerb::Verify,
            Self::X25519 | Self::Ecdh { .. } | Self::MlKem { .. } | Self::Record { .. } => {
                OperationVerb::Sign
            }
        }
    }

    fn scheme(self, verb: OperationVerb) -> Option<Scheme> {
        let encoding = EcdsaEncoding::Der;
        Some(match (self, verb) {
            (Self::Rsa { .. }, OperationVerb::Sign) => Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 },
            (Self::Rsa { .. }, _) => Scheme::RsaPkcs1Verify { digest: DigestAlg::Sha256 },
            (Self::Ecdsa { curve, .. }, OperationVerb::Sign) => {
                Scheme::EcdsaSign { curve, digest: digest_of(curve), encoding, nonce: NonceRule::Hedged }
            }
            (Self::Ecdsa { curve, .. }, _) => {
                Scheme::EcdsaVerify { curve, digest: digest_of(curve), encoding }
            }
            (Self::Ed25519 { .. }, OperationVerb::Sign) => Scheme::Ed25519Sign,
            (Self::Ed25519 { .. }, _) => Scheme::Ed25519Verify,
            (Self::X25519, _) => Scheme::X25519,
            (Self::Ecdh { curve }, _) => Scheme::Ecdh { curve },
            (Self::MlKem { set, verb: KemVerb::Encapsulate }, _) => Scheme::MlKemEncaps { set },
            (Self::MlKem { set, verb: KemVerb::Decapsulate }, _) => Scheme::MlKemDecaps { set },
            (Self::MlDsa { set, .. }, OperationVerb::Sign) => {
                Scheme::MlDsaSign { set, variant: MlDsaVariant::Pure, nonce: NonceRule::Hedged }
            }
            (Self::MlDsa { set, .. }, _) => Scheme::MlDsaVerify { set, variant: MlDsaVariant::Pure },
            (Self::SlhDsa { set, .. }, OperationVerb::Sign) => {
                Scheme::SlhDsaSign { set, pre_hash: None, nonce: NonceRule::Hedged }
            }
            (Self::SlhDsa { set, .. }, _) => Scheme::SlhDsaVerify { set, pre_hash: None },
            (Self::HssVerify, _) => Scheme::HssVerify,
            (Self::XmssVerify, _) => Scheme::XmssVerify,
            (Self::Record { .. }, _) => return None,
        })
    }

    fn make_keys(self, count: usize) -> Result<Vec<Key>, KeyError> {
        let times = 0..count;
        match self {
            Self::Rsa { bits, .. } => rsa_keys(bits, count),
            Self::Ecdsa { curve, .. } | Self::Ecdh { curve } => times.map(|_| generate::ec(curve)).collect(),
            Self::Ed25519 { .. } => times.map(|_| generate::ed25519()).collect(),
            Self::X25519 => times.map(|_| generate::x25519()).collect(),
            Self::MlKem { set, .. } => times.map(|_| generate::ml_kem(set)).collect(),
            Self::MlDsa { set, .. } => times.map(|_| generate::ml_dsa(set)).collect(),
            Self::SlhDsa { set, .. } => times.map(|_| generate::slh_dsa(set)).collect(),
            // Records have none, and the others published ones.
            Self::HssVerify | Self::XmssVerify | Self::Record { .. } => Ok(Vec::new()),
        }
    }

    /// Makes pseudo-random digests and messages, or public keys of peers.
    fn inputs(self, count: usize) -> Result<ByteColumn, KeyError> {
        let len = match self {
            Self::Ecdsa { curve, .. } => digest_of(curve).output_len(),
            Self::MlKem { .. } => 0,
            Self::X25519 => return peers(count, generate::x25519, |key| key.x25519_public().map(|u| &u[..])),
            Self::Ecdh { curve } => {
                return peers(count, || generate::ec(curve), |key| Some(key.ec_public()?.1));
            }
            _ => 32,
        };
        // The seed is `oarlock` in ASCII.
        let mut random = SplitMix64::new(0x6f61_726c_6f63_6b00);
        Ok(std::iter::repeat_with(|| random.bytes(len)).take(count).collect())
    }
}

/// The largest number of peers' keys; longer inputs repeat them.
const PEERS: usize = 256;

fn peers(
    count: usize,
    make: impl Fn() -> Result<Key, KeyError>,
    public: impl for<'k> Fn(&'k Key) -> Option<&'k [u8]> + Clone,
) -> Result<ByteColumn, KeyError> {
    let made = (0..count.min(PEERS)).map(|_| make()).collect::<Result<Vec<_>, _>>()?;
    Ok(made.iter().filter_map(public).cycle().take(count).collect())
}

/// The number of passes over all jobs.
const WARM_UP: usize = 32;

/// The digest as strong as the curve. FIPS 186-5 6.1.1.
fn digest_of(curve: Curve) -> DigestAlg {
    match curve {
        Curve::P384 => DigestAlg::Sha384,
        _ => DigestAlg::Sha256,
    }
}

impl PublicKeyWork {
    /// Returns the jobs, in order.
    #[must_use]
    pub fn jobs(&self) -> Vec<Job<'_>> {
        (0..self.len()).filter_map(|index| self.job(index)).collect()
    }

    /// Returns the number of jobs.
    pub(crate) fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Returns the job at `index`; None past the end.
    #[must_use]
    pub fn job(&self, index: usize) -> Option<Job<'_>> {
        let key = self.keys.get(*self.key_of.get(index)? as usize)?;
        let input = self.inputs.get(index);
        let input = match self.scheme {
            scheme if scheme.message_digest().is_none() => Input::Message(input),
            _ => Input::Digest(input),
        };
        Some(Job::with_scheme(self.scheme, key, input, self.signatures.get(index)))
    }

    /// Uses the keys so often that an accelerator builds all verification tables for them, and waits until they are
    /// built. Returns the bytes of the tables.
    ///
    /// # Errors
    /// The error of a job that fails.
    pub fn warm(&self, accelerator: &Accelerator) -> Result<usize, JobError> {
        // Tables of earlier work would count as bytes of this one.
        accelerator.diagnostics().drop_tables();
        if accelerator.max_prepared_bytes() == 0 {
            return Ok(0);
        }
        let jobs = self.jobs();
        for _ in 0..WARM_UP {
            accelerator.run_all(&jobs).iter().find_map(Result::err).map_or(Ok(()), Err)?;
            accelerator.diagnostics().wait_for_tables();
        }
        Ok(accelerator.prepared_bytes())
    }

    /// Returns the same work for libcrypto: private keys in PKCS#8, public keys in SPKI.
    pub(crate) fn peer_task(&self) -> Result<PeerTask, PeerError> {
        let refused = |found: String| PeerError::Task { expected: "work for libcrypto".into(), found };
        let name = self.operation.to_string();
        let algorithm = PeerAlgorithm::of_operation(&name).ok_or_else(|| refused(name))?;
        let der = |key: &Key| match self.scheme.is_verification() {
            true => export::spki_der(key).map(Into::into),
            false => export::private_pkcs8_der(key),
        };
        let keys = self.keys.iter().map(der).collect::<Result<ByteColumn, KeyError>>();
        let inputs = match self.scheme {
            Scheme::Ecdh { curve } => {
                let spki = |point| raw::ec_public(curve, point).and_then(|key| export::spki_der(&key));
                let peers = self.inputs.iter().map(spki).collect::<Result<ByteColumn, KeyError>>();
                peers.map_err(|error| refused(error.to_string()))?
            }
            _ => self.inputs.clone(),
        };
        let extras = match algorithm {
            // The signature of the only tree: libcrypto has LMS without the number of levels before it.
            PeerAlgorithm::LmsVerify => self.signatures.iter().filter_map(|bytes| bytes.get(4..)).collect(),
            _ => self.signatures.clone(),
        };
        Ok(PeerTask {
            algorithm,
            keys: keys.map_err(|error| refused(error.to_string()))?,
            key_of: self.key_of.clone(),
            inputs,
            extras,
        })
    }

    /// Makes a ciphertext for each key in turn.
    fn with_ciphertexts(self, accelerator: &Accelerator) -> Result<Self, OperationError> {
        let job_error = |error| OperationError::Job { operation: self.operation.to_string(), error };
        let keys = self.key_of.iter().filter_map(|index| self.keys.get(*index as usize));
        let jobs: Vec<Job<'_>> = keys.map(Job::encapsulate).collect();
        let answers = accelerator.run_all(&jobs);
        let ciphertext = |answer: Result<&[u8], JobError>| {
            let made = answer.map_err(job_error)?;
            Ok(made[..made.len().saturating_sub(MlKemSet::SECRET_LEN)].to_vec())
        };
        let inputs = answers.iter().map(ciphertext).collect::<Result<ByteColumn, OperationError>>()?;
        Ok(Self { inputs, ..self })
    }

    /// Returns the number of jobs of a call, of which `wanted` are asked for.
    pub(crate) fn batch(&self, wanted: usize) -> usize {
        wanted.min(self.operation.max_batch())
    }

    /// Signs every input, and drops the private keys.
    fn into_verification(self, accelerator: &Accelerator) -> Result<Self, OperationError> {
        let operation = self.operation;
        let answers = accelerator.run_all(&self.jobs());
        let signatures = answers.iter().collect::<Result<ByteColumn, JobError>>();
        let signatures =
            signatures.map_err(|error| OperationError::Job { operation: operation.to_string(), error })?;
        let public = |key: &Key| import::spki_der(&export::spki_der(key)?);
        let keys = self.keys.iter().map(public).collect::<Result<Vec<_>, KeyError>>();
        let keys = keys.map_err(|error| OperationError::Key { operation: operation.to_string(), error })?;
        // unreachable because records, which have no scheme, have no work either
        let scheme = operation.scheme(OperationVerb::Verify).unwrap_or(self.scheme);
        Ok(Self { keys, signatures, scheme, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_public_key_operation_has_work_that_succeeds() {
        let accelerator = Accelerator::builder().lazy().build().unwrap();
        for operation in NamedOperation::public_key().into_iter().filter(|operation| operation.is_usual()) {
            let work = operation.work(&accelerator, 2, 5).unwrap();
            // There is one published signature each.
            let is_stateful = matches!(operation, NamedOperation::HssVerify | NamedOperation::XmssVerify);
            let keys = if is_stateful { 1 } else { 2 };
            assert_eq!((work.keys.len(), work.len()), (keys, 5));
            let answers = accelerator.run_all(&work.jobs());
            assert_eq!(answers.len(), 5);
            let is_verification = operation.verb() != OperationVerb::Sign;
            for answer in answers.iter() {
                assert_eq!(answer.unwrap().is_empty(), is_verification, "{operation}");
            }
        }
    }

    #[test]
    fn a_broken_signature_is_noticed() {
        let accelerator = Accelerator::builder().lazy().build().unwrap();
        let operation = NamedOperation::Ed25519 { verb: OperationVerb::Verify };
        let mut work = operation.work(&accelerator, 1, 3).unwrap();
        let broken = |(index, signature): (usize, &[u8])| {
            let mut signature = signature.to_vec();
            signature[7] ^= u8::from(index == 1);
            signature
        };
        work.signatures = work.signatures.iter().enumerate().map(broken).collect();
        let answers = accelerator.run_all(&work.jobs());
        let is_good: Vec<bool> = answers.iter().map(|answer| answer.is_ok()).collect();
        assert_eq!(is_good, [true, false, true]);
    }

    #[test]
    fn libcrypto_gets_the_same_keys_and_inputs() {
        let accelerator = Accelerator::builder().lazy().build().unwrap();
        for name in ["rsa1024-sign", "p384-verify-hot", "x25519-derive", "p256-derive"] {
            let work = name.parse::<NamedOperation>().unwrap().work(&accelerator, 2, 3).unwrap();
            let task = work.peer_task().unwrap();
            assert_eq!((task.len(), task.keys.len(), &task.key_of), (3, 2, &work.key_of), "{name}");
        }
    }

    #[test]
    fn records_have_no_public_key_work() {
        let accelerator = Accelerator::builder().lazy().build().unwrap();
        let refused = "sha1-64".parse::<NamedOperation>().unwrap().work(&accelerator, 1, 1);
        assert!(matches!(refused, Err(OperationError::NotPublicKey { .. })));
    }
}

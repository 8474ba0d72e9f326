//! Key exchange groups: X25519, and the hybrids of X25519 and P-256 with ML-KEM-768.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::agreement::{ECDH_P256, PrivateKey};
use aws_lc_rs::encoding::{AsBigEndian, EcPrivateKeyBin};
use oarlock::engine_api::{
    EcPrivateParts, KeyParts, LatticePrivate, LatticePrivateParts, X25519PrivateParts,
};
use oarlock::keys::{KeyError, raw};
use oarlock::{Accelerator, Curve, Fingerprint, Job, JobError, Key, MlKemSet, SecretBytes};
use rustls::crypto::{
    ActiveKeyExchange, CompletedKeyExchange, GetRandomFailed, SharedSecret, SupportedKxGroup,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, OtherError, PeerMisbehaved, ProtocolVersion};

use crate::gather::JobAnswers;
use crate::pause::{on_thread_stack, run_jobs};

/// The length of an X25519 key and secret.
const X25519_LEN: usize = 32;

/// The length of an uncompressed point on P-256. SEC 1 2.3.3.
const P256_POINT_LEN: usize = 65;

/// The u-coordinate of the base point. RFC 7748 4.1.
const BASE_U: [u8; X25519_LEN] = {
    let mut bytes = [0; X25519_LEN];
    bytes[0] = 9;
    bytes
};

/// The parameter set of both hybrids.
const ML_KEM: MlKemSet = MlKemSet::MlKem768;

const INVALID_SHARE: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);

/// X25519. RFC 8446 7.4.2.
pub(crate) struct X25519Group(pub(crate) Accelerator);

/// A hybrid with ML-KEM-768. The jobs of both halves wait together, so the handshake pauses once. RFC 10024.
pub(crate) struct HybridGroup {
    pub(crate) accelerator: Accelerator,
    pub(crate) curve: HybridCurve,
}

/// The curve of a hybrid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HybridCurve {
    X25519,
    P256,
}

impl SupportedKxGroup for X25519Group {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let key = CurveKey::new(HybridCurve::X25519)?;
        let answers = run_jobs(&self.0, &Vec::from_iter(key.share_job())).map_err(exchange_error)?;
        Ok(Box::new(key.into_exchange(&self.0, &answers, 0)?))
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let peer = HybridCurve::X25519.checked_share(peer)?;
        let key = CurveKey::new(HybridCurve::X25519)?;
        let mut jobs = vec![Job::agree(&key.key, peer)];
        // Both multiplications wait together, so the handshake pauses once.
        jobs.extend(key.share_job());
        let answers = run_jobs(&self.0, &jobs).map_err(exchange_error)?;
        let secret = SharedSecret::from(answers.get(0).map_err(exchange_error)?);
        Ok(CompletedKeyExchange { group: NamedGroup::X25519, pub_key: key.share(&answers, 1)?, secret })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

impl SupportedKxGroup for HybridGroup {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let (post_quantum, key) = (ephemeral_ml_kem_key()?, CurveKey::new(self.curve)?);
        let mut jobs = vec![Job::encapsulation_key(&post_quantum)];
        jobs.extend(key.share_job());
        let answers = run_jobs(&self.accelerator, &jobs).map_err(exchange_error)?;
        drop(jobs);
        let classical = Box::new(key.into_exchange(&self.accelerator, &answers, 1)?);
        let public = self.curve.joined(answers.get(0).map_err(exchange_error)?, &classical.share);
        Ok(Box::new(HybridExchange { classical, post_quantum, public }))
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (post_quantum, classical) = self.curve.split(peer, ML_KEM.public_len())?;
        let post_quantum = encapsulation_key(post_quantum)?;
        let key = CurveKey::new(self.curve)?;
        let mut jobs = vec![Job::encapsulate(&post_quantum), Job::agree(&key.key, classical)];
        jobs.extend(key.share_job());
        let answers = run_jobs(&self.accelerator, &jobs).map_err(exchange_error)?;
        let encapsulated = answers.get(0).map_err(exchange_error)?;
        let (ciphertext, post_quantum) = encapsulated.split_at(ML_KEM.ciphertext_len());
        let classical = answers.get(1).map_err(exchange_error)?;
        Ok(CompletedKeyExchange {
            group: self.curve.hybrid(),
            pub_key: self.curve.joined(ciphertext, &key.share(&answers, 2)?),
            // `SharedSecret` takes the vector, and zeroizes it.
            secret: SharedSecret::from(self.curve.joined(post_quantum, classical)),
        })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        self.curve.hybrid()
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

/// A key share of a curve that waits for the peer's.
struct CurveExchange {
    accelerator: Accelerator,
    curve: HybridCurve,
    key: Key,
    share: Vec<u8>,
}

impl ActiveKeyExchange for CurveExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let job = Job::agree(&self.key, self.curve.checked_share(peer)?);
        let answers = run_jobs(&self.accelerator, &[job]).map_err(exchange_error)?;
        Ok(SharedSecret::from(answers.get(0).map_err(exchange_error)?))
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        self.curve.name()
    }
}

/// A key share of a hybrid that waits for the peer's.
struct HybridExchange {
    classical: Box<CurveExchange>,
    post_quantum: Key,
    public: Vec<u8>,
}

impl ActiveKeyExchange for HybridExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let CurveExchange { accelerator, curve, key, .. } = &*self.classical;
        let (ciphertext, classical) = curve.split(peer, ML_KEM.ciphertext_len())?;
        let jobs = [Job::decapsulate(&self.post_quantum, ciphertext), Job::agree(key, classical)];
        let answers = run_jobs(accelerator, &jobs).map_err(exchange_error)?;
        let post_quantum = answers.get(0).map_err(exchange_error)?;
        let classical = answers.get(1).map_err(exchange_error)?;
        Ok(SharedSecret::from(curve.joined(post_quantum, classical)))
    }

    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        Some((self.classical.group(), self.classical.pub_key()))
    }

    fn complete_hybrid_component(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        self.classical.complete(peer)
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        self.classical.curve.hybrid()
    }
}

impl HybridCurve {
    fn name(self) -> NamedGroup {
        match self {
            Self::X25519 => NamedGroup::X25519,
            Self::P256 => NamedGroup::secp256r1,
        }
    }

    fn hybrid(self) -> NamedGroup {
        match self {
            Self::X25519 => NamedGroup::X25519MLKEM768,
            Self::P256 => NamedGroup::secp256r1MLKEM768,
        }
    }

    fn share_len(self) -> usize {
        match self {
            Self::X25519 => X25519_LEN,
            Self::P256 => P256_POINT_LEN,
        }
    }

    fn checked_share(self, peer: &[u8]) -> Result<&[u8], Error> {
        if peer.len() == self.share_len() { Ok(peer) } else { Err(INVALID_SHARE) }
    }

    /// Splits a share of the hybrid into that of ML-KEM and that of the curve.
    fn split(self, share: &[u8], ml_kem_len: usize) -> Result<(&[u8], &[u8]), Error> {
        if share.len() != ml_kem_len + self.share_len() {
            return Err(INVALID_SHARE);
        }
        match self {
            Self::X25519 => Ok(share.split_at(ml_kem_len)),
            Self::P256 => {
                let (classical, post_quantum) = share.split_at(self.share_len());
                Ok((post_quantum, classical))
            }
        }
    }

    /// Joins two shares or secrets: that of ML-KEM is the first with X25519, and the last with P-256. RFC 10024.
    fn joined(self, post_quantum: &[u8], classical: &[u8]) -> Vec<u8> {
        match self {
            Self::X25519 => [post_quantum, classical].concat(),
            Self::P256 => [classical, post_quantum].concat(),
        }
    }
}

/// A new key of a curve, for one handshake.
struct CurveKey {
    curve: HybridCurve,
    key: Key,
}

impl CurveKey {
    fn new(curve: HybridCurve) -> Result<Self, Error> {
        let key = match curve {
            HybridCurve::X25519 => ephemeral_x25519_key(),
            HybridCurve::P256 => ephemeral_p256_key(),
        }?;
        Ok(Self { curve, key })
    }

    /// Returns the job whose answer is the share. A key of P-256 has its point already.
    fn share_job(&self) -> Option<Job<'_>> {
        self.key.ec_public().is_none().then(|| Job::agree(&self.key, &BASE_U))
    }

    /// Returns the share, if its job was the job `index`.
    fn share(&self, answers: &JobAnswers, index: usize) -> Result<Vec<u8>, Error> {
        match self.key.ec_public() {
            Some((_, point)) => Ok(point.to_vec()),
            None => Ok(answers.get(index).map_err(exchange_error)?.to_vec()),
        }
    }

    fn into_exchange(
        self,
        accelerator: &Accelerator,
        answers: &JobAnswers,
        index: usize,
    ) -> Result<CurveExchange, Error> {
        let share = self.share(answers, index)?;
        Ok(CurveExchange { accelerator: accelerator.clone(), curve: self.curve, key: self.key, share })
    }
}

/// Returns a new X25519 key without its public half, which the base point's multiplication gives.
fn ephemeral_x25519_key() -> Result<Key, Error> {
    // The key makes one share and one secret. No job of an agreement reads its public half, and computing it first
    // would cost as much as the share.
    let parts = X25519PrivateParts { scalar: random_secret(X25519_LEN)?, public: [0; X25519_LEN] };
    Ok(Key::local(KeyParts::X25519Private(parts), random_fingerprint()?))
}

/// Returns a new key of P-256. AWS-LC computes its point when it draws the scalar.
fn ephemeral_p256_key() -> Result<Key, Error> {
    let key = PrivateKey::generate(&ECDH_P256).map_err(|_| GetRandomFailed)?;
    let scalar: EcPrivateKeyBin<'_> = key.as_be_bytes().map_err(|_| no_key())?;
    let public = key.compute_public_key().map_err(|_| no_key())?.as_ref().to_vec();
    let scalar = SecretBytes::from(scalar.as_ref());
    let parts = EcPrivateParts { curve: Curve::P256, scalar, public };
    Ok(Key::local(KeyParts::EcPrivate(parts), random_fingerprint()?))
}

/// Returns a new key of ML-KEM without its public half, which is the answer of a job.
fn ephemeral_ml_kem_key() -> Result<Key, Error> {
    let private = LatticePrivate::Seed(random_secret(MlKemSet::SEED_LEN)?);
    let parts = LatticePrivateParts { set: ML_KEM, private, public: Vec::new() };
    Ok(Key::local(KeyParts::MlKemPrivate(parts), random_fingerprint()?))
}

/// Reads the peer's half of ML-KEM, whose coefficients must be below q. FIPS 203 7.2.
fn encapsulation_key(public: &[u8]) -> Result<Key, Error> {
    // AWS-LC's ML-KEM needs more stack than a coroutine may have left.
    on_thread_stack(|| raw::ml_kem_public(ML_KEM, public)).map_err(|error| match error {
        KeyError::Length { .. } | KeyError::EncapsulationKey { .. } => INVALID_SHARE,
        error => Error::Other(OtherError(Arc::new(error))),
    })
}

fn random_secret(len: usize) -> Result<SecretBytes, Error> {
    let mut bytes = vec![0; len];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| GetRandomFailed)?;
    Ok(SecretBytes::from(bytes))
}

/// A random fingerprint belongs to no other key.
fn random_fingerprint() -> Result<Fingerprint, Error> {
    let mut fingerprint = [0; 32];
    aws_lc_rs::rand::fill(&mut fingerprint).map_err(|_| GetRandomFailed)?;
    Ok(Fingerprint::new(fingerprint))
}

fn no_key() -> Error {
    Error::General("AWS-LC gives no P-256 key".into())
}

fn exchange_error(error: JobError) -> Error {
    match error {
        JobError::SmallOrderPeer | JobError::PeerNotOnCurve => INVALID_SHARE,
        error => Error::Other(OtherError(Arc::new(error))),
    }
}

impl fmt::Debug for X25519Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("X25519Group")
    }
}

// By hand: the accelerator's lists its engines.
impl fmt::Debug for HybridGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HybridGroup({:?})", self.curve)
    }
}

#[cfg(test)]
mod tests;

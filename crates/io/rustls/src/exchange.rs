//! Key exchange groups: X25519 by the accelerator, alone and with ML-KEM-768.

use std::fmt;

use oarlock::engine_api::{KeyParts, X25519PrivateParts};
use oarlock::{Accelerator, Fingerprint, Job, JobError, Key, SecretBytes};
use rustls::crypto::aws_lc_rs::kx_group;
use rustls::crypto::{
    ActiveKeyExchange, CompletedKeyExchange, GetRandomFailed, SharedSecret, SupportedKxGroup,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, OtherError, PeerMisbehaved, ProtocolVersion};
use std::sync::Arc;

use crate::pause::{on_thread_stack, run_jobs};

/// The length of an X25519 key and secret.
const X25519_LEN: usize = 32;

/// The u-coordinate of the base point. RFC 7748 4.1.
const BASE_U: [u8; X25519_LEN] = {
    let mut bytes = [0; X25519_LEN];
    bytes[0] = 9;
    bytes
};

/// The length of an encapsulation key of ML-KEM-768, the client's share. FIPS 203 table 3.
const ML_KEM_CLIENT_LEN: usize = 1_184;

/// The length of a ciphertext of ML-KEM-768, the server's share. FIPS 203 table 3.
const ML_KEM_SERVER_LEN: usize = 1_088;

const INVALID_SHARE: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);

/// X25519. RFC 8446 7.4.2.
#[derive(Clone)]
pub(crate) struct X25519Group(pub(crate) Accelerator);

/// X25519MLKEM768: ML-KEM-768 by AWS-LC, and X25519 by the accelerator. draft-ietf-tls-ecdhe-mlkem.
#[derive(Debug)]
pub(crate) struct HybridGroup(pub(crate) X25519Group);

impl SupportedKxGroup for X25519Group {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(self.exchange()?))
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let key = ephemeral_key()?;
        // Both multiplications wait together, so the handshake pauses once.
        let jobs = [Job::agree(&key, &BASE_U), Job::agree(&key, checked_share(peer)?)];
        let answers = run_jobs(&self.0, &jobs).map_err(exchange_error)?;
        let public = answers.get(0).map_err(exchange_error)?.to_vec();
        let secret = SharedSecret::from(answers.get(1).map_err(exchange_error)?);
        Ok(CompletedKeyExchange { group: NamedGroup::X25519, pub_key: public, secret })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

impl X25519Group {
    fn exchange(&self) -> Result<X25519Exchange, Error> {
        let key = ephemeral_key()?;
        let answers = run_jobs(&self.0, &[Job::agree(&key, &BASE_U)]).map_err(exchange_error)?;
        let public = answers.get(0).map_err(exchange_error)?.to_vec();
        Ok(X25519Exchange { accelerator: self.0.clone(), key, public })
    }
}

/// A key share that waits for the peer's.
struct X25519Exchange {
    accelerator: Accelerator,
    key: Key,
    public: Vec<u8>,
}

impl ActiveKeyExchange for X25519Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let job = Job::agree(&self.key, checked_share(peer)?);
        let answers = run_jobs(&self.accelerator, &[job]).map_err(exchange_error)?;
        Ok(SharedSecret::from(answers.get(0).map_err(exchange_error)?))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

impl SupportedKxGroup for HybridGroup {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let classical = self.0.exchange()?;
        let post_quantum = on_thread_stack(|| kx_group::MLKEM768.start())?;
        let public = [post_quantum.pub_key(), classical.pub_key()].concat();
        Ok(Box::new(HybridExchange { classical: Box::new(classical), post_quantum, public }))
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (post_quantum, classical) = split_share(peer, ML_KEM_CLIENT_LEN)?;
        // ML-KEM first: its check of the client's share costs less than the agreement.
        let post_quantum = on_thread_stack(|| kx_group::MLKEM768.start_and_complete(post_quantum))?;
        let classical = self.0.start_and_complete(classical)?;
        Ok(CompletedKeyExchange {
            group: NamedGroup::X25519MLKEM768,
            pub_key: [post_quantum.pub_key, classical.pub_key].concat(),
            secret: joined(&post_quantum.secret, &classical.secret),
        })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

struct HybridExchange {
    classical: Box<X25519Exchange>,
    post_quantum: Box<dyn ActiveKeyExchange>,
    public: Vec<u8>,
}

impl ActiveKeyExchange for HybridExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let (post_quantum, classical) = split_share(peer, ML_KEM_SERVER_LEN)?;
        let exchange = self.post_quantum;
        let post_quantum = on_thread_stack(|| exchange.complete(post_quantum))?;
        let classical = self.classical.complete(classical)?;
        Ok(joined(&post_quantum, &classical))
    }

    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        Some((NamedGroup::X25519, self.classical.pub_key()))
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
        NamedGroup::X25519MLKEM768
    }
}

/// Splits a share of the hybrid into that of ML-KEM, which comes first, and that of X25519.
fn split_share(share: &[u8], ml_kem_len: usize) -> Result<(&[u8], &[u8]), Error> {
    if share.len() != ml_kem_len + X25519_LEN {
        return Err(INVALID_SHARE);
    }
    Ok(share.split_at(ml_kem_len))
}

fn joined(post_quantum: &SharedSecret, classical: &SharedSecret) -> SharedSecret {
    // `SharedSecret` takes the vector, and zeroizes it.
    SharedSecret::from([post_quantum.secret_bytes(), classical.secret_bytes()].concat())
}

fn checked_share(peer: &[u8]) -> Result<&[u8], Error> {
    if peer.len() == X25519_LEN { Ok(peer) } else { Err(INVALID_SHARE) }
}

/// Returns a new X25519 key without its public half, which the base point's multiplication gives.
fn ephemeral_key() -> Result<Key, Error> {
    let mut scalar = vec![0; X25519_LEN];
    let mut fingerprint = [0; 32];
    for bytes in [&mut scalar[..], &mut fingerprint] {
        aws_lc_rs::rand::fill(bytes).map_err(|_| GetRandomFailed)?;
    }
    // The key makes one share and one secret. No job of an agreement reads its public half, and computing it first
    // would cost as much as the share. A random fingerprint belongs to no other key.
    let parts = X25519PrivateParts { scalar: SecretBytes::from(scalar), public: [0; X25519_LEN] };
    Ok(Key::local(KeyParts::X25519Private(parts), Fingerprint::new(fingerprint)))
}

fn exchange_error(error: JobError) -> Error {
    match error {
        JobError::SmallOrderPeer => INVALID_SHARE,
        error => Error::Other(OtherError(Arc::new(error))),
    }
}

impl fmt::Debug for X25519Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("X25519Group")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group() -> X25519Group {
        X25519Group(Accelerator::builder().engines(["scalar"]).lazy().build().unwrap())
    }

    #[test]
    fn x25519_agrees_with_aws_lc() {
        let ours = group();
        let theirs = kx_group::X25519;
        let client = theirs.start().unwrap();
        let server = ours.start_and_complete(client.pub_key()).unwrap();
        assert_eq!(client.complete(&server.pub_key).unwrap().secret_bytes(), server.secret.secret_bytes());
        let client = ours.start().unwrap();
        let server = theirs.start_and_complete(client.pub_key()).unwrap();
        assert_eq!(client.complete(&server.pub_key).unwrap().secret_bytes(), server.secret.secret_bytes());
    }

    #[test]
    fn the_hybrid_agrees_with_aws_lc() {
        let ours = HybridGroup(group());
        let theirs = kx_group::X25519MLKEM768;
        let client = theirs.start().unwrap();
        let server = ours.start_and_complete(client.pub_key()).unwrap();
        assert_eq!(client.complete(&server.pub_key).unwrap().secret_bytes(), server.secret.secret_bytes());
        let client = ours.start().unwrap();
        let server = theirs.start_and_complete(client.pub_key()).unwrap();
        assert_eq!(client.complete(&server.pub_key).unwrap().secret_bytes(), server.secret.secret_bytes());
        let client = ours.start().unwrap();
        let (name, share) = client.hybrid_component().unwrap();
        assert_eq!(name, NamedGroup::X25519);
        let server = kx_group::X25519.start_and_complete(share).unwrap();
        let secret = client.complete_hybrid_component(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
    }

    #[test]
    fn bad_shares_are_rejected() {
        let x25519 = group();
        let hybrid = HybridGroup(group());
        for share in [&[][..], &[9; 31], &[9; 33], &[0; 32]] {
            assert_eq!(x25519.start_and_complete(share).err(), Some(INVALID_SHARE), "{share:?}");
            assert_eq!(x25519.start().unwrap().complete(share).err(), Some(INVALID_SHARE), "{share:?}");
            assert_eq!(hybrid.start_and_complete(share).err(), Some(INVALID_SHARE), "{share:?}");
            assert_eq!(hybrid.start().unwrap().complete(share).err(), Some(INVALID_SHARE), "{share:?}");
        }
        for share in [&[0xff; ML_KEM_CLIENT_LEN + 32][..], &[0; ML_KEM_CLIENT_LEN + 32]] {
            assert_eq!(hybrid.start_and_complete(share).err(), Some(INVALID_SHARE));
        }
    }
}

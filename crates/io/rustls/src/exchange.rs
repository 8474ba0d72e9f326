//! Key exchange groups: X25519, and the hybrids of a curve and ML-KEM-768.

use std::fmt;
use std::sync::Arc;

use oarlock::keys::KeyError;
use oarlock::tls_groups::{ClientKey, ClientShare, Group, ServerKey, ShareError};
use oarlock::{Accelerator, AnswerBytes, Job, JobError};
use rustls::crypto::{
    ActiveKeyExchange, CompletedKeyExchange, GetRandomFailed, SharedSecret, SupportedKxGroup,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::{Error, NamedGroup, OtherError, PeerMisbehaved, ProtocolVersion};

use crate::pause::{on_thread_stack, run_jobs};

const INVALID_SHARE: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);

/// A group whose jobs wait together, so the handshake pauses once. RFC 8446 7.4.2, RFC 10024.
pub(crate) struct JobKxGroup {
    pub(crate) accelerator: Accelerator,
    pub(crate) group: Group,
}

impl SupportedKxGroup for JobKxGroup {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let key = ClientKey::generate(self.group).map_err(key_error)?;
        let share = key.share(&run(&self.accelerator, &key.share_jobs())?).map_err(job_error)?;
        Ok(Box::new(JobKeyExchange { accelerator: self.accelerator.clone(), key, share }))
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        // AWS-LC's ML-KEM needs more stack than a coroutine may have left.
        let client = on_thread_stack(|| ClientShare::read(self.group, peer)).map_err(share_error)?;
        let key = ServerKey::generate(&client).map_err(key_error)?;
        let answer = key.finish(&run(&self.accelerator, &key.jobs())?).map_err(job_error)?;
        let secret = SharedSecret::from(&answer.secret[..]);
        Ok(CompletedKeyExchange { group: self.name(), pub_key: answer.share, secret })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::from(self.group.code_point())
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        self.group.ml_kem().is_none() || version == ProtocolVersion::TLSv1_3
    }
}

/// A key share that waits for the peer's.
struct JobKeyExchange {
    accelerator: Accelerator,
    key: ClientKey,
    share: Vec<u8>,
}

impl ActiveKeyExchange for JobKeyExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        complete(&self.accelerator, &self.key, peer)
    }

    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        let group = self.key.group();
        group.ml_kem()?;
        let (_, share) = group.split_client_share(&self.share).ok()?;
        Some((NamedGroup::from(group.of_curve().code_point()), share))
    }

    fn complete_hybrid_component(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        complete(&self.accelerator, &self.key.into_curve_key(), peer)
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::from(self.key.group().code_point())
    }
}

fn complete(accelerator: &Accelerator, key: &ClientKey, peer: &[u8]) -> Result<SharedSecret, Error> {
    let jobs = key.secret_jobs(peer).map_err(share_error)?;
    let secret = key.secret(&run(accelerator, &jobs)?).map_err(job_error)?;
    Ok(SharedSecret::from(&secret[..]))
}

/// Returns the answers one behind the other.
fn run(accelerator: &Accelerator, jobs: &[Job<'_>]) -> Result<AnswerBytes, Error> {
    let answers = run_jobs(accelerator, jobs).map_err(job_error)?;
    let parts = (0..jobs.len()).map(|index| answers.get(index)).collect::<Result<Vec<_>, _>>();
    Ok(AnswerBytes::new(parts.map_err(job_error)?.concat()))
}

fn share_error(error: ShareError) -> Error {
    match error {
        ShareError::PublicKey(error @ KeyError::Machine { .. }) => key_error(error),
        _ => INVALID_SHARE,
    }
}

fn key_error(error: KeyError) -> Error {
    match error {
        KeyError::Machine { .. } => GetRandomFailed.into(),
        error => Error::Other(OtherError(Arc::new(error))),
    }
}

fn job_error(error: JobError) -> Error {
    match error {
        JobError::SmallOrderPeer | JobError::PeerNotOnCurve => INVALID_SHARE,
        error => Error::Other(OtherError(Arc::new(error))),
    }
}

// By hand: the accelerator's lists its engines.
impl fmt::Debug for JobKxGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobKxGroup({:?})", self.group)
    }
}

#[cfg(test)]
mod tests;

//! The counters of the server. They take no lock, and most are updated once per request.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use oarlock::Scheme;
use oarlock::metrics::{MetricFamily, Recorder};
use oarlock_keytable::BatchTask;
use oarlock_wire::proto::Code;

/// The counters of the server itself. The dispatcher has the counters of the engines.
#[derive(Debug)]
pub(crate) struct ServerMetrics {
    pub(crate) connections: AtomicU64,
    pub(crate) open_connections: AtomicU64,
    pub(crate) refused_connections: AtomicU64,
    pub(crate) failed_handshakes: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) received_bytes: AtomicU64,
    pub(crate) sent_bytes: AtomicU64,
    pub(crate) rings: AtomicU64,
    pub(crate) open_rings: AtomicU64,
    /// The requests for rings that were refused.
    pub(crate) refused_rings: RingRefusals,
    pub(crate) ring_received_bytes: AtomicU64,
    pub(crate) ring_sent_bytes: AtomicU64,
    /// The requests and operations that were refused before any engine saw them.
    pub(crate) rejections: CodeCounters,
    /// The public-key operations by scheme.
    pub(crate) schemes: MetricFamily<Scheme, CodeCounters>,
    /// The short symmetric operations by task.
    pub(crate) tasks: MetricFamily<BatchTask, CodeCounters>,
    /// The nanoseconds from a request with jobs to its answer, unless all of them were refused.
    pub(crate) jobs_ns: Recorder,
    /// The nanoseconds from a request with records to its answer, unless all of them were refused.
    pub(crate) records_ns: Recorder,
}

/// The number of schemes with counters of their own. [`counted_as`] has fewer values, most of them for the digests of
/// HashML-DSA and HashSLH-DSA.
pub(crate) const SCHEMES: usize = 512;
/// The number of tasks with counters of their own.
const TASKS: usize = 256;

impl Default for ServerMetrics {
    fn default() -> Self {
        let zero = AtomicU64::default;
        Self {
            connections: zero(),
            open_connections: zero(),
            refused_connections: zero(),
            failed_handshakes: zero(),
            requests: zero(),
            received_bytes: zero(),
            sent_bytes: zero(),
            rings: zero(),
            open_rings: zero(),
            refused_rings: RingRefusals::default(),
            ring_received_bytes: zero(),
            ring_sent_bytes: zero(),
            rejections: CodeCounters::default(),
            schemes: MetricFamily::new(SCHEMES),
            tasks: MetricFamily::new(TASKS),
            jobs_ns: Recorder::default(),
            records_ns: Recorder::default(),
        }
    }
}

/// The reason of a refusal of rings.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RingRefusal {
    /// The settings forbid rings.
    Settings,
    /// The client, or all clients together, hold too many bytes.
    Bytes,
    /// The system gives no memory file, or a policy forbids it.
    System,
}

/// Counters of refusals of rings by reason.
#[derive(Debug, Default)]
pub(crate) struct RingRefusals([AtomicU64; 3]);

impl RingRefusals {
    pub(crate) fn count(&self, reason: RingRefusal) {
        count(&self.0[reason as usize], 1);
    }

    /// Returns the counts with the names of their reasons.
    pub(crate) fn read(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        ["settings", "bytes", "system"]
            .into_iter()
            .zip(self.0.iter().map(|count| count.load(Ordering::Relaxed)))
    }
}

/// Adds to a counter.
pub(crate) fn count(counter: &AtomicU64, by: usize) {
    // Relaxed: a counter orders no other memory, and a scrape may miss the newest additions.
    counter.fetch_add(by as u64, Ordering::Relaxed);
}

/// Records the time that a request has taken.
pub(crate) fn time(recorder: &Recorder, began: Instant) {
    recorder.record(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
}

/// The codes that an operation can end with. The index of a code is its number.
pub(crate) const CODES: [Code; 14] = [
    Code::Done,
    Code::Rejected,
    Code::Invalid,
    Code::NoSuchKey,
    Code::PermissionDenied,
    Code::WrongKey,
    Code::UsedUp,
    Code::BadKey,
    Code::DependencyFailed,
    Code::Unsupported,
    Code::ResourceExhausted,
    Code::DeadlineExceeded,
    Code::Unavailable,
    Code::Failed,
];

/// Counters of operations by code.
#[derive(Debug, Default)]
pub(crate) struct CodeCounters([AtomicU64; CODES.len()]);

impl CodeCounters {
    /// Counts operations that ended with a code.
    pub(crate) fn count(&self, code: Code, by: u32) {
        count(&self.0[code as usize], by as usize);
    }

    /// Adds the counts of a batch.
    pub(crate) fn add(&self, tally: &CodeTally) {
        tally.iter().for_each(|(code, by)| self.count(code, by));
    }

    /// Returns the codes with a count above zero.
    pub(crate) fn read(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        CODES.into_iter().zip(counts).filter(|(_, count)| *count > 0)
    }
}

/// The operations of one batch by code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeTally([u32; CODES.len()]);

impl CodeTally {
    /// Counts operations by the number of their code.
    pub(crate) fn note(&mut self, code: u8, by: u32) {
        // The default is unreachable because the server writes only codes.
        let Some(count) = self.0.get_mut(usize::from(code)) else { return };
        *count += by;
    }

    /// Returns the codes that operations have ended with.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Code, u32)> + '_ {
        CODES.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }
}

/// Returns the scheme that stands for all schemes of one name. Parameters that are not in the name would only multiply
/// the counters.
pub(crate) fn counted_as(scheme: Scheme) -> Scheme {
    use oarlock::{EcdsaEncoding, NonceRule, SaltLength};
    match scheme {
        Scheme::RsaPssSign { digest, .. } => Scheme::RsaPssSign { digest, mgf: digest, salt_len: 0 },
        Scheme::RsaPssVerify { digest, .. } => {
            Scheme::RsaPssVerify { digest, mgf: digest, salt: SaltLength::Any }
        }
        Scheme::RsaOaepDecrypt { digest, .. } => Scheme::RsaOaepDecrypt { digest, mgf: digest },
        Scheme::EcdsaSign { curve, digest, .. } => {
            let (encoding, nonce) = (EcdsaEncoding::Der, NonceRule::Hedged);
            Scheme::EcdsaSign { curve, digest, encoding, nonce }
        }
        Scheme::EcdsaVerify { curve, digest, .. } => {
            Scheme::EcdsaVerify { curve, digest, encoding: EcdsaEncoding::Der }
        }
        Scheme::MlDsaSign { set, variant, .. } => {
            Scheme::MlDsaSign { set, variant, nonce: NonceRule::Hedged }
        }
        Scheme::SlhDsaSign { set, pre_hash, .. } => {
            Scheme::SlhDsaSign { set, pre_hash, nonce: NonceRule::Hedged }
        }
        named => named,
    }
}

#[cfg(test)]
mod tests {
    use oarlock::{DigestAlg, MlDsaSet, MlDsaVariant, NonceRule, SaltLength};

    use super::*;

    #[test]
    fn has_a_counter_for_every_code() {
        assert!(CODES.iter().enumerate().all(|(index, code)| *code as usize == index));
        assert!(Code::try_from(CODES.len() as i32).is_err(), "a code that is not counted");
        let mut tally = CodeTally::default();
        tally.note(Code::Done as u8, 3);
        tally.note(Code::Failed as u8, 1);
        tally.note(200, 1);
        let counters = CodeCounters::default();
        (0..2).for_each(|_| counters.add(&tally));
        assert_eq!(counters.read().collect::<Vec<_>>(), [(Code::Done, 6), (Code::Failed, 2)]);
    }

    #[test]
    fn counts_schemes_of_one_name_together() {
        let pss = |salt_len| {
            let salt = SaltLength::Exactly(salt_len);
            Scheme::RsaPssVerify { digest: DigestAlg::Sha256, mgf: DigestAlg::Sha1, salt }
        };
        assert_eq!(counted_as(pss(1)), counted_as(pss(2)));
        assert_eq!(counted_as(pss(1)).to_string(), pss(1).to_string());
        assert_eq!(counted_as(Scheme::Ed25519Sign), Scheme::Ed25519Sign);
        let (set, variant) = (MlDsaSet::MlDsa65, MlDsaVariant::Pure);
        let sign = |nonce| Scheme::MlDsaSign { set, variant, nonce };
        assert_eq!(counted_as(sign(NonceRule::Deterministic)), counted_as(sign(NonceRule::Hedged)));
    }

    #[test]
    fn has_space_for_every_scheme() {
        let counted: std::collections::HashSet<Scheme> =
            crate::operations::schemes().into_iter().map(counted_as).collect();
        assert!(counted.len() <= SCHEMES, "{} schemes", counted.len());
    }
}

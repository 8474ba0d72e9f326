//! What operators watch.
//!
//! | file | what it holds |
//! |---|---|
//! | `metrics` | what the server itself counts: without locks, and once per request |
//! | `metrics/page` | that, and what engines, keys and audit log have to say, under Prometheus's names |

mod page;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use oarlock::batch::BatchTask;
use oarlock::{MetricFamily, Recorder, Scheme};
use oarlock_wire::proto::Code;

/// Counters of the server itself; those of the engines are the dispatcher's.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) connections: AtomicU64,
    pub(crate) open_connections: AtomicU64,
    pub(crate) refused_connections: AtomicU64,
    pub(crate) failed_handshakes: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) received_bytes: AtomicU64,
    pub(crate) sent_bytes: AtomicU64,
    /// What was refused before any engine saw it: requests as a whole, and operations.
    pub(crate) rejections: ByCode,
    /// Public-key operations by scheme.
    pub(crate) schemes: MetricFamily<Scheme, ByCode>,
    /// Short symmetric operations by task.
    pub(crate) tasks: MetricFamily<BatchTask, ByCode>,
    /// Nanoseconds from a request with jobs to its answer.
    pub(crate) jobs_ns: Recorder,
    /// The same of requests with records.
    pub(crate) records_ns: Recorder,
}

/// Schemes that are counted apart: [`counted_as`] leaves 40.
const SCHEMES: usize = 64;
/// Tasks that are counted apart.
const TASKS: usize = 256;

impl Default for Metrics {
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
            rejections: ByCode::default(),
            schemes: MetricFamily::new(SCHEMES),
            tasks: MetricFamily::new(TASKS),
            jobs_ns: Recorder::default(),
            records_ns: Recorder::default(),
        }
    }
}

/// Adds to a counter.
pub(crate) fn count(counter: &AtomicU64, by: usize) {
    counter.fetch_add(by as u64, Ordering::Relaxed);
}

/// Notes how long a request took.
pub(crate) fn time(recorder: &Recorder, began: Instant) {
    recorder.record(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
}

/// Every code that an operation can have.
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

/// Counters by code.
#[derive(Debug, Default)]
pub(crate) struct ByCode([AtomicU64; CODES.len()]);

impl ByCode {
    /// Counts what ended so.
    pub(crate) fn count(&self, code: Code, by: u32) {
        count(&self.0[code as usize], by as usize);
    }

    /// Counts what was collected.
    pub(crate) fn add(&self, tally: &Tally) {
        tally.iter().for_each(|(code, by)| self.count(code, by));
    }

    /// Codes with anything to count.
    pub(crate) fn read(&self) -> impl Iterator<Item = (Code, u64)> + '_ {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        CODES.into_iter().zip(counts).filter(|(_, count)| *count > 0)
    }
}

/// Operations of one batch by code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally([u32; CODES.len()]);

impl Tally {
    /// Counts an operation by the number of its code.
    pub(crate) fn note(&mut self, code: u8, by: u32) {
        // unreachable because only codes are written
        let Some(count) = self.0.get_mut(usize::from(code)) else { return };
        *count += by;
    }

    /// Codes that operations have ended with.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Code, u32)> + '_ {
        CODES.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }
}

/// The scheme that stands for all of one name: what names do not say would make more counters than anybody reads.
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
        named => named,
    }
}

#[cfg(test)]
mod tests {
    use oarlock::{DigestAlg, SaltLength};

    use super::*;

    #[test]
    fn every_code_has_its_place() {
        assert!(CODES.iter().enumerate().all(|(place, code)| *code as usize == place));
        assert!(Code::try_from(CODES.len() as i32).is_err(), "a code that is not counted");
        let mut tally = Tally::default();
        tally.note(Code::Done as u8, 3);
        tally.note(Code::Failed as u8, 1);
        tally.note(200, 1);
        let counters = ByCode::default();
        (0..2).for_each(|_| counters.add(&tally));
        assert_eq!(counters.read().collect::<Vec<_>>(), [(Code::Done, 6), (Code::Failed, 2)]);
    }

    #[test]
    fn schemes_of_one_name_are_counted_together() {
        let pss = |salt_len| {
            let salt = SaltLength::Exactly(salt_len);
            Scheme::RsaPssVerify { digest: DigestAlg::Sha256, mgf: DigestAlg::Sha1, salt }
        };
        assert_eq!(counted_as(pss(1)), counted_as(pss(2)));
        assert_eq!(counted_as(pss(1)).to_string(), pss(1).to_string());
        assert_eq!(counted_as(Scheme::Ed25519Sign), Scheme::Ed25519Sign);
    }
}

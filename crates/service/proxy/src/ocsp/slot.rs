//! The fetched response of a certificate, and the time of the next attempt.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::sign::CertifiedKey;

use super::question::OcspQuestion;
use super::response::GoodResponse;

/// The time after the first failure, and the maximum time, until the next attempt. It doubles with each failure.
const FIRST_PAUSE_S: i64 = 30;
const MAX_PAUSE_S: i64 = 3_600;

/// The maximum time until a response is fetched again, however long it is good.
const MAX_REFRESH_S: i64 = 7 * 24 * 60 * 60;

/// The fetched response of a certificate that names a responder.
#[derive(Debug)]
pub(crate) struct StapleSlot {
    pub(super) question: OcspQuestion,
    /// The file of the chain.
    pub(super) file: PathBuf,
    /// The chain without a response.
    key: Arc<CertifiedKey>,
    state: RwLock<SlotState>,
}

#[derive(Debug, Default)]
struct SlotState {
    staple: Option<FetchedStaple>,
    pause: RetryPause,
    /// The time of the next attempt in seconds since 1970.
    next_s: i64,
}

/// A chain with a response, and the times of the response in seconds since 1970.
#[derive(Debug)]
struct FetchedStaple {
    key: Arc<CertifiedKey>,
    end_s: i64,
}

/// The growing pause between attempts that fail.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RetryPause {
    failures: u32,
}

impl RetryPause {
    /// Counts a failure, and returns the seconds until the next attempt.
    pub(super) fn grow(&mut self) -> i64 {
        let pause_s = FIRST_PAUSE_S.saturating_mul(1 << self.failures.min(16)).min(MAX_PAUSE_S);
        self.failures = self.failures.saturating_add(1);
        pause_s
    }
}

impl StapleSlot {
    /// Makes a slot without a response, which is due.
    pub(crate) fn new(question: OcspQuestion, file: PathBuf, key: Arc<CertifiedKey>) -> Self {
        Self { question, file, key, state: RwLock::default() }
    }

    /// Returns the chain with the response, if there is one that is good at a time in seconds since 1970.
    pub(crate) fn key_at(&self, now_s: i64) -> Option<Arc<CertifiedKey>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.staple.as_ref().filter(|staple| now_s < staple.end_s).map(|staple| Arc::clone(&staple.key))
    }

    pub(super) fn is_due(&self, now_s: i64) -> bool {
        self.state.read().unwrap_or_else(PoisonError::into_inner).next_s <= now_s
    }

    /// Takes a response, which is fetched again after half of its time.
    pub(super) fn keep(&self, response: GoodResponse, now_s: i64) {
        let half = response.this_update.midpoint(response.end);
        // A response with a short or a passing time must not be fetched all the time.
        let next_s = half.clamp(now_s.saturating_add(FIRST_PAUSE_S), now_s.saturating_add(MAX_REFRESH_S));
        let key = CertifiedKey { ocsp: Some(response.bytes), ..CertifiedKey::clone(&self.key) };
        let staple = Some(FetchedStaple { key: Arc::new(key), end_s: response.end });
        *self.write() = SlotState { staple, pause: RetryPause::default(), next_s };
    }

    /// Counts a failure. The response that is there stays.
    pub(super) fn fail(&self, now_s: i64) {
        let mut state = self.write();
        state.next_s = now_s.saturating_add(state.pause.grow());
    }

    /// Forgets the response, because the certificate is revoked.
    pub(super) fn revoke(&self, now_s: i64) {
        self.write().staple = None;
        self.fail(now_s);
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, SlotState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour() {
        let mut pause = RetryPause::default();
        let pauses: Vec<i64> = (0..10).map(|_| pause.grow()).collect();
        assert_eq!(pauses, [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600]);
        pause.failures = u32::MAX;
        assert_eq!(pause.grow(), MAX_PAUSE_S);
    }
}

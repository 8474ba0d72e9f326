//! Lookups of key records and their cache.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use oarlock_dkim::{CacheLimits, KeyAnswer, KeyCache, KeyLookup, KeyName};
use oarlock_mail_files::dns::{TxtAnswer, TxtLookup};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::metrics::FilterMetrics;

/// Parses TXT records as keys. Also returns the number of seconds for which the answer may be kept.
#[must_use]
pub fn key_answer(answer: TxtAnswer) -> (KeyAnswer, u64) {
    match answer {
        TxtAnswer::Records(text) => {
            let records = KeyAnswer::from_records(&text.records);
            (records.with_protection(text.protection), text.ttl_s.into())
        }
        TxtAnswer::NoName { ttl_s } | TxtAnswer::NoData { ttl_s } => (KeyAnswer::NoRecord, ttl_s.into()),
        TxtAnswer::TempFail { reason } => (KeyAnswer::Unknown(reason.to_string()), 0),
        TxtAnswer::BadName(_) => (KeyAnswer::NoRecord, 0),
    }
}

/// The key lookups. Each name is looked up once, however many messages wait for it.
pub(crate) struct KeyLookups {
    source: Arc<dyn TxtLookup>,
    cache: KeyCache<oneshot::Sender<KeyAnswer>>,
    timeout: Duration,
    began: Instant,
    metrics: Arc<FilterMetrics>,
}

impl KeyLookups {
    pub(crate) fn new(
        source: Arc<dyn TxtLookup>,
        limits: CacheLimits,
        timeout: Duration,
        metrics: Arc<FilterMetrics>,
    ) -> Self {
        Self { source, cache: KeyCache::new(limits), timeout, began: Instant::now(), metrics }
    }

    /// Returns the key of a name from the cache, or waits for a lookup.
    pub(crate) async fn key(self: &Arc<Self>, name: &KeyName) -> KeyAnswer {
        let (waiter, answer) = oneshot::channel();
        match self.cache.look_up(name, self.now_s(), waiter) {
            KeyLookup::Known(answer) => {
                self.metrics.cache_hit();
                return answer;
            }
            KeyLookup::Ask(waiter) => {
                // The lookup has its own task: if its caller is dropped, the other callers still get the answer.
                tokio::spawn(LookupTask { lookups: Arc::clone(self), name: name.clone() }.run(waiter));
            }
            KeyLookup::Waits => self.metrics.cache_wait(),
        }
        answer.await.unwrap_or_else(|_| KeyAnswer::Unknown("the lookup failed".to_owned()))
    }

    /// Returns the number of names in the cache.
    pub(crate) fn cached(&self) -> usize {
        self.cache.len()
    }

    /// Returns the time of the cache's clock.
    fn now_s(&self) -> u64 {
        self.began.elapsed().as_secs()
    }
}

impl fmt::Debug for KeyLookups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookups").field("cache", &self.cache).finish_non_exhaustive()
    }
}

/// A lookup in progress. If it ends without an answer, the next caller asks again.
struct LookupTask {
    lookups: Arc<KeyLookups>,
    name: KeyName,
}

impl LookupTask {
    async fn run(self, waiter: oneshot::Sender<KeyAnswer>) {
        let KeyLookups { source, cache, timeout: patience, metrics, .. } = &*self.lookups;
        let found = timeout(*patience, source.lookup(self.name.as_str())).await;
        let (answer, ttl_s) = found.map_or_else(
            |_| (KeyAnswer::Unknown(format!("no answer within {} s", patience.as_secs_f64())), 0),
            key_answer,
        );
        metrics.lookup(&answer);
        // The answer is stored before the waiters get it. A message that starts now finds it in the cache.
        let waiters = cache.store(&self.name, &answer, ttl_s, self.lookups.now_s());
        for waiter in waiters.into_iter().chain([waiter]) {
            // A waiter that was dropped needs no answer.
            let _ = waiter.send(answer.clone());
        }
    }
}

impl Drop for LookupTask {
    fn drop(&mut self) {
        self.lookups.cache.give_up(&self.name);
    }
}

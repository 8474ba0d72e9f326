//! Key records: who is asked for them, and what is kept of the answers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use oarlock_dkim::{CacheLimits, KeyAnswer, KeyCache, KeyName, Lookup};
use oarlock_io::dns::{TxtAnswer, TxtLookup};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::metrics::Metrics;

/// TXT records read as keys, and for how many seconds that may be kept.
#[must_use]
pub fn key_answer(answer: TxtAnswer) -> (KeyAnswer, u64) {
    match answer {
        TxtAnswer::Records(text) => (KeyAnswer::of_records(&text.records), text.ttl_s.into()),
        TxtAnswer::NoName { ttl_s } | TxtAnswer::NoData { ttl_s } => (KeyAnswer::NoRecord, ttl_s.into()),
        TxtAnswer::TempFail { reason } => (KeyAnswer::Unknown(reason.to_string()), 0),
        TxtAnswer::BadName(_) => (KeyAnswer::NoRecord, 0),
    }
}

/// Keys, each asked for once however many messages wait for it.
pub(crate) struct Lookups {
    source: Arc<dyn TxtLookup>,
    cache: KeyCache<oneshot::Sender<KeyAnswer>>,
    timeout: Duration,
    began: Instant,
    metrics: Arc<Metrics>,
}

impl Lookups {
    pub(crate) fn new(
        source: Arc<dyn TxtLookup>,
        limits: CacheLimits,
        timeout: Duration,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self { source, cache: KeyCache::new(limits), timeout, began: Instant::now(), metrics }
    }

    /// The key of a name: from the cache, or from whoever asks for it now.
    pub(crate) async fn key(self: &Arc<Self>, name: &KeyName) -> KeyAnswer {
        let (waiter, answer) = oneshot::channel();
        match self.cache.look(name, self.now_s(), waiter) {
            Lookup::Known(answer) => {
                self.metrics.cache_hit();
                return answer;
            }
            Lookup::Ask(waiter) => {
                // On a task of its own: whoever hangs up takes no answer from those who wait.
                tokio::spawn(Flight { lookups: Arc::clone(self), name: name.clone() }.run(waiter));
            }
            Lookup::Waits => self.metrics.cache_wait(),
        }
        answer.await.unwrap_or_else(|_| KeyAnswer::Unknown("the lookup failed".to_owned()))
    }

    /// Names that are known.
    pub(crate) fn cached(&self) -> usize {
        self.cache.len()
    }

    /// The cache's clock.
    fn now_s(&self) -> u64 {
        self.began.elapsed().as_secs()
    }
}

impl fmt::Debug for Lookups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookups").field("cache", &self.cache).finish_non_exhaustive()
    }
}

/// A lookup under way. Where it ends without an answer the next one asks.
struct Flight {
    lookups: Arc<Lookups>,
    name: KeyName,
}

impl Flight {
    async fn run(self, waiter: oneshot::Sender<KeyAnswer>) {
        let Lookups { source, cache, timeout: patience, metrics, .. } = &*self.lookups;
        let found = timeout(*patience, source.lookup(self.name.as_str())).await;
        let (answer, ttl_s) = found.map_or_else(
            |_| (KeyAnswer::Unknown(format!("no answer within {} s", patience.as_secs_f64())), 0),
            key_answer,
        );
        metrics.lookup(&answer);
        let waiters = cache.store(&self.name, &answer, ttl_s, self.lookups.now_s());
        for waiter in waiters.into_iter().chain([waiter]) {
            // Whoever waited may have hung up.
            let _ = waiter.send(answer.clone());
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.lookups.cache.give_up(&self.name);
    }
}

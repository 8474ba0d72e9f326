//! Key records: who is asked for them, and what is kept of the answers.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use oarlock_dkim::{CacheLimits, KeyAnswer, KeyCache, KeyName, Lookup};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::metrics::Metrics;

/// What somebody knows of a name.
#[derive(Clone, Debug)]
pub struct TxtAnswer {
    /// The records, read as keys.
    pub answer: KeyAnswer,
    /// How long this may be kept, in seconds.
    pub ttl_s: u64,
}

/// An answer on its way.
pub type Asked<'a> = Pin<Box<dyn Future<Output = TxtAnswer> + Send + 'a>>;

/// Who knows the TXT records of a name.
pub trait TxtLookup: Send + Sync + 'static {
    /// Asks for them. Nobody else asks for the name meanwhile; an answer that takes too long is not waited for.
    fn lookup<'a>(&'a self, name: &'a str) -> Asked<'a>;
}

/// Records that are known beforehand, for tests and for hosts without DNS.
#[derive(Clone, Debug, Default)]
pub struct FixedRecords(HashMap<String, Vec<String>>);

/// Why there are no fixed records.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A line that means nothing.
    #[error("{}:{line}: expected NAME RECORD", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1 on.
        line: usize,
    },
}

impl FixedRecords {
    /// Reads a file: a name and its record on a line, `#` before comments.
    ///
    /// # Errors
    /// It cannot be read, or a line has no record.
    pub fn read(path: &Path) -> Result<Self, RecordsError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| RecordsError::Read { path: path.to_owned(), error })?;
        let mut records = Self::default();
        for (text, line) in text.lines().map(str::trim).zip(1..) {
            match text.split_once(char::is_whitespace) {
                _ if text.is_empty() || text.starts_with('#') => {}
                Some((name, record)) => records.insert(name, record.trim()),
                None => return Err(RecordsError::Line { path: path.to_owned(), line }),
            }
        }
        Ok(records)
    }

    /// Names and records.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|(name, records)| records.iter().map(|record| (&**name, &**record)))
    }

    /// One record more.
    pub fn insert(&mut self, name: &str, record: &str) {
        self.0.entry(name.to_ascii_lowercase()).or_default().push(record.to_owned());
    }
}

impl TxtLookup for FixedRecords {
    fn lookup<'a>(&'a self, name: &'a str) -> Asked<'a> {
        let answer =
            self.0.get(&name.to_ascii_lowercase()).map_or(KeyAnswer::NoRecord, KeyAnswer::of_records);
        Box::pin(std::future::ready(TxtAnswer { answer, ttl_s: 3600 }))
    }
}

/// Where there is nobody to ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDns;

impl TxtLookup for NoDns {
    fn lookup<'a>(&'a self, _name: &'a str) -> Asked<'a> {
        let answer = KeyAnswer::Unknown("there is no resolver".to_owned());
        Box::pin(std::future::ready(TxtAnswer { answer, ttl_s: 0 }))
    }
}

/// Keys, each asked for once however many messages wait for it.
pub(super) struct Lookups {
    source: Arc<dyn TxtLookup>,
    cache: KeyCache<oneshot::Sender<KeyAnswer>>,
    timeout: Duration,
    began: Instant,
    metrics: Arc<Metrics>,
}

impl Lookups {
    pub(super) fn new(
        source: Arc<dyn TxtLookup>,
        limits: CacheLimits,
        timeout: Duration,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self { source, cache: KeyCache::new(limits), timeout, began: Instant::now(), metrics }
    }

    /// The key of a name: from the cache, or from whoever asks for it now.
    pub(super) async fn key(self: &Arc<Self>, name: &KeyName) -> KeyAnswer {
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
    pub(super) fn cached(&self) -> usize {
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
        let TxtAnswer { answer, ttl_s } = found.unwrap_or_else(|_| TxtAnswer {
            answer: KeyAnswer::Unknown(format!("no answer within {} s", patience.as_secs_f64())),
            ttl_s: 0,
        });
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

//! Key records from DNS or from a file. A record is asked for once, even if many threads want it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use oarlock_dkim::{CacheLimits, KeyAnswer, KeyCache, KeyLookup, KeyName};
use oarlock_mail_files::dns::TxtLookup;
use oarlock_mailfilter::key_answer;
use tokio::runtime::Runtime;

use super::DkimError;
use crate::key_records::{self, LookupArgs, SourceError};

/// A source of key records with a cache.
pub(super) struct KeyRecordSource {
    source: Arc<dyn TxtLookup>,
    runtime: Runtime,
    cache: KeyCache<mpsc::Sender<KeyAnswer>>,
    start: Instant,
}

impl KeyRecordSource {
    pub(super) fn open(args: &LookupArgs) -> Result<Self, DkimError> {
        Self::with(|| args.open())
    }

    /// Opens a source that asks one server. A question fails after `patience`.
    pub(super) fn at_server(server: SocketAddr, patience: Duration) -> Result<Self, DkimError> {
        Self::with(|| key_records::open(None, &[server], patience, None))
    }

    fn with(open: impl FnOnce() -> Result<Arc<dyn TxtLookup>, SourceError>) -> Result<Self, DkimError> {
        // One worker drives the sockets, while any number of threads wait in `block_on`.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(DkimError::Threads)?;
        let source = {
            // `open` needs a runtime around it.
            let _guard = runtime.enter();
            open()?
        };
        Ok(Self { source, runtime, cache: KeyCache::new(CacheLimits::default()), start: Instant::now() })
    }

    /// Returns the answer for each name.
    pub(super) fn find<'n>(&self, names: impl Iterator<Item = &'n KeyName>) -> HashMap<KeyName, KeyAnswer> {
        let mut found = HashMap::new();
        let (mut asked, mut awaited) = (Vec::new(), Vec::new());
        for name in names {
            let (sender, receiver) = mpsc::channel();
            match self.cache.look_up(name, self.now_s(), sender) {
                KeyLookup::Known(answer) => drop(found.insert(name.clone(), answer)),
                KeyLookup::Ask(_) => asked.push(name.clone()),
                KeyLookup::Waits => awaited.push((name.clone(), receiver)),
            }
        }
        for (name, (answer, ttl_s)) in asked.iter().zip(self.ask(&asked)) {
            for waiter in self.cache.store(name, &answer, ttl_s, self.now_s()) {
                // A waiter may have given up.
                let _ = waiter.send(answer.clone());
            }
            found.insert(name.clone(), answer);
        }
        // A thread waits only after it has answered all its own questions, so no two threads wait for each other.
        for (name, receiver) in awaited {
            let answer =
                receiver.recv().unwrap_or_else(|_| KeyAnswer::Unknown("another thread stopped".into()));
            found.insert(name, answer);
        }
        found
    }

    fn ask(&self, names: &[KeyName]) -> Vec<(KeyAnswer, u64)> {
        let asked = names.iter().map(|name| self.source.lookup(name.as_str()));
        self.runtime.block_on(join_all(asked)).into_iter().map(key_answer).collect()
    }

    fn now_s(&self) -> u64 {
        self.start.elapsed().as_secs()
    }
}

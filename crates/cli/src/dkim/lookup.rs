//! Key records: from DNS, each asked for once however many threads want it, or from a file.

use std::collections::HashMap;
use std::sync::{Arc, mpsc};
use std::time::Instant;

use futures_util::future::join_all;
use oarlock_dkim::{CacheLimits, KeyAnswer, KeyCache, KeyName, Lookup};
use oarlock_io::dns::TxtLookup;
use oarlock_mailfilter::key_answer;
use tokio::runtime::Runtime;

use super::DkimError;
use crate::key_records::LookupArgs;

/// Where records come from, with what was seen of them.
pub(super) struct Records {
    source: Arc<dyn TxtLookup>,
    runtime: Runtime,
    cache: KeyCache<mpsc::Sender<KeyAnswer>>,
    start: Instant,
}

impl Records {
    pub(super) fn open(args: &LookupArgs) -> Result<Self, DkimError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(DkimError::Threads)?;
        let source = {
            let _guard = runtime.enter();
            args.open()?
        };
        Ok(Self { source, runtime, cache: KeyCache::new(CacheLimits::default()), start: Instant::now() })
    }

    /// What is known of each name.
    pub(super) fn find<'n>(&self, names: impl Iterator<Item = &'n KeyName>) -> HashMap<KeyName, KeyAnswer> {
        let mut found = HashMap::new();
        let (mut asked, mut awaited) = (Vec::new(), Vec::new());
        for name in names {
            let (sender, receiver) = mpsc::channel();
            match self.cache.look(name, self.now_s(), sender) {
                Lookup::Known(answer) => drop(found.insert(name.clone(), answer)),
                Lookup::Ask(_) => asked.push(name.clone()),
                Lookup::Waits => awaited.push((name.clone(), receiver)),
            }
        }
        for (name, (answer, ttl_s)) in asked.iter().zip(self.ask(&asked)) {
            for waiter in self.cache.store(name, &answer, ttl_s, self.now_s()) {
                // Who has given up does not want it.
                let _ = waiter.send(answer.clone());
            }
            found.insert(name.clone(), answer);
        }
        // Nobody waits before everything that it asks for is answered, so that no two wait for each other.
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

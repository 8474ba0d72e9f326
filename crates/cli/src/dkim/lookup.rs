//! Key records: from DNS, each asked for once however many threads want it, or from a file.

use std::collections::HashMap;
use std::sync::mpsc;
use std::time::Instant;

use futures_util::future::join_all;
use oarlock_dkim::{CacheLimits, KeyAnswer, KeyCache, KeyName, Lookup};
use oarlock_io::dns::{self, KeysFile, TxtAnswer, TxtResolver};
use tokio::runtime::Runtime;

use super::DkimError;
use super::args::LookupArgs;

/// Where records come from, with what was seen of them.
pub(super) struct Records {
    source: Source,
    cache: KeyCache<mpsc::Sender<KeyAnswer>>,
    start: Instant,
}

enum Source {
    File(KeysFile),
    Dns(Box<TxtResolver>, Runtime),
}

impl Records {
    pub(super) fn open(args: &LookupArgs) -> Result<Self, DkimError> {
        let source = match &args.keys_file {
            Some(path) => Source::File(KeysFile::read(path)?),
            None => Source::dns(args)?,
        };
        Ok(Self { source, cache: KeyCache::new(CacheLimits::default()), start: Instant::now() })
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
        let texts = match &self.source {
            Source::File(file) => names.iter().map(|name| file.lookup(name.as_str())).collect(),
            Source::Dns(resolver, runtime) => {
                runtime.block_on(join_all(names.iter().map(|name| resolver.lookup(name.as_str()))))
            }
        };
        texts.into_iter().map(read).collect()
    }

    fn now_s(&self) -> u64 {
        self.start.elapsed().as_secs()
    }
}

impl Source {
    fn dns(args: &LookupArgs) -> Result<Self, DkimError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(DkimError::Threads)?;
        let settings =
            dns::Settings { timeout: Some(args.timeout()), attempts: Some(2), ..dns::Settings::default() };
        let servers: Vec<_> =
            args.dns.iter().map(|text| dns::server_address(text)).collect::<Result<_, _>>()?;
        let _guard = runtime.enter();
        let resolver = match servers.as_slice() {
            [] => TxtResolver::from_system(settings)?,
            servers => TxtResolver::with_servers(servers, settings)?,
        };
        Ok(Self::Dns(Box::new(resolver), runtime))
    }
}

/// An answer with its keys read, and for how many seconds it holds.
fn read(answer: TxtAnswer) -> (KeyAnswer, u64) {
    match answer {
        TxtAnswer::Records(text) => (KeyAnswer::of_records(&text.records), text.ttl_s.into()),
        TxtAnswer::NoName { ttl_s } | TxtAnswer::NoData { ttl_s } => (KeyAnswer::NoRecord, ttl_s.into()),
        TxtAnswer::TempFail { reason } => (KeyAnswer::Unknown(reason.to_string()), 0),
        TxtAnswer::BadName(_) => (KeyAnswer::NoRecord, 0),
    }
}

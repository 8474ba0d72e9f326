//! The clients of a fleet, and what they have seen in a phase.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use oarlock::{Accelerator, Curve, DigestAlg, EcdsaEncoding, Input, Job, Key, NonceRule, Scheme};
use oarlock_measure::statistics::LatencyHistogram;
use oarlock_wire::{Endpoint, NameResolver, RemoteConfig, RemoteHolder, ServerReport};

use super::servers::{FleetNames, KEY};
use crate::bench::BenchError;

/// The address of the fleet. Only the resolver of this bench knows the name.
const URL: &str = "http://fleet.oarlock.test:7443";

/// Clients at work, until they are dropped.
pub(super) struct FleetLoad {
    shared: Arc<LoadState>,
    remote: RemoteHolder,
    threads: Vec<JoinHandle<()>>,
}

struct LoadState {
    accelerator: Accelerator,
    key: Key,
    is_over: AtomicBool,
    /// The number of operations that have been begun, which says when the next one begins.
    begun: AtomicU64,
    seen: Mutex<PhaseTally>,
}

/// The operations of a phase.
#[derive(Default)]
pub(super) struct PhaseTally {
    pub(super) latencies: LatencyHistogram,
    pub(super) failed: u64,
    pub(super) first_failure: Option<String>,
}

impl FleetLoad {
    /// Starts clients that begin this number of operations per second together.
    pub(super) fn start(names: &FleetNames, clients: usize, rate: u32) -> Result<Self, BenchError> {
        let local = || Accelerator::builder().engines(["scalar"]).lazy().threads(1);
        let checker = local().build().map_err(BenchError::Engines)?;
        let endpoint = Endpoint::Grpc { url: URL.to_owned(), credentials: None };
        let resolver: Option<Arc<dyn NameResolver>> = Some(Arc::new(names.clone()));
        // Servers and clients share the cores of this machine, so a slow answer is no failure of a server.
        let patience = Duration::from_secs(10);
        let config = RemoteConfig { resolver, patience, ..RemoteConfig::new("fleet", vec![endpoint]) };
        let remote = RemoteHolder::new(config, checker).map_err(BenchError::Remote)?;
        let holder = Arc::new(remote.clone());
        let accelerator = local().holder(holder).build().map_err(BenchError::Engines)?;
        let key = remote.key(KEY).map_err(BenchError::Remote)?;
        let shared = Arc::new(LoadState {
            accelerator,
            key,
            is_over: AtomicBool::new(false),
            begun: AtomicU64::new(0),
            seen: Mutex::default(),
        });
        let began = Instant::now();
        let gap = Duration::from_secs(1) / rate;
        let threads = (0..clients).map(|_| {
            let load = Arc::clone(&shared);
            std::thread::spawn(move || load.work(began, gap))
        });
        Ok(Self { threads: threads.collect(), shared, remote })
    }

    /// Forgets what was seen before.
    pub(super) fn begin_phase(&self) {
        *self.shared.seen() = PhaseTally::default();
    }

    /// Returns what was seen since the phase began.
    pub(super) fn end_phase(&self) -> PhaseTally {
        std::mem::take(&mut *self.shared.seen())
    }

    /// Returns the statistics of the servers that the name stands for.
    pub(super) fn servers(&self) -> Vec<ServerReport> {
        self.remote.servers()
    }
}

impl Drop for FleetLoad {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A client that panicked has printed why.
            let _ = thread.join();
        }
    }
}

impl LoadState {
    fn work(&self, began: Instant, gap: Duration) {
        let (curve, digest) = (Curve::P256, DigestAlg::Sha256);
        let (encoding, nonce) = (EcdsaEncoding::Der, NonceRule::Hedged);
        let scheme = Scheme::EcdsaSign { curve, digest, encoding, nonce };
        while !self.is_over.load(Ordering::Relaxed) {
            let number = self.begun.fetch_add(1, Ordering::Relaxed);
            // Evenly spread. An operation whose time has passed begins at once, and its latency counts from that time,
            // so that a stall of the servers is not forgotten.
            let due = began + Duration::from_nanos((gap.as_nanos() as u64).saturating_mul(number));
            super::wait_until(due);
            let message = number.to_le_bytes();
            let job = Job::with_scheme(scheme, &self.key, Input::Message(&message), &[]);
            let answers = self.accelerator.run_all(&[job]);
            let taken = due.elapsed();
            let mut seen = self.seen();
            match answers.get(0) {
                Ok(_) => seen.latencies.record(taken),
                Err(error) => {
                    seen.failed += 1;
                    seen.first_failure.get_or_insert_with(|| error.to_string());
                }
            }
        }
    }

    fn seen(&self) -> MutexGuard<'_, PhaseTally> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

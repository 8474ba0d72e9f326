//! The state that all connections share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use oarlock::Accelerator;
use oarlock_hsm::HsmSet;
use oarlock_network::DrainSwitch;
use oarlock_service_kit::Current;
use oarlock_wire::fault::fault_of;
use oarlock_wire::proto::{self, Blame, Code, Fault};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::oneshot;

use crate::audit::AuditLog;
use crate::clients::ClientAccounts;
use crate::config::ServerLimits;
use crate::key_uses::KeyUseCounters;
use crate::keyring::Keyring;
use crate::lifetime::ConnectionLifetimes;
use crate::metrics::ServerMetrics;
use crate::overhead::{Consumption, RequestOverhead};
use crate::tls::TlsState;

/// The engines, the keys, the limits and the counters of a server.
#[derive(Debug)]
pub(crate) struct SharedService {
    pub(crate) accelerator: Accelerator,
    /// The devices that hold keys, if there are any.
    pub(crate) devices: Option<HsmSet>,
    keyring: Current<Keyring>,
    pub(crate) limits: ServerLimits,
    pub(crate) audit: AuditLog,
    pub(crate) metrics: ServerMetrics,
    overhead: RequestOverhead,
    pub(crate) key_uses: KeyUseCounters,
    /// The certificates; `None` if the server does not listen for TLS.
    pub(crate) tls: Option<Current<TlsState>>,
    pub(crate) lifetimes: Arc<ConnectionLifetimes>,
    pub(crate) drain: DrainSwitch,
    pub(crate) clients: ClientAccounts,
}

/// The bytes that are read between the packets of all connections of a thread.
const MAX_INLINE_BYTES: usize = 16 << 10;

/// The time in which a byte is read, written or copied, to share threads between clients.
const NS_PER_BYTE: u64 = 20;

impl SharedService {
    /// Returns the CPU time of a request whose jobs took the engines this time.
    pub(crate) fn cpu_time(&self, engines: Duration) -> Duration {
        let consumption = || {
            let requests = self.metrics.requests.load(Ordering::Relaxed);
            Consumption::new(self.accelerator.counters().engine_ns, requests)
        };
        engines + self.overhead.of_request(consumption)
    }

    pub(crate) fn new(
        accelerator: Accelerator,
        devices: Option<HsmSet>,
        keyring: Keyring,
        limits: ServerLimits,
        audit: AuditLog,
        tls: Option<Current<TlsState>>,
        lifetimes: Arc<ConnectionLifetimes>,
    ) -> Self {
        let clients = ClientAccounts::new(&limits);
        let key_uses = KeyUseCounters::default();
        key_uses.keep(keyring.names());
        let (keyring, metrics) = (Current::new(keyring), ServerMetrics::default());
        Self {
            accelerator,
            devices,
            keyring,
            limits,
            audit,
            metrics,
            overhead: RequestOverhead::start(),
            key_uses,
            tls,
            lifetimes,
            drain: DrainSwitch::default(),
            clients,
        }
    }

    /// Returns the current keys.
    pub(crate) fn keyring(&self) -> Arc<Keyring> {
        self.keyring.get()
    }

    pub(crate) fn replace_keyring(&self, keyring: Keyring) {
        // Before the keys are in use, so that no key is used without its counter.
        self.key_uses.keep(keyring.names());
        self.keyring.replace(keyring);
    }

    /// Runs work that takes time in the length of its input: work on a few bytes at once, other work on a thread of the
    /// engines at the turn of its client.
    ///
    /// # Errors
    /// The client has too much work that waits.
    pub(crate) async fn in_turn<T: Send + 'static>(
        &self,
        tenant: u64,
        input_bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        if input_bytes <= MAX_INLINE_BYTES {
            return Ok(work());
        }
        let (sender, result) = oneshot::channel();
        let task = move || {
            // An error means that the client has left and needs no answer.
            let _ = sender.send(work());
        };
        let predicted = Duration::from_nanos(NS_PER_BYTE * input_bytes as u64);
        let submitted = self.accelerator.diagnostics().dispatcher().submit_task(tenant, predicted, task);
        // Dropping the ticket removes a task that has not begun.
        let _ticket = submitted.map_err(|error| fault_of(0, &error))?;
        result.await.map_err(|_| Fault {
            code: Code::Failed.into(),
            message: "the request was not read".to_owned(),
            blame: Blame::Machine.into(),
            ..Fault::default()
        })
    }

    /// Returns the server's own number of a new request, counted from its start. The numbers of clients say nothing
    /// about each other.
    pub(crate) fn next_request_number(&self) -> u64 {
        self.metrics.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the reason why new requests are refused now, or `None` if they are accepted.
    pub(crate) fn refusal(&self) -> Option<&'static str> {
        // The order is that of importance: a draining server is not repaired by a better disk.
        match () {
            () if self.drain.is_thrown() => Some("draining"),
            () if self.audit.forbids_work() => Some("the audit log cannot be written"),
            () if self.audit.is_behind() => Some("the audit log is behind: the disk takes no entries"),
            () => None,
        }
    }

    fn usage(&self) -> proto::Usage {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let cpu_us = cpu.tv_sec as u64 * 1_000_000 + cpu.tv_nsec as u64 / 1_000;
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let metrics = &self.metrics;
        proto::Usage {
            cpu_us,
            resident_kb: resident_kb().unwrap_or_default(),
            received_bytes: load(&metrics.received_bytes) + load(&metrics.ring_received_bytes),
            sent_bytes: load(&metrics.sent_bytes) + load(&metrics.ring_sent_bytes),
        }
    }

    pub(crate) fn engines(&self) -> proto::EngineList {
        let engines = self.accelerator.engines().iter().map(|engine| proto::EngineInfo {
            name: engine.name.to_owned(),
            shapes: engine
                .shapes
                .iter()
                .filter(|shape| shape.verdict.is_ok())
                .map(|shape| shape.shape.to_string())
                .collect(),
            absence: String::new(),
        });
        let absent = self.accelerator.absent().iter().map(|absent| proto::EngineInfo {
            name: absent.name.to_owned(),
            shapes: Vec::new(),
            absence: absent.reason.to_string(),
        });
        let (engines, version) = (engines.chain(absent).collect(), env!("CARGO_PKG_VERSION").into());
        proto::EngineList { engines, version, usage: Some(self.usage()) }
    }
}

/// Returns the resident memory of the process. proc(5), statm.
pub(crate) fn resident_kb() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64 / 1024)
}

//! The filter as a service: it is opened, bound, run and reconfigured.

use std::future::Future;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use oarlock::{Accelerator, AcceleratorBuilder};
use oarlock_mail_files::dns::TxtLookup;
use oarlock_milter::counters::{MilterCounters, count};
use oarlock_milter::server::{MilterServer, UnixUsers, user_numbers};
use oarlock_milter::socket::MilterSocket;
use oarlock_network::{DrainSwitch, PassedSockets};
use oarlock_service_kit::{Current, ServiceClock, bind_tcp, metrics};
use tokio::net::TcpListener;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use tokio::time::sleep;
use tracing::{error, info, warn};

use crate::config::{FilterConfig, FilterConfigError};
use crate::error::FilterServiceError;
use crate::filter::DkimFilters;
use crate::keys::SigningKeyFault;
use crate::metrics::FilterMetrics;
use crate::page::FilterStatus;
use crate::rotation::{self, RotationWarning};
use crate::state::{FilterResources, FilterState};
use crate::table::{SigningTableError, TableReload};

/// An opened filter: its engines are tested and its table is read. Sockets are bound later, and keys are read when
/// they are needed.
#[derive(Clone, Debug)]
pub struct FilterService {
    current: Arc<Current<FilterState>>,
    base: FilterResources,
    config: FilterConfig,
    /// The users of the bound sockets.
    users: Arc<Mutex<Option<UnixUsers>>>,
}

impl FilterService {
    /// Opens a filter with these settings. `lookups` answers questions for key records.
    ///
    /// # Errors
    /// A setting is not valid, or a file that it names cannot be used.
    pub async fn open(
        config: FilterConfig,
        engines: AcceleratorBuilder,
        lookups: Arc<dyn TxtLookup>,
    ) -> Result<Self, FilterServiceError> {
        Self::open_with_clock(config, engines, lookups, ServiceClock::default()).await
    }

    /// Opens a filter with another clock.
    ///
    /// # Errors
    /// As for [`FilterService::open`].
    pub async fn open_with_clock(
        config: FilterConfig,
        engines: AcceleratorBuilder,
        lookups: Arc<dyn TxtLookup>,
        clock: ServiceClock,
    ) -> Result<Self, FilterServiceError> {
        config.check()?;
        let settings = config.clone();
        let opened = spawn_blocking(move || {
            let base = FilterResources::open(&settings, engines, lookups, clock)?;
            let shared = FilterState::build(&settings, &base, None)?;
            Ok::<_, FilterServiceError>((base, shared))
        });
        let (base, shared) = opened.await.map_err(|error| FilterServiceError::Start(error.to_string()))??;
        if shared.tables.is_none() && config.mode.signs() {
            warn!("nothing is signed: [signing] table is not set");
        }
        Ok(Self { current: Arc::new(Current::new(shared)), base, config, users: Arc::default() })
    }

    /// Returns the factory of filters, for callers with a server of their own.
    #[must_use]
    pub fn filters(&self) -> DkimFilters {
        DkimFilters(Arc::clone(&self.current))
    }

    /// Binds the sockets of the settings. It needs a tokio runtime.
    ///
    /// # Errors
    /// A socket cannot be bound.
    pub async fn bind(&self) -> Result<BoundService, FilterServiceError> {
        self.bind_passed(PassedSockets::default()).await
    }

    /// Binds the sockets of the settings, except those that the service manager has bound. It needs a tokio runtime.
    ///
    /// # Errors
    /// A socket cannot be bound, or a passed socket is not one of the settings.
    pub async fn bind_passed(&self, mut passed: PassedSockets) -> Result<BoundService, FilterServiceError> {
        let sockets = self.config.sockets().map_err(FilterConfigError::from)?;
        let settings = self.config.settings()?;
        let server = MilterServer::bind_passed(&sockets, self.filters(), settings, &mut passed).await?;
        *self.users.lock().unwrap_or_else(PoisonError::into_inner) = Some(server.unix_users());
        for socket in server.sockets() {
            if !matches!(socket, MilterSocket::Unix(_)) {
                warn!(%socket, "any process that reaches this TCP socket can have mail signed: prefer a UNIX socket");
            }
        }
        let metrics = bind_tcp(self.config.listen.metrics, &mut passed).await?;
        if !passed.is_empty() {
            return Err(FilterServiceError::Passed(passed.addresses()));
        }
        Ok(BoundService { service: self.clone(), server, metrics })
    }

    /// Reads the keys of all lines that sign now or later, each file once. Returns the faults, including keys at a
    /// cryptoserver that does not answer.
    pub async fn check_keys(&self) -> Vec<SigningKeyFault> {
        let shared = self.current.get();
        let Some(tables) = shared.tables.clone() else { return Vec::new() };
        let path = tables.path().to_owned();
        let checked = spawn_blocking(move || tables.current().check_keys(&shared.keys));
        let unchecked = |error: JoinError| vec![SigningKeyFault::Read { path, reason: error.to_string() }];
        task_result(checked).await.unwrap_or_else(unchecked)
    }

    /// Looks up the records of all keys that will sign from a later date on, and finds times without any key.
    pub async fn check_rotation(&self) -> Vec<RotationWarning> {
        let shared = self.current.get();
        match &shared.tables {
            Some(tables) => rotation::check(&shared, &tables.current()).await,
            None => Vec::new(),
        }
    }

    /// Reads the signing table again if its file has changed or `is_asked` is true. A new table with a fault is
    /// rejected, and the old one stays in use.
    pub async fn reload(&self, is_asked: bool) -> TableReload {
        let shared = self.current.get();
        let Some(tables) = shared.tables.clone() else { return TableReload::Unchanged };
        let path = tables.path().to_owned();
        let looked = spawn_blocking(move || tables.reload(is_asked, &shared.keys));
        let unread = |error: JoinError| {
            TableReload::Refused(SigningTableError::Read { path, reason: error.to_string() })
        };
        let reload = looked.await.unwrap_or_else(unread);
        self.base.metrics.reload(&reload);
        match &reload {
            TableReload::Unchanged => {}
            TableReload::Replaced(table) => info!(lines = table.len(), "the signing table was read again"),
            TableReload::Refused(error) => {
                error!(%error, "the new signing table was rejected: the old one stays in use");
            }
        }
        reload
    }

    /// Applies new settings to messages that begin from now on, and `unix_users` to connections that do. The signing
    /// table, the keys and all other files are read again. If anything is not valid, nothing changes. Settings that
    /// need a restart are logged.
    ///
    /// # Errors
    /// A setting is not valid, or a file that it names cannot be used.
    pub async fn reconfigure(&self, config: FilterConfig) -> Result<(), FilterServiceError> {
        let (base, before) = (self.base.clone(), self.current.get());
        // The comparison is with the settings at the start, because a restart is what would change them.
        let fixed = self.config.fixed_changes(&config);
        let built = spawn_blocking(move || {
            config.check()?;
            let users = user_numbers(config.listen.unix_users.as_deref())?;
            FilterState::build(&config, &base, Some(&before)).map(|shared| (shared, users))
        });
        match built.await.unwrap_or_else(|error| Err(FilterServiceError::Start(error.to_string()))) {
            Ok((shared, users)) => {
                if let Some(bound) = &*self.users.lock().unwrap_or_else(PoisonError::into_inner) {
                    bound.replace(users);
                }

                let lines = shared.signing_lines();
                self.current.replace(shared);
                count(&self.base.metrics.reloads, 1);
                info!(lines, "the settings, the signing table and the keys were read again");
                for section in fixed {
                    warn!(section, "changed settings need a restart");
                }
                Ok(())
            }
            Err(error) => {
                self.refuse_settings(&error);
                Err(error)
            }
        }
    }

    /// Counts and logs new settings that are not valid, or that could not be read.
    pub fn refuse_settings(&self, error: &dyn std::error::Error) {
        count(&self.base.metrics.refused_reloads, 1);
        error!(%error, "the new settings were rejected: the old ones stay in use");
    }

    /// Returns the counters.
    #[must_use]
    pub fn metrics(&self) -> &FilterMetrics {
        &self.base.metrics
    }

    /// Returns the accelerator.
    #[must_use]
    pub fn accelerator(&self) -> &Accelerator {
        &self.base.accelerator
    }

    /// Returns the name under which results are written.
    #[must_use]
    pub fn authserv_id(&self) -> String {
        self.current.get().authserv_id().to_owned()
    }

    /// Returns the number of lines of the signing table in use.
    #[must_use]
    pub fn signing_lines(&self) -> usize {
        self.current.get().signing_lines()
    }

    /// Checks the signing table for changes until the future is dropped.
    async fn watch(&self) {
        let mut then_s = self.base.clock.now_s();
        loop {
            let shared = self.current.get();
            let wanted =
                shared.tables.is_some().then_some(shared.reload_seconds).filter(|seconds| *seconds > 0);
            drop(shared);
            // New settings may turn the check on, so the loop continues while it is off.
            sleep(Duration::from_secs(wanted.unwrap_or(5))).await;
            if wanted.is_some() {
                self.reload(false).await;
            }
            let now_s = self.base.clock.now_s();
            self.log_rotation(then_s, now_s);
            then_s = now_s;
        }
    }

    /// Logs lines of the signing table that began or ended by their dates.
    fn log_rotation(&self, then_s: u64, now_s: u64) {
        let Some(tables) = self.current.get().tables.clone() else { return };
        let (begun, ended) = tables.current().changes(then_s, now_s);
        if begun + ended > 0 {
            info!(begun, ended, "lines of the signing table began or ended to sign by their dates");
        }
    }
}

/// Returns the result of a task. A panic of the task continues here, so it cannot count as a result.
///
/// # Errors
/// The runtime ended before the task began.
async fn task_result<T>(task: JoinHandle<T>) -> Result<T, JoinError> {
    let go_on = |panic| -> JoinError { resume_unwind(panic) };
    task.await.map_err(|error| error.try_into_panic().map_or_else(|cancelled| cancelled, go_on))
}

/// A bound filter that does not accept connections yet.
#[derive(Debug)]
pub struct BoundService {
    service: FilterService,
    server: MilterServer<DkimFilters>,
    metrics: Option<TcpListener>,
}

impl BoundService {
    /// Returns the addresses of the sockets.
    #[must_use]
    pub fn sockets(&self) -> Vec<MilterSocket> {
        self.server.sockets()
    }

    /// Returns the counters of the protocol.
    #[must_use]
    pub fn counters(&self) -> Arc<MilterCounters> {
        self.server.counters()
    }

    /// Returns the address of the metrics page.
    #[must_use]
    pub fn metrics(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Serves until `stop` is ready, and then drains. The metrics page is served all the time.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { service, server, metrics } = self;
        let status = Arc::new(FilterStatus {
            base: service.base.clone(),
            current: Arc::clone(&service.current),
            counters: server.counters(),
            drain: DrainSwitch::default(),
        });
        let stop = async {
            stop.await;
            status.drain.throw();
        };
        tokio::select! {
            () = server.run(stop) => {}
            () = service.watch() => {}
            () = metrics::serve(metrics, Arc::clone(&status)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_of_a_task_is_not_a_result() {
        assert_eq!(task_result(spawn_blocking(|| 7)).await.unwrap(), 7);
        let outer = tokio::spawn(async {
            let task: JoinHandle<Vec<u8>> =
                spawn_blocking(|| panic!("a panic that the test wants to see caught"));
            task_result(task).await
        });
        assert!(outer.await.unwrap_err().is_panic());
    }
}

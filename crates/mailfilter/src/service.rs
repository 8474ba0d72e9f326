//! The filter as a service: settings made real, then bound, running and reloaded.

use std::future::Future;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use oarlock::{Accelerator, AcceleratorBuilder};
use oarlock_io::dns::TxtLookup;
use oarlock_milter::counters::{Counters, count};
use oarlock_milter::server::Server;
use oarlock_milter::socket::Socket;
use tokio::net::TcpListener;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use tokio::time::sleep;
use tracing::{error, info, warn};

use crate::config::{Config, ConfigError};
use crate::error::ServiceError;
use crate::filter::DkimFilters;
use crate::keys::KeyFault;
use crate::metrics::Metrics;
use crate::page::Status;
use crate::state::{Base, Current, Shared};
use crate::table::{Reload, TableError};

/// Everything but sockets: engines proved, the table read, keys found when they are needed.
#[derive(Clone, Debug)]
pub struct Service {
    current: Arc<Current>,
    base: Base,
    config: Config,
}

impl Service {
    /// Makes settings real. `lookups` knows key records.
    ///
    /// # Errors
    /// A setting cannot work, or a file that it names cannot be used.
    pub async fn open(
        config: Config,
        engines: AcceleratorBuilder,
        lookups: Arc<dyn TxtLookup>,
    ) -> Result<Self, ServiceError> {
        config.check()?;
        let settings = config.clone();
        let opened = spawn_blocking(move || {
            let base = Base::open(&settings, engines, lookups)?;
            let shared = Shared::build(&settings, &base, None)?;
            Ok::<_, ServiceError>((base, shared))
        });
        let (base, shared) = opened.await.map_err(|error| ServiceError::Start(error.to_string()))??;
        if shared.tables.is_none() && config.mode.signs() {
            warn!("nothing is signed: [signing] table is not set");
        }
        Ok(Self { current: Arc::new(Current::new(shared)), base, config })
    }

    /// Filters for a server of one's own.
    #[must_use]
    pub fn filters(&self) -> DkimFilters {
        DkimFilters(Arc::clone(&self.current))
    }

    /// Listens where the settings say. Needs a tokio runtime.
    ///
    /// # Errors
    /// A socket cannot be bound.
    pub async fn bind(&self) -> Result<Bound, ServiceError> {
        let sockets = self.config.sockets().map_err(ConfigError::from)?;
        let server = Server::bind(&sockets, self.filters(), self.config.settings()?).await?;
        for socket in server.sockets() {
            if !matches!(socket, Socket::Unix(_)) {
                warn!(%socket, "whoever reaches this TCP socket can have mail signed: prefer a UNIX socket");
            }
        }
        let metrics = match self.config.listen.metrics {
            Some(address) => {
                let listener = TcpListener::bind(address).await;
                Some(listener.map_err(|error| ServiceError::Metrics { address, error })?)
            }
            None => None,
        };
        Ok(Bound { service: self.clone(), server, metrics })
    }

    /// Reads the key of every line of the signing table that signs, each file once, and returns what is wrong with them: keys at a
    /// cryptoserver that does not answer are among it.
    pub async fn check_keys(&self) -> Vec<KeyFault> {
        let shared = self.current.get();
        let Some(tables) = shared.tables.clone() else { return Vec::new() };
        let path = tables.path().to_owned();
        let checked = spawn_blocking(move || tables.current().check_keys(&shared.keys));
        let unchecked = |error: JoinError| vec![KeyFault::Read { path, reason: error.to_string() }];
        ended(checked).await.unwrap_or_else(unchecked)
    }

    /// Looks at the signing table again: where its file has changed, or because it `is_asked` for. A new table that is no good is
    /// refused, and the old one stays.
    pub async fn reload(&self, is_asked: bool) -> Reload {
        let shared = self.current.get();
        let Some(tables) = shared.tables.clone() else { return Reload::Unchanged };
        let path = tables.path().to_owned();
        let looked = spawn_blocking(move || tables.reload(is_asked, &shared.keys));
        let unread = |error: JoinError| Reload::Refused(TableError::Read { path, reason: error.to_string() });
        let reload = looked.await.unwrap_or_else(unread);
        self.base.metrics.reload(&reload);
        match &reload {
            Reload::Unchanged => {}
            Reload::Replaced(table) => info!(lines = table.len(), "the signing table was read again"),
            Reload::Refused(error) => {
                error!(%error, "the new signing table is refused, the old one stays until a good one or SIGHUP comes");
            }
        }
        reload
    }

    /// Puts new settings in force for messages that begin from now on, with the signing table, the keys and everything else that they
    /// name read again. If anything of it is no good, all stays as it was. What only a restart can change is named in the log.
    ///
    /// # Errors
    /// A setting cannot work, or a file that it names cannot be used.
    pub async fn reconfigure(&self, config: Config) -> Result<(), ServiceError> {
        let (base, before) = (self.base.clone(), self.current.get());
        let fixed = self.config.fixed_changes(&config);
        let built = spawn_blocking(move || {
            config.check()?;
            Shared::build(&config, &base, Some(&before))
        });
        match built.await.unwrap_or_else(|error| Err(ServiceError::Start(error.to_string()))) {
            Ok(shared) => {
                let lines = shared.tables.as_ref().map_or(0, |tables| tables.current().len());
                self.current.replace(shared);
                count(&self.base.metrics.reloads, 1);
                info!(lines, "the settings, the signing table and the keys were read again");
                for section in fixed {
                    warn!(section, "settings have changed that need a restart");
                }
                Ok(())
            }
            Err(error) => {
                count(&self.base.metrics.refused_reloads, 1);
                error!(%error, "the new settings are refused, the old ones stay");
                Err(error)
            }
        }
    }

    /// What it counts.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.base.metrics
    }

    /// Names whose keys are in the cache.
    #[must_use]
    pub fn cached_names(&self) -> usize {
        self.base.lookups.cached()
    }

    /// The engines.
    #[must_use]
    pub fn accelerator(&self) -> &Accelerator {
        &self.base.accelerator
    }

    /// Under which name it writes results.
    #[must_use]
    pub fn authserv_id(&self) -> String {
        self.current.get().authserv_id().to_owned()
    }

    /// Lines of the signing table in use.
    #[must_use]
    pub fn signing_lines(&self) -> usize {
        self.current.signing_lines()
    }

    /// Until it is dropped.
    async fn watch(&self) {
        loop {
            let shared = self.current.get();
            let wanted =
                shared.tables.is_some().then_some(shared.reload_seconds).filter(|seconds| *seconds > 0);
            drop(shared);
            // New settings may want what the old ones did not.
            sleep(Duration::from_secs(wanted.unwrap_or(5))).await;
            if wanted.is_some() {
                self.reload(false).await;
            }
        }
    }
}

/// Returns the result of a task. Its panic goes on here: nobody may take it for a result.
///
/// # Errors
/// The runtime has ended before the task began.
async fn ended<T>(task: JoinHandle<T>) -> Result<T, JoinError> {
    let go_on = |panic| -> JoinError { resume_unwind(panic) };
    task.await.map_err(|error| error.try_into_panic().map_or_else(|cancelled| cancelled, go_on))
}

/// A service that listens and does not answer yet.
#[derive(Debug)]
pub struct Bound {
    service: Service,
    server: Server<DkimFilters>,
    metrics: Option<TcpListener>,
}

impl Bound {
    /// Where it listens.
    #[must_use]
    pub fn sockets(&self) -> Vec<Socket> {
        self.server.sockets()
    }

    /// What it counts of the protocol.
    #[must_use]
    pub fn counters(&self) -> Arc<Counters> {
        self.server.counters()
    }

    /// Where metrics are shown.
    #[must_use]
    pub fn metrics(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Serves until `stop` is ready, then drains; metrics are shown meanwhile.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { service, server, metrics } = self;
        let status = Arc::new(Status {
            base: service.base.clone(),
            current: Arc::clone(&service.current),
            counters: server.counters(),
            is_draining: AtomicBool::new(false),
        });
        let shown = async {
            match metrics {
                Some(listener) => oarlock_io::metrics::serve(listener, Arc::clone(&status)).await,
                None => std::future::pending().await,
            }
        };
        let stop = async {
            stop.await;
            status.is_draining.store(true, Ordering::Relaxed);
        };
        tokio::select! {
            () = server.run(stop) => {}
            () = service.watch() => {}
            () = shown => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_no_result() {
        assert_eq!(ended(spawn_blocking(|| 7)).await.unwrap(), 7);
        let outer = tokio::spawn(async {
            let task: JoinHandle<Vec<u8>> =
                spawn_blocking(|| panic!("a panic that the test wants to see caught"));
            ended(task).await
        });
        assert!(outer.await.unwrap_err().is_panic());
    }
}

//! The signals of a running service, and its reports to the service manager.

use std::future::{Future, pending};
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::warn;

use crate::service_manager::{ServiceState, notify};

/// The hang-ups (SIGHUP) with which an operator asks a service to read its settings again.
#[derive(Debug)]
pub struct Hangups(io::Result<Signal>);

impl Hangups {
    /// Handles SIGHUP from now on, which ends a process by default. SIGUSR1 and SIGUSR2 do so too, and are ignored from
    /// now on. It needs a tokio runtime.
    #[must_use]
    pub fn handle() -> Self {
        for kind in [SignalKind::user_defined1(), SignalKind::user_defined2()] {
            // A handler that tokio has installed stays for the life of the process.
            if let Err(error) = signal(kind) {
                warn!(%error, "SIGUSR1 and SIGUSR2 end this process");
            }
        }
        Self(signal(SignalKind::hangup()))
    }

    async fn each(self, mut reload: impl AsyncFnMut()) {
        let Ok(mut hangups) = self.0 else {
            warn!("SIGHUP cannot be heard: files are read again only when they change");
            return pending().await;
        };
        while hangups.recv().await.is_some() {
            reload().await;
        }
        pending::<()>().await;
    }
}

/// Ignores the signals that stop services or make them reload, from this call on, for the process of a device: service
/// managers and terminals send them to all processes of a service, which needs its devices until it has drained. It
/// needs a tokio runtime.
///
/// # Errors
/// A handler cannot be installed.
pub fn ignore_stops() -> io::Result<()> {
    use SignalKind as Kind;
    // As above, the handlers stay.
    let mut kinds = [Kind::terminate(), Kind::interrupt(), Kind::quit(), Kind::hangup()].into_iter();
    kinds.try_for_each(|kind| signal(kind).map(drop))
}

/// Handles SIGTERM and SIGINT, which end the process, from this call on. The future is ready when one of them has
/// arrived. It needs a tokio runtime.
pub fn stop_signal() -> impl Future<Output = ()> {
    let (terminate, interrupt) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    async {
        let (Ok(mut terminate), Ok(mut interrupt)) = (terminate, interrupt) else {
            warn!("signals cannot be heard: this service ends only by being killed");
            return pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
}

/// Reports to the service manager that the service is ready. The future is ready when the service must stop, which is
/// reported too. Until then each hang-up calls `reload`.
pub fn ready_until(
    stop: impl Future<Output = ()>,
    hangups: Hangups,
    reload: impl AsyncFnMut(),
) -> impl Future<Output = ()> {
    notify(ServiceState::Ready);
    async {
        tokio::select! {
            () = stop => {}
            () = hangups.each(reload) => {}
        }
        notify(ServiceState::Stopping);
    }
}

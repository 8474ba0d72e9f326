//! The sessions of a backend with TLS, each with the time of its full handshake.
//!
//! A resumed connection gives new tickets, so without an end one full handshake would do for ever. Here a ticket counts
//! as old as the session that it continues.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oarlock_service_kit::ServiceClock;
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{Error, NamedGroup};

use crate::clients::are_valid_at;

/// The maximum number of tickets of TLS 1.3. Each serves one connection.
const MAX_TICKETS: usize = 32;

/// The sessions of one address of a backend. It has one name, so they need none.
pub(super) struct BackendSessions {
    max_age_s: u64,
    clock: ServiceClock,
    kept: Mutex<KeptSessions>,
}

#[derive(Default)]
struct KeptSessions {
    group: Option<NamedGroup>,
    tls12: Option<AgedSession<Tls12ClientSessionValue>>,
    tls13: VecDeque<AgedSession<Tls13ClientSessionValue>>,
}

struct AgedSession<T> {
    session: T,
    /// The time of the full handshake in seconds since 1970.
    began_s: u64,
}

impl BackendSessions {
    /// Returns an empty store. Sessions are used until `max_age_s` seconds after their full handshake.
    pub(super) fn new(max_age_s: u64, clock: ServiceClock) -> Arc<Self> {
        Arc::new(Self { max_age_s, clock, kept: Mutex::default() })
    }

    /// Returns the store of one connection. Tickets that the connection gets continue the session that it took.
    pub(super) fn for_connection(self: &Arc<Self>) -> Arc<dyn ClientSessionStore> {
        Arc::new(ConnectionSessions { sessions: Arc::clone(self), began_s: AtomicU64::new(0) })
    }

    /// Forgets all sessions.
    pub(super) fn clear(&self) {
        *self.lock() = KeptSessions::default();
    }

    fn is_young(&self, began_s: u64) -> bool {
        self.clock.now_s().saturating_sub(began_s) <= self.max_age_s
    }

    fn lock(&self) -> MutexGuard<'_, KeptSessions> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks that a full handshake would accept the chain of a resumed session now. rustls resumes sessions of the same
/// verifier only, so nothing but time can have changed.
pub(super) fn verify_again(
    verifier: &dyn ServerCertVerifier,
    name: &ServerName<'_>,
    chain: &[CertificateDer<'_>],
    now: UnixTime,
) -> Result<(), Error> {
    let (leaf, others) = chain.split_first().ok_or(Error::NoCertificatesPresented)?;
    if are_valid_at(chain, now) {
        return Ok(());
    }
    verifier.verify_server_cert(leaf, others, name, &[], now).map(drop)
}

/// The sessions as one connection sees them.
struct ConnectionSessions {
    sessions: Arc<BackendSessions>,
    /// The time of the full handshake of the session that was taken; 0 if none was.
    began_s: AtomicU64,
}

impl ConnectionSessions {
    fn aged<T>(&self, session: T) -> AgedSession<T> {
        let began_s = match self.began_s.load(Ordering::Relaxed) {
            0 => self.sessions.clock.now_s(),
            began_s => began_s,
        };
        AgedSession { session, began_s }
    }

    fn take<T>(&self, aged: AgedSession<T>) -> Option<T> {
        if !self.sessions.is_young(aged.began_s) {
            return None;
        }
        self.began_s.store(aged.began_s, Ordering::Relaxed);
        Some(aged.session)
    }
}

impl ClientSessionStore for ConnectionSessions {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.sessions.lock().group = Some(group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.sessions.lock().group
    }

    fn set_tls12_session(&self, _: ServerName<'static>, session: Tls12ClientSessionValue) {
        let aged = self.aged(session);
        self.sessions.lock().tls12 = Some(aged);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        let kept = self
            .sessions
            .lock()
            .tls12
            .as_ref()
            .map(|aged| AgedSession { session: aged.session.clone(), began_s: aged.began_s });
        self.take(kept?)
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.sessions.lock().tls12 = None;
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, session: Tls13ClientSessionValue) {
        let aged = self.aged(session);
        let mut kept = self.sessions.lock();
        if kept.tls13.len() >= MAX_TICKETS {
            kept.tls13.pop_front();
        }
        kept.tls13.push_back(aged);
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        // The newest first: the others are at least as old.
        let newest = self.sessions.lock().tls13.pop_back();
        self.take(newest?)
    }
}

impl fmt::Debug for BackendSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BackendSessions({} s)", self.max_age_s)
    }
}

impl fmt::Debug for ConnectionSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sessions.fmt(f)
    }
}

#[cfg(test)]
mod tests;

//! Sessions that clients resume.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_rustls::rustls::NamedGroup;
use tokio_rustls::rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use tokio_rustls::rustls::pki_types::ServerName;

/// The largest number of tickets that clients keep.
const MAX_TICKETS: usize = 1 << 15;

/// The sessions of all clients of one server. rustls's own store keeps eight tickets for each server, fewer than there
/// are connections at once.
#[derive(Debug, Default)]
pub(super) struct SharedSessions(Mutex<StoredSessions>);

#[derive(Debug, Default)]
struct StoredSessions {
    group: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    /// The oldest first. Each is used once.
    tickets: VecDeque<Tls13ClientSessionValue>,
}

impl SharedSessions {
    fn lock(&self) -> MutexGuard<'_, StoredSessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientSessionStore for SharedSessions {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.lock().group = Some(group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.lock().group
    }

    fn set_tls12_session(&self, _: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.lock().tls12 = Some(session);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.lock().tls12.clone()
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.lock().tls12 = None;
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let tickets = &mut self.lock().tickets;
        if tickets.len() < MAX_TICKETS {
            tickets.push_back(ticket);
        }
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.lock().tickets.pop_front()
    }
}

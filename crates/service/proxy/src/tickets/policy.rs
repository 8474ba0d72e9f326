//! The rules for tickets: each is good for one policy of clients and for some time, and a session does not go on for
//! ever.
//!
//! A resumed connection has the rights of the client's certificate, and rustls asks nothing of it. So a ticket is
//! opened only if a full handshake would accept its client now; otherwise there is a full handshake, which asks
//! everything. Authorities, names and the rule whether a certificate is required are compared as one digest.
//! Certificates may have ended since, so the chain in the ticket is looked at each time.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use oarlock_service_kit::ServiceClock;
use rustls::pki_types::UnixTime;
use rustls::server::ProducesTickets;
use zeroize::Zeroizing;

use super::session::client_chain;
use crate::clients::{ClientNameVerifier, accepts_again};

/// The maximum age of a session, counted from its full handshake: seven days. RFC 8446 4.6.1.
const MAX_SESSION_SECONDS: u64 = 7 * 24 * 60 * 60;

/// The maximum number of tickets that are tried for one connection. Clients offer one or two, and a hello has room for
/// hundreds.
const MAX_TRIES: u32 = 8;

/// The difference that the clocks of proxies with the same keys may have.
const MAX_SKEW_SECONDS: u64 = 60;

const DIGEST_LEN: usize = 32;
const TIME_LEN: usize = 8;

/// The tickets of the settings in force.
pub(crate) struct TicketPolicy {
    pub(crate) keys: Arc<dyn ProducesTickets>,
    /// The time for which a ticket is good.
    pub(crate) lifetime_s: u32,
    /// The rules for clients, if certificates are asked for.
    pub(crate) clients: Option<Arc<ClientNameVerifier>>,
    pub(crate) clock: ServiceClock,
}

/// The maximum seconds from a full handshake to the last connection that its tickets, and the tickets of resumed
/// connections, may open.
pub(crate) fn max_session_seconds(lifetime_s: u32) -> u64 {
    (2 * u64::from(lifetime_s)).min(MAX_SESSION_SECONDS)
}

impl TicketPolicy {
    /// Returns the tickets of one connection. A ticket that it gets continues the session of the one that it opened, so
    /// connections cannot share this value.
    pub(crate) fn for_connection(self: &Arc<Self>) -> Arc<dyn ProducesTickets> {
        let (began_s, tries) = (AtomicU64::new(0), AtomicU32::new(0));
        Arc::new(ConnectionTickets { policy: Arc::clone(self), began_s, tries })
    }

    fn digest(&self) -> [u8; DIGEST_LEN] {
        self.clients.as_ref().map_or([0; DIGEST_LEN], |clients| clients.rule.digest)
    }
}

/// The tickets of one connection.
struct ConnectionTickets {
    policy: Arc<TicketPolicy>,
    /// The time of the full handshake in seconds since 1970; 0 until a ticket was opened.
    began_s: AtomicU64,
    tries: AtomicU32,
}

impl ConnectionTickets {
    /// Returns the seconds for which a ticket of this connection is good.
    fn seconds_left(&self, now_s: u64) -> u64 {
        let lifetime = self.policy.lifetime_s;
        let began_s = self.began_s.load(Ordering::Relaxed);
        let age = if began_s == 0 { 0 } else { now_s.saturating_sub(began_s) };
        max_session_seconds(lifetime).saturating_sub(age).min(lifetime.into())
    }

    /// Returns the session in a ticket, if it may be resumed now.
    fn open(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        if self.tries.fetch_add(1, Ordering::Relaxed) >= MAX_TRIES {
            return None;
        }
        let policy = &*self.policy;
        let plain = Zeroizing::new(policy.keys.decrypt(ticket)?);
        let rest = plain.strip_prefix(&policy.digest())?;
        let (began_s, rest) = split_time(rest)?;
        let (issued_s, session) = split_time(rest)?;
        let now_s = policy.clock.now_s();
        let is_of_now = issued_s <= now_s.saturating_add(MAX_SKEW_SECONDS)
            && now_s.saturating_sub(issued_s) <= policy.lifetime_s.into()
            && now_s.saturating_sub(began_s) <= max_session_seconds(policy.lifetime_s);
        let chain = client_chain(session)?;
        let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(now_s));
        let is_accepted = match &policy.clients {
            Some(clients) => accepts_again(clients, &chain, now),
            None => chain.is_empty(),
        };
        if !is_of_now || !is_accepted {
            return None;
        }
        self.began_s.store(began_s, Ordering::Relaxed);
        Some(session.to_vec())
    }
}

/// Splits seconds since 1970 from the start.
fn split_time(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (time, rest) = bytes.split_first_chunk::<TIME_LEN>()?;
    Some((u64::from_be_bytes(*time), rest))
}

impl ProducesTickets for ConnectionTickets {
    fn enabled(&self) -> bool {
        self.policy.keys.enabled()
    }

    fn lifetime(&self) -> u32 {
        let left = self.seconds_left(self.policy.clock.now_s());
        // unreachable otherwise because the lifetime of the policy is the maximum
        u32::try_from(left).unwrap_or(self.policy.lifetime_s)
    }

    /// Seals the digest of the policy, the times of the full handshake and of now, and the session.
    fn encrypt(&self, session: &[u8]) -> Option<Vec<u8>> {
        let policy = &*self.policy;
        let now_s = policy.clock.now_s();
        if self.seconds_left(now_s) == 0 {
            return None;
        }
        client_chain(session)?;
        let began_s = match self.began_s.load(Ordering::Relaxed) {
            0 => now_s,
            began_s => began_s,
        };
        let times = [began_s.to_be_bytes(), now_s.to_be_bytes()].concat();
        let plain = Zeroizing::new([&policy.digest()[..], &times, session].concat());
        policy.keys.encrypt(&plain)
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        self.open(ticket)
    }
}

impl fmt::Debug for TicketPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TicketPolicy({:?}, {} s, {:?})", self.keys, self.lifetime_s, self.clients)
    }
}

impl fmt::Debug for ConnectionTickets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectionTickets({:?})", self.policy)
    }
}

#[cfg(test)]
mod tests;

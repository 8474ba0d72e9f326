//! The clients of the server, with the counters that all connections of a client share.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::audit::{AuditOrigin, ReservedBytes};
use crate::budget::{ByteBudget, ClientBytes};
use crate::config::ServerLimits;
use crate::identity::ClientIdentity;
use crate::rate::RateLimit;

/// The counters of one client, shared by all its connections.
#[derive(Debug)]
pub(crate) struct ClientAccount {
    /// The client's number among the tenants of the engines: the same whenever the client comes back.
    pub(crate) tenant: u64,
    /// The bytes that its requests and answers hold.
    pub(crate) bytes: Arc<ClientBytes>,
    /// The number of its connections.
    pub(crate) connections: AtomicUsize,
    /// The rate at which it may bring keys.
    pub(crate) brought_keys: RateLimit,
    /// The bytes of the audit log that its requests reserve.
    pub(crate) audit_bytes: Arc<ReservedBytes>,
}

/// The client of a connection: its identity, its account, and its part of audit entries.
#[derive(Clone, Debug)]
pub(crate) struct KnownClient {
    pub(crate) identity: ClientIdentity,
    pub(crate) account: Arc<ClientAccount>,
    /// The part of audit entries that describes the client, written once per connection.
    pub(crate) origin: Arc<AuditOrigin>,
}

/// The accounts of all clients by the names that their channels prove.
#[derive(Debug)]
pub(crate) struct ClientAccounts {
    known: Mutex<HashMap<String, Arc<ClientAccount>>>,
    budget: Arc<ByteBudget>,
    max_bytes_per_client: usize,
    max_brought_keys_per_second: u32,
    /// Derives the numbers of tenants from names, by a key that no client knows.
    hasher: RandomState,
}

/// The number of accounts below which none is forgotten.
const MIN_KNOWN: usize = 64;

impl ClientAccounts {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        Self {
            known: Mutex::default(),
            budget: Arc::new(ByteBudget::new(limits.max_bytes)),
            max_bytes_per_client: limits.max_bytes_per_client,
            max_brought_keys_per_second: limits.max_brought_keys_per_second,
            hasher: RandomState::new(),
        }
    }

    /// Returns the bytes that all clients hold.
    pub(crate) fn budget(&self) -> &ByteBudget {
        &self.budget
    }

    /// Returns the clients that have connections: their names, the number of connections, and the bytes that they hold.
    pub(crate) fn connected(&self) -> Vec<(String, usize, usize)> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let connected = known.iter().filter_map(|(name, account)| {
            let connections = account.connections.load(Ordering::Relaxed);
            (connections > 0).then(|| (shown_name(name), connections, account.bytes.used()))
        });
        connected.collect()
    }

    /// Returns an identity with its account.
    pub(crate) fn introduce(&self, identity: ClientIdentity) -> KnownClient {
        let account = self.find(&identity);
        let origin = Arc::new(AuditOrigin::new(&identity));
        KnownClient { identity, account, origin }
    }

    /// Returns the account of an identity: the same one for all its connections.
    pub(crate) fn find(&self, identity: &ClientIdentity) -> Arc<ClientAccount> {
        let name = account_name(identity);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(account) = known.get(&name) {
            return Arc::clone(account);
        }
        // Only when the map is about to grow, so that the search costs no more than the growth.
        if known.len() >= MIN_KNOWN && known.len() == known.capacity() {
            known.retain(|_, account| !account.is_forgettable());
            // Without this, each new client would search the space of a crowd that has left.
            known.shrink_to(2 * MIN_KNOWN);
        }
        let account = Arc::new(ClientAccount {
            tenant: self.hasher.hash_one(&name),
            bytes: Arc::new(ClientBytes::new(self.max_bytes_per_client, Arc::clone(&self.budget))),
            connections: AtomicUsize::new(0),
            brought_keys: RateLimit::new(self.max_brought_keys_per_second),
            audit_bytes: Arc::default(),
        });
        known.insert(name, Arc::clone(&account));
        account
    }
}

impl ClientAccount {
    /// Returns true if a new account would hold the same values.
    fn is_forgettable(self: &Arc<Self>) -> bool {
        // The map has this reference, and under its lock nobody can get another.
        Arc::strong_count(self) == 1
            && self.connections.load(Ordering::Relaxed) == 0
            // Held bytes and reservations outlive the connection that made them: each keeps a reference.
            && Arc::strong_count(&self.bytes) == 1
            && self.bytes.is_empty()
            && Arc::strong_count(&self.audit_bytes) == 1
            && self.brought_keys.is_unused()
    }
}

/// Returns the name of an account in one line of bounded length.
fn shown_name(name: &str) -> String {
    const MAX_SHOWN: usize = 200;
    let mut shown = name.replace('\n', ", ");
    if let Some((cut, _)) = shown.char_indices().nth(MAX_SHOWN) {
        shown.truncate(cut);
        shown.push_str("...");
    }
    shown
}

/// Returns the name of an identity's account. A user of this machine has one account for all its groups, which it may
/// change. All names of a certificate together have one account.
fn account_name(identity: &ClientIdentity) -> String {
    let names = identity.names();
    match names.first() {
        Some(user) if user.starts_with("uid:") => user.clone(),
        _ => names.join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clients() -> ClientAccounts {
        ClientAccounts::new(&ServerLimits::default())
    }

    #[test]
    fn finds_the_same_account_for_all_sessions_of_a_client() {
        let clients = clients();
        let user = clients.find(&ClientIdentity::from_credentials(7, 1));
        assert_eq!(clients.find(&ClientIdentity::from_credentials(7, 2)).tenant, user.tenant);
        assert_ne!(clients.find(&ClientIdentity::from_credentials(8, 1)).tenant, user.tenant);
        assert_ne!(clients.find(&ClientIdentity::loopback()).tenant, user.tenant);
    }

    #[test]
    fn forgets_clients_that_left_and_gives_them_the_same_tenant_later() {
        let clients = clients();
        let first = clients.find(&ClientIdentity::from_credentials(0, 0)).tenant;
        for user in 1..10_000 {
            clients.find(&ClientIdentity::from_credentials(user, 0));
        }
        assert!(clients.known.lock().unwrap().len() < 4 * MIN_KNOWN);
        assert_eq!(
            clients.find(&ClientIdentity::from_credentials(0, 0)).tenant,
            first,
            "a client that comes back has its former tenant"
        );
    }

    #[test]
    fn keeps_a_client_that_has_used_up_its_rate() {
        let clients = clients();
        let client = clients.find(&ClientIdentity::from_credentials(0, 0));
        while client.brought_keys.take(1).is_ok() {}
        drop(client);
        for user in 1..10_000 {
            clients.find(&ClientIdentity::from_credentials(user, 0));
        }
        assert!(!clients.find(&ClientIdentity::from_credentials(0, 0)).brought_keys.is_unused());
    }
}

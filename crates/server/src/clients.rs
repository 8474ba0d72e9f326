//! Clients that are there: what the server knows of each, whatever number of streams and connections it has.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::audit::ReservedBytes;
use crate::budget::{ByteBudget, ClientBytes};
use crate::config::ServerLimits;
use crate::identity::ClientIdentity;
use crate::rate::RateLimit;

/// A client, and what is counted for it in all its connections together.
#[derive(Debug)]
pub(crate) struct ClientAccount {
    /// Its number among the tenants of the engines: the same whenever it comes back.
    pub(crate) tenant: u64,
    /// Bytes that its requests and answers hold.
    pub(crate) bytes: ClientBytes,
    /// Connections that it has.
    pub(crate) connections: AtomicUsize,
    /// The rate at which it may bring keys.
    pub(crate) brought_keys: RateLimit,
    /// Bytes that its requests reserve of the audit log.
    pub(crate) audit_bytes: Arc<ReservedBytes>,
}

/// All clients by the names that their channels prove.
#[derive(Debug)]
pub(crate) struct ClientAccounts {
    known: Mutex<HashMap<String, Arc<ClientAccount>>>,
    budget: Arc<ByteBudget>,
    max_bytes_per_client: usize,
    max_brought_keys_per_second: u32,
    /// Numbers tenants by their names, by a key that nobody outside knows.
    hasher: RandomState,
}

/// Clients that are known before those that left nothing behind are forgotten.
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

    /// Bytes that all clients hold.
    pub(crate) fn budget(&self) -> &ByteBudget {
        &self.budget
    }

    /// Returns the client of an identity: the same one for all its connections.
    pub(crate) fn find(&self, identity: &ClientIdentity) -> Arc<ClientAccount> {
        let name = name_of(identity);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = known.get(&name) {
            return Arc::clone(client);
        }
        if known.len() >= MIN_KNOWN && known.len() == known.capacity() {
            known.retain(|_, client| !client.is_forgettable());
            // Without this a crowd that has left would be looked through at each newcomer.
            known.shrink_to(2 * MIN_KNOWN);
        }
        let client = Arc::new(ClientAccount {
            tenant: self.hasher.hash_one(&name),
            bytes: ClientBytes::new(self.max_bytes_per_client, Arc::clone(&self.budget)),
            connections: AtomicUsize::new(0),
            brought_keys: RateLimit::new(self.max_brought_keys_per_second),
            audit_bytes: Arc::default(),
        });
        known.insert(name, Arc::clone(&client));
        client
    }
}

impl ClientAccount {
    /// True if a new account would say the same.
    fn is_forgettable(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1
            && self.connections.load(Ordering::Relaxed) == 0
            && self.bytes.is_empty()
            // Each reservation holds it.
            && Arc::strong_count(&self.audit_bytes) == 1
            && self.brought_keys.is_unused()
    }
}

/// A user of this machine is one client whatever its group, which it may change. A certificate's names belong to it together.
fn name_of(identity: &ClientIdentity) -> String {
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
    fn a_client_is_the_same_in_all_its_sessions() {
        let clients = clients();
        let user = clients.find(&ClientIdentity::of_process(7, 1));
        assert_eq!(clients.find(&ClientIdentity::of_process(7, 2)).tenant, user.tenant);
        assert_ne!(clients.find(&ClientIdentity::of_process(8, 1)).tenant, user.tenant);
        assert_ne!(clients.find(&ClientIdentity::loopback()).tenant, user.tenant);
    }

    #[test]
    fn clients_that_are_gone_are_forgotten_and_keep_their_turn() {
        let clients = clients();
        let first = clients.find(&ClientIdentity::of_process(0, 0)).tenant;
        for user in 1..10_000 {
            clients.find(&ClientIdentity::of_process(user, 0));
        }
        assert!(clients.known.lock().unwrap().len() < 4 * MIN_KNOWN);
        assert_eq!(clients.find(&ClientIdentity::of_process(0, 0)).tenant, first, "coming back wins nothing");
    }

    #[test]
    fn who_has_used_up_a_rate_is_not_forgotten() {
        let clients = clients();
        let client = clients.find(&ClientIdentity::of_process(0, 0));
        while client.brought_keys.take(1).is_ok() {}
        drop(client);
        for user in 1..10_000 {
            clients.find(&ClientIdentity::of_process(user, 0));
        }
        assert!(!clients.find(&ClientIdentity::of_process(0, 0)).brought_keys.is_unused());
    }
}

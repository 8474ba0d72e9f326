//! Clients that are there: what the server knows of each, whatever number of streams and connections it has.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::identity::Identity;

/// A client for as long as one of its sessions lasts.
#[derive(Debug)]
pub(crate) struct Client {
    /// Its number among the tenants of the engines.
    pub(crate) tenant: u64,
}

/// All clients by the names that their channels prove.
#[derive(Debug, Default)]
pub(crate) struct Clients(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    by_name: HashMap<String, Weak<Client>>,
    /// Numbers that have been given.
    tenants: u64,
}

impl Clients {
    /// The client of an identity: the same one for all its sessions.
    pub(crate) fn find(&self, identity: &Identity) -> Arc<Client> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = name_of(identity);
        if let Some(client) = known.by_name.get(&name).and_then(Weak::upgrade) {
            return client;
        }
        known.forget_gone();
        known.tenants += 1;
        let client = Arc::new(Client { tenant: known.tenants });
        known.by_name.insert(name, Arc::downgrade(&client));
        client
    }
}

impl Known {
    /// Certificates may name clients without number: those that are gone leave nothing behind.
    fn forget_gone(&mut self) {
        if self.by_name.len() == self.by_name.capacity() {
            self.by_name.retain(|_, client| client.strong_count() > 0);
        }
    }
}

/// A user of this machine is one client whatever its group, which it may change. A certificate's names belong to it together.
fn name_of(identity: &Identity) -> String {
    let names = identity.names();
    match names.first() {
        Some(user) if user.starts_with("uid:") => user.clone(),
        _ => names.join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_the_same_in_all_its_sessions() {
        let clients = Clients::default();
        let user = clients.find(&Identity::of_process(7, 1));
        assert_eq!(clients.find(&Identity::of_process(7, 2)).tenant, user.tenant);
        assert_ne!(clients.find(&Identity::of_process(8, 1)).tenant, user.tenant);
        assert_ne!(clients.find(&Identity::loopback()).tenant, user.tenant);
    }

    #[test]
    fn clients_that_are_gone_are_forgotten() {
        let clients = Clients::default();
        let stays = clients.find(&Identity::of_process(0, 0));
        for user in 1..10_000 {
            clients.find(&Identity::of_process(user, 0));
        }
        assert!(clients.0.lock().unwrap_or_else(PoisonError::into_inner).by_name.len() < 100);
        assert_eq!(clients.find(&Identity::of_process(0, 0)).tenant, stays.tenant);
    }
}

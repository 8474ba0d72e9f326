//! The limits of connections: by address until the client is known, and by client afterwards.
//!
//! A new handshake is never refused. If the maximum is under way, an older handshake is evicted, preferably a silent
//! one. So a crowd of silent connections displaces its own members, and a client that completes its handshake is
//! admitted. Connections with a known client have limits of their own. Connections of the UNIX socket and of the
//! network are counted separately.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::clients::ClientAccount;
use crate::config::ServerLimits;
use crate::metrics::count;
use crate::service::SharedService;

/// The limits of connections, and the connections that count against them.
#[derive(Debug)]
pub(crate) struct Admission {
    handshakes: Mutex<AdmittedHandshakes>,
    max_handshakes: usize,
    max_handshakes_per_address: usize,
    network: Arc<Semaphore>,
    unix: Arc<Semaphore>,
    max_connections_per_client: usize,
}

/// The listener from which a connection came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListenerKind {
    Network,
    Unix,
}

/// A limit that keeps a connection out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AdmissionError {
    #[error(
        "the server has the maximum of connections ([limits] max_connections or max_unix_connections): try again"
    )]
    Server,
    #[error("this client has the maximum of connections ([limits] max_connections_per_client is {max})")]
    Client { max: usize },
}

impl Admission {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        Self {
            handshakes: Mutex::default(),
            max_handshakes: limits.max_handshakes,
            max_handshakes_per_address: limits.max_handshakes_per_address,
            network: Arc::new(Semaphore::new(limits.max_connections)),
            unix: Arc::new(Semaphore::new(limits.max_unix_connections)),
            max_connections_per_client: limits.max_connections_per_client,
        }
    }

    /// Counts a connection whose client is not known yet. Returns its slot, and a receiver that is ready when it is
    /// evicted.
    pub(crate) fn begin_handshake(
        self: &Arc<Self>,
        address: Option<IpAddr>,
    ) -> (HandshakeSlot, oneshot::Receiver<()>) {
        let source = source_of(address);
        let (evict, evicted) = oneshot::channel();
        let has_spoken = Arc::new(AtomicBool::new(false));
        let mut handshakes = self.lock();
        // A source at its own maximum displaces only its own handshakes, so it cannot push out others.
        if handshakes.len_of(source) >= self.max_handshakes_per_address {
            handshakes.evict(source);
        } else if handshakes.len >= self.max_handshakes
            && let Some(largest) = handshakes.largest()
        {
            handshakes.evict(largest);
        }
        let id = handshakes.add(source, Handshake { id: 0, has_spoken: Arc::clone(&has_spoken), evict });
        (HandshakeSlot { admission: Arc::clone(self), source, id, has_spoken }, evicted)
    }

    /// Evicts one handshake when no descriptor is free. Returns false if there is no handshake.
    pub(crate) fn evict_one(&self) -> bool {
        let mut handshakes = self.lock();
        let largest = handshakes.largest();
        largest.is_some_and(|largest| handshakes.evict(largest))
    }

    /// Counts a connection of a client that is known.
    ///
    /// # Errors
    /// The client, or all clients together, have the maximum of connections.
    pub(crate) fn admit(
        &self,
        listener: ListenerKind,
        client: &Arc<ClientAccount>,
        service: &Arc<SharedService>,
    ) -> Result<ConnectionSlot, AdmissionError> {
        let max = self.max_connections_per_client;
        let more = |open: usize| (open < max).then_some(open + 1);
        if client.connections.try_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            return Err(AdmissionError::Client { max });
        }
        // From here on an early return drops `own`, which takes the count back.
        let own = OwnConnection(Arc::clone(client));
        let free = match listener {
            ListenerKind::Network => &self.network,
            ListenerKind::Unix => &self.unix,
        };
        let permit = Arc::clone(free).try_acquire_owned().map_err(|_| AdmissionError::Server)?;
        Ok(ConnectionSlot::new(Arc::clone(service), own, permit))
    }

    fn lock(&self) -> MutexGuard<'_, AdmittedHandshakes> {
        self.handshakes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connections whose client is not known yet, by their source.
#[derive(Debug, Default)]
struct AdmittedHandshakes {
    by_source: HashMap<Option<IpAddr>, VecDeque<Handshake>>,
    len: usize,
    last_id: u64,
}

#[derive(Debug)]
struct Handshake {
    id: u64,
    /// True if the peer has sent any byte.
    has_spoken: Arc<AtomicBool>,
    /// The sender that evicts the handshake.
    evict: oneshot::Sender<()>,
}

impl AdmittedHandshakes {
    fn len_of(&self, source: Option<IpAddr>) -> usize {
        self.by_source.get(&source).map_or(0, VecDeque::len)
    }

    fn largest(&self) -> Option<Option<IpAddr>> {
        self.by_source.iter().max_by_key(|(_, own)| own.len()).map(|(source, _)| *source)
    }

    fn add(&mut self, source: Option<IpAddr>, handshake: Handshake) -> u64 {
        self.last_id += 1;
        self.len += 1;
        let id = self.last_id;
        self.by_source.entry(source).or_default().push_back(Handshake { id, ..handshake });
        id
    }

    /// Evicts the oldest silent handshake of a source, or the oldest if none is silent.
    fn evict(&mut self, source: Option<IpAddr>) -> bool {
        let Some(own) = self.by_source.get_mut(&source) else { return false };
        // The queue is in the order of arrival, so the first match is the oldest.
        let silent = own.iter().position(|handshake| !handshake.has_spoken.load(Ordering::Relaxed));
        let Some(handshake) = own.remove(silent.unwrap_or(0)) else { return false };
        // An error means that the connection has ended already.
        let _ = handshake.evict.send(());
        self.remove_source_if_empty(source);
        true
    }

    fn remove(&mut self, source: Option<IpAddr>, id: u64) {
        let Some(own) = self.by_source.get_mut(&source) else { return };
        // An evicted handshake was removed before.
        if let Some(at) = own.iter().position(|handshake| handshake.id == id) {
            own.remove(at);
            self.remove_source_if_empty(source);
        }
    }

    fn remove_source_if_empty(&mut self, source: Option<IpAddr>) {
        self.len -= 1;
        if self.len_of(source) == 0 {
            self.by_source.remove(&source);
        }
    }
}

/// Returns the address that connections are counted by. An IPv6 client has a network of 64 bits for itself, so the rest
/// of the address is dropped.
fn source_of(address: Option<IpAddr>) -> Option<IpAddr> {
    Some(match address?.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    })
}

/// One of the handshakes that may be under way, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct HandshakeSlot {
    admission: Arc<Admission>,
    source: Option<IpAddr>,
    id: u64,
    has_spoken: Arc<AtomicBool>,
}

impl HandshakeSlot {
    /// Returns the flag to set as soon as the peer has sent any byte.
    pub(crate) fn has_spoken(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.has_spoken)
    }
}

impl Drop for HandshakeSlot {
    fn drop(&mut self) {
        self.admission.lock().remove(self.source, self.id);
    }
}

/// One of the connections that a client may have, given back when it is dropped.
#[derive(Debug)]
struct OwnConnection(Arc<ClientAccount>);

impl Drop for OwnConnection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One of the connections that the server may have, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    service: Arc<SharedService>,
    _own: OwnConnection,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionSlot {
    fn new(service: Arc<SharedService>, own: OwnConnection, permit: OwnedSemaphorePermit) -> Self {
        count(&service.metrics.connections, 1);
        count(&service.metrics.open_connections, 1);
        Self { service, _own: own, _permit: permit }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.service.metrics.open_connections.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(max_handshakes: usize, max_handshakes_per_address: usize) -> Arc<Admission> {
        let limits = ServerLimits { max_handshakes, max_handshakes_per_address, ..ServerLimits::default() };
        Arc::new(Admission::new(&limits))
    }

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    fn is_evicted(evicted: &mut oneshot::Receiver<()>) -> bool {
        evicted.try_recv().is_ok()
    }

    #[test]
    fn evicts_silent_handshakes_first_and_then_the_oldest() {
        let admission = admission(100, 3);
        let mut all: Vec<_> = (0..3).map(|_| admission.begin_handshake(address("192.0.2.1"))).collect();
        all[0].0.has_spoken().store(true, Ordering::Relaxed);
        all.push(admission.begin_handshake(address("192.0.2.1")));
        let gone = |all: &mut Vec<(HandshakeSlot, oneshot::Receiver<()>)>| -> Vec<bool> {
            all.iter_mut().map(|(_, evicted)| is_evicted(evicted)).collect()
        };
        assert_eq!(gone(&mut all), [false, true, false, false]);
        all.iter().for_each(|(slot, _)| slot.has_spoken().store(true, Ordering::Relaxed));
        all.push(admission.begin_handshake(address("192.0.2.1")));
        assert_eq!(gone(&mut all), [true, false, false, false, false], "then the oldest");
        drop(all);
        let handshakes = admission.lock();
        assert!(handshakes.len == 0 && handshakes.by_source.is_empty());
    }

    #[test]
    fn evicts_a_handshake_of_the_address_with_the_most_handshakes() {
        let admission = admission(4, 3);
        let mut crowd: Vec<_> = (0..3).map(|_| admission.begin_handshake(address("2001:db8::1"))).collect();
        let mut others = ["192.0.2.1", "192.0.2.2"].map(|from| admission.begin_handshake(address(from)));
        assert!(is_evicted(&mut crowd[0].1));
        assert!(others.iter_mut().all(|(_, evicted)| !is_evicted(evicted)));
        // Addresses of one network of 64 bits count as one source.
        let _third = admission.begin_handshake(address("2001:db8::2"));
        assert!(is_evicted(&mut crowd[1].1));
        assert!(admission.evict_one());
        assert_eq!(admission.lock().len, 3);
    }
}

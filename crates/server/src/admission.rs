//! Bounds of connections: before their client is known by address, afterwards by client.
//!
//! Handshakes are never refused. If there are as many as there may be, one of them gives way: first one that has said nothing. So a
//! crowd of silent connections displaces itself, and a client that shakes hands gets through. Connections with a known client have
//! bounds of their own, and those of the UNIX socket are counted apart from those of the network.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::clients::ClientAccount;
use crate::config::ServerLimits;
use crate::metrics::count;
use crate::service::SharedService;

/// The bounds of connections, and what counts against them.
#[derive(Debug)]
pub(crate) struct Admission {
    handshakes: Mutex<Handshakes>,
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

/// The bound that keeps a connection out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AdmissionError {
    #[error("the server has as many connections as it may; try again")]
    Server,
    #[error("this client has as many connections as it may ([limits] max_connections_per_client is {max})")]
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

    /// Counts a connection whose client is not known yet. Returns its slot, and what is ready when it has to give way.
    pub(crate) fn begin_handshake(
        self: &Arc<Self>,
        address: Option<IpAddr>,
    ) -> (HandshakeSlot, oneshot::Receiver<()>) {
        let source = source_of(address);
        let (evict, evicted) = oneshot::channel();
        let has_spoken = Arc::new(AtomicBool::new(false));
        let mut handshakes = self.lock();
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

    /// Has one handshake give way, for want of descriptors. False if there is no handshake.
    pub(crate) fn evict_one(&self) -> bool {
        let mut handshakes = self.lock();
        let largest = handshakes.largest();
        largest.is_some_and(|largest| handshakes.evict(largest))
    }

    /// Counts a connection of a client that is known.
    ///
    /// # Errors
    /// There are as many of the client's, or of all clients together, as there may be.
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
        let own = OwnConnection(Arc::clone(client));
        let seats = match listener {
            ListenerKind::Network => &self.network,
            ListenerKind::Unix => &self.unix,
        };
        let permit = Arc::clone(seats).try_acquire_owned().map_err(|_| AdmissionError::Server)?;
        Ok(ConnectionSlot::new(Arc::clone(service), own, permit))
    }

    fn lock(&self) -> MutexGuard<'_, Handshakes> {
        self.handshakes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connections whose client is not known yet, by where they come from.
#[derive(Debug, Default)]
struct Handshakes {
    by_source: HashMap<Option<IpAddr>, VecDeque<Handshake>>,
    len: usize,
    last_id: u64,
}

#[derive(Debug)]
struct Handshake {
    id: u64,
    /// True if the peer has sent anything.
    has_spoken: Arc<AtomicBool>,
    /// Tells it to give way, by being dropped.
    evict: oneshot::Sender<()>,
}

impl Handshakes {
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

    /// Has the oldest handshake of a source give way that has said nothing, or else the oldest.
    fn evict(&mut self, source: Option<IpAddr>) -> bool {
        let Some(own) = self.by_source.get_mut(&source) else { return false };
        let silent = own.iter().position(|handshake| !handshake.has_spoken.load(Ordering::Relaxed));
        let Some(handshake) = own.remove(silent.unwrap_or(0)) else { return false };
        // Whoever is gone already needs not be told.
        let _ = handshake.evict.send(());
        self.forget(source);
        true
    }

    fn remove(&mut self, source: Option<IpAddr>, id: u64) {
        let Some(own) = self.by_source.get_mut(&source) else { return };
        // One that gave way is not here any more.
        if let Some(at) = own.iter().position(|handshake| handshake.id == id) {
            own.remove(at);
            self.forget(source);
        }
    }

    fn forget(&mut self, source: Option<IpAddr>) {
        self.len -= 1;
        if self.len_of(source) == 0 {
            self.by_source.remove(&source);
        }
    }
}

/// Returns the address that connections are counted by: an IPv6 client has a network of 64 bits for itself.
fn source_of(address: Option<IpAddr>) -> Option<IpAddr> {
    Some(match address?.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    })
}

/// One of the handshakes under way, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct HandshakeSlot {
    admission: Arc<Admission>,
    source: Option<IpAddr>,
    id: u64,
    has_spoken: Arc<AtomicBool>,
}

impl HandshakeSlot {
    /// Returns the flag to be set as soon as the peer has sent anything.
    pub(crate) fn has_spoken(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.has_spoken)
    }
}

impl Drop for HandshakeSlot {
    fn drop(&mut self) {
        self.admission.lock().remove(self.source, self.id);
    }
}

/// One of the connections that a client has at once.
#[derive(Debug)]
struct OwnConnection(Arc<ClientAccount>);

impl Drop for OwnConnection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One of the connections that the server has at once, given back when it is dropped.
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

    fn has_to_go(evicted: &mut oneshot::Receiver<()>) -> bool {
        evicted.try_recv().is_ok()
    }

    #[test]
    fn who_has_said_nothing_gives_way_first() {
        let admission = admission(100, 3);
        let mut all: Vec<_> = (0..3).map(|_| admission.begin_handshake(address("192.0.2.1"))).collect();
        all[0].0.has_spoken().store(true, Ordering::Relaxed);
        all.push(admission.begin_handshake(address("192.0.2.1")));
        let gone = |all: &mut Vec<(HandshakeSlot, oneshot::Receiver<()>)>| -> Vec<bool> {
            all.iter_mut().map(|(_, evicted)| has_to_go(evicted)).collect()
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
    fn the_address_with_the_most_handshakes_makes_room_for_others() {
        let admission = admission(4, 3);
        let mut crowd: Vec<_> = (0..3).map(|_| admission.begin_handshake(address("2001:db8::1"))).collect();
        let mut others = ["192.0.2.1", "192.0.2.2"].map(|from| admission.begin_handshake(address(from)));
        assert!(has_to_go(&mut crowd[0].1));
        assert!(others.iter_mut().all(|(_, evicted)| !has_to_go(evicted)));
        // Addresses of one network of 64 bits are one.
        let _third = admission.begin_handshake(address("2001:db8::2"));
        assert!(has_to_go(&mut crowd[1].1));
        assert!(admission.evict_one());
        assert_eq!(admission.lock().len, 3);
    }
}

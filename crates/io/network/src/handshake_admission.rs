//! Connections whose client is not known yet, limited in all and by address.
//!
//! A new connection is never refused. If the maximum is open, an older one is evicted, preferably one that has sent
//! nothing. So a crowd of silent connections displaces its own members, and a client that does its handshake is served.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The connections whose client is not known yet.
///
/// ```
/// # use std::sync::Arc;
/// # use oarlock_network::HandshakeAdmission;
/// # async fn shake_hands() {}
/// # async fn serve() {
/// let admission = Arc::new(HandshakeAdmission::new(512, 64));
/// let (slot, evicted) = admission.begin(Some([192, 0, 2, 1].into()));
/// tokio::select! {
///     () = shake_hands() => drop(slot),
///     Ok(()) = evicted => { /* Close the connection: a newer one has taken its place. */ }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct HandshakeAdmission {
    handshakes: Mutex<OpenHandshakes>,
    max: usize,
    max_per_address: usize,
}

/// One of the connections that may be open, given back when it is dropped.
#[derive(Debug)]
pub struct HandshakeSlot {
    admission: Arc<HandshakeAdmission>,
    source: Option<IpAddr>,
    id: u64,
    has_spoken: Arc<AtomicBool>,
}

impl HandshakeAdmission {
    /// Returns limits: the maximum connections, and the maximum of one address.
    #[must_use]
    pub fn new(max: usize, max_per_address: usize) -> Self {
        Self { handshakes: Mutex::default(), max: max.max(1), max_per_address: max_per_address.max(1) }
    }

    /// Counts a connection. Returns its slot, and a receiver that is ready when the connection is evicted. Connections
    /// without an address count as those of one address.
    pub fn begin(self: &Arc<Self>, address: Option<IpAddr>) -> (HandshakeSlot, oneshot::Receiver<()>) {
        let source = address.map(source_of);
        let (evict, evicted) = oneshot::channel();
        let has_spoken = Arc::new(AtomicBool::new(false));
        let mut handshakes = self.lock();
        // A source at its own maximum displaces only its own connections, so it cannot push out others.
        if handshakes.len_of(source) >= self.max_per_address {
            handshakes.evict(source);
        } else if handshakes.len >= self.max
            && let Some(largest) = handshakes.largest()
        {
            handshakes.evict(largest);
        }
        let id = handshakes.add(source, Handshake { id: 0, has_spoken: Arc::clone(&has_spoken), evict });
        (HandshakeSlot { admission: Arc::clone(self), source, id, has_spoken }, evicted)
    }

    /// Evicts a connection of the address that has the most. Returns false if there is none.
    pub fn evict_one(&self) -> bool {
        let mut handshakes = self.lock();
        let largest = handshakes.largest();
        largest.is_some_and(|largest| handshakes.evict(largest))
    }

    /// Evicts a connection that has sent nothing, of the address that has the most of these. Returns false if there is
    /// none.
    pub fn evict_silent(&self) -> bool {
        let mut handshakes = self.lock();
        let most = handshakes.by_source.iter().max_by_key(|(_, source)| count_silent(source));
        most.map(|(source, _)| *source).is_some_and(|source| handshakes.evict_silent(source, u64::MAX))
    }

    /// Returns the number of connections now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len
    }

    /// Returns true if no connection is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if at least half of the maximum is open. A service logs this: no client suffers yet.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.len() >= self.max.div_ceil(2)
    }

    fn lock(&self) -> MutexGuard<'_, OpenHandshakes> {
        self.handshakes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HandshakeSlot {
    /// Evicts a connection of this address that has sent nothing and is older than this one. Returns false if there is
    /// none.
    #[must_use]
    pub fn evict_older(&self, address: IpAddr) -> bool {
        self.admission.lock().evict_silent(Some(source_of(address)), self.id)
    }

    /// Returns the flag to set as soon as the peer has sent any byte.
    #[must_use]
    pub fn has_spoken(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.has_spoken)
    }
}

impl Drop for HandshakeSlot {
    fn drop(&mut self) {
        self.admission.lock().remove(self.source, self.id);
    }
}

/// Returns the address by which connections are counted: that of IPv4, or the first 64 bits of IPv6, which one customer
/// has at least.
#[must_use]
pub fn source_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

/// The open connections by their source.
#[derive(Debug, Default)]
struct OpenHandshakes {
    by_source: HashMap<Option<IpAddr>, VecDeque<Handshake>>,
    len: usize,
    last_id: u64,
}

#[derive(Debug)]
struct Handshake {
    id: u64,
    /// True if the peer has sent any byte.
    has_spoken: Arc<AtomicBool>,
    /// The sender that evicts the connection.
    evict: oneshot::Sender<()>,
}

impl Handshake {
    fn is_silent(&self) -> bool {
        !self.has_spoken.load(Ordering::Relaxed)
    }
}

fn count_silent(handshakes: &VecDeque<Handshake>) -> usize {
    handshakes.iter().filter(|handshake| handshake.is_silent()).count()
}

impl OpenHandshakes {
    fn len_of(&self, source: Option<IpAddr>) -> usize {
        self.by_source.get(&source).map_or(0, VecDeque::len)
    }

    fn largest(&self) -> Option<Option<IpAddr>> {
        self.by_source.iter().max_by_key(|(_, source)| source.len()).map(|(source, _)| *source)
    }

    fn add(&mut self, source: Option<IpAddr>, handshake: Handshake) -> u64 {
        self.last_id += 1;
        self.len += 1;
        let id = self.last_id;
        self.by_source.entry(source).or_default().push_back(Handshake { id, ..handshake });
        id
    }

    /// Evicts the oldest silent connection of a source, or the oldest if none is silent.
    fn evict(&mut self, source: Option<IpAddr>) -> bool {
        self.evict_silent(source, u64::MAX) || self.evict_at(source, 0)
    }

    /// Evicts the oldest silent connection of a source, if it has begun before the one with the number `before`.
    fn evict_silent(&mut self, source: Option<IpAddr>, before: u64) -> bool {
        let queue = self.by_source.get(&source);
        // It is in the order of arrival, so the first match is the oldest.
        let is_older = |handshake: &Handshake| handshake.is_silent() && handshake.id < before;
        let oldest = queue.and_then(|queue| queue.iter().position(is_older));
        oldest.is_some_and(|index| self.evict_at(source, index))
    }

    fn evict_at(&mut self, source: Option<IpAddr>, index: usize) -> bool {
        let queue = self.by_source.get_mut(&source);
        let Some(handshake) = queue.and_then(|queue| queue.remove(index)) else { return false };
        // An error means that the connection has ended already.
        let _ = handshake.evict.send(());
        self.remove_source_if_empty(source);
        true
    }

    fn remove(&mut self, source: Option<IpAddr>, id: u64) {
        let Some(queue) = self.by_source.get_mut(&source) else { return };
        // An evicted connection was removed before.
        if let Some(index) = queue.iter().position(|handshake| handshake.id == id) {
            queue.remove(index);
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

#[cfg(test)]
mod tests {
    use super::*;

    type Begun = (HandshakeSlot, oneshot::Receiver<()>);

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    fn is_evicted(evicted: &mut oneshot::Receiver<()>) -> bool {
        evicted.try_recv().is_ok()
    }

    #[test]
    fn silent_connections_are_evicted_first_and_then_the_oldest() {
        let admission = Arc::new(HandshakeAdmission::new(100, 3));
        let mut all: Vec<_> = (0..3).map(|_| admission.begin(address("192.0.2.1"))).collect();
        all[0].0.has_spoken().store(true, Ordering::Relaxed);
        all.push(admission.begin(address("192.0.2.1")));
        let gone = |all: &mut Vec<Begun>| -> Vec<bool> {
            all.iter_mut().map(|(_, evicted)| is_evicted(evicted)).collect()
        };
        assert_eq!(gone(&mut all), [false, true, false, false]);
        all.iter().for_each(|(slot, _)| slot.has_spoken().store(true, Ordering::Relaxed));
        all.push(admission.begin(address("192.0.2.1")));
        assert_eq!(gone(&mut all), [true, false, false, false, false], "then the oldest");
        drop(all);
        let handshakes = admission.lock();
        assert!(handshakes.len == 0 && handshakes.by_source.is_empty());
    }

    #[test]
    fn the_address_with_the_most_connections_gives_way() {
        let admission = Arc::new(HandshakeAdmission::new(4, 3));
        let mut crowd: Vec<_> = (0..3).map(|_| admission.begin(address("2001:db8::1"))).collect();
        assert!(admission.is_crowded());
        let mut others = ["192.0.2.1", "192.0.2.2"].map(|from| admission.begin(address(from)));
        assert!(is_evicted(&mut crowd[0].1));
        assert!(others.iter_mut().all(|(_, evicted)| !is_evicted(evicted)));
        // Addresses of one network of 64 bits count as one source.
        let _third = admission.begin(address("2001:db8::2"));
        assert!(is_evicted(&mut crowd[1].1));
        assert!(admission.evict_one());
        assert_eq!(admission.len(), 3);
    }

    #[test]
    fn only_silent_connections_make_space_for_others() {
        let admission = Arc::new(HandshakeAdmission::new(100, 100));
        let mut first = admission.begin(address("192.0.2.1"));
        let mut second = admission.begin(address("192.0.2.2"));
        let mut third = admission.begin(address("192.0.2.2"));
        first.0.has_spoken().store(true, Ordering::Relaxed);
        assert!(!third.0.evict_older([192, 0, 2, 1].into()));
        assert!(!third.0.evict_older([192, 0, 2, 3].into()));
        assert!(third.0.evict_older([192, 0, 2, 2].into()) && is_evicted(&mut second.1));
        assert!(!third.0.evict_older([192, 0, 2, 2].into()), "not itself");
        assert!(admission.evict_silent() && !admission.evict_silent());
        assert!(is_evicted(&mut third.1) && !is_evicted(&mut first.1));
        assert_eq!((admission.len(), admission.is_empty()), (1, false));
    }
}

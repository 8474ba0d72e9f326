//! The limits of connections, in all and by address.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oarlock_network::source_of;

/// The connections that count against the limits.
#[derive(Debug, Default)]
pub(crate) struct ConnectionLimits {
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    len: usize,
    by_source: HashMap<IpAddr, usize>,
}

/// The maximum numbers of connections. They belong to the settings, which a reload replaces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionMaxima {
    pub(crate) all: usize,
    /// The maximum of an address; 0 means no limit.
    pub(crate) by_address: usize,
}

/// The limit that keeps a connection out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExceededLimit {
    #[error("the maximum of connections is open ([limits] max_connections)")]
    All,
    #[error("the client's address has the maximum of connections ([limits] max_connections_per_address)")]
    Address,
}

/// A connection that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct CountedConnection {
    limits: Arc<ConnectionLimits>,
    source: Option<IpAddr>,
}

impl ConnectionLimits {
    /// Counts a connection. Its address is counted by [`CountedConnection::set_address`], once it is known. At the
    /// limit `make_space` may end another connection, which counts until its task has run.
    pub(crate) fn admit(
        self: &Arc<Self>,
        maxima: ConnectionMaxima,
        make_space: impl FnOnce() -> bool,
    ) -> Result<CountedConnection, ExceededLimit> {
        let mut open = self.lock();
        if open.len >= maxima.all && !make_space() {
            return Err(ExceededLimit::All);
        }
        open.len += 1;
        Ok(CountedConnection { limits: Arc::clone(self), source: None })
    }

    /// Returns the number of connections.
    pub(crate) fn len(&self) -> usize {
        self.lock().len
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CountedConnection {
    /// Counts the connection for the address of its client. At the limit `make_space` may end another connection of the
    /// address.
    pub(crate) fn set_address(
        &mut self,
        address: IpAddr,
        maxima: ConnectionMaxima,
        make_space: impl FnOnce() -> bool,
    ) -> Result<(), ExceededLimit> {
        let source = source_of(address);
        let mut open = self.limits.lock();
        let count = open.by_source.entry(source).or_insert(0);
        if maxima.by_address > 0 && *count >= maxima.by_address && !make_space() {
            // The entry exists, because the maximum is at least 1.
            return Err(ExceededLimit::Address);
        }
        *count += 1;
        self.source = Some(source);
        Ok(())
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let mut open = self.limits.lock();
        open.len -= 1;
        // An address without connections takes no memory.
        if let Some(Entry::Occupied(mut count)) = self.source.map(|source| open.by_source.entry(source)) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAXIMA: ConnectionMaxima = ConnectionMaxima { all: 3, by_address: 2 };

    #[test]
    fn connections_are_limited_in_all_and_by_address() {
        let limits = Arc::new(ConnectionLimits::default());
        let admit = |address: &str| {
            let mut connection = limits.admit(MAXIMA, || false)?;
            connection.set_address(address.parse().unwrap(), MAXIMA, || false).map(|()| connection)
        };
        let first = admit("192.0.2.1").unwrap();
        let _second = admit("::ffff:192.0.2.1").unwrap();
        assert_eq!(admit("192.0.2.1").unwrap_err(), ExceededLimit::Address);
        let _third = admit("192.0.2.2").unwrap();
        assert_eq!(admit("192.0.2.3").unwrap_err(), ExceededLimit::All);
        drop(first);
        let _fourth = admit("192.0.2.1").unwrap();
        assert_eq!(limits.lock().len, 3);
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_client_and_leaves_no_entry() {
        let limits = Arc::new(ConnectionLimits::default());
        let admit = |address: &str| {
            let mut connection = limits.admit(MAXIMA, || false)?;
            connection.set_address(address.parse().unwrap(), MAXIMA, || false).map(|()| connection)
        };
        let open = [admit("2001:db8::1").unwrap(), admit("2001:db8::2").unwrap()];
        assert_eq!(admit("2001:db8:0:0:ffff::3").unwrap_err(), ExceededLimit::Address);
        drop(admit("2001:db8:0:1::1").unwrap());
        drop(open);
        assert!(limits.lock().by_source.is_empty() && limits.lock().len == 0);
    }

    #[test]
    fn no_limit_by_address_is_possible() {
        let limits = Arc::new(ConnectionLimits::default());
        let maxima = ConnectionMaxima { all: 100, by_address: 0 };
        let open: Vec<_> = (0..100)
            .map(|_| {
                let mut connection = limits.admit(maxima, || false).unwrap();
                connection.set_address([192, 0, 2, 1].into(), maxima, || false).unwrap();
                connection
            })
            .collect();
        assert_eq!(open.len(), 100);
        assert_eq!(limits.admit(maxima, || false).unwrap_err(), ExceededLimit::All);
        assert!(limits.admit(maxima, || true).is_ok(), "another connection makes space");
    }
}

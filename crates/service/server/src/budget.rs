//! The bytes that requests and their answers hold: bounded for each client, and for all clients together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::buffers::GUARANTEED_BYTES;

/// The bytes that all clients hold together.
#[derive(Debug)]
pub(crate) struct ByteBudget {
    max: usize,
    used: AtomicUsize,
}

impl ByteBudget {
    pub(crate) fn new(max: usize) -> Self {
        Self { max, used: AtomicUsize::new(0) }
    }

    /// Returns the bytes that are held now.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// The bytes that one client holds.
#[derive(Debug)]
pub(crate) struct ClientBytes {
    max: usize,
    used: AtomicUsize,
    all: Arc<ByteBudget>,
}

/// A limit that more bytes would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BytesError {
    #[error(
        "this client's requests and answers hold the maximum of bytes ([limits] max_bytes_per_client is {max}): send less at \
         once, and read answers"
    )]
    Client { max: usize },
    #[error(
        "the requests and answers of all clients hold the maximum of bytes ([limits] max_bytes is {max}): try again"
    )]
    All { max: usize },
}

impl ClientBytes {
    pub(crate) fn new(max: usize, all: Arc<ByteBudget>) -> Self {
        Self { max, used: AtomicUsize::new(0), all }
    }

    /// Returns the bytes that the client may hold in addition.
    pub(crate) fn left(&self) -> usize {
        self.max.saturating_sub(self.used())
    }

    /// Returns the bytes that the client holds.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns true if the client has half of its bytes left after it has taken so many. What it keeps for long, such
    /// as rings, must not use up what its requests need.
    pub(crate) fn leaves_half(&self, bytes: usize) -> bool {
        self.left().saturating_sub(bytes) >= self.max / 2
    }

    /// Returns true if the client holds nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.used() == 0
    }

    fn take(&self, bytes: usize) -> Result<(), BytesError> {
        // Added first and taken back on failure: two requests that check first and add later could both pass.
        let used = self.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if used > self.max {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(BytesError::Client { max: self.max });
        }
        let all = self.all.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        // The guarantee may push the sum above the maximum, which `max_memory_bytes` accounts for.
        if all > self.all.max && used > GUARANTEED_BYTES {
            self.give_back(bytes);
            return Err(BytesError::All { max: self.all.max });
        }
        Ok(())
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        self.all.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Bytes that are held for a client, given back when this is dropped.
#[derive(Debug)]
pub(crate) struct HeldBytes {
    client: Arc<ClientBytes>,
    bytes: usize,
}

impl HeldBytes {
    /// Holds no bytes yet.
    pub(crate) fn none(client: &Arc<ClientBytes>) -> Self {
        Self { client: Arc::clone(client), bytes: 0 }
    }

    /// Holds this number of bytes.
    ///
    /// # Errors
    /// The client, or all clients together, would hold more than the maximum.
    pub(crate) fn new(client: &Arc<ClientBytes>, bytes: usize) -> Result<Self, BytesError> {
        client.take(bytes)?;
        Ok(Self { client: Arc::clone(client), bytes })
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// Holds this number of bytes from now on, more or fewer than before.
    ///
    /// # Errors
    /// As for [`HeldBytes::new`]. Then the number does not change.
    pub(crate) fn resize(&mut self, bytes: usize) -> Result<(), BytesError> {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.client.take(more)?,
            None => self.client.give_back(self.bytes - bytes),
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Gives back the bytes beyond this number.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        let fewer = self.bytes.saturating_sub(bytes);
        self.client.give_back(fewer);
        self.bytes -= fewer;
    }

    /// Separates this number of bytes, or all if there are fewer.
    pub(crate) fn split_off(&mut self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { client: Arc::clone(&self.client), bytes }
    }

    /// Adds bytes that are held for the same client.
    pub(crate) fn merge(&mut self, mut other: Self) {
        // Taken out, so that dropping `other` gives nothing back.
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.client.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::ClientAccounts;
    use crate::config::ServerLimits;
    use crate::identity::ClientIdentity;

    const KIB: usize = 1 << 10;

    fn clients(max_bytes: usize, max_bytes_per_client: usize) -> ClientAccounts {
        ClientAccounts::new(&ServerLimits { max_bytes, max_bytes_per_client, ..ServerLimits::default() })
    }

    #[test]
    fn bounds_the_bytes_of_one_client_and_takes_them_back() {
        let clients = clients(1 << 30, 100 * KIB);
        let client = clients.find(&ClientIdentity::from_credentials(1, 1));
        let mut held = HeldBytes::new(&client.bytes, 60 * KIB).unwrap();
        let error = HeldBytes::new(&client.bytes, 41 * KIB).unwrap_err();
        assert_eq!(error, BytesError::Client { max: 100 * KIB });
        assert!(held.resize(101 * KIB).is_err());
        assert_eq!(held.len(), 60 * KIB, "a refused growth changes nothing");
        let part = held.split_off(20 * KIB);
        drop(held);
        assert_eq!(client.bytes.left(), 80 * KIB);
        drop(part);
        assert!(client.bytes.is_empty());
        assert_eq!(clients.budget().used(), 0);
    }

    #[test]
    fn serves_small_requests_although_other_clients_hold_everything() {
        let clients = clients(1000 * KIB, 600 * KIB);
        let greedy = [1, 2].map(|uid| clients.find(&ClientIdentity::from_credentials(uid, 0)));
        let _held = [
            HeldBytes::new(&greedy[0].bytes, 600 * KIB).unwrap(),
            HeldBytes::new(&greedy[1].bytes, 400 * KIB).unwrap(),
        ];
        assert_eq!(HeldBytes::new(&greedy[1].bytes, KIB).unwrap_err(), BytesError::All { max: 1000 * KIB });
        let small = clients.find(&ClientIdentity::from_credentials(3, 0));
        let held = HeldBytes::new(&small.bytes, GUARANTEED_BYTES).unwrap();
        assert_eq!(HeldBytes::new(&small.bytes, 1).unwrap_err(), BytesError::All { max: 1000 * KIB });
        assert_eq!(clients.budget().used(), 1000 * KIB + GUARANTEED_BYTES);
        drop(held);
        assert_eq!(clients.budget().used(), 1000 * KIB);
    }
}

//! The space in the queue that is reserved for requests, and the share of each client.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::AuditError;
use super::entry::{self, AuditOrigin, AuditedOperation};
use super::queue::{self, AuditQueue};

/// The bytes of the queue that the unanswered requests of one client have reserved.
#[derive(Debug, Default)]
pub(crate) struct ReservedBytes(AtomicUsize);

impl ReservedBytes {
    /// Adds bytes, unless the sum would exceed `max`.
    fn take(&self, bytes: usize, max: usize) -> bool {
        let add = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= max);
        // Relaxed is enough: the number guards no other memory.
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The space in the queue for the entries of one request, given back if it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Reservation {
    queue: Option<Arc<AuditQueue>>,
    account: Arc<ReservedBytes>,
    bytes: usize,
}

impl Reservation {
    /// Reserves space on a client's account.
    pub(super) fn take(
        queue: &Arc<AuditQueue>,
        account: &Arc<ReservedBytes>,
        bytes: usize,
    ) -> Result<Self, AuditError> {
        let max = queue.limits().max_of_client;
        let taken = if bytes > max {
            Err(AuditError::TooLarge { needed: bytes, max })
        } else if account.take(bytes, max) {
            // The account comes first: a client beyond its share must not even try the shared queue.
            queue.reserve(bytes).inspect_err(|_| account.give_back(bytes))
        } else {
            Err(AuditError::TooMany { max })
        };
        let reservation =
            |bytes| Self { queue: Some(Arc::clone(queue)), account: Arc::clone(account), bytes };
        match taken {
            Ok(()) => Ok(reservation(bytes)),
            Err(error) if queue.must_keep() => Err(error),
            // If entries may be lost, the request runs without a reservation and takes the space that is left when it
            // ends.
            Err(_) => Ok(reservation(0)),
        }
    }

    /// Writes the entries of the request.
    ///
    /// # Errors
    /// The log must be kept and is closed: the results must not leave.
    pub(crate) fn commit(
        mut self,
        origin: &AuditOrigin,
        request: u64,
        done: &[AuditedOperation<'_>],
    ) -> Result<(), AuditError> {
        let Some(queue) = self.queue.take() else { return Ok(()) };
        let mut lines = Vec::with_capacity(self.bytes.min(queue::MAX_PIECE));
        for operation in done {
            entry::write_operation(&mut lines, origin, request, operation);
        }
        // Set to zero, so that dropping `self` does not give the bytes back a second time.
        let bytes = std::mem::take(&mut self.bytes);
        self.account.give_back(bytes);
        queue.put(&lines, done.len(), bytes)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(queue) = &self.queue {
            self.account.give_back(self.bytes);
            queue.give_back(self.bytes);
        }
    }
}

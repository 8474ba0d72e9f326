//! Places in the queue that are promised to requests, and what each client has of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::AuditError;
use super::entry::{self, AuditOrigin, AuditedOperation};
use super::queue::{self, AuditQueue};

/// Bytes of the audit log's queue that the requests under way of one client have reserved.
#[derive(Debug, Default)]
pub(crate) struct ReservedBytes(AtomicUsize);

impl ReservedBytes {
    /// Adds bytes, unless they would become more than `max`.
    fn take(&self, bytes: usize, max: usize) -> bool {
        let add = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= max);
        // The number says nothing of other memory, so no ordering is needed.
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A place in the queue for the entries of one request. Given back if it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Reservation {
    queue: Option<Arc<AuditQueue>>,
    account: Arc<ReservedBytes>,
    bytes: usize,
}

impl Reservation {
    /// Takes a place on a client's account.
    pub(super) fn take(
        queue: &Arc<AuditQueue>,
        account: &Arc<ReservedBytes>,
        bytes: usize,
    ) -> Result<Self, AuditError> {
        let max = queue.limits().max_of_client;
        let taken = if bytes > max {
            Err(AuditError::TooLarge { needed: bytes, max })
        } else if account.take(bytes, max) {
            queue.reserve(bytes).inspect_err(|_| account.give_back(bytes))
        } else {
            Err(AuditError::TooMany { max })
        };
        let reservation =
            |bytes| Self { queue: Some(Arc::clone(queue)), account: Arc::clone(account), bytes };
        match taken {
            Ok(()) => Ok(reservation(bytes)),
            Err(error) if queue.must_keep() => Err(error),
            // Its entries have a place if there is one when the work is done.
            Err(_) => Ok(reservation(0)),
        }
    }

    /// Writes down what was done.
    ///
    /// # Errors
    /// The log must be kept and is closed: the results must not leave.
    pub(crate) fn put(
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

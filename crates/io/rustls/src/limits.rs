//! The number of handshakes that compute or wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::TlsHandshakeError;

/// Limits of the handshakes of an acceptor or connector. Clones of it share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeLimits {
    /// The maximum number of handshakes that compute, or wait for their jobs. Others wait for their turn.
    pub max_under_way: usize,
    /// The maximum number of further handshakes, which wait for their turn or for their peer. Beyond it a handshake is
    /// refused at once.
    pub max_waiting: usize,
}

/// 1,024 handshakes that compute, and 4,096 waiting. A handshake that computes takes some 40 KiB, one that waits for
/// its peer 10 to 20.
impl Default for HandshakeLimits {
    fn default() -> Self {
        Self { max_under_way: 1_024, max_waiting: 4_096 }
    }
}

/// The handshakes that count against one pair of limits.
#[derive(Debug)]
pub(crate) struct HandshakeQueue {
    max: usize,
    admitted: AtomicUsize,
    turns: Arc<Semaphore>,
}

/// A place among the handshakes that are open, until it is dropped.
#[derive(Debug)]
pub(crate) struct QueueTicket(Arc<HandshakeQueue>);

impl HandshakeQueue {
    pub(crate) fn new(limits: HandshakeLimits) -> Arc<Self> {
        let under_way = limits.max_under_way.clamp(1, Semaphore::MAX_PERMITS);
        Arc::new(Self {
            max: under_way.saturating_add(limits.max_waiting),
            admitted: AtomicUsize::new(0),
            turns: Arc::new(Semaphore::new(under_way)),
        })
    }

    /// # Errors
    /// [`TlsHandshakeError::Busy`] if the queue is full.
    pub(crate) fn enter(self: &Arc<Self>) -> Result<QueueTicket, TlsHandshakeError> {
        let add_one = |admitted| (admitted < self.max).then_some(admitted + 1);
        match self.admitted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add_one) {
            Ok(_) => Ok(QueueTicket(Arc::clone(self))),
            Err(_) => Err(TlsHandshakeError::Busy { max: self.max }),
        }
    }
}

impl QueueTicket {
    /// Waits until the handshake may compute. Its turn ends when the permit is dropped.
    pub(crate) async fn wait_turn(&self) -> Result<OwnedSemaphorePermit, TlsHandshakeError> {
        // unreachable otherwise because nobody closes the semaphore
        Arc::clone(&self.0.turns).acquire_owned().await.map_err(|_| TlsHandshakeError::Stopped)
    }
}

impl Drop for QueueTicket {
    fn drop(&mut self) {
        self.0.admitted.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_queue_refuses_at_once() {
        let queue = HandshakeQueue::new(HandshakeLimits { max_under_way: 1, max_waiting: 1 });
        let first = queue.enter().unwrap();
        let turn = first.wait_turn().await.unwrap();
        let second = queue.enter().unwrap();
        assert!(matches!(queue.enter(), Err(TlsHandshakeError::Busy { max: 2 })));
        drop((turn, first));
        let _turn = second.wait_turn().await.unwrap();
        assert!(queue.enter().is_ok());
    }

    #[test]
    fn one_handshake_is_always_allowed() {
        let queue = HandshakeQueue::new(HandshakeLimits { max_under_way: 0, max_waiting: 0 });
        let _queued = queue.enter().unwrap();
        assert!(queue.enter().is_err());
    }
}

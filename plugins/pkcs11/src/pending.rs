//! Calls of asynchronous sessions that are not finished: the buffers for their outputs, and the descriptors that tell
//! an event loop of their end.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use oarlock_ffi::EventDescriptor;

/// The buffer of a caller. The caller keeps it until the call is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingBuffer {
    pub(crate) address: usize,
    /// The size in bytes.
    pub(crate) len: usize,
}

/// The unfinished calls of all sessions.
#[derive(Debug, Default)]
pub(crate) struct PendingCalls {
    sessions: Mutex<HashMap<u64, SessionCalls>>,
    /// True if there was ever an entry, so that other programs never take the lock.
    is_used: AtomicBool,
}

#[derive(Debug, Default)]
struct SessionCalls {
    /// One buffer per function: a session has one unfinished call of each.
    buffers: Vec<(&'static str, PendingBuffer)>,
    descriptor: Option<Arc<EventDescriptor>>,
}

impl PendingCalls {
    /// Keeps the buffer of a call that is not finished.
    pub(crate) fn keep(&self, session: u64, function: &'static str, buffer: PendingBuffer) {
        self.is_used.store(true, Ordering::Release);
        let mut sessions = self.lock();
        let calls = sessions.entry(session).or_default();
        calls.buffers.retain(|(other, _)| *other != function);
        calls.buffers.push((function, buffer));
    }

    /// Returns the buffer of a call.
    pub(crate) fn buffer(&self, session: u64, function: &str) -> Option<PendingBuffer> {
        let sessions = self.lock();
        let buffers = &sessions.get(&session)?.buffers;
        buffers.iter().find(|(other, _)| *other == function).map(|(_, buffer)| *buffer)
    }

    /// Forgets the buffer of a call that is complete.
    pub(crate) fn complete(&self, session: u64, function: &str) {
        let mut sessions = self.lock();
        let Some(calls) = sessions.get_mut(&session) else { return };
        calls.buffers.retain(|(other, _)| *other != function);
        // The descriptor was reset before this call was asked for. Another one may have finished before that.
        if let Some(descriptor) = calls.descriptor.as_ref().filter(|_| !calls.buffers.is_empty()) {
            descriptor.signal();
        }
    }

    /// Makes the descriptor unreadable until another call is finished. Done before a call is asked for, so that an end
    /// in between is not missed.
    pub(crate) fn reset_descriptor(&self, session: u64) {
        if let Some(descriptor) = self.lock().get(&session).and_then(|calls| calls.descriptor.as_ref()) {
            descriptor.reset();
        }
    }

    /// Returns the descriptor of a session, and its waker if it is new.
    ///
    /// # Errors
    /// Too many open files.
    pub(crate) fn descriptor(&self, session: u64) -> io::Result<(RawFd, Option<Waker>)> {
        self.is_used.store(true, Ordering::Release);
        let mut sessions = self.lock();
        let calls = sessions.entry(session).or_default();
        if let Some(descriptor) = &calls.descriptor {
            return Ok((descriptor.as_fd().as_raw_fd(), None));
        }
        let descriptor = Arc::new(EventDescriptor::new()?);
        let number = descriptor.as_fd().as_raw_fd();
        // A call may have finished already.
        descriptor.signal();
        calls.descriptor = Some(Arc::clone(&descriptor));
        Ok((number, Some(Waker::from(descriptor))))
    }

    /// Forgets a session that was closed, and closes its descriptor.
    pub(crate) fn forget(&self, session: u64) {
        if self.is_used.load(Ordering::Acquire) {
            let calls = self.lock().remove(&session);
            drop(calls);
        }
    }

    /// Forgets the sessions for which `is_open` is false.
    pub(crate) fn retain(&self, is_open: impl Fn(u64) -> bool) {
        if self.is_used.load(Ordering::Acquire) {
            self.lock().retain(|session, _| is_open(*session));
        }
    }

    /// Forgets every session.
    pub(crate) fn forget_all(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, SessionCalls>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFER: PendingBuffer = PendingBuffer { address: 0x1000, len: 256 };

    #[test]
    fn a_buffer_is_kept_until_its_call_is_complete() {
        let pending = PendingCalls::default();
        pending.keep(7, "C_Sign", BUFFER);
        assert_eq!(pending.buffer(7, "C_Sign"), Some(BUFFER));
        assert_eq!(pending.buffer(7, "C_SignFinal"), None);
        assert_eq!(pending.buffer(8, "C_Sign"), None);
        pending.complete(7, "C_Sign");
        assert_eq!(pending.buffer(7, "C_Sign"), None);
    }

    #[test]
    fn a_closed_session_is_forgotten() {
        let pending = PendingCalls::default();
        pending.keep(7, "C_Sign", BUFFER);
        pending.keep(8, "C_Sign", BUFFER);
        pending.forget(7);
        assert_eq!(pending.buffer(7, "C_Sign"), None);
        pending.retain(|session| session != 8);
        assert_eq!(pending.buffer(8, "C_Sign"), None);
    }

    #[test]
    fn a_session_has_one_descriptor() {
        let pending = PendingCalls::default();
        let (first, waker) = pending.descriptor(7).unwrap();
        assert!(waker.is_some());
        let (second, waker) = pending.descriptor(7).unwrap();
        assert_eq!(first, second);
        assert!(waker.is_none());
        assert_ne!(pending.descriptor(8).unwrap().0, first);
    }
}

//! Slot events: tokens that come and go.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oarlock::process::ProcessLocal;
use oarlock_cryptoki::{ReturnCode, SlotId};

use crate::fork;
use crate::token::TokenPresence;

/// The time between two looks at the tokens, while a thread waits.
const LOOK: Duration = Duration::from_secs(1);

/// The events of all slots.
pub(crate) struct SlotEvents {
    slots: Vec<(SlotId, Arc<dyn TokenPresence>)>,
    waits: ProcessLocal<EventWaits>,
}

/// The waiting threads of a process. Their lock is not held within counted calls.
struct EventWaits {
    state: Mutex<EventState>,
    /// Notified when the library is finalised.
    closed: Condvar,
}

#[derive(Default)]
struct EventState {
    /// The changes of each slot that a caller has seen.
    seen: Vec<u64>,
    is_closed: bool,
}

impl SlotEvents {
    /// Creates the events of the slots whose tokens may come and go.
    pub(crate) fn new(slots: Vec<(SlotId, Arc<dyn TokenPresence>)>) -> Self {
        Self { slots, waits: ProcessLocal::new() }
    }

    /// Returns a slot with an event.
    ///
    /// # Errors
    /// [`ReturnCode::NoEvent`] if there is none and `must_wait` is false; [`ReturnCode::CryptokiNotInitialized`] if the
    /// library is finalised while this waits.
    pub(crate) fn next(&self, must_wait: bool) -> Result<SlotId, ReturnCode> {
        loop {
            let call = fork::enter_call();
            // Looks may ask a server, so the lock is not held.
            let changes: Vec<u64> = self.slots.iter().map(|(_, token)| token.changes()).collect();
            let mut state = self.lock();
            if state.is_closed {
                return Err(ReturnCode::CryptokiNotInitialized);
            }
            if let Some(slot) = self.take_event(&mut state, &changes) {
                return Ok(slot);
            }
            if !must_wait {
                return Err(ReturnCode::NoEvent);
            }
            drop(call);
            self.wait(state);
        }
    }

    fn take_event(&self, state: &mut EventState, changes: &[u64]) -> Option<SlotId> {
        let mut slots = self.slots.iter().zip(changes).zip(&mut state.seen);
        let ((slot, now), seen) = slots.find(|((_, now), seen)| **now > **seen)?;
        // All changes of a slot until now are one event: the caller asks for its state.
        *seen = *now;
        Some(slot.0)
    }

    fn wait(&self, state: MutexGuard<'_, EventState>) {
        let closed = &self.waits().closed;
        if self.slots.is_empty() {
            // No slot can have an event, so only the end of the library is waited for.
            let waited = closed.wait_while(state, |state| !state.is_closed);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        } else {
            let waited = closed.wait_timeout_while(state, LOOK, |state| !state.is_closed);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Ends every wait.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.waits().closed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, EventState> {
        self.waits().state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A child continues with the events that its parent has seen, or sees all again if it cannot know them.
    fn waits(&self) -> &EventWaits {
        let seen = |parent: &EventWaits| parent.state.try_lock().ok().map(|state| state.seen.clone());
        self.waits.get(|parent| {
            let seen = parent.and_then(seen).unwrap_or_else(|| vec![0; self.slots.len()]);
            let state = Mutex::new(EventState { seen, is_closed: false });
            EventWaits { state, closed: Condvar::new() }
        })
    }
}

impl fmt::Debug for SlotEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SlotEvents({} slots)", self.slots.len())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[derive(Default)]
    struct CountedChanges(AtomicU64);

    impl TokenPresence for CountedChanges {
        fn changes(&self) -> u64 {
            self.0.load(Ordering::Acquire)
        }
    }

    #[test]
    fn a_change_is_one_event_of_its_slot() {
        let (still, moving) = (Arc::new(CountedChanges::default()), Arc::new(CountedChanges::default()));
        let events = SlotEvents::new(vec![(SlotId(3), still), (SlotId(5), Arc::clone(&moving) as _)]);
        assert_eq!(events.next(false), Err(ReturnCode::NoEvent));
        moving.0.store(2, Ordering::Release);
        assert_eq!(events.next(false), Ok(SlotId(5)));
        assert_eq!(events.next(false), Err(ReturnCode::NoEvent));
        moving.0.store(3, Ordering::Release);
        assert_eq!(events.next(true), Ok(SlotId(5)));
    }

    #[test]
    fn the_end_of_the_library_ends_a_wait() {
        for slots in
            [vec![], vec![(SlotId(0), Arc::new(CountedChanges::default()) as Arc<dyn TokenPresence>)]]
        {
            let events = SlotEvents::new(slots);
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| events.next(true));
                events.close();
                assert_eq!(waiting.join().unwrap(), Err(ReturnCode::CryptokiNotInitialized));
            });
        }
    }
}

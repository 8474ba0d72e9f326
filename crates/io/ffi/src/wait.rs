//! Descriptors that the event loop of another program waits for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

/// A descriptor that is readable from [`signal`](Self::signal) until [`reset`](Self::reset). As a waker, it signals
/// itself.
#[derive(Debug)]
pub struct EventDescriptor(OwnedFd);

impl EventDescriptor {
    /// Makes a descriptor that has not been signalled. Child programs do not inherit it.
    ///
    /// # Errors
    /// Too many open files.
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Makes the descriptor readable. Repeated calls are cheap.
    pub fn signal(&self) {
        // This fails only after 2^64 - 2 signals without a reset, when the descriptor is readable in any case.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Makes the descriptor unreadable until the next signal.
    pub fn reset(&self) {
        let mut count = [0; 8];
        // This fails if there was no signal, when the descriptor is unreadable in any case.
        let _ = rustix::io::read(&self.0, &mut count);
    }
}

impl AsFd for EventDescriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Wake for EventDescriptor {
    fn wake(self: Arc<Self>) {
        self.signal();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.signal();
    }
}

/// A descriptor that is readable if one of the watched descriptors is. Its number stays the same while the watched ones
/// change. Event loops of other programs keep tables by number, which a closed and reused number would corrupt.
#[derive(Debug)]
pub struct WatchDescriptor(OwnedFd);

impl WatchDescriptor {
    /// Makes a descriptor that watches nothing. Child programs do not inherit it.
    ///
    /// # Errors
    /// Too many open files.
    pub fn new() -> io::Result<Self> {
        Ok(Self(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }

    /// Watches `other` until [`unwatch`](Self::unwatch), or until its last descriptor is closed.
    ///
    /// # Errors
    /// `epoll_ctl` fails: no memory, or too many watches.
    pub fn watch(&self, other: &impl AsFd) -> io::Result<()> {
        Ok(epoll::add(&self.0, other, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?)
    }

    /// Stops watching `other`.
    pub fn unwatch(&self, other: &impl AsFd) {
        // This fails if `other` was not watched, which is not an error here.
        let _ = epoll::delete(&self.0, other);
    }
}

impl AsFd for WatchDescriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A descriptor that becomes readable when a time has passed.
#[derive(Debug)]
pub struct TimerDescriptor(OwnedFd);

impl TimerDescriptor {
    /// Makes a timer that is not set. Child programs do not inherit it.
    ///
    /// # Errors
    /// Too many open files.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }

    /// Makes the descriptor readable after this time, and unreadable until then.
    pub fn set(&self, after: Duration) {
        // Zero would disable the timer.
        self.arm(after.max(Duration::from_nanos(1)));
    }

    /// Makes the descriptor unreadable until the timer is set again.
    pub fn clear(&self) {
        self.arm(Duration::ZERO);
    }

    fn arm(&self, after: Duration) {
        let it_value = Timespec {
            // Saturation is harmless: 300 years never pass.
            tv_sec: i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: after.subsec_nanos().into(),
        };
        let once = Itimerspec { it_interval: Timespec::default(), it_value };
        // This fails for invalid descriptors and times only.
        let set = timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once);
        debug_assert!(set.is_ok(), "{set:?}");
    }
}

impl AsFd for TimerDescriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;

    fn is_readable(fd: &impl AsFd) -> bool {
        poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&Timespec::default())).unwrap() == 1
    }

    #[test]
    fn an_event_descriptor_is_readable_from_signal_to_reset() {
        let event = Arc::new(EventDescriptor::new().unwrap());
        event.reset();
        assert!(!is_readable(&*event));
        std::task::Waker::from(event.clone()).wake();
        event.signal();
        assert!(is_readable(&*event));
        event.reset();
        assert!(!is_readable(&*event));
    }

    #[test]
    fn a_watch_descriptor_is_readable_if_a_watched_one_is() {
        let (gate, event) = (WatchDescriptor::new().unwrap(), EventDescriptor::new().unwrap());
        event.signal();
        assert!(!is_readable(&gate));
        gate.watch(&event).unwrap();
        assert!(is_readable(&gate));
        event.reset();
        assert!(!is_readable(&gate));
        event.signal();
        gate.unwatch(&event);
        assert!(!is_readable(&gate));
        gate.unwatch(&event);
    }

    #[test]
    fn a_timer_descriptor_is_readable_after_its_time() {
        let alarm = TimerDescriptor::new().unwrap();
        assert!(!is_readable(&alarm));
        alarm.set(Duration::ZERO);
        assert_eq!(poll(&mut [PollFd::new(&alarm, PollFlags::IN)], None), Ok(1));
        alarm.clear();
        assert!(!is_readable(&alarm));
        alarm.set(Duration::MAX);
        assert!(!is_readable(&alarm));
    }
}

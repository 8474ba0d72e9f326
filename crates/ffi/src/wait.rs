//! Descriptors that an event loop of somebody else's watches.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

/// A descriptor that is readable from [`signal`](Self::signal) until [`reset`](Self::reset). As a waker it signals
/// itself.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    /// One that has not been signalled; not inherited by programs that this process starts.
    ///
    /// # Errors
    /// Too many open files.
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Makes it readable. Cheap to repeat.
    pub fn signal(&self) {
        // It fails only where 2^64 - 2 signals have not been reset: it is readable then.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Makes it unreadable until the next signal.
    pub fn reset(&self) {
        let mut count = [0; 8];
        // It fails where there was no signal: it is unreadable then.
        let _ = rustix::io::read(&self.0, &mut count);
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Wake for Event {
    fn wake(self: Arc<Self>) {
        self.signal();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.signal();
    }
}

/// A descriptor that stays the same while what it stands for changes: it is readable when the one that it watches is.
/// Event loops of other programs keep tables by descriptor, in which a number that is closed and reused does harm.
#[derive(Debug)]
pub struct Gate(OwnedFd);

impl Gate {
    /// One that watches nothing; not inherited by programs that this process starts.
    ///
    /// # Errors
    /// Too many open files.
    pub fn new() -> io::Result<Self> {
        Ok(Self(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }

    /// Watches `other` until [`leave`](Self::leave), or until its last descriptor is closed.
    ///
    /// # Errors
    /// Of `epoll_ctl`: no memory, or too many watches.
    pub fn watch(&self, other: &impl AsFd) -> io::Result<()> {
        Ok(epoll::add(&self.0, other, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?)
    }

    /// Watches `other` no more.
    pub fn leave(&self, other: &impl AsFd) {
        // It fails where it was not watched.
        let _ = epoll::delete(&self.0, other);
    }
}

impl AsFd for Gate {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A descriptor that becomes readable when a time has passed.
#[derive(Debug)]
pub struct Alarm(OwnedFd);

impl Alarm {
    /// One that is not set; not inherited by programs that this process starts.
    ///
    /// # Errors
    /// Too many open files.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }

    /// Makes it readable once `after` has passed from now, not before.
    pub fn set(&self, after: Duration) {
        // Zero would switch it off.
        self.arm(after.max(Duration::from_nanos(1)));
    }

    /// Makes it unreadable until it is set again.
    pub fn clear(&self) {
        self.arm(Duration::ZERO);
    }

    fn arm(&self, after: Duration) {
        let it_value = Timespec {
            // Saturating: some 300 years are never.
            tv_sec: i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: after.subsec_nanos().into(),
        };
        let once = Itimerspec { it_interval: Timespec::default(), it_value };
        // It fails for wrong descriptors and times only.
        let set = timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once);
        debug_assert!(set.is_ok(), "{set:?}");
    }
}

impl AsFd for Alarm {
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
    fn an_event_is_readable_from_signal_to_reset() {
        let event = Arc::new(Event::new().unwrap());
        event.reset();
        assert!(!is_readable(&*event));
        std::task::Waker::from(event.clone()).wake();
        event.signal();
        assert!(is_readable(&*event));
        event.reset();
        assert!(!is_readable(&*event));
    }

    #[test]
    fn a_gate_follows_what_it_watches() {
        let (gate, event) = (Gate::new().unwrap(), Event::new().unwrap());
        event.signal();
        assert!(!is_readable(&gate));
        gate.watch(&event).unwrap();
        assert!(is_readable(&gate));
        event.reset();
        assert!(!is_readable(&gate));
        event.signal();
        gate.leave(&event);
        assert!(!is_readable(&gate));
        gate.leave(&event);
    }

    #[test]
    fn an_alarm_is_readable_once_its_time_has_passed() {
        let alarm = Alarm::new().unwrap();
        assert!(!is_readable(&alarm));
        alarm.set(Duration::ZERO);
        assert_eq!(poll(&mut [PollFd::new(&alarm, PollFlags::IN)], None), Ok(1));
        alarm.clear();
        assert!(!is_readable(&alarm));
        alarm.set(Duration::MAX);
        assert!(!is_readable(&alarm));
    }
}

//! The idle connections, by process.
#![allow(clippy::vec_box, reason = "a connection stays in its box when it leaves: stacks may be short")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use oarlock::process::{ProcessLocal, ProcessMark};

use super::channel::PoolChannel;

/// The idle connections of each process among forks.
#[derive(Debug, Default)]
pub(super) struct IdleChannels(ProcessLocal<ChannelList>);

type ChannelList = Mutex<Vec<Box<PoolChannel>>>;

impl IdleChannels {
    /// Locks the connections of this process.
    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<Box<PoolChannel>>> {
        self.lock_for(ProcessMark::counted())
    }

    fn lock_for(&self, process: ProcessMark) -> MutexGuard<'_, Vec<Box<PoolChannel>>> {
        let channels = self.0.get_for(process, |parent| {
            parent.into_iter().for_each(close);
            Mutex::default()
        });
        channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for IdleChannels {
    fn drop(&mut self) {
        // A child that has asked nothing closes its parent's connections too.
        drop(self.lock());
    }
}

/// Closes this process's copies of its parent's connections. If a thread of the parent held the lock, they stay open.
fn close(channels: &ChannelList) {
    if let Ok(mut channels) = channels.try_lock() {
        channels.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::PoolConfig;

    const CHILD: ProcessMark = ProcessMark::imaginary(1);
    const GRANDCHILD: ProcessMark = ProcessMark::imaginary(2);

    #[test]
    #[allow(clippy::unwrap_used)]
    fn closes_the_copies_of_its_parents_connections_after_a_fork() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let patience = Duration::from_secs(60);
        let config =
            PoolConfig { path, users: crate::ServerUsers::default(), patience, max_idle: 1, has_ring: true };
        let idle = IdleChannels::default();
        let channel = PoolChannel::open(&config, Instant::now() + patience).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        idle.lock().push(channel);
        assert!(idle.lock_for(CHILD).is_empty());
        // The test has no other copy, so the server sees the end of the connection.
        assert_eq!(std::io::Read::read(&mut server, &mut [0]).unwrap(), 0);
        let held = idle.lock_for(CHILD);
        assert!(idle.lock_for(GRANDCHILD).is_empty(), "although the child's lock is held");
        drop(held);
    }
}

//! The idle connections, by process.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::channel::PoolChannel;

/// The idle connections of one process among forks. A child process appends an element of its own to the list: the lock
/// of its parent's element may be held by a thread that does not exist in the child.
#[derive(Debug)]
#[allow(clippy::vec_box, reason = "a connection stays in its box when it leaves: stacks may be short")]
pub(super) struct IdleChannels {
    process: u32,
    channels: Mutex<Vec<Box<PoolChannel>>>,
    next: OnceLock<Box<Self>>,
}

#[allow(clippy::vec_box, reason = "as above")]
impl IdleChannels {
    fn for_process(process: u32) -> Self {
        Self { process, channels: Mutex::default(), next: OnceLock::new() }
    }

    /// Locks the connections of this process.
    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<Box<PoolChannel>>> {
        self.lock_as(std::process::id())
    }

    fn lock_as(&self, process: u32) -> MutexGuard<'_, Vec<Box<PoolChannel>>> {
        let mut own = self;
        while own.process != process {
            own = own.next.get_or_init(|| {
                own.close();
                Box::new(Self::for_process(process))
            });
        }
        own.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes this process's copies of its parent's connections. If a thread of the parent held the lock, they stay
    /// open.
    fn close(&self) {
        // `lock` could wait for ever: the thread that holds it may not exist in this process.
        if let Ok(mut channels) = self.channels.try_lock() {
            channels.clear();
        }
    }
}

impl Default for IdleChannels {
    fn default() -> Self {
        Self::for_process(std::process::id())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::PoolConfig;

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
        let child = std::process::id() + 1;
        assert!(idle.lock_as(child).is_empty());
        // The test has no other copy, so the server sees the end of the connection.
        assert_eq!(std::io::Read::read(&mut server, &mut [0]).unwrap(), 0);
        let grandchild = child + 1;
        let held = idle.lock_as(child);
        assert!(idle.lock_as(grandchild).is_empty(), "although the child's lock is held");
        drop(held);
    }
}

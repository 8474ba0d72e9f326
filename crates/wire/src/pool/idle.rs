//! Connections without work, by process.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::channel::PoolChannel;

/// What one process of a family of forks has. A child appends its own: a lock of its parent may be held by a thread that did not
/// come along.
#[derive(Debug)]
pub(super) struct IdleChannels {
    process: u32,
    channels: Mutex<Vec<PoolChannel>>,
    next: OnceLock<Box<Self>>,
}

impl IdleChannels {
    fn of(process: u32) -> Self {
        Self { process, channels: Mutex::default(), next: OnceLock::new() }
    }

    /// Those of this process.
    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<PoolChannel>> {
        self.lock_as(std::process::id())
    }

    fn lock_as(&self, process: u32) -> MutexGuard<'_, Vec<PoolChannel>> {
        let mut own = self;
        while own.process != process {
            own = own.next.get_or_init(|| {
                own.close();
                Box::new(Self::of(process))
            });
        }
        own.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes this process's copies of its parent's connections. Those that a thread was about to take stay open.
    fn close(&self) {
        if let Ok(mut channels) = self.channels.try_lock() {
            channels.clear();
        }
    }
}

impl Default for IdleChannels {
    fn default() -> Self {
        Self::of(std::process::id())
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
    fn a_fork_uses_no_connection_of_its_parent_and_closes_its_copies() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let server_uids = vec![rustix::process::getuid().as_raw()];
        let patience = Duration::from_secs(60);
        let config = PoolConfig { path, server_uids, patience, max_idle: 1 };
        let idle = IdleChannels::default();
        let channel = PoolChannel::open(&config, Instant::now() + patience).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        idle.lock().push(channel);
        let child = std::process::id() + 1;
        assert!(idle.lock_as(child).is_empty());
        // The only copy of this test is closed, so the server sees the end.
        assert_eq!(std::io::Read::read(&mut server, &mut [0]).unwrap(), 0);
        let grandchild = child + 1;
        let held = idle.lock_as(child);
        assert!(idle.lock_as(grandchild).is_empty(), "though the child's lock is held");
        drop(held);
    }
}

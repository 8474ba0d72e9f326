//! The queue of tables to build, and the thread that lives while the queue is not empty.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::CacheState;

/// The work of building one table.
pub(super) type BuildTask = Box<dyn FnOnce(&CacheState) + Send>;

/// The largest number of queued tables. Beyond it, a key is counted anew.
const MAX_QUEUED: usize = 256;

#[derive(Default)]
pub(super) struct TableBuilder {
    queue: Mutex<BuildQueue>,
    is_idle: Condvar,
}

#[derive(Default)]
struct BuildQueue {
    tasks: VecDeque<BuildTask>,
    has_thread: bool,
}

impl TableBuilder {
    /// Queues a task, and starts the thread if there is none. Returns false if the task will not run.
    pub(super) fn push(shared: &Arc<CacheState>, task: BuildTask) -> bool {
        let mut queue = shared.builder.lock();
        if queue.tasks.len() >= MAX_QUEUED {
            return false;
        }
        if !queue.has_thread {
            // Spawned under the lock, so that two callers never start two threads. The thread waits for it.
            let state = Arc::clone(shared);
            let started = thread::Builder::new().name("oarlock-tables".into()).spawn(move || work(&state));
            queue.has_thread = started.is_ok();
        }
        if queue.has_thread {
            queue.tasks.push_back(task);
        }
        queue.has_thread
    }

    /// Waits until nothing is queued or being built.
    pub(super) fn wait_for_tables(&self) {
        let mut queue = self.lock();
        while queue.has_thread {
            queue = self.is_idle.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Drops everything in the queue.
    pub(super) fn close(&self) {
        self.lock().tasks.clear();
    }

    /// Holds the lock, like a thread that a fork has lost.
    #[cfg(test)]
    pub(super) fn hold(&self) -> impl Sized {
        self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, BuildQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Builds until the queue is empty. A task never panics, because it catches the panics of `build`.
fn work(shared: &CacheState) {
    loop {
        let mut queue = shared.builder.lock();
        let Some(task) = queue.tasks.pop_front() else {
            // Under the same lock as the empty queue was seen, so a task pushed next starts another thread.
            queue.has_thread = false;
            shared.builder.is_idle.notify_all();
            return;
        };
        // A build takes long, and runs push meanwhile.
        drop(queue);
        task(shared);
    }
}

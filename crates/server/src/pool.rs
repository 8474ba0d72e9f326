//! Threads for batches of records, which are computed where they are called: a fixed number of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, io};

/// What a thread does.
type Work = Box<dyn FnOnce() + Send>;

/// A fixed number of threads and a bounded queue.
pub(crate) struct Pool {
    queue: SyncSender<Work>,
    threads: usize,
}

/// Batches that may wait for each thread.
const WAITING: usize = 64;

impl Pool {
    /// Threads start at once; where the system gives none, work is refused.
    pub(crate) fn new(threads: usize) -> Self {
        let threads = threads.max(1);
        let (queue, waiting) = sync_channel(threads * WAITING);
        let waiting = Arc::new(Mutex::new(waiting));
        let started = (0..threads).filter(|_| start(Arc::clone(&waiting)).is_ok()).count();
        Self { queue, threads: started }
    }

    /// Has a thread do it; false where too much waits already.
    pub(crate) fn run(&self, work: impl FnOnce() + Send + 'static) -> bool {
        match self.queue.try_send(Box::new(work)) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
        }
    }
}

fn start(waiting: Arc<Mutex<Receiver<Work>>>) -> io::Result<()> {
    let work = move || {
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(work) = next else { return };
            // What a panic leaves unanswered is answered by whoever waits for it.
            let _ = catch_unwind(AssertUnwindSafe(work));
        }
    };
    std::thread::Builder::new().name("records".into()).spawn(work).map(drop)
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({} threads)", self.threads)
    }
}

//! Threads that take chunks in turns: read one, compute it, put it back into order.
//!
//! Reading and writing are short beside computing, so they need no threads of their own, only a lock each. No more chunks
//! are in memory than there are threads, and the few that wait for an earlier one.

use std::sync::{Mutex, PoisonError};

use oarlock::Accelerator;
use oarlock::table::KeyTable;
use oarlock_records::{Buffer, Plan, Worker};

use super::RecordsError;
use super::order::{Order, Totals};
use super::source::{Chunk, Source};

/// What all threads work with.
pub(super) struct Shared<'s> {
    pub(super) plan: &'s Plan,
    pub(super) accelerator: &'s Accelerator,
    pub(super) table: &'s KeyTable,
    pub(super) source: Source,
    pub(super) order: Order<'s>,
}

impl Shared<'_> {
    /// Does the whole file.
    pub(super) fn run(self, threads: usize) -> Result<Totals, RecordsError> {
        let Self { plan, accelerator, table, source, order } = self;
        let source = Mutex::new(source);
        let line = Line { plan, accelerator, table, source: &source, order: &order };
        let ends = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| line.work())).collect();
            let mut ends = vec![line.work()];
            ends.extend(others.into_iter().map(|thread| thread.join().unwrap_or(Err(RecordsError::Stopped))));
            ends
        });
        // Who failed first has the reason; the others were stopped.
        let mut stopped = Ok(());
        for end in ends {
            match end {
                Err(RecordsError::Stopped) => stopped = Err(RecordsError::Stopped),
                other => other?,
            }
        }
        stopped.and_then(|()| order.finish())
    }
}

/// One thread's view.
#[derive(Clone, Copy)]
struct Line<'l> {
    plan: &'l Plan,
    accelerator: &'l Accelerator,
    table: &'l KeyTable,
    source: &'l Mutex<Source>,
    order: &'l Order<'l>,
}

impl Line<'_> {
    fn work(&self) -> Result<(), RecordsError> {
        let guard = StopUnlessDone(self.order, false);
        let mut worker = Worker::new(self.plan, self.accelerator, self.table);
        let mut memory = Buffer::default();
        while let Some(chunk) = self.next(memory)? {
            let mut done = self.order.spare();
            worker.run(chunk.rows(), &mut done)?;
            self.order.take(chunk.number, done, chunk.len_bytes())?;
            memory = chunk.into_buffer();
        }
        guard.done();
        Ok(())
    }

    fn next(&self, memory: Buffer) -> Result<Option<Chunk>, RecordsError> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner).next(memory)
    }
}

/// Stops the other threads where this one ends early, by an error or a panic.
struct StopUnlessDone<'s>(&'s Order<'s>, bool);

impl StopUnlessDone<'_> {
    fn done(mut self) {
        self.1 = true;
    }
}

impl Drop for StopUnlessDone<'_> {
    fn drop(&mut self) {
        if !self.1 {
            self.0.stop();
        }
    }
}

//! Threads that take chunks in turns: each reads one, computes it, and puts it back into order.
//!
//! Reading and writing are short beside computing, so they need only a lock each and no threads. Memory holds no more
//! chunks than there are threads, and the few that wait for an earlier one.

use std::sync::{Mutex, PoisonError};

use oarlock::Accelerator;
use oarlock_keytable::KeyTable;
use oarlock_records::{ChunkWorker, FilePlan, RowChunk, SecretBuffer};

use super::RecordsError;
use super::order::{ChunkOrder, RowTotals};
use super::source::ChunkSource;

/// The state that all threads share.
pub(super) struct RecordPipeline<'s> {
    pub(super) plan: &'s FilePlan,
    pub(super) accelerator: &'s Accelerator,
    pub(super) table: &'s KeyTable,
    pub(super) source: ChunkSource,
    pub(super) order: ChunkOrder<'s>,
}

impl RecordPipeline<'_> {
    /// Handles the whole file.
    pub(super) fn run(self, threads: usize) -> Result<RowTotals, RecordsError> {
        let Self { plan, accelerator, table, source, order } = self;
        let source = Mutex::new(source);
        let line = PipelineThread { plan, accelerator, table, source: &source, order: &order };
        let ends = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| line.work())).collect();
            // This thread works too, so one thread less is started.
            let mut ends = vec![line.work()];
            // A panic has printed its message already, so it counts as a stop.
            ends.extend(others.into_iter().map(|thread| thread.join().unwrap_or(Err(RecordsError::Stopped))));
            ends
        });
        // One thread has the reason of the failure; the others were stopped.
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

/// The view of one thread.
#[derive(Clone, Copy)]
struct PipelineThread<'l> {
    plan: &'l FilePlan,
    accelerator: &'l Accelerator,
    table: &'l KeyTable,
    source: &'l Mutex<ChunkSource>,
    order: &'l ChunkOrder<'l>,
}

impl PipelineThread<'_> {
    fn work(&self) -> Result<(), RecordsError> {
        let guard = StopGuard(self.order, false);
        let mut worker = ChunkWorker::new(self.plan, self.accelerator, self.table);
        let mut memory = SecretBuffer::default();
        while let Some(chunk) = self.next(memory)? {
            let mut done = self.order.spare();
            worker.run(chunk.rows(), &mut done)?;
            self.order.take(chunk.number, done, chunk.len_bytes())?;
            memory = chunk.into_buffer();
        }
        guard.done();
        Ok(())
    }

    fn next(&self, memory: SecretBuffer) -> Result<Option<RowChunk>, RecordsError> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner).next(memory)
    }
}

/// Stops the other threads if this one ends early, by an error or a panic.
struct StopGuard<'s>(&'s ChunkOrder<'s>, bool);

impl StopGuard<'_> {
    fn done(mut self) {
        self.1 = true;
    }
}

impl Drop for StopGuard<'_> {
    fn drop(&mut self) {
        if !self.1 {
            self.0.stop();
        }
    }
}

//! The choice of an engine and of a batch size.

use super::{Scheduler, WorkerLoad, usable};
use crate::clock::Nanos;
use crate::queue::{EngineChoice, ItemOwner, JobQueue};

/// The engine and the number of operations of the next batch of a queue, or the reason why there is no batch.
pub(super) enum SizeChoice {
    Batch(EngineChoice, usize),
    /// Only far engines are usable, and their own workers serve them.
    LeaveToFar,
    /// No engine is usable.
    NoEngine,
}

impl<O: ItemOwner> Scheduler<O> {
    /// True if some far engine may have work. Cheap enough for every submission.
    pub(crate) fn has_surplus(&self, queue: usize, workers: usize) -> bool {
        let queue = &self.queues[queue];
        let has_far = usable(queue, |choice| choice.is_far).next().is_some();
        has_far && self.surplus(queue, workers) > 0
    }

    /// Returns the predicted cost of `ops` operations one by one on the referee; None if they would run as a batch.
    pub(crate) fn single_ns(&self, queue: usize, ops: usize, bytes: usize) -> Option<f64> {
        let queue = &self.queues[queue];
        let referee = self.referee_of(queue)?;
        let is_single = self.batching_pays_off(queue, referee, ops, bytes / ops.max(1)).is_none();
        is_single.then(|| referee.cost.predict_ns(referee.batch_size, ops, bytes))
    }

    /// Returns near engine and batch size for bulk work on one thread: `ops` operations of `bytes_per_op` bytes each,
    /// none of which is queued.
    pub(crate) fn bulk_plan(
        &self,
        queue: usize,
        ops: usize,
        bytes_per_op: usize,
    ) -> Option<(EngineChoice, usize)> {
        let queue = &self.queues[queue];
        let referee = self.referee_of(queue);
        let batch_engine = match referee {
            Some(referee) => self.batching_pays_off(queue, referee, ops, bytes_per_op),
            None => self.cheapest_batch_engine(queue, ops, bytes_per_op),
        };
        let choice = batch_engine.or(referee)?;
        // No caller waits for the first of these operations, so long batches harm nobody. An engine without groups
        // may share computations within a batch, which its cost does not show.
        let max =
            if choice.batch_size.preferred > 1 { self.worthwhile(choice) } else { choice.batch_size.max };
        Some((choice, ops.min(max.max(1))))
    }

    /// Chooses engine and batch size for a tenant's queue from which a batch could take `available` operations.
    pub(super) fn choose(
        &self,
        queue: &JobQueue<O>,
        tenant: u64,
        available: usize,
        now: Nanos,
        load: WorkerLoad,
    ) -> SizeChoice {
        let referee = self.referee_of(queue);
        if queue.next_runs_alone(tenant)
            && let Some(referee) = referee
        {
            return SizeChoice::Batch(referee, 1);
        }
        let (share, bytes) = (self.share_of(available, load), queue.bytes_per_op());
        let batch_engine = match referee {
            Some(referee) => self.batching_pays_off(queue, referee, share, bytes),
            None => self.cheapest_batch_engine(queue, share, bytes),
        };
        match batch_engine.or(referee) {
            Some(choice) => {
                let ops = share.min(self.worthwhile(choice));
                self.shrink_if_others_wait(queue, choice, ops, referee, now)
            }
            None if usable(queue, |choice| choice.is_far).next().is_some() => SizeChoice::LeaveToFar,
            None => SizeChoice::NoEngine,
        }
    }

    /// Returns the operations of a queue that one worker takes, if idle workers take as many each.
    fn share_of(&self, available: usize, load: WorkerLoad) -> usize {
        match self.config.fixed_break_even {
            // A fixed break-even is compared with all that waits. Divided among idle workers, two jobs would never
            // be two in one place.
            Some(_) => available,
            None => available.div_ceil(1 + load.idle_others),
        }
    }

    /// Shrinks a batch that takes longer than `longest_batch` while another queue or tenant waits. It becomes as many
    /// groups of lanes as fit, and at least one. One group becomes a single operation only if the group would make
    /// another queue late that is still in time.
    fn shrink_if_others_wait(
        &self,
        queue: &JobQueue<O>,
        choice: EngineChoice,
        ops: usize,
        referee: Option<EngineChoice>,
        now: Nanos,
    ) -> SizeChoice {
        // While nothing else waits, a long batch delays nobody. The next arrival waits for it, which `worthwhile`
        // bounds.
        let longest = self.config.longest_batch.as_nanos() as f64;
        let cost = |choice: EngineChoice, ops: usize| {
            choice.cost.predict_ns(choice.batch_size, ops, ops * queue.bytes_per_op())
        };
        if !self.others_wait() || cost(choice, ops) <= longest {
            return SizeChoice::Batch(choice, ops);
        }
        let group = ops.min(choice.batch_size.preferred.max(1));
        if ops > group && cost(choice, group) <= longest {
            let per_group = cost(choice, group).max(1.0);
            return SizeChoice::Batch(choice, ops.min(group * (longest / per_group).max(1.0) as usize));
        }
        // Single operations cost all queues more time in total, so they are the last resort. They help only if the
        // other queue would meet its time after one of them and would miss it after a whole group.
        match referee {
            Some(referee)
                if cost(referee, 1) < cost(choice, group)
                    && self.delays_another(queue, now, cost(choice, group)) =>
            {
                SizeChoice::Batch(referee, 1)
            }
            _ => SizeChoice::Batch(choice, group),
        }
    }

    /// Returns the referee if it offers the shape.
    fn referee_of(&self, queue: &JobQueue<O>) -> Option<EngineChoice> {
        // Not `usable`: the referee is never in quarantine.
        queue.choices.iter().find(|choice| choice.engine == self.referee).copied()
    }

    /// Returns the near engine other than the referee with the lowest cost per operation for `ops` operations.
    fn cheapest_batch_engine(
        &self,
        queue: &JobQueue<O>,
        ops: usize,
        bytes_per_op: usize,
    ) -> Option<EngineChoice> {
        let per_op = |choice: &EngineChoice| {
            let ops = ops.clamp(1, choice.batch_size.preferred.max(1));
            choice.cost.predict_ns(choice.batch_size, ops, ops * bytes_per_op) / ops as f64
        };
        // Far engines have workers of their own. A near worker that waited for a device would leave its core idle.
        usable(queue, |choice| !choice.is_far && choice.engine != self.referee)
            .min_by(|a, b| per_op(a).total_cmp(&per_op(b)))
            .copied()
    }

    /// Returns the batch engine that computes the operations faster than the referee does one by one. This is the
    /// break-even of the cost model, or the fixed break-even of the settings.
    fn batching_pays_off(
        &self,
        queue: &JobQueue<O>,
        referee: EngineChoice,
        ops: usize,
        bytes_per_op: usize,
    ) -> Option<EngineChoice> {
        let batch_engine = self.cheapest_batch_engine(queue, ops, bytes_per_op)?;
        if let Some(break_even) = self.config.fixed_break_even {
            return (ops >= break_even).then_some(batch_engine);
        }
        // More than one group is compared group by group: the ratio of the two costs is the same for each.
        let ops = ops.min(batch_engine.batch_size.preferred.max(1));
        let batch = batch_engine.cost.predict_ns(batch_engine.batch_size, ops, ops * bytes_per_op);
        let singles = referee.cost.predict_ns(referee.batch_size, 1, bytes_per_op) * ops as f64;
        (batch < singles).then_some(batch_engine)
    }

    fn worthwhile(&self, choice: EngineChoice) -> usize {
        choice.cost.worthwhile(choice.batch_size, self.config.overhead.as_nanos() as f64)
    }

    /// Returns the number of operations that the near engines cannot finish within the target latency.
    pub(super) fn surplus(&self, queue: &JobQueue<O>, workers: usize) -> usize {
        let bytes = queue.bytes_per_op();
        let per_op = usable(queue, |choice| !choice.is_far)
            .map(|choice| {
                let ops = choice.batch_size.preferred.max(1);
                choice.cost.predict_ns(choice.batch_size, ops, ops * bytes) / ops as f64
            })
            .fold(f64::INFINITY, f64::min);
        // No near engine is usable, so everything is left to far ones.
        if per_op.is_infinite() {
            return queue.live();
        }
        let in_time = self.config.target_latency.as_nanos() as f64 * workers as f64 / per_op.max(0.001);
        queue.live().saturating_sub(in_time.min(1e15) as usize)
    }

    /// True if a far engine would finish a batch before the CPU would have reached it.
    pub(super) fn far_pays_off(&self, queue: &JobQueue<O>, far: EngineChoice, ops: usize) -> bool {
        let bytes = ops * queue.bytes_per_op();
        let near = usable(queue, |choice| !choice.is_far)
            .map(|choice| choice.cost.predict_ns(choice.batch_size, ops, bytes))
            .fold(f64::INFINITY, f64::min);
        let patience = self.config.target_latency.as_nanos() as f64;
        far.cost.predict_ns(far.batch_size, ops, bytes) < near + patience
    }
}

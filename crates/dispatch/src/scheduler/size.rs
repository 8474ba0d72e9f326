//! The choice of an engine and of a batch size.

use super::{Scheduler, WorkerLoad, usable};
use crate::config::SchedulingRule;
use crate::queue::{EngineChoice, ItemOwner, JobQueue, Nanos};

pub(super) enum SizeChoice {
    Unit(EngineChoice, usize),
    WaitUntil(Nanos),
    LeaveToFar,
    Nobody,
}

impl<O: ItemOwner> Scheduler<O> {
    /// True if some far engine may have work. Cheap enough for every submission.
    pub(crate) fn has_surplus(&self, queue: usize, workers: usize) -> bool {
        let queue = &self.queues[queue];
        let has_far = usable(queue, |choice| choice.is_far).next().is_some();
        has_far && self.surplus(queue, workers) > 0
    }

    /// Returns the predicted cost of `ops` operations one by one on the referee; None if the rule would batch them.
    pub(crate) fn single_ns(&self, queue: usize, ops: usize, bytes: usize) -> Option<f64> {
        let queue = &self.queues[queue];
        let referee = self.referee_of(queue)?;
        let is_single = match self.config.rule {
            SchedulingRule::Adaptive => {
                self.batching_pays_off(queue, referee, ops, bytes / ops.max(1)).is_none()
            }
            SchedulingRule::ScalarOnly => true,
            SchedulingRule::TwoOrMore => ops < 2,
            SchedulingRule::Timer(_) => false,
        };
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
        let batch_engine = match (self.config.rule, referee) {
            (SchedulingRule::ScalarOnly, _) => None,
            (_, Some(referee)) => self.batching_pays_off(queue, referee, ops, bytes_per_op),
            (_, None) => self.cheapest_batch_engine(queue, ops, bytes_per_op),
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
            return SizeChoice::Unit(referee, 1);
        }
        let (share, bytes) = (available.div_ceil(1 + load.idle_others), queue.bytes_per_op());
        let unit = match (self.config.rule, referee) {
            (_, None) => self
                .cheapest_batch_engine(queue, share, bytes)
                .map(|batch_engine| self.batch_unit(batch_engine, share)),
            (SchedulingRule::ScalarOnly, Some(referee)) => Some((referee, 1)),
            (SchedulingRule::Adaptive, Some(referee)) => {
                match self.batching_pays_off(queue, referee, share, bytes) {
                    Some(batch_engine) => Some(self.batch_unit(batch_engine, share)),
                    None => Some((referee, share.min(self.worthwhile(referee)))),
                }
            }
            (SchedulingRule::TwoOrMore, Some(referee)) => Some(self.two_or_more(queue, available, referee)),
            (SchedulingRule::Timer(wait), Some(referee)) => {
                match self.timer(queue, available, referee, wait.as_nanos() as u64, now) {
                    Ok(unit) => Some(unit),
                    Err(time) => return SizeChoice::WaitUntil(time),
                }
            }
        };
        match unit {
            Some((choice, ops)) => self.shrink_if_others_wait(queue, choice, ops, referee, now),
            None if usable(queue, |choice| choice.is_far).next().is_some() => SizeChoice::LeaveToFar,
            None => SizeChoice::Nobody,
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
        let longest = self.config.longest_batch.as_nanos() as f64;
        let cost = |choice: EngineChoice, ops: usize| {
            choice.cost.predict_ns(choice.batch_size, ops, ops * queue.bytes_per_op())
        };
        if !self.others_wait() || cost(choice, ops) <= longest {
            return SizeChoice::Unit(choice, ops);
        }
        let group = ops.min(choice.batch_size.preferred.max(1));
        if ops > group && cost(choice, group) <= longest {
            let per_group = cost(choice, group).max(1.0);
            return SizeChoice::Unit(choice, ops.min(group * (longest / per_group).max(1.0) as usize));
        }
        // Single operations cost all queues more time in total, so they are the last resort. They help only if the other
        // queue would meet its time after one of them and would miss it after a whole group.
        match referee {
            Some(referee)
                if cost(referee, 1) < cost(choice, group)
                    && self.delays_another(queue, now, cost(choice, group)) =>
            {
                SizeChoice::Unit(referee, 1)
            }
            _ => SizeChoice::Unit(choice, group),
        }
    }

    /// Returns the referee if it offers the shape.
    fn referee_of(&self, queue: &JobQueue<O>) -> Option<EngineChoice> {
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
        usable(queue, |choice| !choice.is_far && choice.engine != self.referee)
            .min_by(|a, b| per_op(a).total_cmp(&per_op(b)))
            .copied()
    }

    /// Returns the batch engine that computes the operations faster than the referee does one by one. This is the
    /// break-even of the cost model.
    fn batching_pays_off(
        &self,
        queue: &JobQueue<O>,
        referee: EngineChoice,
        ops: usize,
        bytes_per_op: usize,
    ) -> Option<EngineChoice> {
        let batch_engine = self.cheapest_batch_engine(queue, ops, bytes_per_op)?;
        let ops = ops.min(batch_engine.batch_size.preferred.max(1));
        let batch = batch_engine.cost.predict_ns(batch_engine.batch_size, ops, ops * bytes_per_op);
        let singles = referee.cost.predict_ns(referee.batch_size, 1, bytes_per_op) * ops as f64;
        (batch < singles).then_some(batch_engine)
    }

    fn batch_unit(&self, batch_engine: EngineChoice, ops: usize) -> (EngineChoice, usize) {
        (batch_engine, ops.min(self.worthwhile(batch_engine)))
    }

    fn worthwhile(&self, choice: EngineChoice) -> usize {
        choice.cost.worthwhile(choice.batch_size, self.config.overhead.as_nanos() as f64)
    }

    fn two_or_more(
        &self,
        queue: &JobQueue<O>,
        available: usize,
        referee: EngineChoice,
    ) -> (EngineChoice, usize) {
        match self.cheapest_batch_engine(queue, available, queue.bytes_per_op()) {
            Some(batch_engine) if available >= 2 => {
                (batch_engine, available.min(batch_engine.batch_size.preferred))
            }
            _ => (referee, 1),
        }
    }

    fn timer(
        &self,
        queue: &JobQueue<O>,
        available: usize,
        referee: EngineChoice,
        wait: Nanos,
        now: Nanos,
    ) -> Result<(EngineChoice, usize), Nanos> {
        let unit = self.cheapest_batch_engine(queue, available, queue.bytes_per_op()).unwrap_or(referee);
        let full = if unit.engine == self.referee { 8 } else { unit.batch_size.preferred };
        let ready = queue.oldest().unwrap_or(now).saturating_add(wait);
        if available >= full || now >= ready { Ok((unit, available.min(full))) } else { Err(ready) }
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

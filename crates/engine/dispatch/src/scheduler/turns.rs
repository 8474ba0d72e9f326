//! The choice of the next tenant and queue, and the items taken for it.

use oarlock_core::JobError;

use super::size::SizeChoice;
use super::{Decision, Scheduler, WorkerLoad, shape_of, usable};
use crate::clock::Nanos;
use crate::probe::ProbeNeed;
use crate::queue::{EngineChoice, ItemOwner, JobQueue, QueueEnd, QueueItem, QueueKey};
use crate::tenants::Resource;

/// The maximal number of jobs that a holder gets at once.
const HOLDER_BATCH: usize = 1024;

/// The number of operations with which one tenant fills any batch alone, so that no other tenants are searched.
const MAX_OWN_OPS: usize = 1024;

/// The number of next tenants that are checked for a delay by a long batch. It bounds the work under the lock.
const MAX_DELAY_CHECKS: usize = 32;

impl<O: ItemOwner> Scheduler<O> {
    /// Decides the next step of a free near worker: the most urgent queue of the tenant that has been served least.
    pub(crate) fn next(&mut self, now: Nanos, load: WorkerLoad) -> Decision<O> {
        let mut last = None;
        // Usually the first tenant gets something. Others follow if its queues wait for a probe or for a far engine.
        while let Some((served, tenant)) = self.tenants.next(Resource::Engines, last) {
            self.tenants.serve(Resource::Engines, served);
            match self.serve(tenant, now, load) {
                Decision::Idle => last = Some((served, tenant)),
                decision => return decision,
            }
        }
        Decision::Idle
    }

    /// Decides for one tenant. Its queues are tried in the order of their slack, the lowest first.
    fn serve(&mut self, tenant: u64, now: Nanos, load: WorkerLoad) -> Decision<O> {
        if let [queue] = *self.tenants.queues(tenant) {
            return self.decide(queue, tenant, now, load);
        }
        // The list leaves `self` while `decide` changes the queues, and returns below with its memory.
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let queues = self.tenants.queues(tenant).iter();
        order.extend(queues.map(|index| (self.slack_key(&self.queues[*index], tenant), *index)));
        // The sort is stable: among equal queues the one that filled first comes first.
        order.sort_by_key(|(slack, _)| *slack);
        let mut found = Decision::Idle;
        for (_, queue) in &order {
            found = self.decide(*queue, tenant, now, load);
            if !matches!(found, Decision::Idle) {
                break;
            }
        }
        self.order = order;
        found
    }

    /// Decides the next step of a free thread for tasks: the oldest task of the tenant that has been served least.
    /// Tenants that run `max` tasks already are skipped.
    pub(crate) fn next_task(&mut self, max: usize) -> Option<QueueItem<O>> {
        let queue = self.find(QueueKey::Tasks)?;
        let mut last = None;
        while let Some((served, tenant)) = self.tenants.next(Resource::Tasks, last) {
            last = Some((served, tenant));
            // Skipped, not served: the clock must not pass a tenant only because its tasks are long.
            if self.tenants.running(tenant) >= max {
                continue;
            }
            let Some(item) = self.queues[queue].take_with_others(tenant, 1, |_| false).pop() else {
                continue;
            };
            self.tenants.serve(Resource::Tasks, served);
            let (ns, is_last) = (item.owner.task_ns(), self.queues[queue].live_of(tenant) == 0);
            self.tenants.charge(Resource::Tasks, tenant, ns as f64);
            self.tenants.leave_task(tenant, ns, is_last);
            self.tenants.start_task(tenant);
            return Some(item);
        }
        None
    }

    /// Notes the end of a task. `more_ns` is the difference to its prediction.
    pub(crate) fn end_task(&mut self, tenant: u64, more_ns: f64) {
        self.tenants.end_task(tenant);
        self.tenants.correct(Resource::Tasks, tenant, more_ns);
    }

    /// Charges a tenant the difference between the time of a batch and its prediction.
    pub(crate) fn correct(&mut self, tenant: u64, more_ns: f64) {
        self.tenants.correct(Resource::Engines, tenant, more_ns);
    }

    /// Decides the next step of a far engine: the backlog that the CPU cannot finish within the target latency,
    /// newest first. The CPU serves the oldest, so the two meet in the middle.
    pub(crate) fn next_far(&mut self, engine: usize, workers: usize) -> Decision<O> {
        for at in 0..self.active.len() {
            let index = self.active[at];
            let queue = &self.queues[index];
            let QueueKey::Engines(shape) = queue.queue_key else { continue };
            let Some(choice) = usable(queue, |choice| choice.is_far && choice.engine == engine).next() else {
                continue;
            };
            let choice = *choice;
            // Newest first, from the end that the CPU reaches last. So the oldest jobs never change their engine just
            // before their turn.
            let surplus = self.surplus(queue, workers).min(choice.batch_size.max);
            if surplus == 0 || !self.far_pays_off(queue, choice, surplus) {
                continue;
            }
            let items = self.queues[index].take(surplus, QueueEnd::Newest);
            if items.is_empty() {
                continue;
            }
            return Decision::Run(self.plan(index, choice, shape, items));
        }
        Decision::Idle
    }

    fn decide(&mut self, index: usize, tenant: u64, now: Nanos, load: WorkerLoad) -> Decision<O> {
        match self.need_probe(index, self.queues[index].live()) {
            ProbeNeed::Probe(request) => return Decision::Probe(request),
            // The referee continues to serve while other engines are probed.
            ProbeNeed::Wait if self.queues[index].choices.is_empty() => return Decision::Idle,
            ProbeNeed::Wait | ProbeNeed::Known => {}
        }
        let queue = &self.queues[index];
        let class = match queue.queue_key {
            QueueKey::Holder(holder) => return self.start_at_holder(index, holder),
            QueueKey::Engines(class) => class,
            QueueKey::Tasks => return Decision::Idle,
        };
        let joining = self.joining(index, tenant);
        let available =
            queue.live_of(tenant) + joining.iter().map(|other| queue.live_of(*other)).sum::<usize>();
        let (choice, ops) = match self.choose(queue, tenant, available, now, load) {
            SizeChoice::Batch(choice, ops) => (choice, ops),
            SizeChoice::LeaveToFar => return Decision::Idle,
            SizeChoice::NoEngine => {
                let is_offered = !queue.choices.is_empty();
                let items = self.queues[index].take(usize::MAX, QueueEnd::Oldest);
                // Nothing is computed, so nobody pays. The call removes the items from the counts.
                self.charge(index, &items, 0.0);
                let shape = shape_of(&items, class);
                return match items.is_empty() {
                    true => Decision::Idle,
                    false if is_offered => Decision::Fail { shape, items },
                    false => Decision::Refuse { shape, items },
                };
            }
        };
        let items = self.queues[index].take_with_others(tenant, ops, |other| joining.contains(&other));
        if items.is_empty() { Decision::Idle } else { Decision::Run(self.plan(index, choice, class, items)) }
    }

    fn start_at_holder(&mut self, index: usize, holder: usize) -> Decision<O> {
        let items = self.queues[index].take(HOLDER_BATCH, QueueEnd::Oldest);
        let ops: usize = items.iter().map(|item| item.count as usize).sum();
        // A holder computes elsewhere, so its time is unknown here. The overhead of a batch is charged for passing each
        // job on.
        self.charge(index, &items, self.config.overhead.as_nanos() as f64 * ops as f64);
        if items.is_empty() { Decision::Idle } else { Decision::Start { holder, items } }
    }

    /// Returns the tenants whose jobs may fill up a tenant's batch: those whose most urgent queue is the same. A
    /// tenant with a more urgent queue would be charged here and wait longer there.
    fn joining(&self, index: usize, tenant: u64) -> Vec<u64> {
        let queue = &self.queues[index];
        let live = queue.live_of(tenant);
        // The list of others costs an allocation and a look at each of their queues. A tenant that fills any batch
        // alone, or is alone, needs none.
        if live >= queue.live() || live >= MAX_OWN_OPS {
            return Vec::new();
        }
        queue.others(tenant).filter(|other| self.is_top_urgent(index, *other)).collect()
    }

    fn is_top_urgent(&self, index: usize, tenant: u64) -> bool {
        let queues = self.tenants.queues(tenant);
        let slack = |index: &&usize| self.slack_key(&self.queues[**index], tenant);
        queues.len() == 1 || queues.iter().min_by_key(slack) == Some(&index)
    }

    /// Returns the due time less the cost of the due operation. It orders queues by slack at any moment, since the
    /// present time is common to all.
    pub(super) fn slack_key(&self, queue: &JobQueue<O>, tenant: u64) -> i128 {
        // 128 bits, because a due time may be `u64::MAX` and the slack may be negative.
        let due = queue.due_of(tenant).unwrap_or(Nanos::MAX);
        let cost = usable(queue, |choice| !choice.is_far)
            .map(|choice| choice.cost.predict_ns(choice.batch_size, 1, queue.bytes_per_op()))
            .fold(f64::INFINITY, f64::min);
        i128::from(due) - if cost.is_finite() { cost as i128 } else { 0 }
    }

    /// True if a queue of the next tenants is in time now and would be late after `cost_ns`.
    pub(super) fn delays_another(&self, queue: &JobQueue<O>, now: Nanos, cost_ns: f64) -> bool {
        let is_delayed = |tenant: u64, other: usize| {
            let other = &self.queues[other];
            let slack = self.slack_key(other, tenant) - i128::from(now);
            other.queue_key != queue.queue_key && (0..cost_ns as i128).contains(&slack)
        };
        let mut next = self.tenants.in_order(Resource::Engines).take(MAX_DELAY_CHECKS);
        next.any(|tenant| self.tenants.queues(tenant).iter().any(|other| is_delayed(tenant, *other)))
    }

    /// True if another queue or another tenant waits.
    pub(super) fn others_wait(&self) -> bool {
        self.active.len() > 1 || self.tenants.waiting(Resource::Engines) > 1
    }

    /// Returns the predicted nanoseconds of a tenant's waiting jobs and tasks.
    pub(crate) fn backlog_ns(&self, tenant: u64) -> f64 {
        let queues = self.tenants.queues(tenant).iter().map(|index| &self.queues[*index]);
        let operations =
            queues.map(|queue| self.per_op_ns(queue) * queue.live_of(tenant) as f64).sum::<f64>();
        operations + self.tenants.tasks_ns(tenant) as f64
    }

    /// Refuses an item that would exceed its tenant's backlog. A tenant with nothing waiting may always queue one
    /// group of lanes, because a single operation may take longer than the bound.
    pub(super) fn check_backlog(&self, index: usize, item: &QueueItem<O>) -> Result<(), JobError> {
        let Some(max) = self.config.max_tenant_backlog else { return Ok(()) };
        let (queue, max) = (&self.queues[index], max.as_nanos() as f64);
        let per_op = self.per_op_ns(queue).max(1.0);
        let waiting = self.backlog_ns(item.tenant);
        let group = queue.choices.iter().map(|choice| choice.batch_size.preferred).max().unwrap_or(1);
        let is_small = waiting == 0.0 && item.count as usize <= group;
        if is_small || waiting + per_op * f64::from(item.count) <= max {
            return Ok(());
        }
        let as_operations = |ns: f64| (ns / per_op) as usize;
        Err(JobError::Overloaded { queued: as_operations(waiting), bound: as_operations(max) })
    }

    /// Returns the predicted nanoseconds of `ops` operations in full batches.
    pub(crate) fn predict_ns(&self, index: usize, ops: usize, bytes: usize) -> f64 {
        let queue = &self.queues[index];
        let costs = usable(queue, |choice| !choice.is_far)
            .map(|choice| choice.cost.predict_ns(choice.batch_size, ops, bytes));
        let min = costs.fold(f64::INFINITY, f64::min);
        if min.is_finite() { min } else { 0.0 }
    }

    /// Returns the cost of one operation of a queue in a full batch.
    fn per_op_ns(&self, queue: &JobQueue<O>) -> f64 {
        let bytes = queue.bytes_per_op();
        let full = |choice: &EngineChoice| {
            let ops = choice.batch_size.preferred.max(1);
            choice.cost.predict_ns(choice.batch_size, ops, ops * bytes) / ops as f64
        };
        let min = usable(queue, |choice| !choice.is_far).map(full).fold(f64::INFINITY, f64::min);
        if min.is_finite() { min } else { self.config.overhead.as_nanos() as f64 }
    }
}

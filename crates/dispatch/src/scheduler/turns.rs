//! Whose turn it is, and what is taken for it.

use oarlock_core::JobError;

use super::size::Chosen;
use super::{Asking, Decision, Scheduler, shape_of, usable};
use crate::appraisal::Inquiry;
use crate::queue::{Choice, End, Item, Lane, Nanos, Queue, Work};
use crate::tenants::Resource;

/// Jobs handed to a holder at once.
const HOLDER_BATCH: usize = 1024;

/// Operations of one tenant beside which nobody else's are looked for: they fill any lanes.
const ENOUGH: usize = 1024;

/// Tenants whose jobs a long batch is held against: those that come next.
const MAX_HEEDED: usize = 32;

impl<W: Work> Scheduler<W> {
    /// Decides what a free near worker does next: the most urgent queue of the tenant that has been served least.
    pub(crate) fn next(&mut self, now: Nanos, asking: Asking) -> Decision<W> {
        let (mut wait_until, mut last) = (Nanos::MAX, None);
        while let Some((served, tenant)) = self.tenants.next(Resource::Engines, last) {
            self.tenants.serve(Resource::Engines, served);
            match self.serve(tenant, now, asking) {
                Decision::WaitUntil(time) => wait_until = wait_until.min(time),
                Decision::Idle => {}
                decision => return decision,
            }
            last = Some((served, tenant));
        }
        if wait_until == Nanos::MAX { Decision::Idle } else { Decision::WaitUntil(wait_until) }
    }

    /// Decides what is done for one tenant. Its queues are tried, the one with the least slack first.
    fn serve(&mut self, tenant: u64, now: Nanos, asking: Asking) -> Decision<W> {
        if let [queue] = *self.tenants.queues(tenant) {
            return self.decide(queue, tenant, now, asking);
        }
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let queues = self.tenants.queues(tenant).iter();
        order.extend(queues.map(|index| (self.slack_key(&self.queues[*index], tenant), *index)));
        // The sort is stable as the queues' order is: of equals the one that filled first.
        order.sort_by_key(|(slack, _)| *slack);
        let mut wait_until = Nanos::MAX;
        let mut found = Decision::Idle;
        for (_, queue) in &order {
            match self.decide(*queue, tenant, now, asking) {
                Decision::WaitUntil(time) => wait_until = wait_until.min(time),
                Decision::Idle => {}
                decision => {
                    found = decision;
                    break;
                }
            }
        }
        self.order = order;
        match found {
            Decision::Idle if wait_until < Nanos::MAX => Decision::WaitUntil(wait_until),
            found => found,
        }
    }

    /// Decides what a free thread for tasks does next: the oldest task of the tenant that has been served least, unless it has `max`
    /// of them running already.
    pub(crate) fn next_task(&mut self, max: usize) -> Decision<W> {
        let Some(queue) = self.find(Lane::Tasks) else { return Decision::Idle };
        let mut last = None;
        while let Some((served, tenant)) = self.tenants.next(Resource::Tasks, last) {
            last = Some((served, tenant));
            if self.tenants.running(tenant) >= max {
                continue;
            }
            let Some(item) = self.queues[queue].take_for(tenant, 1, |_| false).pop() else { continue };
            self.tenants.serve(Resource::Tasks, served);
            let (ns, is_last) = (item.work.task_ns(), self.queues[queue].live_of(tenant) == 0);
            self.tenants.charge(Resource::Tasks, tenant, ns as f64);
            self.tenants.leave_task(tenant, ns, is_last);
            self.tenants.start_task(tenant);
            return Decision::Do(item);
        }
        Decision::Idle
    }

    /// Notes the end of a task, which took so much more than was predicted, or less.
    pub(crate) fn end_task(&mut self, tenant: u64, more_ns: f64) {
        self.tenants.end_task(tenant);
        self.tenants.correct(Resource::Tasks, tenant, more_ns);
    }

    /// Makes up for what a batch took more than its tenants were charged, or less.
    pub(crate) fn correct(&mut self, tenant: u64, more_ns: f64) {
        self.tenants.correct(Resource::Engines, tenant, more_ns);
    }

    /// Decides what a far engine does next: the backlog that the CPU cannot finish within the deadline, newest first.
    pub(crate) fn next_far(&mut self, engine: usize, workers: usize) -> Decision<W> {
        for at in 0..self.active.len() {
            let index = self.active[at];
            let queue = &self.queues[index];
            let Lane::Engines(shape) = queue.lane else { continue };
            let Some(choice) = usable(queue, |choice| choice.is_far && choice.engine == engine).next() else {
                continue;
            };
            let choice = *choice;
            let surplus = self.surplus(queue, workers).min(choice.lanes.max);
            if surplus == 0 || !self.far_pays(queue, choice, surplus) {
                continue;
            }
            let items = self.queues[index].take(surplus, End::Newest);
            if items.is_empty() {
                continue;
            }
            return Decision::Run(self.plan(index, choice, shape, items));
        }
        Decision::Idle
    }

    fn decide(&mut self, index: usize, tenant: u64, now: Nanos, asking: Asking) -> Decision<W> {
        match self.inquire(index, self.queues[index].live()) {
            Inquiry::Ask(question) => return Decision::Ask(question),
            // With the referee alone work goes on while others are asked.
            Inquiry::Wait if self.queues[index].choices.is_empty() => return Decision::Idle,
            Inquiry::Wait | Inquiry::Known => {}
        }
        let queue = &self.queues[index];
        let class = match queue.lane {
            Lane::Holder(holder) => return self.hand_over(index, holder),
            Lane::Engines(class) => class,
            Lane::Tasks => return Decision::Idle,
        };
        let joining = self.joining(index, tenant);
        let available =
            queue.live_of(tenant) + joining.iter().map(|other| queue.live_of(*other)).sum::<usize>();
        let (choice, ops) = match self.choose(queue, tenant, available, now, asking) {
            Chosen::Unit(choice, ops) => (choice, ops),
            Chosen::WaitUntil(time) => return Decision::WaitUntil(time),
            Chosen::LeaveToFar => return Decision::Idle,
            Chosen::Nobody => {
                let is_offered = !queue.choices.is_empty();
                let items = self.queues[index].take(usize::MAX, End::Oldest);
                self.charge(index, &items, 0.0);
                let shape = shape_of(&items, class);
                return match items.is_empty() {
                    true => Decision::Idle,
                    false if is_offered => Decision::Fail { shape, items },
                    false => Decision::Refuse { shape, items },
                };
            }
        };
        let items = self.queues[index].take_for(tenant, ops, |other| joining.contains(&other));
        if items.is_empty() { Decision::Idle } else { Decision::Run(self.plan(index, choice, class, items)) }
    }

    fn hand_over(&mut self, index: usize, holder: usize) -> Decision<W> {
        let items = self.queues[index].take(HOLDER_BATCH, End::Oldest);
        let ops: usize = items.iter().map(|item| item.count as usize).sum();
        self.charge(index, &items, self.config.overhead.as_nanos() as f64 * ops as f64);
        if items.is_empty() { Decision::Idle } else { Decision::Start { holder, items } }
    }

    /// Tenants whose jobs may fill the lanes that a tenant's own leave empty: those whose most urgent queue is the same.
    fn joining(&self, index: usize, tenant: u64) -> Vec<u64> {
        let queue = &self.queues[index];
        let own = queue.live_of(tenant);
        if own >= queue.live() || own >= ENOUGH {
            return Vec::new();
        }
        queue.others(tenant).filter(|other| self.is_top_urgent(index, *other)).collect()
    }

    fn is_top_urgent(&self, index: usize, tenant: u64) -> bool {
        let queues = self.tenants.queues(tenant);
        let slack = |index: &&usize| self.slack_key(&self.queues[**index], tenant);
        queues.len() == 1 || queues.iter().min_by_key(slack) == Some(&index)
    }

    /// Due time less the cost of what is due: the order of slack at any moment.
    pub(super) fn slack_key(&self, queue: &Queue<W>, tenant: u64) -> i128 {
        let due = queue.due_of(tenant).unwrap_or(Nanos::MAX);
        let cost = usable(queue, |choice| !choice.is_far)
            .map(|choice| choice.cost.predict_ns(choice.lanes, 1, queue.bytes_per_op()))
            .fold(f64::INFINITY, f64::min);
        i128::from(due) - if cost.is_finite() { cost as i128 } else { 0 }
    }

    /// True where another queue of those served next that is in time now would be late after so long.
    pub(super) fn delays_another(&self, queue: &Queue<W>, now: Nanos, cost_ns: f64) -> bool {
        let is_delayed = |tenant: u64, other: usize| {
            let other = &self.queues[other];
            let slack = self.slack_key(other, tenant) - i128::from(now);
            other.lane != queue.lane && (0..cost_ns as i128).contains(&slack)
        };
        let mut next = self.tenants.in_order(Resource::Engines).take(MAX_HEEDED);
        next.any(|tenant| self.tenants.queues(tenant).iter().any(|other| is_delayed(tenant, *other)))
    }

    /// True where another queue or another tenant waits.
    pub(super) fn others_wait(&self) -> bool {
        self.active.len() > 1 || self.tenants.waiting(Resource::Engines) > 1
    }

    /// Predicted nanoseconds of all that a tenant has waiting.
    pub(crate) fn backlog_ns(&self, tenant: u64) -> f64 {
        let queues = self.tenants.queues(tenant).iter().map(|index| &self.queues[*index]);
        let operations =
            queues.map(|queue| self.per_op_ns(queue) * queue.live_of(tenant) as f64).sum::<f64>();
        operations + self.tenants.tasks_ns(tenant) as f64
    }

    /// Refuses an item with which its tenant would have more waiting than it may. Where nothing waits, a group of lanes is
    /// always taken: an operation may take longer than the bound.
    pub(super) fn check_backlog(&self, index: usize, item: &Item<W>) -> Result<(), JobError> {
        let Some(max) = self.config.max_tenant_backlog else { return Ok(()) };
        let (queue, max) = (&self.queues[index], max.as_nanos() as f64);
        let per_op = self.per_op_ns(queue).max(1.0);
        let waiting = self.backlog_ns(item.tenant);
        let group = queue.choices.iter().map(|choice| choice.lanes.preferred).max().unwrap_or(1);
        let is_small = waiting == 0.0 && item.count as usize <= group;
        if is_small || waiting + per_op * f64::from(item.count) <= max {
            return Ok(());
        }
        let as_operations = |ns: f64| (ns / per_op) as usize;
        Err(JobError::Overloaded { queued: as_operations(waiting), bound: as_operations(max) })
    }

    /// Predicted nanoseconds of so many operations in full batches.
    pub(crate) fn predict_ns(&self, index: usize, ops: usize, bytes: usize) -> f64 {
        let queue = &self.queues[index];
        let costs = usable(queue, |choice| !choice.is_far)
            .map(|choice| choice.cost.predict_ns(choice.lanes, ops, bytes));
        let min = costs.fold(f64::INFINITY, f64::min);
        if min.is_finite() { min } else { 0.0 }
    }

    /// Returns the cost of an operation of a queue if its lanes are full.
    fn per_op_ns(&self, queue: &Queue<W>) -> f64 {
        let bytes = queue.bytes_per_op();
        let full = |choice: &Choice| {
            let ops = choice.lanes.preferred.max(1);
            choice.cost.predict_ns(choice.lanes, ops, ops * bytes) / ops as f64
        };
        let min = usable(queue, |choice| !choice.is_far).map(full).fold(f64::INFINITY, f64::min);
        if min.is_finite() { min } else { self.config.overhead.as_nanos() as f64 }
    }
}

//! The dispatcher's rule, without threads and without a clock: every call passes the time.
//!
//! The worker threads and the simulation in virtual time drive the same state machine. This module keeps the queues.
//! Module `turns` chooses the tenant and the queue, module `size` the engine and the batch size.

mod size;
mod turns;

use std::collections::HashMap;
use std::fmt;

use oarlock_core::{JobError, Shape};

use crate::class::class_of;
use crate::clock::Nanos;
use crate::config::SchedulerConfig;
use crate::probe::{ProbeNeed, ProbeRequest, ProbeState};
use crate::queue::{EngineChoice, ItemOwner, JobQueue, QueueEnd, QueueItem, QueueKey};
use crate::tenants::{Resource, Tenants};

/// The number of queues up to which a linear search is faster than hashing.
const LOOKED_THROUGH: usize = 8;

/// The number of idle queues of mixed lengths that are kept for the costs that they have learnt.
const IDLE_MIXED_QUEUES: usize = 32;

/// The next step of a free worker.
#[derive(Debug)]
pub(crate) enum Decision<O> {
    /// Run these on an engine.
    Run(BatchPlan<O>),
    /// Start these at a holder.
    Start { holder: usize, items: Vec<QueueItem<O>> },
    /// Fail these: all engines that offer the shape are in quarantine.
    Fail { shape: Shape, items: Vec<QueueItem<O>> },
    /// Refuse these: no engine offers the shape.
    Refuse { shape: Shape, items: Vec<QueueItem<O>> },
    /// Probe engines for a shape first.
    Probe(ProbeRequest),
    /// Nothing to do.
    Idle,
}

/// A batch for an engine.
#[derive(Debug)]
pub(crate) struct BatchPlan<O> {
    pub(crate) engine: usize,
    pub(crate) shape: Shape,
    pub(crate) items: Vec<QueueItem<O>>,
    pub(crate) ops: usize,
    pub(crate) predicted_ns: f64,
}

/// The load of the other workers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerLoad {
    /// The number of other workers that are idle and will take their share of a queue.
    pub(crate) idle_others: usize,
}

pub(crate) struct Scheduler<O> {
    pub(crate) config: SchedulerConfig,
    /// The engine that is baseline, fallback and referee.
    pub(crate) referee: usize,
    queues: Vec<JobQueue<O>>,
    by_key: HashMap<QueueKey, usize>,
    /// Queues of engines and holders with live operations.
    active: Vec<usize>,
    /// The number of live operations in the active queues.
    live: usize,
    tenants: Tenants,
    /// By engine, the shapes for which it is in quarantine; None means all shapes.
    quarantined: Vec<Vec<Option<Shape>>>,
    /// Reused memory for the order of a tenant's queues.
    order: Vec<(i128, usize)>,
}

impl<O: ItemOwner> Scheduler<O> {
    pub(crate) fn new(config: SchedulerConfig, referee: usize, engines: usize) -> Self {
        Self {
            config,
            referee,
            queues: Vec::new(),
            by_key: HashMap::new(),
            active: Vec::new(),
            live: 0,
            tenants: Tenants::default(),
            quarantined: vec![Vec::new(); engines],
            order: Vec::new(),
        }
    }

    /// Returns the queue of a key. A new queue gets the engines that `choices` returns.
    pub(crate) fn queue_for(
        &mut self,
        queue_key: QueueKey,
        choices: impl FnOnce() -> Vec<EngineChoice>,
    ) -> usize {
        if let Some(index) = self.find(queue_key) {
            return index;
        }
        // A queue may be made while an engine is in quarantine, and must not use it either.
        let mut choices = choices();
        mark_quarantined(&self.quarantined, queue_key, &mut choices);
        self.add(JobQueue::new(queue_key, choices, ProbeState::All))
    }

    /// Returns the queue of a shape. Engines of a new queue are probed when that is needed.
    pub(crate) fn unprobed_queue(&mut self, shape: Shape) -> usize {
        let queue_key = QueueKey::from_shape(shape);
        self.find(queue_key)
            .unwrap_or_else(|| self.add(JobQueue::new(queue_key, Vec::new(), ProbeState::Nobody)))
    }

    fn add(&mut self, queue: JobQueue<O>) -> usize {
        let index = self.idle_mixed().unwrap_or(self.queues.len());
        if let Some(old) = self.queues.get_mut(index) {
            self.by_key.remove(&old.queue_key);
            self.by_key.insert(queue.queue_key, index);
            *old = queue;
        } else {
            self.by_key.insert(queue.queue_key, index);
            self.queues.push(queue);
        }
        index
    }

    /// Returns the index of an idle queue of mixed lengths that a new queue replaces, if there are many of them. It
    /// bounds memory, since peers choose the lengths of their keys.
    fn idle_mixed(&self) -> Option<usize> {
        // A queue that is being probed keeps its index until `add_choices`. A queue with items is named by index in the
        // accounts of its tenants.
        let is_idle =
            |(_, queue): &(usize, &JobQueue<O>)| queue.is_mixed() && queue.is_empty() && !queue.is_probing;
        let mut idle = self.queues.iter().enumerate().filter(is_idle).map(|(index, _)| index);
        let first = idle.next()?;
        (idle.count() >= IDLE_MIXED_QUEUES).then_some(first)
    }

    /// Finds the queue of a key. A service uses few queues, and a linear search is faster than hashing for them.
    fn find(&self, queue_key: QueueKey) -> Option<usize> {
        // Keys are never equal in two queues, so the order of the two searches does not matter.
        let first = self.queues.iter().take(LOOKED_THROUGH).position(|queue| queue.queue_key == queue_key);
        first.or_else(|| {
            if self.queues.len() > LOOKED_THROUGH { self.by_key.get(&queue_key).copied() } else { None }
        })
    }

    /// False if it is known that no engine offers the queue's shape.
    pub(crate) fn has_choices(&self, queue: usize) -> bool {
        self.queues[queue].probe_state != ProbeState::All || !self.queues[queue].choices.is_empty()
    }

    /// Returns the probes that are needed to place so many operations of a queue. A caller that gets a request must
    /// call [`add_choices`](Self::add_choices), or the queue waits for ever.
    pub(crate) fn need_probe(&mut self, queue: usize, ops: usize) -> ProbeNeed {
        let (index, referee, engines) = (queue, self.referee, 0..self.quarantined.len());
        let queue = &mut self.queues[index];
        let QueueKey::Engines(shape) = queue.queue_key else { return ProbeNeed::Known };
        if queue.is_known(ops) {
            return ProbeNeed::Known;
        }
        // Set under the lock, before the caller runs the probes without it. Others wait or use the engines known so
        // far.
        if std::mem::replace(&mut queue.is_probing, true) {
            return ProbeNeed::Wait;
        }
        let is_due = |engine: &usize| *engine != referee || queue.probe_state == ProbeState::Nobody;
        // A first single job needs the referee only. Testing all engines would delay it by their self tests.
        let is_new = queue.probe_state == ProbeState::Nobody;
        let is_alone = is_new && queue.suits_referee(ops) && self.config.referee_serves;
        let (engines, then) = if is_alone {
            (vec![referee], ProbeState::Referee)
        } else {
            let is_serving = |engine: &usize| *engine != referee || self.config.referee_serves;
            (engines.filter(|engine| is_due(engine) && is_serving(engine)).collect(), ProbeState::All)
        };
        ProbeNeed::Probe(ProbeRequest { queue: index, shape, engines, then })
    }

    /// True if no probe is needed to place so many operations of a queue.
    pub(crate) fn is_known(&self, queue: usize, ops: usize) -> bool {
        self.queues[queue].is_known(ops)
    }

    /// Adds the engines that a probe has found, and ends the request.
    pub(crate) fn add_choices(&mut self, request: &ProbeRequest, mut choices: Vec<EngineChoice>) {
        mark_quarantined(&self.quarantined, QueueKey::from_shape(request.shape), &mut choices);
        let queue = &mut self.queues[request.queue];
        queue.choices.extend(choices);
        (queue.probe_state, queue.is_probing) = (request.then, false);
    }

    /// Queues an item, or refuses it at the tenant's bound. An item larger than the bound is accepted if the tenant
    /// has nothing waiting.
    pub(crate) fn submit(&mut self, queue: usize, item: QueueItem<O>) -> Result<(), JobError> {
        self.check_backlog(queue, &item)?;
        let (bound, tenant, ops) = (self.config.tenant_bound, item.tenant, item.count as usize);
        self.queues[queue].push(item, bound).map_err(|queued| JobError::Overloaded { queued, bound })?;
        self.note_entered(queue, tenant, ops);
        Ok(())
    }

    /// Queues a task, which waits for a thread for tasks.
    pub(crate) fn submit_task(&mut self, item: QueueItem<O>) -> Result<(), JobError> {
        let (tenant, ns, bound) = (item.tenant, item.owner.task_ns(), self.config.tenant_bound);
        if let Some(max) = self.config.max_tenant_backlog {
            let (waiting, max) = (self.backlog_ns(tenant), max.as_nanos() as f64);
            if waiting + ns as f64 > max {
                return Err(JobError::Overloaded { queued: in_ms(waiting), bound: in_ms(max) });
            }
        }
        let queue = self.queue_for(QueueKey::Tasks, Vec::new);
        self.queues[queue].push(item, bound).map_err(|queued| JobError::Overloaded { queued, bound })?;
        self.tenants.enter_task(tenant, ns);
        Ok(())
    }

    /// Returns the items of an abandoned or faulted batch to the front of their queue.
    pub(crate) fn submit_again(&mut self, queue_key: QueueKey, items: Vec<QueueItem<O>>) {
        let Some(queue) = self.find(queue_key) else { return };
        // Each one goes to the front, so the last one goes first.
        for mut item in items.into_iter().rev() {
            item.attempts = item.attempts.saturating_add(1);
            let (tenant, ops) = (item.tenant, item.count as usize);
            self.queues[queue].push_again(item);
            self.note_entered(queue, tenant, ops);
        }
    }

    fn note_entered(&mut self, queue: usize, tenant: u64, ops: usize) {
        self.live += ops;
        self.tenants.enter(tenant, queue);
        if !self.active.contains(&queue) {
            self.active.push(queue);
        }
    }

    /// Removes live operations of a submission that are no longer wanted.
    pub(crate) fn forget(
        &mut self,
        queue_key: QueueKey,
        tenant: u64,
        ops: usize,
        bytes: u64,
        task_ns: Nanos,
    ) {
        let Some(queue) = self.find(queue_key) else { return };
        self.queues[queue].forget(tenant, ops, bytes);
        // Tasks wait for threads of their own, so they are not in `live`, which wakes workers.
        if queue_key == QueueKey::Tasks {
            let is_last = self.queues[queue].live_of(tenant) == 0;
            return self.tenants.leave_task(tenant, task_ns, is_last);
        }
        self.live = self.live.saturating_sub(ops);
        self.note_left(queue, tenant);
    }

    /// Updates the lists of waiting tenants and active queues after operations have left a queue.
    fn note_left(&mut self, queue: usize, tenant: u64) {
        if self.queues[queue].live_of(tenant) == 0 {
            self.tenants.leave(tenant, queue);
        }
        if self.queues[queue].live() == 0 {
            self.active.retain(|active| *active != queue);
        }
    }

    /// Returns the number of live operations in all queues of engines and holders.
    pub(crate) fn live(&self) -> usize {
        self.live
    }

    /// Returns the queues and their live operations. Queues of mixed lengths are shown only while something waits
    /// there.
    pub(crate) fn queued(&self) -> impl Iterator<Item = (QueueKey, usize)> + '_ {
        let shown = self.queues.iter().filter(|queue| !queue.is_mixed() || queue.live() > 0);
        shown.map(|queue| (queue.queue_key, queue.live()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Takes everything that waits, to fail it at shutdown.
    pub(crate) fn drain(&mut self) -> Vec<QueueItem<O>> {
        let mut items = Vec::new();
        for queue in &mut self.queues {
            // A queue of mixed lengths gives one length at a time.
            loop {
                let taken = queue.take(usize::MAX, QueueEnd::Oldest);
                if taken.is_empty() {
                    break;
                }
                items.extend(taken);
            }
        }
        self.active.clear();
        self.live = 0;
        self.tenants = Tenants::default();
        items
    }

    /// Adapts the cost model to an observed batch.
    pub(crate) fn observe(&mut self, shape: Shape, engine: usize, ops: usize, bytes: usize, took_ns: f64) {
        if let Some(choice) = self.choice_mut(shape, engine) {
            choice.cost.observe(choice.batch_size, ops, bytes, took_ns);
        }
    }

    /// Sets the shapes for which an engine is in quarantine; None means all shapes.
    pub(crate) fn set_quarantine(&mut self, engine: usize, shapes: Vec<Option<Shape>>) {
        self.quarantined[engine] = shapes;
        for queue in &mut self.queues {
            mark_quarantined(&self.quarantined, queue.queue_key, &mut queue.choices);
        }
    }

    /// Returns the engines that offer a known shape, with their costs.
    pub(crate) fn choices(&self, shape: Shape) -> &[EngineChoice] {
        self.find(QueueKey::from_shape(shape)).map_or(&[], |queue| &self.queues[queue].choices)
    }

    fn choice_mut(&mut self, shape: Shape, engine: usize) -> Option<&mut EngineChoice> {
        let queue = self.find(QueueKey::from_shape(shape))?;
        self.queues[queue].choices.iter_mut().find(|choice| choice.engine == engine)
    }

    /// Makes a batch of items that were taken from the queue of a class. The items leave the counts, and their
    /// tenants are charged.
    fn plan(
        &mut self,
        queue: usize,
        choice: EngineChoice,
        class: Shape,
        items: Vec<QueueItem<O>>,
    ) -> BatchPlan<O> {
        let ops = items.iter().map(|item| item.count as usize).sum();
        let bytes = items.iter().map(|item| item.bytes as usize).sum();
        let predicted_ns = choice.cost.predict_ns(choice.batch_size, ops, bytes);
        // Charged now, by the prediction: while the batch runs, its tenants must not look as if they had had nothing.
        self.charge(queue, &items, predicted_ns);
        BatchPlan { engine: choice.engine, shape: shape_of(&items, class), items, ops, predicted_ns }
    }

    /// Removes items from the counts and charges each tenant its share of their predicted cost.
    fn charge(&mut self, queue: usize, items: &[QueueItem<O>], predicted_ns: f64) {
        let ops: usize = items.iter().map(|item| item.count as usize).sum();
        self.live = self.live.saturating_sub(ops);
        // Items of a tenant stand together, except for a tenant that was in turn twice. Then it is charged in two
        // parts.
        for same in items.chunk_by(|one, other| one.tenant == other.tenant) {
            let tenant_ops: usize = same.iter().map(|item| item.count as usize).sum();
            let tenant = same[0].tenant;
            self.tenants.charge(
                Resource::Engines,
                tenant,
                predicted_ns * tenant_ops as f64 / ops.max(1) as f64,
            );
            self.note_left(queue, tenant);
        }
    }
}

/// Returns the shape of items that were taken together from the queue of a class.
fn shape_of<O: ItemOwner>(items: &[QueueItem<O>], class: Shape) -> Shape {
    items.first().and_then(|item| item.owner.shape()).unwrap_or(class)
}

/// Converts nanoseconds to whole milliseconds, rounded up.
fn in_ms(ns: f64) -> usize {
    (ns / 1e6).ceil() as usize
}

fn mark_quarantined(quarantined: &[Vec<Option<Shape>>], queue_key: QueueKey, choices: &mut [EngineChoice]) {
    let QueueKey::Engines(class) = queue_key else { return };
    let concerns =
        |quarantined: &Option<Shape>| quarantined.is_none_or(|quarantined| class_of(quarantined) == class);
    for choice in choices {
        choice.is_quarantined = quarantined[choice.engine].iter().any(concerns);
    }
}

fn usable<O: ItemOwner>(
    queue: &JobQueue<O>,
    is_meant: impl Fn(&EngineChoice) -> bool,
) -> impl Iterator<Item = &EngineChoice> {
    queue.choices.iter().filter(move |choice| !choice.is_quarantined && is_meant(choice))
}

impl<O> fmt::Debug for Scheduler<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scheduler({} queues, {} active)", self.queues.len(), self.active.len())
    }
}

#[cfg(test)]
mod tests;

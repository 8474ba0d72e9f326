//! The dispatcher's rule, without threads and without a clock: time comes in with every call.
//!
//! The worker threads and the simulation in virtual time drive the same state machine. Here are queues and what becomes of them;
//! `turns` decides whose turn it is, `size` which engine and how many.

mod size;
mod turns;

use std::collections::HashMap;
use std::fmt;

use oarlock_core::{JobError, Shape};

use crate::appraisal::{Asked, Inquiry, Question};
use crate::class::class_of;
use crate::config::SchedulerConfig;
use crate::cost::EngineCost;
use crate::queue::{Choice, End, Item, Lane, Nanos, Queue, Work};
use crate::tenants::{Resource, Tenants};

/// Queues that are found by looking at each; more are hashed.
const LOOKED_THROUGH: usize = 8;

/// Queues of mixed lengths that are kept while nothing waits in them: their costs have been learnt.
const IDLE_MIXED_QUEUES: usize = 32;

/// What a free worker does next.
#[derive(Debug)]
pub(crate) enum Decision<W> {
    /// Run these on an engine.
    Run(Plan<W>),
    /// Run what a caller has to be done.
    Do(Item<W>),
    /// Start these at a holder.
    Start { holder: usize, items: Vec<Item<W>> },
    /// No engine is left that could do these.
    Fail { shape: Shape, items: Vec<Item<W>> },
    /// No engine offers what these ask for.
    Refuse { shape: Shape, items: Vec<Item<W>> },
    /// Engines have to be asked about a shape first.
    Ask(Question),
    /// A batch is filling; look again then (comparison rule only).
    WaitUntil(Nanos),
    /// There is nothing to do.
    Idle,
}

/// A batch for an engine.
#[derive(Debug)]
pub(crate) struct Plan<W> {
    pub(crate) engine: usize,
    pub(crate) shape: Shape,
    pub(crate) items: Vec<Item<W>>,
    pub(crate) ops: usize,
    pub(crate) predicted_ns: f64,
}

/// The share of the machine that asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    /// Other workers with nothing to do, who will take their share.
    pub(crate) idle_others: usize,
}

pub(crate) struct Scheduler<W> {
    pub(crate) config: SchedulerConfig,
    /// Engine that is baseline, fallback and referee.
    pub(crate) referee: usize,
    queues: Vec<Queue<W>>,
    by_lane: HashMap<Lane, usize>,
    /// Queues of engines and holders with live operations.
    active: Vec<usize>,
    /// Live operations in these.
    live: usize,
    tenants: Tenants,
    /// By engine, the shapes for which it is put aside; None means all.
    asides: Vec<Vec<Option<Shape>>>,
    /// Memory for the order of a tenant's queues.
    order: Vec<(i128, usize)>,
}

impl<W: Work> Scheduler<W> {
    pub(crate) fn new(config: SchedulerConfig, referee: usize, engines: usize) -> Self {
        Self {
            config,
            referee,
            queues: Vec::new(),
            by_lane: HashMap::new(),
            active: Vec::new(),
            live: 0,
            tenants: Tenants::default(),
            asides: vec![Vec::new(); engines],
            order: Vec::new(),
        }
    }

    /// The queue of a lane, made with `choices` where it does not exist yet.
    pub(crate) fn queue_for(&mut self, lane: Lane, choices: impl FnOnce() -> Vec<Choice>) -> usize {
        if let Some(index) = self.find(lane) {
            return index;
        }
        let mut choices = choices();
        mark_aside(&self.asides, lane, &mut choices);
        self.add(Queue::new(lane, choices, Asked::All))
    }

    /// The queue of a shape about which engines are asked when somebody needs to know.
    pub(crate) fn queue_unasked(&mut self, shape: Shape) -> usize {
        let lane = Lane::of(shape);
        self.find(lane).unwrap_or_else(|| self.add(Queue::new(lane, Vec::new(), Asked::Nobody)))
    }

    fn add(&mut self, queue: Queue<W>) -> usize {
        let index = self.idle_mixed().unwrap_or(self.queues.len());
        if let Some(old) = self.queues.get_mut(index) {
            self.by_lane.remove(&old.lane);
            self.by_lane.insert(queue.lane, index);
            *old = queue;
        } else {
            self.by_lane.insert(queue.lane, index);
            self.queues.push(queue);
        }
        index
    }

    /// The place of a queue of mixed lengths that makes way for another one, if there are many in which nothing waits.
    fn idle_mixed(&self) -> Option<usize> {
        let is_idle =
            |(_, queue): &(usize, &Queue<W>)| queue.is_mixed() && queue.is_empty() && !queue.is_asking;
        let mut idle = self.queues.iter().enumerate().filter(is_idle).map(|(index, _)| index);
        let first = idle.next()?;
        (idle.count() >= IDLE_MIXED_QUEUES).then_some(first)
    }

    /// The few queues that a service uses are found by looking, faster than by hashing.
    fn find(&self, lane: Lane) -> Option<usize> {
        let first = self.queues.iter().take(LOOKED_THROUGH).position(|queue| queue.lane == lane);
        first.or_else(|| {
            if self.queues.len() > LOOKED_THROUGH { self.by_lane.get(&lane).copied() } else { None }
        })
    }

    /// False where it is known that no engine offers the queue's shape.
    pub(crate) fn has_choices(&self, queue: usize) -> bool {
        self.queues[queue].asked != Asked::All || !self.queues[queue].choices.is_empty()
    }

    /// What must be asked to place so many operations of a queue. Who is told to ask must call [`learn`](Self::learn).
    pub(crate) fn inquire(&mut self, queue: usize, ops: usize) -> Inquiry {
        let (index, referee, engines) = (queue, self.referee, 0..self.asides.len());
        let queue = &mut self.queues[index];
        let Lane::Engines(shape) = queue.lane else { return Inquiry::Known };
        if queue.is_known(ops) {
            return Inquiry::Known;
        }
        if std::mem::replace(&mut queue.is_asking, true) {
            return Inquiry::Wait;
        }
        let is_due = |engine: &usize| *engine != referee || queue.asked == Asked::Nobody;
        let is_alone = ops < 2 && queue.asked == Asked::Nobody && self.config.referee_serves;
        let (engines, then) = if is_alone {
            (vec![referee], Asked::Referee)
        } else {
            let is_serving = |engine: &usize| *engine != referee || self.config.referee_serves;
            (engines.filter(|engine| is_due(engine) && is_serving(engine)).collect(), Asked::All)
        };
        Inquiry::Ask(Question { queue: index, shape, engines, then })
    }

    /// True where nothing has to be asked to place so many operations of a queue.
    pub(crate) fn is_known(&self, queue: usize, ops: usize) -> bool {
        self.queues[queue].is_known(ops)
    }

    /// Notes what engines have said.
    pub(crate) fn learn(&mut self, question: &Question, mut choices: Vec<Choice>) {
        mark_aside(&self.asides, Lane::of(question.shape), &mut choices);
        let queue = &mut self.queues[question.queue];
        queue.choices.extend(choices);
        (queue.asked, queue.is_asking) = (question.then, false);
    }

    /// Takes an item in, or refuses it at the tenant's bound. A submission larger than the bound of operations is taken when the
    /// tenant has nothing waiting.
    pub(crate) fn submit(&mut self, queue: usize, item: Item<W>) -> Result<(), JobError> {
        self.check_backlog(queue, &item)?;
        let (bound, tenant, ops) = (self.config.tenant_bound, item.tenant, item.count as usize);
        self.queues[queue].push(item, bound).map_err(|queued| JobError::Overloaded { queued, bound })?;
        self.note_entered(queue, tenant, ops);
        Ok(())
    }

    /// Takes in a task, which waits for a thread of its kind.
    pub(crate) fn submit_task(&mut self, item: Item<W>) -> Result<(), JobError> {
        let (tenant, ns, bound) = (item.tenant, item.work.task_ns(), self.config.tenant_bound);
        if let Some(max) = self.config.max_tenant_backlog {
            let (waiting, max) = (self.backlog_ns(tenant), max.as_nanos() as f64);
            if waiting + ns as f64 > max {
                return Err(JobError::Overloaded { queued: in_ms(waiting), bound: in_ms(max) });
            }
        }
        let queue = self.queue_for(Lane::Tasks, Vec::new);
        self.queues[queue].push(item, bound).map_err(|queued| JobError::Overloaded { queued, bound })?;
        self.tenants.enter_task(tenant, ns);
        Ok(())
    }

    /// Returns the items of an abandoned or faulted batch to the front of their queue.
    pub(crate) fn submit_again(&mut self, lane: Lane, items: Vec<Item<W>>) {
        let Some(queue) = self.find(lane) else { return };
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

    /// Live operations of a submission are not wanted any more.
    pub(crate) fn forget(&mut self, lane: Lane, tenant: u64, ops: usize, bytes: u64, task_ns: Nanos) {
        let Some(queue) = self.find(lane) else { return };
        self.queues[queue].forget(tenant, ops, bytes);
        if lane == Lane::Tasks {
            let is_last = self.queues[queue].live_of(tenant) == 0;
            return self.tenants.leave_task(tenant, task_ns, is_last);
        }
        self.live = self.live.saturating_sub(ops);
        self.note_left(queue, tenant);
    }

    /// Notes that a tenant, or all, may have nothing waiting in a queue any more.
    fn note_left(&mut self, queue: usize, tenant: u64) {
        if self.queues[queue].live_of(tenant) == 0 {
            self.tenants.leave(tenant, queue);
        }
        if self.queues[queue].live() == 0 {
            self.active.retain(|active| *active != queue);
        }
    }

    /// Live operations of all queues of engines and holders.
    pub(crate) fn live(&self) -> usize {
        self.live
    }

    /// Queues and their live operations. Those of mixed lengths are shown only while something waits there.
    pub(crate) fn queued(&self) -> impl Iterator<Item = (Lane, usize)> + '_ {
        let shown = self.queues.iter().filter(|queue| !queue.is_mixed() || queue.live() > 0);
        shown.map(|queue| (queue.lane, queue.live()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Takes everything that waits, to be failed at shutdown.
    pub(crate) fn drain(&mut self) -> Vec<Item<W>> {
        let mut items = Vec::new();
        for queue in &mut self.queues {
            loop {
                let taken = queue.take(usize::MAX, End::Oldest);
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

    /// Follows an observed batch.
    pub(crate) fn observe(&mut self, shape: Shape, engine: usize, ops: usize, bytes: usize, took_ns: f64) {
        if let Some(choice) = self.choice_mut(shape, engine) {
            choice.cost.observe(choice.lanes, ops, bytes, took_ns);
        }
    }

    /// Says for which shapes an engine is aside now; None among them means all.
    pub(crate) fn set_aside(&mut self, engine: usize, shapes: Vec<Option<Shape>>) {
        self.asides[engine] = shapes;
        for queue in &mut self.queues {
            mark_aside(&self.asides, queue.lane, &mut queue.choices);
        }
    }

    /// Engines that offer a known shape, with their costs.
    pub(crate) fn choices(&self, shape: Shape) -> &[Choice] {
        self.find(Lane::of(shape)).map_or(&[], |queue| &self.queues[queue].choices)
    }

    fn choice_mut(&mut self, shape: Shape, engine: usize) -> Option<&mut Choice> {
        let queue = self.find(Lane::of(shape))?;
        self.queues[queue].choices.iter_mut().find(|choice| choice.engine == engine)
    }

    /// The batch of items that were taken from the queue of a class. They leave the counts, and their tenants are charged.
    fn plan(&mut self, queue: usize, choice: Choice, class: Shape, items: Vec<Item<W>>) -> Plan<W> {
        let ops = items.iter().map(|item| item.count as usize).sum();
        let bytes = items.iter().map(|item| item.bytes as usize).sum();
        let predicted_ns = choice.cost.predict_ns(choice.lanes, ops, bytes);
        self.charge(queue, &items, predicted_ns);
        Plan { engine: choice.engine, shape: shape_of(&items, class), items, ops, predicted_ns }
    }

    /// Takes items off the counts and charges each tenant its share of what they are predicted to cost.
    fn charge(&mut self, queue: usize, items: &[Item<W>], predicted_ns: f64) {
        let ops: usize = items.iter().map(|item| item.count as usize).sum();
        self.live = self.live.saturating_sub(ops);
        for same in items.chunk_by(|one, other| one.tenant == other.tenant) {
            let own: usize = same.iter().map(|item| item.count as usize).sum();
            let tenant = same[0].tenant;
            self.tenants.charge(Resource::Engines, tenant, predicted_ns * own as f64 / ops.max(1) as f64);
            self.note_left(queue, tenant);
        }
    }
}

/// The shape of items that were taken together from the queue of a class.
fn shape_of<W: Work>(items: &[Item<W>], class: Shape) -> Shape {
    items.first().and_then(|item| item.work.shape()).unwrap_or(class)
}

/// Nanoseconds as whole milliseconds.
fn in_ms(ns: f64) -> usize {
    (ns / 1e6).ceil() as usize
}

fn mark_aside(asides: &[Vec<Option<Shape>>], lane: Lane, choices: &mut [Choice]) {
    let Lane::Engines(class) = lane else { return };
    let concerns = |aside: &Option<Shape>| aside.is_none_or(|aside| class_of(aside) == class);
    for choice in choices {
        choice.is_aside = asides[choice.engine].iter().any(concerns);
    }
}

fn usable<W: Work>(queue: &Queue<W>, is_meant: impl Fn(&Choice) -> bool) -> impl Iterator<Item = &Choice> {
    queue.choices.iter().filter(move |choice| !choice.is_aside && is_meant(choice))
}

/// The cost that a choice starts with.
pub(crate) fn choice(
    engine: usize,
    lanes: oarlock_core::BatchSize,
    cost: EngineCost,
    is_far: bool,
) -> Choice {
    Choice { engine, lanes, cost, is_far, is_aside: false }
}

impl<W> fmt::Debug for Scheduler<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scheduler({} queues, {} active)", self.queues.len(), self.active.len())
    }
}

#[cfg(test)]
mod tests;

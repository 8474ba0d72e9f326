//! The dispatcher's rule, without threads and without a clock: time comes in with every call.
//!
//! The worker threads and the simulation in virtual time drive the same state machine.

use std::collections::HashMap;
use std::fmt;

use oarlock_core::{JobError, Shape};

use crate::appraisal::{Asked, Inquiry, Question};
use crate::config::{Config, Rule};
use crate::cost::Cost;
use crate::queue::{Choice, End, Item, Lane, Nanos, Queue, Work};

const LOOKED_THROUGH: usize = 8;

/// Jobs handed to a holder at once.
const HOLDER_BATCH: usize = 1024;

/// What a free worker does next.
#[derive(Debug)]
pub(crate) enum Decision<W> {
    /// Run these on an engine.
    Run(Plan<W>),
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
    pub(crate) config: Config,
    /// Engine that is baseline, fallback and referee.
    pub(crate) referee: usize,
    queues: Vec<Queue<W>>,
    by_lane: HashMap<Lane, usize>,
    /// Queues with live operations.
    active: Vec<usize>,
    /// By engine, the shapes for which it is put aside; None means all.
    asides: Vec<Vec<Option<Shape>>>,
}

impl<W: Work> Scheduler<W> {
    pub(crate) fn new(config: Config, referee: usize, engines: usize) -> Self {
        Self {
            config,
            referee,
            queues: Vec::new(),
            by_lane: HashMap::new(),
            active: Vec::new(),
            asides: vec![Vec::new(); engines],
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
        let lane = Lane::Engines(shape);
        self.find(lane).unwrap_or_else(|| self.add(Queue::new(lane, Vec::new(), Asked::Nobody)))
    }

    fn add(&mut self, queue: Queue<W>) -> usize {
        self.by_lane.insert(queue.lane, self.queues.len());
        self.queues.push(queue);
        self.queues.len() - 1
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
        mark_aside(&self.asides, Lane::Engines(question.shape), &mut choices);
        let queue = &mut self.queues[question.queue];
        queue.choices.extend(choices);
        (queue.asked, queue.is_asking) = (question.then, false);
    }

    /// Takes an item in, or refuses it at the tenant's bound. A submission larger than the bound is taken when the
    /// tenant has nothing waiting.
    pub(crate) fn submit(&mut self, queue: usize, item: Item<W>) -> Result<(), JobError> {
        let bound = self.config.tenant_bound;
        self.queues[queue].push(item, bound).map_err(|queued| JobError::Overloaded { queued, bound })?;
        self.activate(queue);
        Ok(())
    }

    /// Returns the items of an abandoned or faulted batch to the front of their queue.
    pub(crate) fn submit_again(&mut self, lane: Lane, items: Vec<Item<W>>) {
        let Some(queue) = self.find(lane) else { return };
        for mut item in items.into_iter().rev() {
            item.attempts = item.attempts.saturating_add(1);
            self.queues[queue].push_again(item);
        }
        self.activate(queue);
    }

    /// Live operations of a submission are not wanted any more.
    pub(crate) fn forget(&mut self, lane: Lane, tenant: u64, ops: usize, bytes: u64) {
        if let Some(queue) = self.find(lane) {
            self.queues[queue].forget(tenant, ops, bytes);
            self.deactivate_empty();
        }
    }

    /// Live operations of all queues.
    pub(crate) fn live(&self) -> usize {
        self.active.iter().map(|queue| self.queues[*queue].live()).sum()
    }

    /// Every queue, and its live operations.
    pub(crate) fn queued(&self) -> impl Iterator<Item = (Lane, usize)> + '_ {
        self.queues.iter().map(|queue| (queue.lane, queue.live()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Takes everything that waits, to be failed at shutdown.
    pub(crate) fn drain(&mut self) -> Vec<Item<W>> {
        let items = self.queues.iter_mut().flat_map(|queue| queue.take(usize::MAX, End::Oldest)).collect();
        self.active.clear();
        items
    }

    /// What a free near worker does next.
    pub(crate) fn next(&mut self, now: Nanos, asking: Asking) -> Decision<W> {
        let mut wait_until = Nanos::MAX;
        for queue in self.by_slack() {
            match self.decide(queue, now, asking) {
                Decision::WaitUntil(time) => wait_until = wait_until.min(time),
                Decision::Idle => {}
                decision => {
                    self.deactivate_empty();
                    return decision;
                }
            }
        }
        if wait_until == Nanos::MAX { Decision::Idle } else { Decision::WaitUntil(wait_until) }
    }

    /// What a far engine does next: the backlog that the CPU cannot finish within the deadline, newest first.
    pub(crate) fn next_far(&mut self, engine: usize, workers: usize) -> Decision<W> {
        for at in 0..self.active.len() {
            let index = self.active[at];
            let queue = &self.queues[index];
            let Lane::Engines(shape) = queue.lane else { continue };
            let Some(choice) = usable(queue, |choice| choice.is_far && choice.engine == engine).next() else {
                continue;
            };
            let choice = *choice;
            let surplus = self.surplus(queue, workers).min(choice.lanes.most);
            if surplus == 0 || !self.far_pays(queue, choice, surplus) {
                continue;
            }
            let items = self.queues[index].take(surplus, End::Newest);
            if items.is_empty() {
                continue;
            }
            self.deactivate_empty();
            return Decision::Run(self.plan(choice, shape, items));
        }
        Decision::Idle
    }

    /// True where some far engine may have work; cheap enough for every submission.
    pub(crate) fn has_surplus(&self, queue: usize, workers: usize) -> bool {
        let queue = &self.queues[queue];
        let has_far = usable(queue, |choice| choice.is_far).next().is_some();
        has_far && self.surplus(queue, workers) > 0
    }

    /// The predicted cost of running `ops` operations one after another on the referee, where the adaptive rule would.
    pub(crate) fn single_ns(&self, queue: usize, ops: usize, bytes: usize) -> Option<f64> {
        let queue = &self.queues[queue];
        let referee = self.referee_of(queue)?;
        let is_single = match self.config.rule {
            Rule::Adaptive => self.lane_pays(queue, referee, ops, bytes / ops.max(1)).is_none(),
            Rule::ScalarOnly => true,
            Rule::TwoOrMore => ops < 2,
            Rule::Timer(_) => false,
        };
        is_single.then(|| referee.cost.predict_ns(referee.lanes, ops, bytes))
    }

    /// Near engine and batch size for bulk work on one thread: `ops` operations of so many bytes each, none of which is in the
    /// queue.
    pub(crate) fn bulk_plan(&self, queue: usize, ops: usize, bytes_per_op: usize) -> Option<(Choice, usize)> {
        let queue = &self.queues[queue];
        let referee = self.referee_of(queue);
        let lane = match (self.config.rule, referee) {
            (Rule::ScalarOnly, _) => None,
            (_, Some(referee)) => self.lane_pays(queue, referee, ops, bytes_per_op),
            (_, None) => self.cheapest_lane(queue, ops, bytes_per_op),
        };
        let choice = lane.or(referee)?;
        // Nobody waits for the first of these, and what an engine without groups shares within a run is not in its cost.
        let most = if choice.lanes.best > 1 { self.worthwhile(choice) } else { choice.lanes.most };
        Some((choice, ops.min(most.max(1))))
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
        self.find(Lane::Engines(shape)).map_or(&[], |queue| &self.queues[queue].choices)
    }

    /// Active queues, least slack first.
    fn by_slack(&self) -> Vec<usize> {
        let mut order = self.active.clone();
        if order.len() > 1 {
            order.sort_by_cached_key(|queue| self.slack_key(&self.queues[*queue]));
        }
        order
    }

    /// Due time less the cost of what is due: the order of slack at any moment.
    fn slack_key(&self, queue: &Queue<W>) -> i128 {
        let due = queue.earliest_due().unwrap_or(Nanos::MAX);
        let cost = usable(queue, |choice| !choice.is_far)
            .map(|choice| choice.cost.predict_ns(choice.lanes, 1, queue.bytes_per_op()))
            .fold(f64::INFINITY, f64::min);
        i128::from(due) - if cost.is_finite() { cost as i128 } else { 0 }
    }

    fn decide(&mut self, index: usize, now: Nanos, asking: Asking) -> Decision<W> {
        match self.inquire(index, self.queues[index].live()) {
            Inquiry::Ask(question) => return Decision::Ask(question),
            // With the referee alone work goes on while others are asked.
            Inquiry::Wait if self.queues[index].choices.is_empty() => return Decision::Idle,
            Inquiry::Wait | Inquiry::Known => {}
        }
        let queue = &self.queues[index];
        let shape = match queue.lane {
            Lane::Holder(holder) => {
                let items = self.queues[index].take(HOLDER_BATCH, End::Oldest);
                return if items.is_empty() { Decision::Idle } else { Decision::Start { holder, items } };
            }
            Lane::Engines(shape) => shape,
        };
        let (choice, ops) = match self.choose(queue, now, asking) {
            Chosen::Unit(choice, ops) => (choice, ops),
            Chosen::WaitUntil(time) => return Decision::WaitUntil(time),
            Chosen::LeaveToFar => return Decision::Idle,
            Chosen::Nobody => {
                let is_offered = !queue.choices.is_empty();
                let items = self.queues[index].take(usize::MAX, End::Oldest);
                return match items.is_empty() {
                    true => Decision::Idle,
                    false if is_offered => Decision::Fail { shape, items },
                    false => Decision::Refuse { shape, items },
                };
            }
        };
        let items = self.queues[index].take(ops, End::Oldest);
        if items.is_empty() { Decision::Idle } else { Decision::Run(self.plan(choice, shape, items)) }
    }

    fn choose(&self, queue: &Queue<W>, now: Nanos, asking: Asking) -> Chosen {
        let referee = self.referee_of(queue);
        if queue.next_runs_alone()
            && let Some(referee) = referee
        {
            return Chosen::Unit(referee, 1);
        }
        let (share, bytes) = (queue.live().div_ceil(1 + asking.idle_others), queue.bytes_per_op());
        let unit = match (self.config.rule, referee) {
            (_, None) => self.cheapest_lane(queue, share, bytes).map(|lane| self.lane_unit(lane, share)),
            (Rule::ScalarOnly, Some(referee)) => Some((referee, 1)),
            (Rule::Adaptive, Some(referee)) => match self.lane_pays(queue, referee, share, bytes) {
                Some(lane) => Some(self.lane_unit(lane, share)),
                None => Some((referee, share.min(self.worthwhile(referee)))),
            },
            (Rule::TwoOrMore, Some(referee)) => Some(self.two_or_more(queue, referee)),
            (Rule::Timer(wait), Some(referee)) => {
                match self.timer(queue, referee, wait.as_nanos() as u64, now) {
                    Ok(unit) => Some(unit),
                    Err(time) => return Chosen::WaitUntil(time),
                }
            }
        };
        match unit {
            Some((choice, ops)) => self.smaller_where_others_wait(queue, choice, ops, referee, now),
            None if usable(queue, |choice| choice.is_far).next().is_some() => Chosen::LeaveToFar,
            None => Chosen::Nobody,
        }
    }

    /// While another queue waits, a batch over the longest becomes as many groups of lanes as fit, one at least. That one gives way
    /// to a single operation only where another queue is in time and would not be after it: singles cost all queues more.
    fn smaller_where_others_wait(
        &self,
        queue: &Queue<W>,
        choice: Choice,
        ops: usize,
        referee: Option<Choice>,
        now: Nanos,
    ) -> Chosen {
        let longest = self.config.longest_batch.as_nanos() as f64;
        let cost = |choice: Choice, ops: usize| {
            choice.cost.predict_ns(choice.lanes, ops, ops * queue.bytes_per_op())
        };
        if self.active.len() < 2 || cost(choice, ops) <= longest {
            return Chosen::Unit(choice, ops);
        }
        let group = ops.min(choice.lanes.best.max(1));
        if ops > group && cost(choice, group) <= longest {
            let per_group = cost(choice, group).max(1.0);
            return Chosen::Unit(choice, ops.min(group * (longest / per_group).max(1.0) as usize));
        }
        match referee {
            Some(referee)
                if cost(referee, 1) < cost(choice, group)
                    && self.delays_another(queue, now, cost(choice, group)) =>
            {
                Chosen::Unit(referee, 1)
            }
            _ => Chosen::Unit(choice, group),
        }
    }

    /// True where another queue that is in time now would be late after so long.
    fn delays_another(&self, queue: &Queue<W>, now: Nanos, cost_ns: f64) -> bool {
        let slack = |index: &usize| self.slack_key(&self.queues[*index]) - i128::from(now);
        let is_other = |index: &&usize| self.queues[**index].lane != queue.lane;
        self.active.iter().filter(is_other).map(slack).any(|slack| (0..cost_ns as i128).contains(&slack))
    }

    /// The referee where it offers the shape.
    fn referee_of(&self, queue: &Queue<W>) -> Option<Choice> {
        queue.choices.iter().find(|choice| choice.engine == self.referee).copied()
    }

    /// The near engine other than the referee with the least cost per operation for so many.
    fn cheapest_lane(&self, queue: &Queue<W>, ops: usize, bytes_per_op: usize) -> Option<Choice> {
        let per_op = |choice: &Choice| {
            let ops = ops.clamp(1, choice.lanes.best.max(1));
            choice.cost.predict_ns(choice.lanes, ops, ops * bytes_per_op) / ops as f64
        };
        usable(queue, |choice| !choice.is_far && choice.engine != self.referee)
            .min_by(|a, b| per_op(a).total_cmp(&per_op(b)))
            .copied()
    }

    /// The lane engine that does what waits faster than the referee one by one: the break-even of the cost model.
    fn lane_pays(
        &self,
        queue: &Queue<W>,
        referee: Choice,
        ops: usize,
        bytes_per_op: usize,
    ) -> Option<Choice> {
        let lane = self.cheapest_lane(queue, ops, bytes_per_op)?;
        let ops = ops.min(lane.lanes.best.max(1));
        let batch = lane.cost.predict_ns(lane.lanes, ops, ops * bytes_per_op);
        let singles = referee.cost.predict_ns(referee.lanes, 1, bytes_per_op) * ops as f64;
        (batch < singles).then_some(lane)
    }

    fn lane_unit(&self, lane: Choice, ops: usize) -> (Choice, usize) {
        (lane, ops.min(self.worthwhile(lane)))
    }

    fn worthwhile(&self, choice: Choice) -> usize {
        choice.cost.worthwhile(choice.lanes, self.config.overhead.as_nanos() as f64)
    }

    fn two_or_more(&self, queue: &Queue<W>, referee: Choice) -> (Choice, usize) {
        match self.cheapest_lane(queue, queue.live(), queue.bytes_per_op()) {
            Some(lane) if queue.live() >= 2 => (lane, queue.live().min(lane.lanes.best)),
            _ => (referee, 1),
        }
    }

    fn timer(
        &self,
        queue: &Queue<W>,
        referee: Choice,
        wait: Nanos,
        now: Nanos,
    ) -> Result<(Choice, usize), Nanos> {
        let unit = self.cheapest_lane(queue, queue.live(), queue.bytes_per_op()).unwrap_or(referee);
        let full = if unit.engine == self.referee { 8 } else { unit.lanes.best };
        let ready = queue.oldest().unwrap_or(now).saturating_add(wait);
        if queue.live() >= full || now >= ready { Ok((unit, queue.live().min(full))) } else { Err(ready) }
    }

    /// Operations that the near engines cannot finish within the target latency.
    fn surplus(&self, queue: &Queue<W>, workers: usize) -> usize {
        let bytes = queue.bytes_per_op();
        let per_op = usable(queue, |choice| !choice.is_far)
            .map(|choice| {
                let ops = choice.lanes.best.max(1);
                choice.cost.predict_ns(choice.lanes, ops, ops * bytes) / ops as f64
            })
            .fold(f64::INFINITY, f64::min);
        if per_op.is_infinite() {
            return queue.live();
        }
        let in_time = self.config.target_latency.as_nanos() as f64 * workers as f64 / per_op.max(0.001);
        queue.live().saturating_sub(in_time.min(1e15) as usize)
    }

    /// A far batch must be done before the CPU would have come to it.
    fn far_pays(&self, queue: &Queue<W>, far: Choice, ops: usize) -> bool {
        let bytes = ops * queue.bytes_per_op();
        let near = usable(queue, |choice| !choice.is_far)
            .map(|choice| choice.cost.predict_ns(choice.lanes, ops, bytes))
            .fold(f64::INFINITY, f64::min);
        let patience = self.config.target_latency.as_nanos() as f64;
        far.cost.predict_ns(far.lanes, ops, bytes) < near + patience
    }

    fn plan(&self, choice: Choice, shape: Shape, items: Vec<Item<W>>) -> Plan<W> {
        let ops = items.iter().map(|item| item.count as usize).sum();
        let bytes = items.iter().map(|item| item.bytes as usize).sum();
        let predicted_ns = choice.cost.predict_ns(choice.lanes, ops, bytes);
        Plan { engine: choice.engine, shape, items, ops, predicted_ns }
    }

    fn choice_mut(&mut self, shape: Shape, engine: usize) -> Option<&mut Choice> {
        let queue = self.find(Lane::Engines(shape))?;
        self.queues[queue].choices.iter_mut().find(|choice| choice.engine == engine)
    }

    fn activate(&mut self, queue: usize) {
        if !self.active.contains(&queue) {
            self.active.push(queue);
        }
    }

    fn deactivate_empty(&mut self) {
        let queues = &self.queues;
        self.active.retain(|queue| queues[*queue].live() > 0);
    }
}

enum Chosen {
    Unit(Choice, usize),
    WaitUntil(Nanos),
    LeaveToFar,
    Nobody,
}

fn mark_aside(asides: &[Vec<Option<Shape>>], lane: Lane, choices: &mut [Choice]) {
    let Lane::Engines(shape) = lane else { return };
    for choice in choices {
        choice.is_aside = asides[choice.engine].iter().any(|aside| aside.is_none_or(|aside| aside == shape));
    }
}

fn usable<W: Work>(queue: &Queue<W>, is_meant: impl Fn(&Choice) -> bool) -> impl Iterator<Item = &Choice> {
    queue.choices.iter().filter(move |choice| !choice.is_aside && is_meant(choice))
}

/// The cost that a choice starts with.
pub(crate) fn choice(engine: usize, lanes: oarlock_core::Lanes, cost: Cost, is_far: bool) -> Choice {
    Choice { engine, lanes, cost, is_far, is_aside: false }
}

impl<W> fmt::Debug for Scheduler<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scheduler({} queues, {} active)", self.queues.len(), self.active.len())
    }
}

#[cfg(test)]
mod tests;

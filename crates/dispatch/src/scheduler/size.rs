//! The choice of an engine, and of the number of operations at once.

use super::{Asking, Scheduler, usable};
use crate::config::SchedulingRule;
use crate::queue::{Choice, Nanos, Queue, Work};

pub(super) enum Chosen {
    Unit(Choice, usize),
    WaitUntil(Nanos),
    LeaveToFar,
    Nobody,
}

impl<W: Work> Scheduler<W> {
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
            SchedulingRule::Adaptive => self.lane_pays(queue, referee, ops, bytes / ops.max(1)).is_none(),
            SchedulingRule::ScalarOnly => true,
            SchedulingRule::TwoOrMore => ops < 2,
            SchedulingRule::Timer(_) => false,
        };
        is_single.then(|| referee.cost.predict_ns(referee.lanes, ops, bytes))
    }

    /// Near engine and batch size for bulk work on one thread: `ops` operations of so many bytes each, none of which is in the
    /// queue.
    pub(crate) fn bulk_plan(&self, queue: usize, ops: usize, bytes_per_op: usize) -> Option<(Choice, usize)> {
        let queue = &self.queues[queue];
        let referee = self.referee_of(queue);
        let lane = match (self.config.rule, referee) {
            (SchedulingRule::ScalarOnly, _) => None,
            (_, Some(referee)) => self.lane_pays(queue, referee, ops, bytes_per_op),
            (_, None) => self.cheapest_lane(queue, ops, bytes_per_op),
        };
        let choice = lane.or(referee)?;
        // Nobody waits for the first of these, and what an engine without groups shares within a run is not in its cost.
        let max = if choice.lanes.preferred > 1 { self.worthwhile(choice) } else { choice.lanes.max };
        Some((choice, ops.min(max.max(1))))
    }

    /// Chooses what is run for a tenant from a queue in which a batch could have `available` operations.
    pub(super) fn choose(
        &self,
        queue: &Queue<W>,
        tenant: u64,
        available: usize,
        now: Nanos,
        asking: Asking,
    ) -> Chosen {
        let referee = self.referee_of(queue);
        if queue.next_runs_alone(tenant)
            && let Some(referee) = referee
        {
            return Chosen::Unit(referee, 1);
        }
        let (share, bytes) = (available.div_ceil(1 + asking.idle_others), queue.bytes_per_op());
        let unit = match (self.config.rule, referee) {
            (_, None) => self.cheapest_lane(queue, share, bytes).map(|lane| self.lane_unit(lane, share)),
            (SchedulingRule::ScalarOnly, Some(referee)) => Some((referee, 1)),
            (SchedulingRule::Adaptive, Some(referee)) => match self.lane_pays(queue, referee, share, bytes) {
                Some(lane) => Some(self.lane_unit(lane, share)),
                None => Some((referee, share.min(self.worthwhile(referee)))),
            },
            (SchedulingRule::TwoOrMore, Some(referee)) => Some(self.two_or_more(queue, available, referee)),
            (SchedulingRule::Timer(wait), Some(referee)) => {
                match self.timer(queue, available, referee, wait.as_nanos() as u64, now) {
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

    /// While another queue or tenant waits, a batch over the longest becomes as many groups of lanes as fit, one at least. That one gives way
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
        if !self.others_wait() || cost(choice, ops) <= longest {
            return Chosen::Unit(choice, ops);
        }
        let group = ops.min(choice.lanes.preferred.max(1));
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

    /// The referee where it offers the shape.
    fn referee_of(&self, queue: &Queue<W>) -> Option<Choice> {
        queue.choices.iter().find(|choice| choice.engine == self.referee).copied()
    }

    /// The near engine other than the referee with the least cost per operation for so many.
    fn cheapest_lane(&self, queue: &Queue<W>, ops: usize, bytes_per_op: usize) -> Option<Choice> {
        let per_op = |choice: &Choice| {
            let ops = ops.clamp(1, choice.lanes.preferred.max(1));
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
        let ops = ops.min(lane.lanes.preferred.max(1));
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

    fn two_or_more(&self, queue: &Queue<W>, available: usize, referee: Choice) -> (Choice, usize) {
        match self.cheapest_lane(queue, available, queue.bytes_per_op()) {
            Some(lane) if available >= 2 => (lane, available.min(lane.lanes.preferred)),
            _ => (referee, 1),
        }
    }

    fn timer(
        &self,
        queue: &Queue<W>,
        available: usize,
        referee: Choice,
        wait: Nanos,
        now: Nanos,
    ) -> Result<(Choice, usize), Nanos> {
        let unit = self.cheapest_lane(queue, available, queue.bytes_per_op()).unwrap_or(referee);
        let full = if unit.engine == self.referee { 8 } else { unit.lanes.preferred };
        let ready = queue.oldest().unwrap_or(now).saturating_add(wait);
        if available >= full || now >= ready { Ok((unit, available.min(full))) } else { Err(ready) }
    }

    /// Operations that the near engines cannot finish within the target latency.
    pub(super) fn surplus(&self, queue: &Queue<W>, workers: usize) -> usize {
        let bytes = queue.bytes_per_op();
        let per_op = usable(queue, |choice| !choice.is_far)
            .map(|choice| {
                let ops = choice.lanes.preferred.max(1);
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
    pub(super) fn far_pays(&self, queue: &Queue<W>, far: Choice, ops: usize) -> bool {
        let bytes = ops * queue.bytes_per_op();
        let near = usable(queue, |choice| !choice.is_far)
            .map(|choice| choice.cost.predict_ns(choice.lanes, ops, bytes))
            .fold(f64::INFINITY, f64::min);
        let patience = self.config.target_latency.as_nanos() as f64;
        far.cost.predict_ns(far.lanes, ops, bytes) < near + patience
    }
}

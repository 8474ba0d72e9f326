//! One queue per class of shapes, per holder, and one for tasks: what each tenant has there, first come, first served.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use oarlock_core::{BatchSize, Shape};

use crate::appraisal::Asked;
use crate::class::{class_of, is_mixed};
use crate::cost::EngineCost;
use crate::tenants::TenantHasher;

/// Nanoseconds since the dispatcher began.
pub(crate) type Nanos = u64;

/// What waits: a handle that can say whether its answer is still wanted.
pub(crate) trait Work: Clone {
    fn is_live(&self) -> bool;

    /// The shape of what engines do; None if that is the queue's own.
    fn shape(&self) -> Option<Shape> {
        None
    }

    /// Predicted nanoseconds of a task.
    fn task_ns(&self) -> Nanos {
        0
    }
}

/// Consecutive operations of one submission.
#[derive(Clone, Debug)]
pub(crate) struct Item<W> {
    pub(crate) work: W,
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Input bytes of the whole item.
    pub(crate) bytes: u32,
    /// Records stay in one piece: their output buffer is one.
    pub(crate) is_whole: bool,
    pub(crate) tenant: u64,
    pub(crate) enqueued: Nanos,
    pub(crate) due: Nanos,
    pub(crate) attempts: u8,
}

/// An engine that offers the queue's shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) engine: usize,
    pub(crate) lanes: BatchSize,
    pub(crate) cost: EngineCost,
    pub(crate) is_far: bool,
    /// Put aside for this shape after a lost dispute, or wholly after a fault or hang.
    pub(crate) is_aside: bool,
}

/// Where the queue's jobs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lane {
    /// Engines, for the shapes of a class.
    Engines(Shape),
    Holder(usize),
    /// Threads that run what callers have them do.
    Tasks,
}

impl Lane {
    /// Returns the lane in which jobs of a shape wait.
    pub(crate) fn of(shape: Shape) -> Self {
        Self::Engines(class_of(shape))
    }
}

#[derive(Debug)]
pub(crate) struct Queue<W> {
    pub(crate) lane: Lane,
    pub(crate) choices: Vec<Choice>,
    pub(crate) asked: Asked,
    /// A thread asks engines about the shape now.
    pub(crate) is_asking: bool,
    tenants: HashMap<u64, Tenant<W>, BuildHasherDefault<TenantHasher>>,
    /// Tenants in turn: all that have items, and some that had.
    ring: VecDeque<u64>,
    live: usize,
    bytes: u64,
    /// True if items of several shapes wait here, which do not share a batch.
    is_mixed: bool,
}

#[derive(Debug)]
struct Tenant<W> {
    items: VecDeque<Item<W>>,
    live: usize,
    is_in_ring: bool,
}

/// Which end of a tenant's items is taken: near engines serve the oldest, far ones relieve the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Oldest,
    Newest,
}

/// Tenants without items that are remembered, so that a steady tenant costs no allocation.
const IDLE_TENANTS: usize = 64;

impl<W: Work> Queue<W> {
    pub(crate) fn new(lane: Lane, choices: Vec<Choice>, asked: Asked) -> Self {
        let (tenants, ring) = (HashMap::default(), VecDeque::new());
        let is_mixed = matches!(lane, Lane::Engines(shape) if is_mixed(shape));
        Self { lane, choices, asked, is_asking: false, tenants, ring, live: 0, bytes: 0, is_mixed }
    }

    /// True where enough engines have been asked to place so many operations.
    pub(crate) fn is_known(&self, ops: usize) -> bool {
        match self.asked {
            Asked::Nobody => false,
            Asked::Referee => ops < 2 && !self.choices.is_empty(),
            Asked::All => true,
        }
    }

    /// Operations whose answer is still wanted.
    pub(crate) fn live(&self) -> usize {
        self.live
    }

    /// Mean input bytes per operation.
    pub(crate) fn bytes_per_op(&self) -> usize {
        if self.live == 0 { 0 } else { (self.bytes / self.live as u64) as usize }
    }

    /// True if operations of several shapes wait here.
    pub(crate) fn is_mixed(&self) -> bool {
        self.is_mixed
    }

    /// True if nothing is left here, wanted or not.
    pub(crate) fn is_empty(&self) -> bool {
        self.live == 0 && self.tenants.values().all(|tenant| tenant.items.is_empty())
    }

    /// Operations of one tenant whose answer is still wanted.
    pub(crate) fn live_of(&self, tenant: u64) -> usize {
        self.tenants.get(&tenant).map_or(0, |tenant| tenant.live)
    }

    /// Appends an item unless its tenant would have more than `bound` operations waiting; an item larger than the bound
    /// is taken when nothing waits. The error is what waits.
    pub(crate) fn push(&mut self, item: Item<W>, bound: usize) -> Result<(), usize> {
        self.forget_idle_tenants();
        let (count, bytes) = (item.count as usize, item.bytes);
        let tenant = self.tenant_in_ring(item.tenant);
        if tenant.live > 0 && tenant.live + count > bound {
            return Err(tenant.live);
        }
        tenant.live += count;
        tenant.items.push_back(item);
        self.live += count;
        self.bytes += u64::from(bytes);
        Ok(())
    }

    /// Returns an item of an abandoned batch to where it came from, whatever the bound.
    pub(crate) fn push_again(&mut self, item: Item<W>) {
        self.live += item.count as usize;
        self.bytes += u64::from(item.bytes);
        let tenant = self.tenant_in_ring(item.tenant);
        tenant.live += item.count as usize;
        tenant.items.push_front(item);
    }

    fn tenant_in_ring(&mut self, id: u64) -> &mut Tenant<W> {
        let tenant = self.tenants.entry(id).or_insert_with(Tenant::new);
        if !std::mem::replace(&mut tenant.is_in_ring, true) {
            self.ring.push_back(id);
        }
        tenant
    }

    fn forget_idle_tenants(&mut self) {
        if self.tenants.len() <= IDLE_TENANTS {
            return;
        }
        let has_items = |tenant: &Tenant<W>| !tenant.items.is_empty();
        if self.tenants.values().filter(|tenant| has_items(tenant)).count() * 2 < self.tenants.len() {
            self.tenants.retain(|_, tenant| has_items(tenant));
            let tenants = &self.tenants;
            self.ring.retain(|id| tenants.contains_key(id));
        }
    }

    /// Operations of a submission that nobody wants any more leave the count at once. Their items go when met, and all together when
    /// their tenant has nothing else here.
    pub(crate) fn forget(&mut self, tenant: u64, ops: usize, bytes: u64) {
        self.live = self.live.saturating_sub(ops);
        self.bytes = self.bytes.saturating_sub(bytes);
        if let Some(tenant) = self.tenants.get_mut(&tenant) {
            tenant.live = tenant.live.saturating_sub(ops);
            if tenant.live == 0 {
                tenant.items.retain(|item| item.work.is_live());
            }
        }
    }

    /// When the next item of a tenant is due.
    pub(crate) fn due_of(&self, tenant: u64) -> Option<Nanos> {
        self.tenants.get(&tenant)?.items.front().map(|item| item.due)
    }

    /// When the oldest of the tenants' next items came.
    pub(crate) fn oldest(&self) -> Option<Nanos> {
        self.fronts().map(|item| item.enqueued).min()
    }

    /// True where the next item of a tenant failed so often that it runs alone.
    pub(crate) fn next_runs_alone(&self, tenant: u64) -> bool {
        let next = self.tenants.get(&tenant).and_then(|tenant| tenant.items.front());
        next.is_some_and(|item| item.attempts >= ALONE_AFTER)
    }

    fn fronts(&self) -> impl Iterator<Item = &Item<W>> {
        let next = self.ring.iter().filter_map(|tenant| self.tenants.get(tenant));
        next.filter_map(|tenant| tenant.items.front())
    }

    /// Other tenants that have items here, those first whose turn it is to join a batch.
    pub(crate) fn others(&self, tenant: u64) -> impl Iterator<Item = u64> + '_ {
        let others = self.ring.iter().take(MAX_JOINING).copied().filter(move |id| *id != tenant);
        others.filter(|id| self.live_of(*id) > 0)
    }

    /// Takes at least one item of a tenant and at most `max` operations (a whole item may exceed them). Lanes that it leaves empty are
    /// filled with operations of others that `may_join`, in turn.
    pub(crate) fn take_for(
        &mut self,
        tenant: u64,
        max: usize,
        may_join: impl Fn(u64) -> bool,
    ) -> Vec<Item<W>> {
        let mut taken = Taken::default();
        let max = max.max(1);
        self.take_of(tenant, max, End::Oldest, &mut taken);
        if taken.items.is_empty() || self.live == 0 {
            return self.finish(taken);
        }
        for _ in 0..self.ring.len().min(MAX_JOINING) {
            if taken.ops >= max {
                break;
            }
            let Some(id) = self.ring.pop_front() else { break };
            if id != tenant && may_join(id) {
                self.take_of(id, max - taken.ops, End::Oldest, &mut taken);
            }
            self.requeue(id);
        }
        self.finish(taken)
    }

    /// Takes at least one item and at most `max` operations (a whole item may exceed them), tenants in turn.
    pub(crate) fn take(&mut self, max: usize, end: End) -> Vec<Item<W>> {
        let mut taken = Taken::default();
        let max = max.max(1);
        let quota = max.div_ceil(self.ring.len().max(1));
        // Each round passes over tenants that have nothing of the batch's shape.
        let mut passed = 0;
        while taken.ops < max
            && passed < self.ring.len()
            && let Some(id) = self.ring.pop_front()
        {
            let ops = self.take_of(id, quota.min(max - taken.ops), end, &mut taken);
            let has_items = self.tenants.get(&id).is_some_and(|tenant| !tenant.items.is_empty());
            if ops == 0 && has_items && !self.is_mixed {
                // Its turn has not been served: it begins the next batch, where any size is taken.
                self.ring.push_front(id);
                break;
            }
            let has_more = self.requeue(id);
            passed = if ops > 0 || !has_more { 0 } else { passed + 1 };
        }
        self.finish(taken)
    }

    fn take_of(&mut self, id: u64, max: usize, end: End, taken: &mut Taken<W>) -> usize {
        let Some(tenant) = self.tenants.get_mut(&id) else { return 0 };
        let before = taken.ops;
        tenant.take(max, end, self.is_mixed, taken, &mut self.bytes);
        let ops = taken.ops - before;
        self.live -= ops.min(self.live);
        ops
    }

    /// Puts a tenant that was at the front of the ring at its end if it has items; false if not.
    fn requeue(&mut self, id: u64) -> bool {
        let Some(tenant) = self.tenants.get_mut(&id) else { return false };
        tenant.is_in_ring = !tenant.items.is_empty();
        if tenant.is_in_ring {
            self.ring.push_back(id);
        }
        tenant.is_in_ring
    }

    fn finish(&mut self, taken: Taken<W>) -> Vec<Item<W>> {
        if self.live == 0 {
            self.bytes = 0;
        }
        taken.items
    }
}

/// A batch as it fills.
struct Taken<W> {
    items: Vec<Item<W>>,
    ops: usize,
    /// The shape of its first item.
    shape: Option<Shape>,
}

impl<W> Default for Taken<W> {
    fn default() -> Self {
        Self { items: Vec::new(), ops: 0, shape: None }
    }
}

/// Tenants that are looked at to fill the lanes of one batch.
const MAX_JOINING: usize = 64;

/// Items that failed so often run one operation at a time on the referee.
pub(crate) const ALONE_AFTER: u8 = 2;

impl<W: Work> Tenant<W> {
    fn new() -> Self {
        Self { items: VecDeque::new(), live: 0, is_in_ring: false }
    }

    /// Adds up to `max` operations to a batch. The first item of a batch is taken even where it is whole and larger.
    fn take(&mut self, max: usize, end: End, is_mixed: bool, taken: &mut Taken<W>, bytes: &mut u64) {
        let full = taken.ops + max;
        while taken.ops < full {
            let next = match end {
                End::Oldest => self.items.pop_front(),
                End::Newest => self.items.pop_back(),
            };
            let Some(item) = next else { break };
            if !item.work.is_live() {
                continue;
            }
            let is_first = taken.items.is_empty();
            let shape = if is_mixed { item.work.shape() } else { None };
            let is_too_large = item.is_whole && item.count as usize > full - taken.ops;
            if !is_first && (is_too_large || shape != taken.shape) {
                self.give_back(item, end);
                break;
            }
            let piece = self.cut(item, full - taken.ops, end);
            let ops = piece.count as usize;
            taken.ops += ops;
            taken.shape = shape;
            self.live -= ops.min(self.live);
            *bytes = bytes.saturating_sub(u64::from(piece.bytes));
            taken.items.push(piece);
        }
    }

    /// Cuts `max` operations off an item and gives the rest back.
    fn cut(&mut self, mut item: Item<W>, max: usize, end: End) -> Item<W> {
        let max = u32::try_from(max).unwrap_or(u32::MAX);
        if item.is_whole || item.count <= max {
            return item;
        }
        let piece_bytes = (u64::from(item.bytes) * u64::from(max) / u64::from(item.count)) as u32;
        let mut rest = item.clone();
        rest.count -= max;
        rest.bytes -= piece_bytes;
        item.count = max;
        item.bytes = piece_bytes;
        match end {
            End::Oldest => rest.first += max,
            End::Newest => item.first += rest.count,
        }
        self.give_back(rest, end);
        item
    }

    fn give_back(&mut self, item: Item<W>, end: End) {
        match end {
            End::Oldest => self.items.push_front(item),
            End::Newest => self.items.push_back(item),
        }
    }
}

#[cfg(test)]
mod tests;

//! The queues: one per class of shapes, one per holder, and one for tasks. Within a queue each tenant's items are
//! served in the order of their arrival.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

use oarlock_core::{BatchSize, Shape};

use crate::class::{class_of, is_mixed};
use crate::clock::Nanos;
use crate::cost::EngineCost;
use crate::probe::ProbeState;
use crate::tenants::TenantHasher;

/// The submission that a queue item belongs to. The queue only needs to know if its answer is still wanted.
pub(crate) trait ItemOwner: Clone {
    fn is_live(&self) -> bool;

    /// Returns the shape of its operations; None if it is the queue's own shape.
    fn shape(&self) -> Option<Shape> {
        None
    }

    /// Returns the predicted nanoseconds of a task.
    fn task_ns(&self) -> Nanos {
        0
    }
}

/// Consecutive operations of one submission.
#[derive(Clone, Debug)]
pub(crate) struct QueueItem<O> {
    pub(crate) owner: O,
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
pub(crate) struct EngineChoice {
    pub(crate) engine: usize,
    pub(crate) batch_size: BatchSize,
    pub(crate) cost: EngineCost,
    pub(crate) is_far: bool,
    /// True if it is in quarantine: for this shape after a lost dispute, or for all shapes after a fault or a hang.
    pub(crate) is_quarantined: bool,
}

impl EngineChoice {
    /// Returns a choice that is not quarantined.
    pub(crate) fn new(engine: usize, batch_size: BatchSize, cost: EngineCost, is_far: bool) -> Self {
        Self { engine, batch_size, cost, is_far, is_quarantined: false }
    }
}

/// The key of a queue: the place where its jobs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum QueueKey {
    /// Engines. The shape names the class of shapes that wait together.
    Engines(Shape),
    Holder(usize),
    /// Threads that run tasks of callers.
    Tasks,
}

impl QueueKey {
    /// Returns the key of the queue in which jobs of a shape wait.
    pub(crate) fn from_shape(shape: Shape) -> Self {
        Self::Engines(class_of(shape))
    }
}

#[derive(Debug)]
pub(crate) struct JobQueue<O> {
    pub(crate) queue_key: QueueKey,
    pub(crate) choices: Vec<EngineChoice>,
    pub(crate) probe_state: ProbeState,
    /// True while a thread probes engines for the shape.
    pub(crate) is_probing: bool,
    tenants: HashMap<u64, TenantItems<O>, BuildHasherDefault<TenantHasher>>,
    /// The order of tenants: all that have items, and some that had items before.
    ring: VecDeque<u64>,
    live: usize,
    bytes: u64,
    /// True if items of several shapes wait here, which do not share a batch.
    is_mixed: bool,
}

#[derive(Debug)]
struct TenantItems<O> {
    items: VecDeque<QueueItem<O>>,
    live: usize,
    is_in_ring: bool,
}

/// The end of a tenant's items that is taken first. Near engines serve the oldest items, far engines the newest ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueEnd {
    Oldest,
    Newest,
}

/// The number of tenants without items that are kept, so that a steady tenant costs no allocation.
const IDLE_TENANTS: usize = 64;

impl<O: ItemOwner> JobQueue<O> {
    pub(crate) fn new(queue_key: QueueKey, choices: Vec<EngineChoice>, probe_state: ProbeState) -> Self {
        let (tenants, ring) = (HashMap::default(), VecDeque::new());
        let is_mixed = matches!(queue_key, QueueKey::Engines(shape) if is_mixed(shape));
        Self {
            queue_key,
            choices,
            probe_state,
            is_probing: false,
            tenants,
            ring,
            live: 0,
            bytes: 0,
            is_mixed,
        }
    }

    /// True if enough engines have been probed to place so many operations.
    pub(crate) fn is_known(&self, ops: usize) -> bool {
        match self.probe_state {
            ProbeState::Nobody => false,
            ProbeState::Referee => self.suits_referee(ops) && !self.choices.is_empty(),
            ProbeState::All => true,
        }
    }

    /// True if so many operations are the referee's without a look at other engines: a single one, unless it takes long
    /// enough to be worth the self tests of the others. One SLH-DSA signature fills the lanes.
    pub(crate) fn suits_referee(&self, ops: usize) -> bool {
        ops < 2 && !matches!(self.queue_key, QueueKey::Engines(shape) if shape.is_long())
    }

    /// Returns the number of operations whose answer is still wanted.
    pub(crate) fn live(&self) -> usize {
        self.live
    }

    /// Returns the mean number of input bytes per operation.
    pub(crate) fn bytes_per_op(&self) -> usize {
        if self.live == 0 { 0 } else { (self.bytes / self.live as u64) as usize }
    }

    /// True if operations of several shapes wait here.
    pub(crate) fn is_mixed(&self) -> bool {
        self.is_mixed
    }

    /// True if the queue holds no item, wanted or not.
    pub(crate) fn is_empty(&self) -> bool {
        self.live == 0 && self.tenants.values().all(|tenant| tenant.items.is_empty())
    }

    /// Returns the number of operations of one tenant whose answer is still wanted.
    pub(crate) fn live_of(&self, tenant: u64) -> usize {
        self.tenants.get(&tenant).map_or(0, |tenant| tenant.live)
    }

    /// Appends an item, unless its tenant would then have more than `bound` operations waiting. An item larger than
    /// the bound is accepted if the tenant has nothing waiting. The error is the number of waiting operations.
    pub(crate) fn push(&mut self, item: QueueItem<O>, bound: usize) -> Result<(), usize> {
        self.forget_idle_tenants();
        let (count, bytes) = (item.count as usize, item.bytes);
        let tenant = self.tenant_in_ring(item.tenant);
        // An item larger than the bound must be possible while nothing waits, or a large set could never be submitted.
        if tenant.live > 0 && tenant.live + count > bound {
            return Err(tenant.live);
        }
        tenant.live += count;
        tenant.items.push_back(item);
        self.live += count;
        self.bytes += u64::from(bytes);
        Ok(())
    }

    /// Puts an item of an abandoned batch back to the front of its tenant's items. The bound does not apply.
    pub(crate) fn push_again(&mut self, item: QueueItem<O>) {
        self.live += item.count as usize;
        self.bytes += u64::from(item.bytes);
        let tenant = self.tenant_in_ring(item.tenant);
        tenant.live += item.count as usize;
        tenant.items.push_front(item);
    }

    fn tenant_in_ring(&mut self, id: u64) -> &mut TenantItems<O> {
        let tenant = self.tenants.entry(id).or_insert_with(TenantItems::new);
        if !std::mem::replace(&mut tenant.is_in_ring, true) {
            self.ring.push_back(id);
        }
        tenant
    }

    fn forget_idle_tenants(&mut self) {
        if self.tenants.len() <= IDLE_TENANTS {
            return;
        }
        let has_items = |tenant: &TenantItems<O>| !tenant.items.is_empty();
        // Only if more than half of them are idle: a sweep walks over all tenants and would free little otherwise.
        if self.tenants.values().filter(|tenant| has_items(tenant)).count() * 2 < self.tenants.len() {
            self.tenants.retain(|_, tenant| has_items(tenant));
            let tenants = &self.tenants;
            self.ring.retain(|id| tenants.contains_key(id));
        }
    }

    /// Removes unwanted operations of a submission from the counts. Their items are dropped later: when a batch meets
    /// them, or all at once when their tenant has nothing else here.
    pub(crate) fn forget(&mut self, tenant: u64, ops: usize, bytes: u64) {
        self.live = self.live.saturating_sub(ops);
        self.bytes = self.bytes.saturating_sub(bytes);
        if let Some(tenant) = self.tenants.get_mut(&tenant) {
            tenant.live = tenant.live.saturating_sub(ops);
            // Items in the middle of a deque cannot be removed cheaply. At zero all of them go, and their memory with
            // them.
            if tenant.live == 0 {
                tenant.items.retain(|item| item.owner.is_live());
            }
        }
    }

    /// Returns the due time of a tenant's next item.
    pub(crate) fn due_of(&self, tenant: u64) -> Option<Nanos> {
        self.tenants.get(&tenant)?.items.front().map(|item| item.due)
    }

    /// True if the next item of a tenant has failed so often that it must run alone.
    pub(crate) fn next_runs_alone(&self, tenant: u64) -> bool {
        let next = self.tenants.get(&tenant).and_then(|tenant| tenant.items.front());
        next.is_some_and(|item| item.attempts >= ALONE_AFTER)
    }

    /// Returns the other tenants that have live operations here, in the order in which they may join a batch.
    pub(crate) fn others(&self, tenant: u64) -> impl Iterator<Item = u64> + '_ {
        let others = self.ring.iter().take(MAX_JOINING).copied().filter(move |id| *id != tenant);
        others.filter(|id| self.live_of(*id) > 0)
    }

    /// Takes at least one item of a tenant and at most `max` operations; a whole item may exceed them. The rest of
    /// the batch is filled with operations of other tenants that `may_join`, in turn.
    pub(crate) fn take_with_others(
        &mut self,
        tenant: u64,
        max: usize,
        may_join: impl Fn(u64) -> bool,
    ) -> Vec<QueueItem<O>> {
        let mut fill = BatchFill::default();
        let max = max.max(1);
        self.take_from_tenant(tenant, max, QueueEnd::Oldest, &mut fill);
        // Without an item of the tenant there is no shape yet that others could join.
        if fill.items.is_empty() || self.live == 0 {
            return self.finish(fill);
        }
        for _ in 0..self.ring.len().min(MAX_JOINING) {
            if fill.ops >= max {
                break;
            }
            let Some(id) = self.ring.pop_front() else { break };
            if id != tenant && may_join(id) {
                self.take_from_tenant(id, max - fill.ops, QueueEnd::Oldest, &mut fill);
            }
            self.requeue(id);
        }
        self.finish(fill)
    }

    /// Takes at least one item and at most `max` operations of all tenants, in turn; a whole item may exceed them.
    pub(crate) fn take(&mut self, max: usize, end: QueueEnd) -> Vec<QueueItem<O>> {
        let mut fill = BatchFill::default();
        let max = max.max(1);
        // An equal share for each tenant in one round. What some do not need is taken in the next round.
        let quota = max.div_ceil(self.ring.len().max(1));
        // Counts the tenants in a row that had nothing of the batch's shape. After a full round of them the batch
        // cannot grow.
        let mut passed = 0;
        while fill.ops < max
            && passed < self.ring.len()
            && let Some(id) = self.ring.pop_front()
        {
            let ops = self.take_from_tenant(id, quota.min(max - fill.ops), end, &mut fill);
            let has_items = self.tenants.get(&id).is_some_and(|tenant| !tenant.items.is_empty());
            if ops == 0 && has_items && !self.is_mixed {
                // The tenant keeps its turn: its item did not fit, and as the first item of the next batch it will
                // fit at any size. Otherwise a large item could wait for ever behind small ones.
                self.ring.push_front(id);
                break;
            }
            let has_more = self.requeue(id);
            passed = if ops > 0 || !has_more { 0 } else { passed + 1 };
        }
        self.finish(fill)
    }

    fn take_from_tenant(&mut self, id: u64, max: usize, end: QueueEnd, fill: &mut BatchFill<O>) -> usize {
        let Some(tenant) = self.tenants.get_mut(&id) else { return 0 };
        let before = fill.ops;
        tenant.take(max, end, self.is_mixed, fill, &mut self.bytes);
        let ops = fill.ops - before;
        self.live -= ops.min(self.live);
        ops
    }

    /// Puts a tenant that was at the front of the ring at its end. Returns false if it has no items, so that it left
    /// the ring.
    fn requeue(&mut self, id: u64) -> bool {
        let Some(tenant) = self.tenants.get_mut(&id) else { return false };
        tenant.is_in_ring = !tenant.items.is_empty();
        if tenant.is_in_ring {
            self.ring.push_back(id);
        }
        tenant.is_in_ring
    }

    fn finish(&mut self, fill: BatchFill<O>) -> Vec<QueueItem<O>> {
        // Shares of bytes are rounded. Without this the errors of a busy queue would add up for ever.
        if self.live == 0 {
            self.bytes = 0;
        }
        fill.items
    }
}

/// A batch that is being filled.
struct BatchFill<O> {
    items: Vec<QueueItem<O>>,
    ops: usize,
    /// The shape of its first item, which all others must have.
    shape: Option<Shape>,
}

impl<O> Default for BatchFill<O> {
    fn default() -> Self {
        Self { items: Vec::new(), ops: 0, shape: None }
    }
}

/// The number of tenants that are examined to fill one batch. It bounds the work under the lock.
const MAX_JOINING: usize = 64;

/// Items that failed so often run one operation at a time on the referee, so that a bad operation fails alone.
pub(crate) const ALONE_AFTER: u8 = 2;

impl<O: ItemOwner> TenantItems<O> {
    fn new() -> Self {
        Self { items: VecDeque::new(), live: 0, is_in_ring: false }
    }

    /// Adds up to `max` operations to a batch. The first item of a batch is taken even if it is whole and larger.
    fn take(&mut self, max: usize, end: QueueEnd, is_mixed: bool, fill: &mut BatchFill<O>, bytes: &mut u64) {
        let full = fill.ops + max;
        while fill.ops < full {
            let next = match end {
                QueueEnd::Oldest => self.items.pop_front(),
                QueueEnd::Newest => self.items.pop_back(),
            };
            let Some(item) = next else { break };
            // Its operations left the counts when it ended (`forget`), so it is dropped without counting.
            if !item.owner.is_live() {
                continue;
            }
            let is_first = fill.items.is_empty();
            let shape = if is_mixed { item.owner.shape() } else { None };
            let is_too_large = item.is_whole && item.count as usize > full - fill.ops;
            if !is_first && (is_too_large || shape != fill.shape) {
                self.give_back(item, end);
                break;
            }
            let piece = self.cut(item, full - fill.ops, end);
            let ops = piece.count as usize;
            fill.ops += ops;
            fill.shape = shape;
            self.live -= ops.min(self.live);
            *bytes = bytes.saturating_sub(u64::from(piece.bytes));
            fill.items.push(piece);
        }
    }

    /// Cuts `max` operations off an item and puts the rest back.
    fn cut(&mut self, mut item: QueueItem<O>, max: usize, end: QueueEnd) -> QueueItem<O> {
        let max = u32::try_from(max).unwrap_or(u32::MAX);
        if item.is_whole || item.count <= max {
            return item;
        }
        // The operations of a set may differ in length. The share is an estimate that the cost model can live with, and
        // the rest keeps the exact difference.
        let piece_bytes = (u64::from(item.bytes) * u64::from(max) / u64::from(item.count)) as u32;
        let mut rest = item.clone();
        rest.count -= max;
        rest.bytes -= piece_bytes;
        item.count = max;
        item.bytes = piece_bytes;
        match end {
            QueueEnd::Oldest => rest.first += max,
            QueueEnd::Newest => item.first += rest.count,
        }
        self.give_back(rest, end);
        item
    }

    fn give_back(&mut self, item: QueueItem<O>, end: QueueEnd) {
        match end {
            QueueEnd::Oldest => self.items.push_front(item),
            QueueEnd::Newest => self.items.push_back(item),
        }
    }
}

#[cfg(test)]
mod tests;

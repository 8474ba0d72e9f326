//! One queue per (shape, home): tenants in turn, each first come, first served.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use oarlock_core::{Lanes, Shape};

use crate::appraisal::Asked;
use crate::cost::Cost;

/// Nanoseconds since the dispatcher began.
pub(crate) type Nanos = u64;

/// What waits: a handle that can say whether its answer is still wanted.
pub(crate) trait Work: Clone {
    fn is_live(&self) -> bool;
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
    pub(crate) lanes: Lanes,
    pub(crate) cost: Cost,
    pub(crate) is_far: bool,
    /// Put aside for this shape after a lost dispute, or wholly after a fault or hang.
    pub(crate) is_aside: bool,
}

/// Where the queue's jobs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lane {
    Engines(Shape),
    Holder(usize),
}

#[derive(Debug)]
pub(crate) struct Queue<W> {
    pub(crate) lane: Lane,
    pub(crate) choices: Vec<Choice>,
    pub(crate) asked: Asked,
    /// A thread asks engines about the shape now.
    pub(crate) is_asking: bool,
    tenants: HashMap<u64, Tenant<W>, BuildHasherDefault<TenantHasher>>,
    /// Tenants with items, in turn.
    ring: VecDeque<u64>,
    live: usize,
    bytes: u64,
}

#[derive(Debug)]
struct Tenant<W> {
    items: VecDeque<Item<W>>,
    live: usize,
}

/// Tenants are numbered by the hall and its doors, not by peers: one multiplication spreads them.
#[derive(Default)]
struct TenantHasher(u64);

impl Hasher for TenantHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
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
        Self { lane, choices, asked, is_asking: false, tenants, ring, live: 0, bytes: 0 }
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

    /// Appends an item unless its tenant would have more than `bound` operations waiting; an item larger than the bound
    /// is taken when nothing waits. The error is what waits.
    pub(crate) fn push(&mut self, item: Item<W>, bound: usize) -> Result<(), usize> {
        self.forget_idle_tenants();
        let (count, bytes, id) = (item.count as usize, item.bytes, item.tenant);
        let tenant = self.tenants.entry(id).or_insert_with(Tenant::new);
        if tenant.live > 0 && tenant.live + count > bound {
            return Err(tenant.live);
        }
        if tenant.items.is_empty() {
            self.ring.push_back(id);
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
        let tenant = self.tenants.entry(item.tenant).or_insert_with(Tenant::new);
        if tenant.items.is_empty() {
            self.ring.push_back(item.tenant);
        }
        tenant.live += item.count as usize;
        tenant.items.push_front(item);
    }

    fn forget_idle_tenants(&mut self) {
        if self.tenants.len() > IDLE_TENANTS && self.ring.len() * 2 < self.tenants.len() {
            self.tenants.retain(|_, tenant| !tenant.items.is_empty());
        }
    }

    /// Operations of a submission that nobody wants any more leave the count at once; their items go when met.
    pub(crate) fn forget(&mut self, tenant: u64, ops: usize, bytes: u64) {
        self.live = self.live.saturating_sub(ops);
        self.bytes = self.bytes.saturating_sub(bytes);
        if let Some(tenant) = self.tenants.get_mut(&tenant) {
            tenant.live = tenant.live.saturating_sub(ops);
        }
    }

    /// When the most pressing of the tenants' next items is due.
    pub(crate) fn earliest_due(&self) -> Option<Nanos> {
        self.fronts().map(|item| item.due).min()
    }

    /// When the oldest of the tenants' next items came.
    pub(crate) fn oldest(&self) -> Option<Nanos> {
        self.fronts().map(|item| item.enqueued).min()
    }

    /// True where the next item failed so often that it runs alone.
    pub(crate) fn next_runs_alone(&self) -> bool {
        let next = self.ring.front().and_then(|tenant| self.tenants.get(tenant)?.items.front());
        next.is_some_and(|item| item.attempts >= ALONE_AFTER)
    }

    fn fronts(&self) -> impl Iterator<Item = &Item<W>> {
        let next = self.ring.iter().filter_map(|tenant| self.tenants.get(tenant));
        next.filter_map(|tenant| tenant.items.front())
    }

    /// Takes at least one item and at most `most` operations (a whole item may exceed them), tenants in turn.
    pub(crate) fn take(&mut self, most: usize, end: End) -> Vec<Item<W>> {
        let mut taken = Vec::new();
        let mut left = most.max(1);
        let quota = left.div_ceil(self.ring.len().max(1));
        while left > 0
            && let Some(id) = self.ring.pop_front()
        {
            let Some(tenant) = self.tenants.get_mut(&id) else { continue };
            let ops = tenant.take(quota.min(left), end, taken.is_empty(), &mut taken, &mut self.bytes);
            let is_stuck = ops == 0 && !tenant.items.is_empty();
            self.live -= ops;
            left = left.saturating_sub(ops);
            if is_stuck {
                // Its turn has not been served: it begins the next batch, where any size is taken.
                self.ring.push_front(id);
                break;
            }
            if !tenant.items.is_empty() {
                self.ring.push_back(id);
            }
        }
        if self.live == 0 {
            self.bytes = 0;
        }
        taken
    }
}

/// Items that failed so often run one operation at a time on the referee.
pub(crate) const ALONE_AFTER: u8 = 2;

impl<W: Work> Tenant<W> {
    fn new() -> Self {
        Self { items: VecDeque::new(), live: 0 }
    }

    /// Moves up to `most` operations into `taken` and returns their number. The first item of a batch is taken even
    /// where it is whole and larger.
    fn take(
        &mut self,
        most: usize,
        end: End,
        is_first: bool,
        taken: &mut Vec<Item<W>>,
        bytes: &mut u64,
    ) -> usize {
        let mut ops = 0;
        while ops < most {
            let next = match end {
                End::Oldest => self.items.pop_front(),
                End::Newest => self.items.pop_back(),
            };
            let Some(item) = next else { break };
            if !item.work.is_live() {
                continue;
            }
            let is_too_large = item.is_whole && item.count as usize > most - ops;
            if is_too_large && !(is_first && ops == 0) {
                self.give_back(item, end);
                break;
            }
            let piece = self.cut(item, most - ops, end);
            ops += piece.count as usize;
            *bytes = bytes.saturating_sub(u64::from(piece.bytes));
            taken.push(piece);
        }
        self.live -= ops.min(self.live);
        ops
    }

    /// Cuts `most` operations off an item and gives the rest back.
    fn cut(&mut self, mut item: Item<W>, most: usize, end: End) -> Item<W> {
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        if item.is_whole || item.count <= most {
            return item;
        }
        let piece_bytes = (u64::from(item.bytes) * u64::from(most) / u64::from(item.count)) as u32;
        let mut rest = item.clone();
        rest.count -= most;
        rest.bytes -= piece_bytes;
        item.count = most;
        item.bytes = piece_bytes;
        match end {
            End::Oldest => rest.first += most,
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

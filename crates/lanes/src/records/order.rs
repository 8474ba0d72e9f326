//! Records in order of length, so that those side by side take about the same number of steps.

use std::cmp::Reverse;

use super::RecordRef;
use crate::scratch::WipePolicy;

/// Steps that have a bucket of their own; what takes more is compared.
const BUCKETS: usize = 96;

/// The accepted records of a window.
#[derive(Debug, Default)]
pub(crate) struct OrderedRecords {
    /// In the order of the batch.
    accepted: Vec<RecordRef>,
    /// Those with the most steps first.
    sorted: Vec<RecordRef>,
    order: SortState,
}

/// Which of the two lists counts, and how far it is in order.
#[derive(Clone, Copy, Debug, Default)]
enum SortState {
    #[default]
    OfBatch,
    /// All are known to take the same.
    Even,
    /// By their buckets; so many are in the first, which has no bound.
    Buckets { longest: u32 },
}

/// How many records have how many steps: the most first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepCounts([u32; BUCKETS + 1]);

/// Where records of so many steps go.
pub(crate) struct SortedSlots<'o> {
    sorted: &'o mut [RecordRef],
    next: [u32; BUCKETS + 1],
}

impl WipePolicy for OrderedRecords {
    fn wipe(&mut self) {
        self.clear();
    }
}

impl OrderedRecords {
    pub(crate) fn clear(&mut self) {
        self.accepted.clear();
        self.order = SortState::OfBatch;
    }

    /// Room for so many records of one length, in place of what was there.
    pub(crate) fn equal(&mut self, count: usize) -> &mut [RecordRef] {
        self.order = SortState::Even;
        self.accepted.resize(count, RecordRef::default());
        &mut self.accepted
    }

    /// Room for records that have been counted, in place of what was there.
    pub(crate) fn counted(&mut self, counts: &StepCounts) -> SortedSlots<'_> {
        self.order = counts.order();
        counts.places(&mut self.sorted)
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, record: RecordRef) {
        self.accepted.push(record);
    }

    /// All records, those with the most steps first; in the order of the batch where they take the same.
    pub(crate) fn longest_first(&mut self, steps: impl Fn(usize) -> usize) -> &[RecordRef] {
        let steps = |record: &RecordRef| steps(record.len as usize);
        if matches!(self.order, SortState::OfBatch) {
            let Some(first) = self.accepted.first().map(steps) else { return &[] };
            if self.accepted.iter().all(|record| steps(record) == first) {
                return &self.accepted;
            }
            let mut counts = StepCounts::default();
            self.accepted.iter().for_each(|record| counts.add(steps(record)));
            let mut places = counts.places(&mut self.sorted);
            self.accepted.iter().for_each(|record| places.insert(*record, steps(record)));
            self.order = counts.order();
        }
        let SortState::Buckets { longest } = self.order else { return &self.accepted };
        self.sorted[..longest as usize].sort_by_key(|record| Reverse(steps(record)));
        &self.sorted
    }
}

impl Default for StepCounts {
    fn default() -> Self {
        Self([0; BUCKETS + 1])
    }
}

impl StepCounts {
    #[inline(always)]
    pub(crate) fn add(&mut self, steps: usize) {
        self.0[bucket(steps)] += 1;
    }

    fn order(&self) -> SortState {
        let [longest, ..] = self.0;
        SortState::Buckets { longest }
    }

    fn places<'o>(&self, sorted: &'o mut Vec<RecordRef>) -> SortedSlots<'o> {
        let (mut next, mut end) = (self.0, 0);
        for count in &mut next {
            (*count, end) = (end, end + *count);
        }
        sorted.resize(end as usize, RecordRef::default());
        SortedSlots { sorted, next }
    }
}

impl SortedSlots<'_> {
    #[inline(always)]
    pub(crate) fn insert(&mut self, record: RecordRef, steps: usize) {
        let next = &mut self.next[bucket(steps)];
        self.sorted[*next as usize] = record;
        *next += 1;
    }
}

#[inline(always)]
fn bucket(steps: usize) -> usize {
    BUCKETS - steps.min(BUCKETS)
}

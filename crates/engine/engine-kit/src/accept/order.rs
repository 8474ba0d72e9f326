//! Records in order of length. Records side by side then take about the same number of steps.

use std::cmp::Reverse;

use super::RecordRef;

/// The step counts that have a bucket of their own. Records with more steps share a bucket and are sorted by
/// comparison.
const BUCKETS: usize = 96;

/// The number of steps that an engine takes for a record of some length: `(len + added) / (odd * 2^shift)`.
#[derive(Clone, Copy, Debug)]
pub struct StepRule {
    added: usize,
    shift: u32,
    odd: usize,
}

impl StepRule {
    /// The rule of an engine for which all lengths cost the same.
    pub const EVEN: Self = Self { added: 0, shift: usize::BITS - 1, odd: 1 };

    /// Returns the rule of an engine that takes a step for each whole block of `block_len` bytes, with `added` bytes
    /// beside the record's.
    #[must_use]
    pub const fn blocks(block_len: usize, added: usize) -> Self {
        let shift = block_len.trailing_zeros();
        Self { added, shift, odd: block_len >> shift }
    }

    /// Returns the steps of a record of `len` bytes.
    #[inline(always)]
    fn steps(self, len: u32) -> usize {
        let shifted = (len as usize + self.added) >> self.shift;
        // Only blocks of SHA-3 and SHAKE are not powers of two, and a division takes as long as all the rest.
        if self.odd == 1 { shifted } else { shifted / self.odd }
    }
}

impl Default for StepRule {
    fn default() -> Self {
        Self::EVEN
    }
}

/// The accepted records of a window.
#[derive(Debug, Default)]
pub struct OrderedRecords {
    rule: StepRule,
    /// The records in the order of the batch.
    accepted: Vec<RecordRef>,
    /// The records with the most steps first.
    sorted: Vec<RecordRef>,
    order: SortState,
}

/// The list that is valid, and the progress of sorting.
#[derive(Clone, Copy, Debug, Default)]
enum SortState {
    #[default]
    OfBatch,
    /// All records take the same number of steps.
    Even,
    /// The records are in their buckets. The first bucket, of the longest records, is not sorted yet.
    Buckets { longest: u32 },
}

/// The number of records for each number of steps, highest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepCounts([u32; BUCKETS + 1]);

/// The next free position for each number of steps.
pub(super) struct SortedSlots<'o> {
    sorted: &'o mut [RecordRef],
    rule: StepRule,
    next: [u32; BUCKETS + 1],
}

impl OrderedRecords {
    /// Orders the records of the next window by another rule.
    #[inline]
    pub(super) fn order_by(&mut self, rule: StepRule) {
        self.rule = rule;
    }

    /// Removes all records and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.accepted.clear();
        self.order = SortState::OfBatch;
    }

    /// Replaces the list with `count` empty records of equal length, which the caller fills.
    #[inline]
    pub(super) fn equal(&mut self, count: usize) -> &mut [RecordRef] {
        self.order = SortState::Even;
        self.accepted.resize(count, RecordRef::default());
        &mut self.accepted
    }

    /// Replaces the list with positions for the records that were counted.
    #[inline]
    pub(super) fn counted(&mut self, counts: &StepCounts) -> SortedSlots<'_> {
        self.order = counts.order();
        counts.slots(&mut self.sorted, self.rule)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, record: RecordRef) {
        self.accepted.push(record);
    }

    /// Returns all records with the most steps first, or in the order of the batch if all take the same number.
    pub fn longest_first(&mut self) -> &[RecordRef] {
        let rule = self.rule;
        let steps = |record: &RecordRef| rule.steps(record.len);
        if matches!(self.order, SortState::OfBatch) {
            // Equal costs are common, and then the order of the batch is sequential in memory.
            let Some(first) = self.accepted.first().map(steps) else { return &[] };
            if self.accepted.iter().all(|record| steps(record) == first) {
                return &self.accepted;
            }
            let mut counts = StepCounts::default();
            self.accepted.iter().for_each(|record| counts.add(steps(record)));
            let mut slots = counts.slots(&mut self.sorted, rule);
            self.accepted.iter().for_each(|record| slots.insert(*record));
            self.order = counts.order();
        }
        let SortState::Buckets { longest } = self.order else { return &self.accepted };
        // Only the first bucket mixes costs. It is short: records of 96 steps and more are rare in a batch.
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
    fn add(&mut self, steps: usize) {
        self.0[bucket(steps)] += 1;
    }

    /// Counts a record of `len` bytes.
    #[inline(always)]
    pub(super) fn add_len(&mut self, rule: StepRule, len: u32) {
        self.add(rule.steps(len));
    }

    fn order(&self) -> SortState {
        let [longest, ..] = self.0;
        SortState::Buckets { longest }
    }

    #[inline]
    fn slots<'o>(&self, sorted: &'o mut Vec<RecordRef>, rule: StepRule) -> SortedSlots<'o> {
        let (mut next, mut end) = (self.0, 0);
        for count in &mut next {
            // Counts become start positions: a counting sort in one pass, stable and without comparisons.
            (*count, end) = (end, end + *count);
        }
        sorted.resize(end as usize, RecordRef::default());
        SortedSlots { sorted, rule, next }
    }
}

impl SortedSlots<'_> {
    #[inline(always)]
    pub(super) fn insert(&mut self, record: RecordRef) {
        let next = &mut self.next[bucket(self.rule.steps(record.len))];
        self.sorted[*next as usize] = record;
        *next += 1;
    }
}

#[inline(always)]
fn bucket(steps: usize) -> usize {
    // Inverted, so that ascending buckets are descending costs. Bucket 0 takes all costs of 96 and more.
    BUCKETS - steps.min(BUCKETS)
}

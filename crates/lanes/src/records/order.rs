//! Records in order of length, so that those side by side take about the same number of steps.

use super::Accepted;
use crate::kept::Reuse;

/// Steps that have a bucket of their own; what takes more is compared.
const BUCKETS: usize = 96;

/// The accepted records of a window.
#[derive(Debug, Default)]
pub(crate) struct Ordered {
    accepted: Vec<Accepted>,
    sorted: Vec<Accepted>,
    /// All are known to take the same.
    is_even: bool,
}

impl Reuse for Ordered {
    fn wipe(&mut self) {
        self.clear();
    }
}

impl Ordered {
    pub(crate) fn clear(&mut self) {
        self.accepted.clear();
        self.is_even = false;
    }

    /// Room for so many records of one length, in place of what was there.
    pub(crate) fn equal(&mut self, count: usize) -> &mut [Accepted] {
        self.is_even = true;
        self.accepted.resize(count, Accepted::default());
        &mut self.accepted
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, record: Accepted) {
        self.accepted.push(record);
    }

    /// All records, those with the most steps first; in the order of the batch where all take the same.
    pub(crate) fn longest_first(&mut self, steps: impl Fn(usize) -> usize) -> &[Accepted] {
        let steps = |record: &Accepted| steps(record.len as usize);
        let Some(first) = self.accepted.first().map(steps) else { return &[] };
        if self.is_even || self.accepted.iter().all(|record| steps(record) == first) {
            return &self.accepted;
        }
        let bucket = |record: &Accepted| BUCKETS - steps(record).min(BUCKETS);
        let mut ends = [0; BUCKETS + 1];
        self.accepted.iter().for_each(|record| ends[bucket(record)] += 1);
        let longest = ends[0];
        let mut end = 0;
        for count in &mut ends {
            (*count, end) = (end, end + *count);
        }
        self.sorted.resize(self.accepted.len(), Accepted::default());
        for record in &self.accepted {
            let place = &mut ends[bucket(record)];
            self.sorted[*place] = *record;
            *place += 1;
        }
        self.sorted[..longest].sort_by_key(|record| std::cmp::Reverse(steps(record)));
        &self.sorted
    }
}

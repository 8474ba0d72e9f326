//! The quantiles of the values that a histogram has got between two moments.

use oarlock::metrics::Histogram;

/// The values between two moments, by bounds that are powers of two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ValueSpread {
    /// The upper bound of each bucket, and the number of values in it.
    buckets: Vec<(u64, u64)>,
    count: u64,
    sum: u64,
}

impl ValueSpread {
    /// Returns the values that came after an earlier state of the same histogram, or all if there is none.
    pub(super) fn between(before: Option<&Histogram>, after: &Histogram) -> Self {
        let mut earlier = before.map(Histogram::cumulative);
        let (mut buckets, mut below, mut below_before) = (Vec::new(), 0, 0);
        for (bound, up_to) in after.cumulative() {
            let up_to_before = earlier.as_mut().and_then(Iterator::next).map_or(0, |(_, up_to)| up_to);
            let count = (up_to - below).saturating_sub(up_to_before - below_before);
            (below, below_before) = (up_to, up_to_before);
            if count > 0 {
                buckets.push((bound, count));
            }
        }
        // A snapshot is not taken at one moment, so a count may be missing. It then comes with the next one.
        let count = after.count().saturating_sub(before.map_or(0, Histogram::count));
        let sum = after.sum().wrapping_sub(before.map_or(0, Histogram::sum));
        Self { buckets, count, sum }
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (bound, count) in &other.buckets {
            match self.buckets.iter_mut().find(|(known, _)| known == bound) {
                Some((_, sum)) => *sum += count,
                None => self.buckets.push((*bound, *count)),
            }
        }
        self.buckets.sort_unstable();
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean, if there are values.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns an estimate of a quantile, if there are values: it is right within a factor of two.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let total: u64 = self.buckets.iter().map(|(_, count)| count).sum();
        let rank = share * total as f64;
        let mut below = 0.0;
        for (bound, count) in &self.buckets {
            let count = *count as f64;
            if below + count >= rank {
                // Values are taken as spread evenly from half the bound, where the bucket begins, to the bound.
                let lower = *bound as f64 / 2.0;
                return Some(lower + (*bound as f64 - lower) * ((rank - below) / count));
            }
            below += count;
        }
        None
    }

    /// Returns the buckets with values.
    pub(super) fn buckets(&self) -> &[(u64, u64)] {
        &self.buckets
    }
}

#[cfg(test)]
mod tests {
    use oarlock::metrics::Recorder;

    use super::*;

    #[test]
    fn has_only_the_values_between_two_moments() {
        let recorder = Recorder::default();
        (0..100).for_each(|_| recorder.record(1000));
        let before = recorder.read();
        assert_eq!(ValueSpread::between(Some(&before), &before), ValueSpread::default());
        (0..90).for_each(|_| recorder.record(100));
        (0..10).for_each(|_| recorder.record(100_000));
        let spread = ValueSpread::between(Some(&before), &recorder.read());
        assert_eq!((spread.count(), spread.buckets()), (100, &[(128, 90), (131_072, 10)][..]));
        assert_eq!(spread.mean(), Some(10_090.0));
        let [half, most] = [0.5, 0.99].map(|share| spread.quantile(share).unwrap());
        assert!((64.0..=128.0).contains(&half) && (65_536.0..=131_072.0).contains(&most), "{half} {most}");
        assert_eq!(ValueSpread::default().quantile(0.5), None);
        assert_eq!(ValueSpread::default().mean(), None);
    }

    #[test]
    fn adds_the_values_of_several_histograms() {
        let spread = |values: &[u64]| {
            let recorder = Recorder::default();
            values.iter().for_each(|value| recorder.record(*value));
            ValueSpread::between(None, &recorder.read())
        };
        let mut sum = spread(&[1, 100]);
        sum.add(&spread(&[7, 100]));
        assert_eq!(sum, spread(&[1, 100, 7, 100]));
    }
}

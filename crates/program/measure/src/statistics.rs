//! Turns and their medians. A machine's speed changes over time, so contenders take turns and each is judged by its
//! median.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Runs every contender once per turn and returns the results of each contender. Turns are numbered from 0.
///
/// # Errors
/// The first error of `run`.
pub fn take_turns<C, T, E>(
    contenders: &mut [C],
    turns: u32,
    mut run: impl FnMut(u32, &mut C) -> Result<T, E>,
) -> Result<Vec<Vec<T>>, E> {
    let mut results: Vec<Vec<T>> = contenders.iter().map(|_| Vec::new()).collect();
    for turn in 0..turns {
        for (contender, results) in contenders.iter_mut().zip(&mut results) {
            results.push(run(turn, contender)?);
        }
    }
    Ok(results)
}

/// Returns the median of some values, the upper one of two. None if there are no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    median_by(values, |value| *value)
}

/// Returns the value whose `measure` is the median, the upper one of two. None if there are no values.
pub fn median_by<T>(values: impl IntoIterator<Item = T>, measure: impl Fn(&T) -> f64) -> Option<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    values.sort_by(|one, other| measure(one).total_cmp(&measure(other)));
    let middle = values.len() / 2;
    if values.is_empty() { None } else { Some(values.swap_remove(middle)) }
}

/// A histogram of latencies, exact to three digits.
#[derive(Clone, Debug)]
pub struct LatencyHistogram(Histogram<u64>);

impl Default for LatencyHistogram {
    fn default() -> Self {
        #[allow(clippy::expect_used, reason = "unreachable because three digits are allowed")]
        Self(Histogram::new(3).expect("three digits are allowed"))
    }
}

impl LatencyHistogram {
    /// Adds a latency.
    pub fn record(&mut self, latency: Duration) {
        let nanoseconds = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        // The histogram grows as it must, so it takes every number.
        let _ = self.0.record(nanoseconds);
    }

    /// Adds the latencies of another histogram.
    pub fn add(&mut self, other: &Self) {
        // Both have the same digits, and this one grows as it must.
        let _ = self.0.add(&other.0);
    }

    /// Returns the number of latencies.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// True if there is no latency.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a quantile in microseconds: 0.5 for the median.
    #[must_use]
    pub fn quantile_us(&self, share: f64) -> f64 {
        self.0.value_at_quantile(share) as f64 / 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_of_values_is_the_upper_one() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]), Some(3.0));
        assert_eq!(median([]), None);
        assert_eq!(median_by(["ccc", "a", "bb"], |text| text.len() as f64), Some("bb"));
    }

    #[test]
    fn every_contender_runs_once_in_each_turn_and_an_error_ends_them() {
        let mut order = Vec::new();
        let results = take_turns(&mut ["a", "b"], 2, |turn, name| {
            order.push(format!("{name}{turn}"));
            Ok::<_, ()>(turn)
        });
        assert_eq!(results, Ok(vec![vec![0, 1], vec![0, 1]]));
        assert_eq!(order, ["a0", "b0", "a1", "b1"]);
        let failing =
            take_turns(&mut ["a", "b"], 2, |turn, name| if turn == 1 { Err(*name) } else { Ok(()) });
        assert_eq!(failing, Err("a"));
    }

    #[test]
    fn a_histogram_has_the_quantiles_of_what_was_recorded() {
        let mut all = LatencyHistogram::default();
        assert!(all.is_empty());
        for micros in 1..=100 {
            let mut one = LatencyHistogram::default();
            one.record(Duration::from_micros(micros));
            all.add(&one);
        }
        assert_eq!(all.len(), 100);
        assert!((all.quantile_us(0.5) - 50.0).abs() < 0.1 && (all.quantile_us(0.99) - 99.0).abs() < 0.1);
    }
}

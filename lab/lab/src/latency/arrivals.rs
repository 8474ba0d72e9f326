//! Poisson arrivals: jobs that know nothing of each other, as those of many connections.

use std::time::Duration;

use oarlock_measure::random::SplitMix64;

/// Times of arrival within `length`, in order, at `per_s` on average: gaps are exponentially distributed. The same seed
/// gives the same times.
pub(super) fn poisson(seed: u64, per_s: f64, length: Duration) -> Vec<Duration> {
    let mut random = SplitMix64::new(seed);
    let mut at = 0.0;
    let next = || {
        at -= random.unit().ln() / per_s;
        (at < length.as_secs_f64()).then(|| Duration::from_secs_f64(at))
    };
    std::iter::from_fn(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_poisson() {
        let times = poisson(1, 1000.0, Duration::from_secs(100));
        // 100,000 arrivals expected, standard deviation 316.
        assert!((98_700..=101_300).contains(&times.len()), "{}", times.len());
        let gaps: Vec<f64> =
            times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1000.0).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // An exponential distribution's standard deviation is its mean.
        assert!((mean - 1.0).abs() < 0.02 && (variance - 1.0).abs() < 0.04, "{mean} {variance}");
        let long = gaps.iter().filter(|gap| **gap > 1.0).count() as f64 / gaps.len() as f64;
        assert!((long - (-1.0f64).exp()).abs() < 0.01, "{long}");
    }

    #[test]
    fn a_seed_decides_all() {
        let [a, b, c] = [7, 7, 8].map(|seed| poisson(seed, 500.0, Duration::from_secs(1)));
        assert_eq!(a, b);
        assert_ne!(a, c);
        assert!(a.is_sorted() && a.iter().all(|at| *at < Duration::from_secs(1)));
    }

    #[test]
    fn a_low_rate_may_bring_nothing() {
        assert!(poisson(1, 1e-9, Duration::from_secs(1)).is_empty());
    }
}

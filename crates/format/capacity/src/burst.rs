//! Queries per second.

/// The queries per second: the maximum, and the distribution over the observed seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryBurst {
    /// The number of observed seconds, including those without a query.
    pub seconds: u64,
    /// The number of queries in the busiest second.
    pub max: u64,
    /// The mean number of queries per second.
    pub mean: f64,
    /// The 50th percentile.
    pub p50: u64,
    /// The 90th percentile.
    pub p90: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The 99.9th percentile.
    pub p99_9: u64,
}

impl QueryBurst {
    /// Computes the distribution. The arguments are the numbers of queries in the seconds with messages, and the number
    /// of all seconds. Returns None if there are no seconds.
    pub(super) fn new(mut rates: Vec<u64>, seconds: u64) -> Option<Self> {
        rates.sort_unstable();
        let max = *rates.last()?;
        let seconds = seconds.max(rates.len() as u64);
        let silent = seconds - rates.len() as u64;
        let percentile = |per_mille: u64| {
            // The nearest-rank method: the smallest rate that this share of all seconds does not exceed. Seconds
            // without messages rank first.
            let rank = (u128::from(seconds) * u128::from(per_mille)).div_ceil(1000).max(1);
            let at = rank.checked_sub(u128::from(silent) + 1).and_then(|at| usize::try_from(at).ok());
            at.and_then(|at| rates.get(at)).copied().unwrap_or(0)
        };
        Some(Self {
            seconds,
            max,
            mean: rates.iter().sum::<u64>() as f64 / seconds as f64,
            p50: percentile(500),
            p90: percentile(900),
            p99: percentile(990),
            p99_9: percentile(999),
        })
    }
}

//! Queries per second.

/// Queries in a second of the clock: the most, and how the seconds under observation are spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryBurst {
    /// Seconds under observation, those without a query included.
    pub seconds: u64,
    /// Queries in the busiest second.
    pub max: u64,
    /// Queries divided by seconds.
    pub mean: f64,
    /// At most so many in half of the seconds.
    pub p50: u64,
    /// In 90 of 100.
    pub p90: u64,
    /// In 99 of 100.
    pub p99: u64,
    /// In 999 of 1000.
    pub p99_9: u64,
}

impl QueryBurst {
    /// From the queries of seconds that have messages, and the number of all seconds. `None` where there are none.
    pub(super) fn new(mut rates: Vec<u64>, seconds: u64) -> Option<Self> {
        rates.sort_unstable();
        let max = *rates.last()?;
        let seconds = seconds.max(rates.len() as u64);
        let silent = seconds - rates.len() as u64;
        let percentile = |per_mille: u64| {
            // Nearest rank.
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

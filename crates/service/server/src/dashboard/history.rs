//! The samples of the last hour, in memory of fixed size.

use std::collections::VecDeque;

use serde::Serialize;
use tokio::time::{Duration, Instant};

use super::totals::{TotalsWindow, rounded};

/// The time between two samples.
pub(super) const STEP: Duration = Duration::from_secs(10);

/// The number of samples of an hour.
pub(super) const MAX_SAMPLES: usize = 360;

/// The history of a server, one column per value. The newest sample is the last.
#[derive(Debug, Default, Serialize)]
pub(super) struct History {
    operations_per_s: VecDeque<f64>,
    /// The median time of requests in seconds; none while there was no request.
    p50_s: VecDeque<Option<f64>>,
    /// The 99th percentile.
    p99_s: VecDeque<Option<f64>>,
    refusals_per_s: VecDeque<f64>,
    cores: VecDeque<f64>,
    #[serde(skip)]
    last: Option<Instant>,
}

impl History {
    /// Adds a sample if it is due.
    pub(super) fn add(&mut self, window: &TotalsWindow) {
        let now = window.now.at;
        // Half a second of tolerance: ticks come a little early or late, and a sample must not wait for the next one.
        let is_early =
            |last: Instant| now.saturating_duration_since(last) + Duration::from_millis(500) < STEP;
        let start = window.before().map_or(now, |before| before.at);
        if is_early(*self.last.get_or_insert(start)) {
            return;
        }
        self.last = Some(now);
        let spread = window.request_ns();
        let seconds = |share| spread.quantile(share).map(|ns| rounded(ns * 1e-9));
        push(&mut self.operations_per_s, rounded(window.operations_per_s()));
        push(&mut self.p50_s, seconds(0.5));
        push(&mut self.p99_s, seconds(0.99));
        push(&mut self.refusals_per_s, rounded(window.refusals_per_s()));
        push(&mut self.cores, rounded(window.cores()));
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.cores.len()
    }
}

fn push<T>(column: &mut VecDeque<T>, value: T) {
    if column.len() >= MAX_SAMPLES {
        column.pop_front();
    }
    column.push_back(value);
}

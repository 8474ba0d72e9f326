//! The rules in turns: several short rounds at each load, so that a noisy moment hits all of them.

use std::time::Duration;

use super::arrivals::poisson;
use super::open_loop::{LoadSlice, SliceTally, play};
use super::report::LatencyRow;
use super::setup::LatencySetup;
use super::{LatencyArgs, LatencyError};

/// The smallest number of rounds, and the longest round in seconds.
const ROUNDS: usize = 4;
const LONGEST_ROUND_S: f64 = 1.0;

/// Part of a round in which queues fill and nothing is counted.
const WARM_UP: f64 = 0.1;

/// A rule that gets less than this share of its jobs done in time is unstable.
const STABLE: f64 = 0.95;

/// The number of jobs in flight per worker that is not a backlog at the end of a round: a running batch, and one
/// filling.
const UNDER_WAY: usize = 16;

/// Returns the number of calls of `tick`.
pub(super) fn count_slices(setup: &LatencySetup, args: &LatencyArgs) -> usize {
    args.loads.percents().len() * rounds(args) * setup.contenders.len()
}

/// Returns the number of rounds of each rule at each load.
pub(super) fn rounds(args: &LatencyArgs) -> usize {
    ROUNDS.max((args.seconds / LONGEST_ROUND_S).ceil() as usize)
}

/// Offers every load to every rule, and returns rows in that order. `tick` is called after each slice.
pub(super) fn measure(
    setup: &LatencySetup,
    args: &LatencyArgs,
    tick: &dyn Fn(),
) -> Result<Vec<LatencyRow>, LatencyError> {
    let mut rows = Vec::new();
    for &percent in args.loads.percents() {
        let mut tallies = vec![SliceTally::default(); setup.contenders.len()];
        for round in 0..rounds(args) {
            let slice = slice(setup, args, percent, round);
            // Each rule goes first in some round, so that none always suffers from what its predecessor left in the
            // caches.
            for turn in 0..tallies.len() {
                let at = (round + turn) % tallies.len();
                let played = play(&setup.contenders[at], setup.full_batch, &setup.work.jobs(), &slice);
                tallies[at].add(
                    played.map_err(|error| LatencyError::Job { operation: args.op.to_string(), error })?,
                );
                tick();
            }
        }
        let rules = setup.contenders.iter().zip(tallies);
        rows.extend(rules.map(|(contender, tally)| row(setup, args, percent, &contender.rule.name, tally)));
    }
    Ok(rows)
}

/// Makes the load of one round, which is the same for each rule.
fn slice(setup: &LatencySetup, args: &LatencyArgs, percent: f64, round: usize) -> LoadSlice {
    let length = Duration::from_secs_f64(args.seconds / rounds(args) as f64);
    let seed = percent.to_bits() ^ round as u64;
    let arrivals = poisson(seed, setup.capacity_per_s * percent / 100.0, length);
    let grace = (length / 4).max(Duration::from_millis(4 * args.timer_ms));
    LoadSlice { arrivals, warm_up: length.mul_f64(WARM_UP), length, grace }
}

fn row(
    setup: &LatencySetup,
    args: &LatencyArgs,
    percent: f64,
    rule: &str,
    mut tally: SliceTally,
) -> LatencyRow {
    let counted_s = args.seconds * (1.0 - WARM_UP);
    tally.latencies_ns.sort_unstable();
    let percentile_us = |share| percentile(&tally.latencies_ns, share).map(|ns| ns as f64 / 1000.0);
    LatencyRow {
        op: args.op.to_string(),
        rule: rule.to_owned(),
        load_percent: percent,
        offered_per_s: tally.arrived as f64 / counted_s,
        per_s: tally.done as f64 / counted_s,
        p50_us: percentile_us(0.50),
        p99_us: percentile_us(0.99),
        stable: is_stable(&tally, rounds(args) * setup.threads * UNDER_WAY),
        threads: setup.threads,
        engines: setup.engines.clone(),
    }
}

/// True if the rule keeps up. Jobs in flight at the end of a round are not a backlog yet; at low rates they would
/// look like one.
fn is_stable(tally: &SliceTally, under_way: usize) -> bool {
    let backlog = tally.arrived.saturating_sub(tally.done);
    backlog <= under_way || tally.done as f64 >= STABLE * tally.arrived as f64
}

/// Returns the nearest-rank percentile of sorted samples: the smallest that is not below `share` of them. None
/// without samples.
fn percentile(sorted: &[u64], share: f64) -> Option<u64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples_by_nearest_rank() {
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(percentile(&hundred, 0.50), Some(50));
        assert_eq!(percentile(&hundred, 0.99), Some(99));
        assert_eq!(percentile(&hundred, 1.0), Some(100));
        assert_eq!(percentile(&[7], 0.99), Some(7));
        assert_eq!(percentile(&[1, 2], 0.5), Some(1));
        assert_eq!(percentile(&[1, 2, 3], 0.99), Some(3));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn a_backlog_makes_a_rule_unstable() {
        let tally = |arrived, done| SliceTally { arrived, done, latencies_ns: Vec::new() };
        assert!(is_stable(&tally(1000, 950), 16) && !is_stable(&tally(1000, 949), 16));
        assert!(is_stable(&tally(20, 10), 16), "as many as may be in flight");
        assert!(is_stable(&tally(0, 0), 0));
    }
}

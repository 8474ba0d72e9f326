//! The order in which servers are asked.

use std::sync::Arc;

use super::server::RemoteServer;

/// Servers whose time to finish is at most this many times the shortest take turns. Latencies vary by more than the
/// differences between equal servers.
const ALIKE: u128 = 2;

/// Returns the indices of the servers to ask for a number of operations, ordered by the time at which they will
/// finish. Servers that will finish at about the same time take turns: `turn` grows with each choice of a holder.
/// Servers with an open breaker come last, because an answer from them is better than none.
pub(super) fn servers_by_rank(
    servers: &[Arc<RemoteServer>],
    asked: &[usize],
    operations: usize,
    turn: usize,
) -> Vec<usize> {
    let known = servers.iter().filter(|server| server.is_trusted()).filter_map(|server| server.latency_ns());
    let usual = known.min().unwrap_or(1);
    let rank = |index: usize| {
        let server = &servers[index];
        // A server that has not been asked, or not for long, is taken for as fast as the fastest.
        let latency = u128::from(server.latency_ns().unwrap_or(usual).max(usual));
        // Operations times latency estimates the time to finish. 128 bits cannot overflow.
        let under_way = u128::from(server.under_way()) + operations as u128;
        (!server.is_trusted(), under_way * latency)
    };
    let all = (0..servers.len()).filter(|index| !asked.contains(index));
    order_by_time(all.map(|index| (rank(index), index)).collect(), turn)
}

/// Orders units by their ranks: (is a last resort, time to finish). The best ones, and those that take at most twice
/// their time, begin with that of the turn.
#[must_use]
pub fn order_by_time(mut ranks: Vec<((bool, u128), usize)>, turn: usize) -> Vec<usize> {
    ranks.sort_unstable();
    let best = ranks.first().map(|(rank, _)| *rank);
    let is_alike = |((is_open, time), _): &((bool, u128), usize)| {
        best.is_some_and(|(best_is_open, best)| {
            *is_open == best_is_open && *time <= best.saturating_mul(ALIKE)
        })
    };
    let alike = ranks.iter().take_while(|rank| is_alike(rank)).count();
    if let Some(alike) = ranks.get_mut(..alike).filter(|alike| !alike.is_empty()) {
        let first = turn % alike.len();
        alike.rotate_left(first);
    }
    ranks.into_iter().map(|(_, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_alike_take_turns_and_the_others_follow_in_order() {
        let ranks = || {
            vec![((false, 100), 0), ((false, 201), 1), ((true, 1), 2), ((false, 199), 3), ((false, 110), 4)]
        };
        assert_eq!(order_by_time(ranks(), 0), [0, 4, 3, 1, 2]);
        assert_eq!(order_by_time(ranks(), 1), [4, 3, 0, 1, 2]);
        assert_eq!(order_by_time(ranks(), 5), [3, 0, 4, 1, 2]);
        assert_eq!(order_by_time(vec![((true, 5), 0), ((true, 7), 1)], 1), [1, 0]);
        assert!(order_by_time(Vec::new(), 3).is_empty());
    }
}

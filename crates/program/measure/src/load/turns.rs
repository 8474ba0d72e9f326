//! Medians of rows over turns. A machine's speed changes between turns, so only results of the same turn are compared.

use super::args::{LoadOp, LoadPlan, LoadTransport};
use super::report::LoadRow;
use crate::statistics::{median, median_by};

/// Returns for each plan the turn with the median CPU time per operation. Errors are those of all turns.
pub(super) fn middles(plans: &[LoadPlan], turns: &[Vec<LoadRow>]) -> Vec<LoadRow> {
    (0..plans.len()).map(|index| middle(plans, turns, index)).collect()
}

fn middle(plans: &[LoadPlan], turns: &[Vec<LoadRow>], index: usize) -> LoadRow {
    let rows: Vec<&LoadRow> = turns.iter().map(|rows| &rows[index]).collect();
    let of_local = local_twin(plans, index).and_then(|local| ratio(turns, local, index));
    let of_empty_call = empty_twin(plans, index).and_then(|empty| call_ratio(plans, turns, empty, index));
    let errors = rows.iter().map(|row| row.errors).sum();
    let first_error = rows.iter().map(|row| row.first_error.as_str()).find(|error| !error.is_empty());
    let first_error = first_error.unwrap_or_default().to_owned();
    let rss_start_kb = rows.first().and_then(|row| row.rss_start_kb);
    let rss_end_kb = rows.last().and_then(|row| row.rss_end_kb);
    let cpu = |row: &LoadRow| row.server_cpu_us_per_op.unwrap_or_default();
    let middle = median_by(rows, |row| cpu(row)).cloned().unwrap_or_default();
    LoadRow { of_local, of_empty_call, errors, first_error, rss_start_kb, rss_end_kb, ..middle }
}

/// Returns the index of the plan that does the same work in this process.
fn local_twin(plans: &[LoadPlan], index: usize) -> Option<usize> {
    let plan = &plans[index];
    let work = |plan: &LoadPlan| (plan.ops.clone(), plan.batch, plan.keys);
    let twin = plans.iter().position(|other| other.way == LoadTransport::Local && work(other) == work(plan));
    twin.filter(|_| plan.way != LoadTransport::Local)
}

/// Returns the index of the plan that makes empty calls in the same way as this plan's calls.
fn empty_twin(plans: &[LoadPlan], index: usize) -> Option<usize> {
    let plan = &plans[index];
    let load = |plan: &LoadPlan| (plan.way, plan.clients, plan.in_flight);
    let is_twin = |other: &LoadPlan| other.ops == [LoadOp::EmptyCall] && load(other) == load(plan);
    plans.iter().position(is_twin).filter(|_| plan.ops == [LoadOp::EncryptCall])
}

/// Returns the CPU time of a call of `index` divided by that of a call of `empty`: the median over turns, the lowest
/// and the highest.
fn call_ratio(plans: &[LoadPlan], turns: &[Vec<LoadRow>], empty: usize, index: usize) -> Option<[f64; 3]> {
    let of = |rows: &Vec<LoadRow>| {
        let call_us = rows[index].server_cpu_us_per_op? * plans[index].batch as f64;
        Some(call_us / rows[empty].server_cpu_us_per_op?)
    };
    let ratios: Vec<f64> = turns.iter().filter_map(of).collect();
    let (least, most) = ratios
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), ratio| (least.min(*ratio), most.max(*ratio)));
    Some([median(ratios)?, least, most])
}

/// Returns the median over turns of the CPU time of `local` divided by that of `index`.
fn ratio(turns: &[Vec<LoadRow>], local: usize, index: usize) -> Option<f64> {
    let of =
        |rows: &Vec<LoadRow>| Some(rows[local].server_cpu_us_per_op? / rows[index].server_cpu_us_per_op?);
    median(turns.iter().filter_map(of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::args::LoadKeyHome;

    fn plan(way: LoadTransport, batch: usize) -> LoadPlan {
        let (home, keys, rate) = (LoadKeyHome::Stream, None, None);
        LoadPlan { ops: vec![LoadOp::Null], way, home, clients: 1, in_flight: 1, batch, keys, rate }
    }

    fn row(cpu: f64, errors: u64) -> LoadRow {
        let first_error = if errors > 0 { format!("at {cpu}") } else { String::new() };
        let (server_cpu_us_per_op, rss) = (Some(cpu), Some(cpu as u64));
        LoadRow {
            server_cpu_us_per_op,
            errors,
            first_error,
            rss_start_kb: rss,
            rss_end_kb: rss,
            ..LoadRow::default()
        }
    }

    #[test]
    fn shares_are_of_one_turn_and_no_error_is_lost() {
        let plans =
            [plan(LoadTransport::Tls, 64), plan(LoadTransport::Tls, 8), plan(LoadTransport::Local, 64)];
        // The machine is twice as slow in the second turn.
        let turns = [
            vec![row(10.0, 0), row(30.0, 0), row(8.0, 0)],
            vec![row(20.0, 2), row(70.0, 1), row(18.0, 0)],
            vec![row(12.0, 0), row(31.0, 0), row(9.0, 0)],
        ];
        let rows = middles(&plans, &turns);
        let cpu: Vec<_> = rows.iter().map(|row| row.server_cpu_us_per_op.unwrap()).collect();
        assert_eq!(cpu, [12.0, 31.0, 9.0]);
        assert_eq!(rows[0].of_local, Some(0.8));
        assert_eq!((rows[1].of_local, rows[2].of_local), (None, None));
        assert_eq!((rows[0].errors, rows[0].first_error.as_str()), (2, "at 20"));
        assert_eq!((rows[0].rss_start_kb, rows[0].rss_end_kb), (Some(10), Some(12)));
        assert!(middles(&[], &turns).is_empty());
    }

    #[test]
    fn calls_are_compared_with_empty_calls_of_the_same_turn_and_transport() {
        let call = |op, way, batch| LoadPlan { ops: vec![op], ..plan(way, batch) };
        let plans = [
            call(LoadOp::EncryptCall, LoadTransport::Tls, 16),
            call(LoadOp::EmptyCall, LoadTransport::Plaintext, 1),
            call(LoadOp::EmptyCall, LoadTransport::Tls, 1),
        ];
        let turns = [
            vec![row(2.0, 0), row(1.0, 0), row(20.0, 0)],
            vec![row(4.0, 0), row(1.0, 0), row(32.0, 0)],
            vec![row(3.0, 0), row(1.0, 0), row(40.0, 0)],
        ];
        let rows = middles(&plans, &turns);
        assert_eq!(rows[0].of_empty_call, Some([1.6, 1.2, 2.0]));
        assert_eq!((rows[1].of_empty_call, rows[2].of_empty_call), (None, None));
    }
}

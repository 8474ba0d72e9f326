//! Rows that were measured several times, in turn: a machine's speed changes between turns, so what is compared is of one turn.

use super::args::{Plan, Way};
use super::report::Row;
use crate::statistics::{median, median_by};

/// For each plan the turn with the median CPU time per operation; errors are those of all turns.
pub(super) fn middles(plans: &[Plan], turns: &[Vec<Row>]) -> Vec<Row> {
    (0..plans.len()).map(|place| middle(plans, turns, place)).collect()
}

fn middle(plans: &[Plan], turns: &[Vec<Row>], place: usize) -> Row {
    let own: Vec<&Row> = turns.iter().map(|rows| &rows[place]).collect();
    let of_local = local_twin(plans, place).and_then(|local| ratio(turns, local, place));
    let errors = own.iter().map(|row| row.errors).sum();
    let first_error = own.iter().map(|row| row.first_error.as_str()).find(|error| !error.is_empty());
    let first_error = first_error.unwrap_or_default().to_owned();
    let rss_start_kb = own.first().and_then(|row| row.rss_start_kb);
    let rss_end_kb = own.last().and_then(|row| row.rss_end_kb);
    let cpu = |row: &Row| row.server_cpu_us_per_op.unwrap_or_default();
    let middle = median_by(own, |row| cpu(row)).cloned().unwrap_or_default();
    Row { of_local, errors, first_error, rss_start_kb, rss_end_kb, ..middle }
}

/// The same work in this process.
fn local_twin(plans: &[Plan], place: usize) -> Option<usize> {
    let plan = &plans[place];
    let work = |plan: &Plan| (plan.ops.clone(), plan.batch, plan.keys);
    let twin = plans.iter().position(|other| other.way == Way::Local && work(other) == work(plan));
    twin.filter(|_| plan.way != Way::Local)
}

/// The median over turns of what `local` takes as a share of what `place` takes.
fn ratio(turns: &[Vec<Row>], local: usize, place: usize) -> Option<f64> {
    let of = |rows: &Vec<Row>| Some(rows[local].server_cpu_us_per_op? / rows[place].server_cpu_us_per_op?);
    median(turns.iter().filter_map(of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::args::{KeyHome, Op};

    fn plan(way: Way, batch: usize) -> Plan {
        let (home, keys, rate) = (KeyHome::Stream, None, None);
        Plan { ops: vec![Op::Null], way, home, clients: 1, in_flight: 1, batch, keys, rate }
    }

    fn row(cpu: f64, errors: u64) -> Row {
        let first_error = if errors > 0 { format!("at {cpu}") } else { String::new() };
        let (server_cpu_us_per_op, rss) = (Some(cpu), Some(cpu as u64));
        Row {
            server_cpu_us_per_op,
            errors,
            first_error,
            rss_start_kb: rss,
            rss_end_kb: rss,
            ..Row::default()
        }
    }

    #[test]
    fn shares_are_of_one_turn_and_no_error_is_lost() {
        let plans = [plan(Way::Tls, 64), plan(Way::Tls, 8), plan(Way::Local, 64)];
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
}

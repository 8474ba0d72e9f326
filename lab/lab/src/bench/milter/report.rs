//! Rows of numbers as table and JSON.

use oarlock_measure::statistics::median;
use oarlock_terminal::table::{TableCell, TextTable, count, duration, thousands};
use serde::Serialize;

use super::super::args::{MilterBenchArgs, MilterRow, MtaMailSizes};
use super::sessions::MeasuredSessions;

/// The result of a filter in all turns together.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FilterRow {
    name: MilterRow,
    sessions: usize,
    sizes: MtaMailSizes,
    /// Of each turn.
    seconds: f64,
    turns: u32,
    messages: u64,
    rate_per_s: f64,
    /// The CPU time of the filter's process; null if the process is unknown.
    cpu_us_per_message: Option<f64>,
    rate_per_cpu_s: Option<f64>,
    /// Medians over turns, from MAIL to the end of the answer.
    p50_us: f64,
    p99_us: f64,
    /// The difference to a filter that only accepts, in the same turn: the median over turns.
    added_p50_us: Option<f64>,
}

impl FilterRow {
    pub(super) fn new(
        name: MilterRow,
        sessions: usize,
        args: &MilterBenchArgs,
        turns: &[(MeasuredSessions, Option<MeasuredSessions>)],
    ) -> Self {
        let messages: u64 = turns.iter().map(|(turn, _)| turn.messages).sum();
        let cpu_us: Option<u64> = turns.iter().map(|(turn, _)| turn.cpu_us).sum();
        let each = cpu_us.map(|cpu_us| cpu_us as f64 / messages as f64).filter(|each| each.is_finite());
        let seconds: f64 = turns.iter().map(|(turn, _)| turn.seconds).sum();
        let added = |(turn, base): &(MeasuredSessions, Option<MeasuredSessions>)| {
            Some(turn.p50_us - base.as_ref()?.p50_us)
        };
        Self {
            name,
            sessions,
            sizes: args.sizes,
            seconds: args.seconds,
            turns: args.turns,
            messages,
            rate_per_s: messages as f64 / seconds,
            cpu_us_per_message: each,
            rate_per_cpu_s: each.filter(|each| *each > 0.0).map(|each| 1e6 / each),
            p50_us: median(turns.iter().map(|(turn, _)| turn.p50_us)).unwrap_or_default(),
            p99_us: median(turns.iter().map(|(turn, _)| turn.p99_us)).unwrap_or_default(),
            added_p50_us: turns.iter().map(added).collect::<Option<Vec<_>>>().and_then(median),
        }
    }
}

/// Returns the heading and the table.
pub(super) fn to_text(args: &MilterBenchArgs, rows: &[FilterRow], in_colour: bool) -> String {
    let heading = format!(
        "{}, {}; CPU: of the filter's process, on one core with the filter that only accepts;\n\
         added: to the median of that filter in the same turn; {} of {} s\n",
        count(args.messages as u64, "message"),
        args.sizes,
        count(args.turns.into(), "turn"),
        args.seconds
    );
    let mut table = TextTable::with_columns(
        ["row"],
        ["sessions", "messages/s", "/CPU s", "CPU each", "p50", "p99", "added"],
    );
    for row in rows {
        table.row([
            row.name.to_string().into(),
            thousands(row.sessions as u64).into(),
            thousands(row.rate_per_s.round() as u64).into(),
            TableCell::optional(row.rate_per_cpu_s, |rate| thousands(rate.round() as u64)),
            TableCell::optional(row.cpu_us_per_message, |each| duration(each / 1e6)),
            duration(row.p50_us / 1e6).into(),
            duration(row.p99_us / 1e6).into(),
            TableCell::optional(row.added_p50_us, |added| format!("{added:+.0} µs")),
        ]);
    }
    heading + &table.render(in_colour)
}

//! Rows of numbers as table and JSON.

use serde::Serialize;

use super::super::args::{MilterArgs, MilterRow, MilterSizes};
use super::sessions::Measured;
use crate::statistics::median;
use crate::table::{Align, Cell, Table, count, duration, thousands};

/// What a filter did in all turns together.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    name: MilterRow,
    sessions: usize,
    sizes: MilterSizes,
    /// Of each turn.
    seconds: f64,
    turns: u32,
    messages: u64,
    rate_per_s: f64,
    /// Of the filter's process; null where that is not known.
    cpu_us_per_message: Option<f64>,
    rate_per_cpu_s: Option<f64>,
    /// Medians over turns, from MAIL to the end of the answer.
    p50_us: f64,
    p99_us: f64,
    /// Over a filter that only accepts, in the same turn: the median over turns.
    added_p50_us: Option<f64>,
}

impl Row {
    pub(super) fn new(
        name: MilterRow,
        sessions: usize,
        args: &MilterArgs,
        turns: &[(Measured, Option<Measured>)],
    ) -> Self {
        let messages: u64 = turns.iter().map(|(turn, _)| turn.messages).sum();
        let cpu_us: Option<u64> = turns.iter().map(|(turn, _)| turn.cpu_us).sum();
        let each = cpu_us.map(|cpu_us| cpu_us as f64 / messages as f64).filter(|each| each.is_finite());
        let seconds: f64 = turns.iter().map(|(turn, _)| turn.seconds).sum();
        let added = |(turn, base): &(Measured, Option<Measured>)| Some(turn.p50_us - base.as_ref()?.p50_us);
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
pub(super) fn to_text(args: &MilterArgs, rows: &[Row], in_colour: bool) -> String {
    let heading = format!(
        "{}, {}; CPU: of the filter's process, on one core with the filter that only accepts;\n\
         added: to the median of that filter in the same turn; {} of {} s\n",
        count(args.messages as u64, "message"),
        args.sizes,
        count(args.turns.into(), "turn"),
        args.seconds
    );
    let mut table = Table::new([
        ("row", Align::Left),
        ("sessions", Align::Right),
        ("messages/s", Align::Right),
        ("/CPU s", Align::Right),
        ("CPU each", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("added", Align::Right),
    ]);
    for row in rows {
        let or = |value: Option<f64>, text: &dyn Fn(f64) -> String| {
            value.map_or_else(Cell::none, |value| text(value).into())
        };
        table.row([
            row.name.to_string().into(),
            thousands(row.sessions as u64).into(),
            thousands(row.rate_per_s.round() as u64).into(),
            or(row.rate_per_cpu_s, &|rate| thousands(rate.round() as u64)),
            or(row.cpu_us_per_message, &|each| duration(each / 1e6)),
            duration(row.p50_us / 1e6).into(),
            duration(row.p99_us / 1e6).into(),
            or(row.added_p50_us, &|added| format!("{added:+.0} µs")),
        ]);
    }
    heading + &table.render(in_colour)
}

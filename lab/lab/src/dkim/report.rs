//! Rows as table and JSON.

use oarlock_terminal::table::{TableCell, TextTable, count, ratio, thousands};
use serde::Serialize;

use super::args::MailBenchArgs;
use super::bench::{MailRate, PEER};
use super::corpus::MailSizes;
use super::task::MailTask;

/// A row as the benches of all protocols print it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MailRow {
    name: String,
    engine: &'static str,
    threads: usize,
    sizes: &'static str,
    rate_per_s: f64,
    rate_per_cpu_s: f64,
    peer: Option<&'static str>,
    peer_rate_per_cpu_s: Option<f64>,
    ratio: Option<f64>,
}

impl MailRow {
    pub(super) fn from_mail(
        engine: &'static str,
        task: MailTask,
        sizes: MailSizes,
        rate: MailRate,
        peer: Option<MailRate>,
    ) -> Self {
        let peer_rate_per_cpu_s = peer.map(|peer| peer.per_cpu_s);
        Self {
            name: task.name(),
            engine,
            threads: 1,
            sizes: sizes.name(),
            rate_per_s: rate.per_s,
            rate_per_cpu_s: rate.per_cpu_s,
            peer: peer.map(|_| PEER),
            peer_rate_per_cpu_s,
            ratio: peer_rate_per_cpu_s.map(|peer| rate.per_cpu_s / peer),
        }
    }
}

/// Returns the heading and the table.
pub(super) fn to_text(args: &MailBenchArgs, rows: &[MailRow], in_colour: bool) -> String {
    let heading = format!(
        "{} in batches of {}, relaxed/relaxed, one key, which is at hand; one thread; median of {} of {} s\n",
        count(args.messages as u64, "message"),
        args.batch,
        count(args.turns.into(), "turn"),
        args.seconds
    );
    let mut table = TextTable::with_columns(["row", "sizes", "engine"], ["messages/CPU s", PEER, "ratio"]);
    for row in rows {
        table.row([
            TableCell::from(row.name.clone()),
            row.sizes.into(),
            row.engine.into(),
            thousands(row.rate_per_cpu_s.round() as u64).into(),
            TableCell::optional(row.peer_rate_per_cpu_s, |rate| thousands(rate.round() as u64)),
            TableCell::optional(row.ratio, ratio),
        ]);
    }
    heading + &table.render(in_colour)
}

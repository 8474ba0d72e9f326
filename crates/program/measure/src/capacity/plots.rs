//! Pictures: queries per second over time, and demand against capacity.

use std::collections::BTreeMap;
use std::path::Path;

use oarlock_capacity::{QueryBurst, Traffic};
use oarlock_terminal::table::{count, thousands};

use super::CapacityError;
use super::args::PlotArgs;
use super::report::CapacityReport;
use crate::plot::{AxisScale, BarChart, ChartPanel, LineChart};

/// The largest number of points of a line: more would overlap.
const MAX_POINTS: u64 = 480;

pub(super) fn draw(args: &PlotArgs, report: &CapacityReport<'_>) -> Result<(), CapacityError> {
    if let (Some(path), Some(observed)) = (&args.plot_queries, report.observed) {
        write(path, &queries(&observed.traffic))?;
    }
    match &args.plot {
        Some(path) => write(path, &capacity(report)),
        None => Ok(()),
    }
}

fn write(path: &Path, svg: &str) -> Result<(), CapacityError> {
    std::fs::write(path, svg).map_err(|error| CapacityError::Write { path: path.to_owned(), error })
}

/// Draws the paper's figure 4.1: the busiest second and the mean of each of at most 480 stretches of time.
fn queries(traffic: &Traffic) -> String {
    let seconds = traffic.intervals(1);
    let first = seconds.keys().next().copied().unwrap_or(0);
    let span = seconds.keys().next_back().map_or(1, |last| last - first + 1);
    let step = span.div_ceil(MAX_POINTS);
    let mut stretches: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for (second, counts) in &seconds {
        let (max, sum) = stretches.entry((second - first) / step).or_default();
        *max = (*max).max(counts.queries);
        *sum += counts.queries;
    }
    let (unit, unit_s) = unit(span);
    let at = |stretch: u64| (stretch * step) as f64 / unit_s;
    // A stretch without queries becomes a point at zero. A line across it would hide that there were none.
    let stretches = || (0..span.div_ceil(step)).map(|stretch| (stretch, stretches.get(&stretch).copied()));
    let max = stretches().map(|(stretch, counts)| (at(stretch), counts.map_or(0.0, |(max, _)| max as f64)));
    let mean = stretches()
        .map(|(stretch, counts)| (at(stretch), counts.map_or(0.0, |(_, sum)| sum as f64 / step as f64)));
    let mut lines = vec![("busiest second".to_owned(), max.collect::<Vec<_>>())];
    // If each point is one second, both lines would be the same.
    if step > 1 {
        lines.push((format!("mean of {step} seconds"), mean.collect()));
    }
    let (series, lines) = lines.into_iter().unzip();
    let title = traffic.burst().map_or_else(String::new, |burst| title(&burst));
    let panel = ChartPanel { title: String::new(), lines };
    LineChart {
        title,
        x_label: format!("time, {unit}"),
        x_axis: AxisScale::Linear,
        y_label: "DNS queries per second".into(),
        y_axis: AxisScale::Linear,
        series,
        panels: vec![panel],
    }
    .to_svg()
}

fn title(burst: &QueryBurst) -> String {
    format!(
        "DNS queries: {} in the busiest of {}, 99th percentile {}, mean {:.1}",
        thousands(burst.max),
        count(burst.seconds, "second"),
        thousands(burst.p99),
        burst.mean
    )
}

/// Returns a unit that makes the span a short number, and the length of the unit in seconds.
fn unit(span_s: u64) -> (&'static str, f64) {
    match span_s {
        0..600 => ("seconds", 1.0),
        600..18_000 => ("minutes", 60.0),
        18_000..432_000 => ("hours", 3600.0),
        _ => ("days", 86_400.0),
    }
}

fn capacity(report: &CapacityReport<'_>) -> String {
    let CapacityReport { machine, verdict, .. } = report;
    let implementations = machine.implementations();
    let groups = machine.algorithms().map(|algorithm| {
        let value = |implementation: &&str| {
            let mut rows = verdict.rows.iter();
            let row = rows.find(|row| row.algorithm == algorithm && row.implementation == *implementation);
            row.map(|row| row.capacity_per_s).ok_or_else(|| "not offered".to_owned())
        };
        (algorithm.to_string(), implementations.iter().map(value).collect())
    });
    let required = verdict.required_per_s;
    BarChart {
        title: format!("Validations per second that {} affords", machine.processor),
        x_label: report.budget_text(),
        unit: String::new(),
        mark: (required > 0.0).then(|| (required, format!("demand: {}", thousands(required as u64)))),
        series: implementations.iter().map(|name| (*name).to_owned()).collect(),
        groups: groups.collect(),
    }
    .to_svg()
}

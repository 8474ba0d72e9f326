//! The report as text and as JSON.

use oarlock_capacity::{FunctionOrigin, ModelFunction};
use oarlock_terminal::table::{CellAlign, CellTone, TableCell, TextTable, count, ratio, si, thousands};
use serde_json::{Value, json};

use super::inputs::{ObservedTraffic, TrafficSource};
use super::machine::{MachineComparison, MachineRates};
use super::overhead::ValidationOverhead;
use super::question::LoadQuestion;
use super::verdict::{CapacityVerdict, VerdictRow, percent};

/// The width of the verdict's table, which has names of libraries.
const WIDEST: usize = 120;

/// Everything that a report shows.
pub(super) struct CapacityReport<'a> {
    pub(super) observed: Option<&'a ObservedTraffic>,
    pub(super) question: LoadQuestion,
    pub(super) machine: MachineRates,
    pub(super) verdict: CapacityVerdict,
    pub(super) overhead: ValidationOverhead,
    pub(super) against: Option<MachineComparison>,
}

impl CapacityReport<'_> {
    /// Describes the budget in words.
    pub(super) fn budget_text(&self) -> String {
        let budget = &self.verdict.budget;
        let cores = if budget.cores == 1.0 { "one core".into() } else { format!("{} cores", budget.cores) };
        format!(
            "validations per second with {} % of {cores}, {} µs each beyond the verification{}",
            percent(budget.cpu_share),
            microseconds(budget.overhead_us),
            self.overhead.origin()
        )
    }

    pub(super) fn to_text(&self, in_colour: bool) -> String {
        let mut parts = Vec::new();
        if let Some(observed) = self.observed {
            parts.push(traffic_text(observed));
        }
        parts.push(self.model_table().render(in_colour) + &self.demand_text());
        parts.push(self.machine_text() + "\n\n" + &self.verdict_table().render(in_colour));
        if let Some(against) = &self.against {
            parts.push(against_text(against, in_colour));
        }
        parts.push(self.verdict.sentence());
        parts.join("\n")
    }

    fn functions(&self) -> [(&'static str, &'static str, &ModelFunction); 4] {
        let model = &self.question.model;
        [
            ("r", "responses per query", &model.r),
            ("a_s", "signed share of responses", &model.a_s),
            ("s", "signatures per signed response", &model.s),
            ("a_v", "verified share of signatures", &model.a_v),
        ]
    }

    fn model_table(&self) -> TextTable {
        let head = [
            ("", CellAlign::Left),
            ("model", CellAlign::Left),
            ("value", CellAlign::Right),
            ("±", CellAlign::Right),
        ];
        let tail = [
            ("beta", CellAlign::Right),
            ("R²", CellAlign::Right),
            ("of totals", CellAlign::Right),
            ("from", CellAlign::Left),
        ];
        let mut table = TextTable::new(head.into_iter().chain(tail));
        for ((name, what, function), total) in self.functions().into_iter().zip(ratios(self.observed)) {
            let fit = match function.origin {
                FunctionOrigin::Fit(fit) => {
                    [format!("{:.4}", fit.standard_error), format!("{:.3}", fit.r_squared)]
                        .map(TableCell::from)
                }
                _ => [TableCell::none(), TableCell::none()],
            };
            let [error, r_squared] = fit;
            let value = format!("{:.3}", function.coefficient);
            let beta = format!("{:.2}", function.intercept);
            let total = TableCell::optional(total, |total| format!("{total:.3}"));
            let from = origin_text(function, self.question.interval_s);
            table.row([
                name.into(),
                what.into(),
                value.into(),
                error,
                beta.into(),
                r_squared,
                total,
                from.into(),
            ]);
        }
        table
    }

    fn demand_text(&self) -> String {
        let LoadQuestion { queries_per_s, model, .. } = &self.question;
        let whose = if self.question.is_by_hand { "given" } else { "in the busiest second" };
        let (a, b, signatures) = (model.a(), self.question.b_per_s(), self.question.signatures_per_s());
        format!(
            "\nS_v = a Q + b = {a:.3} x {} {} {:.2} = {signatures:.1} signatures per second (Q {whose}), rounded up to {}.\n",
            queries_per_s,
            if b < 0.0 { '-' } else { '+' },
            b.abs(),
            thousands(self.verdict.required_per_s as u64)
        )
    }

    fn machine_text(&self) -> String {
        let MachineRates { processor, runs, run_seconds, .. } = &self.machine;
        let runs = if *runs == 1 { "1 run".into() } else { format!("mean of {runs} runs") };
        format!(
            "{processor}: verifications per second of CPU time on one core, {runs} of {run_seconds} s;\n{}.",
            self.budget_text()
        )
    }

    fn verdict_table(&self) -> TextTable {
        let mut table = TextTable::new([
            ("algorithm", CellAlign::Left),
            ("implementation", CellAlign::Left),
            ("verify/s", CellAlign::Right),
            ("sigma", CellAlign::Right),
            ("validate/s", CellAlign::Right),
            ("capacity", CellAlign::Right),
            ("CPU bare", CellAlign::Right),
            ("CPU", CellAlign::Right),
            ("headroom", CellAlign::Right),
            ("affords", CellAlign::Left),
        ])
        .with_max_columns(WIDEST);
        self.verdict.rows.iter().for_each(|row| table.row(cells(row)));
        table
    }

    pub(super) fn to_json(&self) -> Value {
        let LoadQuestion { queries_per_s, is_by_hand, model, interval_s } = &self.question;
        let functions =
            self.functions().map(|(name, _, function)| (name.to_owned(), function_json(function)));
        let mut model_json: serde_json::Map<String, Value> = functions.into_iter().collect();
        model_json.insert("a".into(), json!(model.a()));
        model_json.insert("b".into(), json!(model.b()));
        model_json.insert("interval_s".into(), json!(interval_s));
        let budget = &self.verdict.budget;
        json!({
            "traffic": self.observed.map(traffic_json),
            "model": model_json,
            "demand": {
                "queries_per_s": queries_per_s,
                "is_by_hand": is_by_hand,
                "signatures_per_s": self.question.signatures_per_s(),
                "required_per_s": self.verdict.required_per_s,
            },
            "budget": { "cores": budget.cores, "cpu_share": budget.cpu_share, "overhead_us": budget.overhead_us, "overhead_row": self.overhead.row },
            "machine": self.machine,
            "verdicts": self.verdict.rows,
            "against": self.against,
            "sentence": self.verdict.sentence(),
        })
    }
}

fn cells(row: &VerdictRow) -> [TableCell; 10] {
    let (word, tone) = if row.is_affordable { ("yes", CellTone::Good) } else { ("no", CellTone::Bad) };
    let share = |share: f64| TableCell::from(format!("{} %", percent(share)));
    [
        row.algorithm.to_string().into(),
        row.implementation.as_str().into(),
        si(row.mean_per_s).into(),
        TableCell::optional(row.sigma_per_s, si),
        si(row.validations_per_s).into(),
        si(row.capacity_per_s).into(),
        share(row.cpu_share_bare),
        share(row.cpu_share),
        TableCell::optional(row.headroom, ratio),
        TableCell::toned(word, tone),
    ]
}

fn origin_text(function: &ModelFunction, interval_s: u64) -> String {
    match function.origin {
        FunctionOrigin::Fit(fit) => format!("a line through {} x {interval_s} s", thousands(fit.points)),
        FunctionOrigin::Ratio => "totals".into(),
        FunctionOrigin::ByHand => "by hand".into(),
        FunctionOrigin::WorstCase => "worst case".into(),
    }
}

fn function_json(function: &ModelFunction) -> Value {
    let ModelFunction { coefficient, intercept, origin } = function;
    let (origin, fit) = match origin {
        FunctionOrigin::Fit(fit) => ("fit", Some(fit)),
        FunctionOrigin::Ratio => ("totals", None),
        FunctionOrigin::ByHand => ("by hand", None),
        FunctionOrigin::WorstCase => ("worst case", None),
    };
    json!({
        "coefficient": coefficient,
        "beta": intercept,
        "origin": origin,
        "r_squared": fit.map(|fit| fit.r_squared),
        "standard_error": fit.map(|fit| fit.standard_error),
        "intervals": fit.map(|fit| fit.points),
    })
}

/// Returns r, a_s, s and a_v of all traffic together; None if the divisor is zero.
fn ratios(observed: Option<&ObservedTraffic>) -> [Option<f64>; 4] {
    let Some(totals) = observed.map(|observed| observed.traffic.totals()) else { return [None; 4] };
    let pairs = [
        (totals.responses, totals.queries),
        (totals.signed, totals.responses),
        (totals.signatures, totals.signed),
        (totals.verified, totals.signatures),
    ];
    pairs.map(|(over, under)| (under > 0).then(|| over as f64 / under as f64))
}

/// Formats microseconds with one decimal, or none if that is zero.
fn microseconds(time_us: f64) -> String {
    format!("{}", (time_us * 10.0).round() / 10.0)
}

fn traffic_text(observed: &ObservedTraffic) -> String {
    let totals = observed.traffic.totals();
    let mut text = format!(
        "{}, {}, {} of them signed, with {}; a cache would have left {} to verify.\n",
        count(totals.queries, "query"),
        count(totals.responses, "response"),
        thousands(totals.signed),
        count(totals.signatures, "signature"),
        thousands(totals.verified)
    );
    if let Some(burst) = observed.traffic.burst() {
        text += &format!(
            "Queries per second over {} s: most {}, mean {:.1}; percentiles 50: {}, 90: {}, 99: {}, 99.9: {}.\n",
            thousands(burst.seconds),
            burst.max,
            burst.mean,
            burst.p50,
            burst.p90,
            burst.p99,
            burst.p99_9
        );
    }
    if observed.traffic.other_opcodes() > 0 {
        text += &format!(
            "Left out: {} with another opcode than QUERY, such as UPDATE and NOTIFY.\n",
            count(observed.traffic.other_opcodes(), "message")
        );
    }
    if observed.left_out > 0 {
        text += &format!("Left out: {} of another transport or side.\n", count(observed.left_out, "message"));
    }
    text
}

fn traffic_json(observed: &ObservedTraffic) -> Value {
    let traffic = &observed.traffic;
    let totals = traffic.totals();
    let [r, a_s, s, a_v] = ratios(Some(observed));
    let burst = traffic.burst().map(|burst| {
        json!({
            "seconds": burst.seconds, "max": burst.max, "mean": burst.mean,
            "p50": burst.p50, "p90": burst.p90, "p99": burst.p99, "p99.9": burst.p99_9,
        })
    });
    json!({
        "inputs": observed.inputs.iter().map(source_json).collect::<Vec<_>>(),
        "queries": totals.queries,
        "responses": totals.responses,
        "signed_responses": totals.signed,
        "signatures": totals.signatures,
        "verified_signatures": totals.verified,
        "r": r, "a_s": a_s, "s": s, "a_v": a_v,
        "malformed": traffic.malformed(),
        "other_opcodes": traffic.other_opcodes(),
        "left_out": observed.left_out,
        "unplaced": traffic.unplaced(),
        "queries_per_s": burst,
    })
}

fn source_json(source: &TrafficSource) -> Value {
    let skipped = &source.skipped;
    json!({
        "path": source.path.display().to_string(),
        "format": source.format.map(|format| format.to_string()),
        "messages": source.events,
        "fault": source.fault.as_ref().map(ToString::to_string),
        "skipped": {
            "not_ip": skipped.not_ip,
            "not_dns": skipped.not_dns,
            "fragments": skipped.fragments,
            "tcp_parts": skipped.tcp_parts,
            "malformed": skipped.malformed,
            "unknown_links": skipped.unknown_links,
            "cut_short": skipped.cut_short,
            "others": skipped.others,
            "lines": skipped.lines,
        },
    })
}

fn against_text(against: &MachineComparison, in_colour: bool) -> String {
    let mut table = TextTable::with_columns(["algorithm", "implementation"], ["here", "there", "times"]);
    for multiplier in &against.multipliers {
        table.row([
            multiplier.algorithm.to_string().into(),
            multiplier.implementation.as_str().into(),
            si(multiplier.here_per_s).into(),
            si(multiplier.there_per_s).into(),
            ratio(multiplier.times).into(),
        ]);
    }
    let heading = format!("Against {}", against.processor);
    match against.multipliers.is_empty() {
        true => format!("{heading}: no implementation of an algorithm was measured on both.\n"),
        false => format!("{heading}:\n\n{}", table.render(in_colour)),
    }
}

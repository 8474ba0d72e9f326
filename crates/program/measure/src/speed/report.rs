//! Rows of `oarlock speed` as table, JSON and picture, and one plain sentence.

use std::path::Path;

use oarlock_terminal::table::{CellTone, TableCell, TextTable, bytes, ratio, si};
use serde::Serialize;

use super::measure::SpeedRate;
use crate::plot::BarChart;

/// One operation on one engine, beside one library. The fields are those of the documented JSON.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SpeedRow {
    pub(crate) op: String,
    pub(crate) engine: &'static str,
    /// The group of instructions that computed it, if the engine has several.
    pub(crate) leaf: Option<&'static str>,
    pub(crate) threads: usize,
    /// Operations per call.
    pub(crate) batch: usize,
    /// Different keys among the operations; 0 for digests.
    pub(crate) keys: usize,
    /// Bytes of input per operation.
    pub(crate) bytes: usize,
    /// Operations per second of CPU time, summed over threads.
    pub(crate) ops_per_s: f64,
    /// Microseconds of CPU time per batch.
    pub(crate) batch_us: f64,
    /// The library's own rate in the same run; null if there is none or it is void.
    pub(crate) openssl_ops_per_s: Option<f64>,
    pub(crate) ratio: Option<f64>,
    /// The library's rate was measured and is void: it fell behind its own `openssl speed`.
    #[serde(skip)]
    pub(crate) is_void: bool,
    /// Version of the library.
    pub(crate) libcrypto: Option<String>,
    /// The bytes of the tables that the engine built for these keys.
    pub(crate) table_bytes: usize,
    /// AWS-LC called bare, one operation at a time, without schemes and dispatcher.
    #[serde(skip)]
    pub(crate) aws_lc_per_s: f64,
}

impl SpeedRow {
    pub(crate) fn set_rate(&mut self, ours: SpeedRate, openssl: Option<SpeedRate>, aws_lc: SpeedRate) {
        self.ops_per_s = round(ours.per_s);
        self.batch_us = round(ours.batch_us);
        self.openssl_ops_per_s = openssl.map(|rate| round(rate.per_s));
        self.ratio = openssl.map(|openssl| round(ours.per_s / openssl.per_s));
        self.aws_lc_per_s = round(aws_lc.per_s);
    }
}

/// The reason why a row has no ratio, in the place of its bar.
fn absence(row: &SpeedRow) -> String {
    let reason = match row.is_void {
        true => "void: OpenSSL was over 10 % below its own `openssl speed`, twice",
        false => "not measured: OpenSSL here does not do it",
    };
    format!("{}: {reason}", row.engine)
}

/// Rounds to at least four significant digits: further digits are noise.
fn round(value: f64) -> f64 {
    if value >= 10.0 { (value * 10.0).round() / 10.0 } else { (value * 1e4).round() / 1e4 }
}

pub(crate) fn table(rows: &[SpeedRow], in_colour: bool) -> String {
    let several = rows.iter().any(|row| row.libcrypto != rows[0].libcrypto);
    let mut table = TextTable::with_columns(
        ["operation", "engine"],
        ["batch", "keys", "tables", "bytes", "ops/s", "OpenSSL", "AWS-LC", "ratio to OpenSSL"],
    );
    for row in rows {
        let tone = |ratio: f64| if ratio >= 1.0 { CellTone::Good } else { CellTone::Plain };
        let name = match &row.libcrypto {
            Some(version) if several => format!("{} ({version})", row.op),
            _ => row.op.clone(),
        };
        table.row([
            name.into(),
            match row.leaf {
                Some(leaf) => format!("{} {leaf}", row.engine).into(),
                None => row.engine.into(),
            },
            row.batch.to_string().into(),
            row.keys.to_string().into(),
            if row.table_bytes == 0 { TableCell::none() } else { bytes(row.table_bytes).into() },
            row.bytes.to_string().into(),
            si(row.ops_per_s).into(),
            TableCell::optional(row.openssl_ops_per_s, si),
            si(row.aws_lc_per_s).into(),
            TableCell::optional(row.ratio, |value| TableCell::toned(ratio(value), tone(value))),
        ]);
    }
    table.render(in_colour)
}

/// Describes this machine's gain in one sentence.
pub(crate) fn sentence(rows: &[SpeedRow]) -> String {
    let best = best_by_operation(rows);
    let Some((max, gain)) = best.iter().max_by(|a, b| a.1.total_cmp(&b.1)).copied() else {
        return "There is no OpenSSL here to compare this machine's engines with.".into();
    };
    let mut ratios: Vec<f64> = best.iter().map(|(_, ratio)| *ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let (median, min) = (ratios[ratios.len() / 2], ratios[0]);
    let library = max.libcrypto.as_deref().unwrap_or("OpenSSL");
    let count = ratios.len();
    if count == 1 {
        return format!("Per core, this machine does {} at {} the rate of {library}.", max.op, ratio(gain));
    }
    format!(
        "Per core, this machine does these {count} operations at {} to {} the rate of {library} (median {}); it gains \
         most in {}.",
        ratio(min),
        ratio(gain),
        ratio(median),
        max.op
    )
}

/// Returns the best ratio of each operation, with its row.
fn best_by_operation(rows: &[SpeedRow]) -> Vec<(&SpeedRow, f64)> {
    let mut best: Vec<(&SpeedRow, f64)> = Vec::new();
    for (row, ratio) in rows.iter().filter_map(|row| Some((row, row.ratio?))) {
        match best.iter_mut().find(|(known, _)| known.op == row.op) {
            Some(known) if known.1 < ratio => *known = (row, ratio),
            Some(_) => {}
            None => best.push((row, ratio)),
        }
    }
    best
}

/// Draws the ratios, one bar per engine.
pub(crate) fn plot(rows: &[SpeedRow], path: &Path) -> std::io::Result<()> {
    let mut engines: Vec<&str> = rows.iter().map(|row| row.engine).collect();
    engines.sort_unstable();
    engines.dedup();
    let library = rows.iter().find_map(|row| row.libcrypto.clone());
    let mut operations: Vec<&str> = rows.iter().map(|row| row.op.as_str()).collect();
    // Not sorted: the rows of one operation are neighbours, and the order of the table is kept.
    operations.dedup();
    let is_compared = library.is_some();
    let value = |op: &str, engine: &str| {
        let row = rows.iter().find(|row| row.op == op && row.engine == engine);
        let row = row.ok_or_else(|| format!("{engine}: not offered"))?;
        if is_compared { row.ratio.ok_or_else(|| absence(row)) } else { Ok(row.ops_per_s) }
    };
    let (x_label, unit) = match &library {
        Some(version) => (format!("ratio to {version}, per core, same run"), "x"),
        None => ("operations per second".to_owned(), ""),
    };
    let chart = BarChart {
        title: "oarlock speed".into(),
        x_label,
        unit: unit.into(),
        mark: library.map(|version| (1.0, version)),
        series: engines.iter().map(ToString::to_string).collect(),
        groups: operations
            .iter()
            .map(|op| (op.to_string(), engines.iter().map(|engine| value(op, engine)).collect()))
            .collect(),
    };
    std::fs::write(path, chart.to_svg())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(op: &str, engine: &'static str, per_s: f64, openssl: Option<f64>) -> SpeedRow {
        let rate = |per_s| SpeedRate { per_s, batch_us: 1.0 };
        let mut row = SpeedRow {
            op: op.into(),
            engine,
            leaf: (engine == "lanes").then_some("avx2"),
            threads: 1,
            batch: 64,
            keys: 8,
            bytes: 32,
            ops_per_s: 0.0,
            batch_us: 0.0,
            openssl_ops_per_s: None,
            ratio: None,
            is_void: false,
            libcrypto: openssl.map(|_| "OpenSSL 3.0.19".into()),
            table_bytes: 90_112,
            aws_lc_per_s: 0.0,
        };
        row.set_rate(rate(per_s), openssl.map(rate), rate(per_s));
        row
    }

    #[test]
    fn json_has_the_documented_fields_in_order() {
        let text = serde_json::to_string(&row("p256-sign", "scalar", 90_000.0, Some(60_000.0))).unwrap();
        let expected = r#"{"op":"p256-sign","engine":"scalar","leaf":null,"threads":1,"batch":64,"keys":8,"bytes":32,"ops_per_s":90000.0,"batch_us":1.0,"openssl_ops_per_s":60000.0,"ratio":1.5,"libcrypto":"OpenSSL 3.0.19","table_bytes":90112}"#;
        assert_eq!(text, expected);
        let alone = serde_json::to_string(&row("p256-sign", "scalar", 90_000.0, None)).unwrap();
        assert!(alone.contains(r#""openssl_ops_per_s":null,"ratio":null,"libcrypto":null"#));
    }

    #[test]
    fn the_sentence_names_range_and_best() {
        let rows = [
            row("a", "scalar", 100.0, Some(100.0)),
            row("a", "lanes", 300.0, Some(100.0)),
            row("b", "scalar", 90.0, Some(100.0)),
        ];
        let text = sentence(&rows);
        assert!(text.contains("0.90x to 3.00x") && text.ends_with("it gains most in a."), "{text}");
        assert!(sentence(&[row("a", "scalar", 1.0, None)]).starts_with("There is no OpenSSL"));
    }

    #[test]
    fn a_row_without_a_ratio_is_drawn_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("speed.svg");
        let (mut void, mut absent) = (row("a", "scalar", 1.0, None), row("b", "scalar", 1.0, None));
        void.is_void = true;
        let good = row("c", "scalar", 3.0, Some(1.0));
        void.libcrypto = good.libcrypto.clone();
        absent.libcrypto = good.libcrypto.clone();
        plot(&[void, absent, good], &path).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.contains("scalar: void: OpenSSL was over 10 % below its own `openssl speed`"), "{svg}");
        assert!(svg.contains("scalar: not measured: OpenSSL here does not do it"), "{svg}");
        assert!(svg.contains(">3.00x<") && !svg.contains("n/a"), "{svg}");
    }

    #[test]
    fn the_table_fits_a_page() {
        let rows = [row("rsa2048-verify", "scalar", 76_123.4, Some(77_000.0)), row("x", "lanes", 1e8, None)];
        let text = table(&rows, false);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.contains("76.1k") && text.contains("0.99x"), "{text}");
    }
}

//! Rows of `oarlock speed` as table, JSON and picture, and one plain sentence.

use std::path::Path;

use oarlock_terminal::table::{CellAlign, CellTone, TableCell, TextTable, bytes, ratio, si};
use serde::Serialize;

use super::measure::SpeedRate;
use super::peers::{LibraryRate, PeerRates};
use crate::plot::BarChart;

/// One operation on one engine, beside AWS-LC and one library. The fields are those of the documented JSON.
#[derive(Clone, Debug, Default, Serialize)]
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
    /// The library's rate: the better one of this process and of `openssl speed`. Null if there is none.
    pub(crate) openssl_ops_per_s: Option<f64>,
    /// The ratio to the library's rate.
    pub(crate) ratio: Option<f64>,
    /// Version of the library.
    pub(crate) libcrypto: Option<String>,
    /// The bytes of the tables that the engine built for these keys.
    pub(crate) table_bytes: usize,
    /// The rate of `openssl speed` of the same version, per second of its CPU time. Null if it was not run.
    pub(crate) openssl_speed_ops_per_s: Option<f64>,
    /// AWS-LC called directly, one operation at a time. Null if it lacks the operation.
    pub(crate) aws_lc_ops_per_s: Option<f64>,
    /// Name and version of the fastest peer: AWS-LC or any of the libraries of the run.
    pub(crate) best_peer: Option<String>,
    /// The ratio to the fastest peer's rate.
    pub(crate) ratio_to_best: Option<f64>,
}

impl SpeedRow {
    /// Makes a row for each library, or a single one, of a row without rates.
    pub(super) fn beside(self, ours: SpeedRate, peers: &PeerRates) -> Vec<Self> {
        let best = peers.best();
        let row = Self {
            ops_per_s: round(ours.per_s),
            batch_us: round(ours.batch_us),
            aws_lc_ops_per_s: peers.aws_lc.map(round),
            ratio_to_best: best.as_ref().map(|(_, per_s)| round(ours.per_s / per_s)),
            best_peer: best.map(|(name, _)| name),
            ..self
        };
        let with_library = |library: &LibraryRate| Self {
            openssl_ops_per_s: library.best().map(round),
            ratio: library.best().map(|per_s| round(ours.per_s / per_s)),
            libcrypto: Some(library.version.clone()),
            openssl_speed_ops_per_s: library.program.map(round),
            ..row.clone()
        };
        match peers.libraries.as_slice() {
            [] => vec![row],
            libraries => libraries.iter().map(with_library).collect(),
        }
    }

    /// True if another row has the same measurement, beside another library.
    fn is_same_as(&self, other: &Self) -> bool {
        (&self.op, self.engine, self.keys) == (&other.op, other.engine, other.keys)
    }
}

/// Rounds to at least four significant digits: further digits are noise.
fn round(value: f64) -> f64 {
    if value >= 10.0 { (value * 10.0).round() / 10.0 } else { (value * 1e4).round() / 1e4 }
}

/// The widest line of the table, which has a column for each library.
const MAX_COLUMNS: usize = 120;

/// Returns a line for each measurement, with a column for each peer.
pub(crate) fn table(rows: &[SpeedRow], in_colour: bool) -> String {
    let words = ["operation", "engine"].map(|name| (name.to_owned(), CellAlign::Left));
    let numbers = ["batch", "keys", "tables", "bytes", "ops/s"].map(str::to_owned).into_iter();
    let numbers = numbers.chain(libraries(rows)).chain(["AWS-LC", "to best"].map(str::to_owned));
    let mut table = TextTable::new(words.into_iter().chain(numbers.map(|name| (name, CellAlign::Right))))
        .with_max_columns(MAX_COLUMNS);
    for measurement in rows.chunk_by(SpeedRow::is_same_as) {
        let row = &measurement[0];
        let tone = |ratio: f64| if ratio >= 1.0 { CellTone::Good } else { CellTone::Plain };
        let cells = [
            row.op.as_str().into(),
            match row.leaf {
                Some(leaf) => format!("{} {leaf}", row.engine).into(),
                None => row.engine.into(),
            },
            row.batch.to_string().into(),
            row.keys.to_string().into(),
            if row.table_bytes == 0 { TableCell::none() } else { bytes(row.table_bytes).into() },
            row.bytes.to_string().into(),
            si(row.ops_per_s).into(),
        ];
        let libraries = measurement.iter().filter(|row| row.libcrypto.is_some());
        let libraries = libraries.map(|row| TableCell::optional(row.openssl_ops_per_s, si));
        let to_best = |value| TableCell::toned(ratio(value), tone(value));
        let last =
            [TableCell::optional(row.aws_lc_ops_per_s, si), TableCell::optional(row.ratio_to_best, to_best)];
        table.row(cells.into_iter().chain(libraries).chain(last));
    }
    table.render(in_colour)
}

/// Returns the versions of the libraries of the run, in their order.
fn libraries(rows: &[SpeedRow]) -> impl Iterator<Item = String> {
    let first = rows.chunk_by(SpeedRow::is_same_as).next().unwrap_or_default();
    first.iter().filter_map(|row| row.libcrypto.clone())
}

/// Names the peers of the run: the better of `OpenSSL 3.0.19` and AWS-LC.
fn peers(rows: &[SpeedRow]) -> String {
    let libraries: Vec<String> = libraries(rows).collect();
    let has_aws_lc = rows.iter().any(|row| row.aws_lc_ops_per_s.is_some());
    match (libraries.as_slice(), has_aws_lc) {
        ([], _) => "AWS-LC".into(),
        ([only], false) => only.clone(),
        ([only], true) => format!("the better of {only} and AWS-LC"),
        (several, false) => format!("the best of {}", several.join(" and ")),
        (several, true) => format!("the best of {} and AWS-LC", several.join(", ")),
    }
}

/// Describes this machine's gain in one sentence.
pub(crate) fn sentence(rows: &[SpeedRow]) -> String {
    let mut best = best_by_operation(rows);
    best.sort_by(|one, other| one.1.total_cmp(&other.1));
    let ([(least, min), ..], [.., (most, max)]) = (best.as_slice(), best.as_slice()) else {
        return "There is no peer here to compare this machine's engines with.".into();
    };
    let (peers, count) = (peers(rows), best.len());
    if count == 1 {
        return format!("Per core, this machine does {} at {} the rate of {peers}.", most.op, ratio(*max));
    }
    format!(
        "Per core, this machine does these {count} operations at {} to {} the rate of {peers} (median {}); it gains most \
         in {} and least in {}.",
        ratio(*min),
        ratio(*max),
        ratio(best[count / 2].1),
        most.op,
        least.op
    )
}

/// Returns the best ratio of each operation, with its row.
fn best_by_operation(rows: &[SpeedRow]) -> Vec<(&SpeedRow, f64)> {
    let mut best: Vec<(&SpeedRow, f64)> = Vec::new();
    for (row, ratio) in rows.iter().filter_map(|row| Some((row, row.ratio_to_best?))) {
        match best.iter_mut().find(|(known, _)| known.op == row.op) {
            Some(known) if known.1 < ratio => *known = (row, ratio),
            Some(_) => {}
            None => best.push((row, ratio)),
        }
    }
    best
}

/// Draws the ratios to the fastest peer, one bar per engine.
pub(crate) fn plot(rows: &[SpeedRow], path: &Path) -> std::io::Result<()> {
    let mut engines: Vec<&str> = rows.iter().map(|row| row.engine).collect();
    engines.sort_unstable();
    engines.dedup();
    let mut operations: Vec<&str> = rows.iter().map(|row| row.op.as_str()).collect();
    // Not sorted: the rows of one operation are neighbours, and the order of the table is kept.
    operations.dedup();
    let is_compared = rows.iter().any(|row| row.ratio_to_best.is_some());
    let value = |op: &str, engine: &str| {
        let row = rows.iter().find(|row| row.op == op && row.engine == engine);
        let row = row.ok_or_else(|| format!("{engine}: not offered"))?;
        if !is_compared {
            return Ok(row.ops_per_s);
        }
        row.ratio_to_best.ok_or_else(|| format!("{engine}: not compared: no peer here does it"))
    };
    let (x_label, unit) = match is_compared {
        true => (format!("ratio to {}, per core, same run", peers(rows)), "x"),
        false => ("operations per second".to_owned(), ""),
    };
    let chart = BarChart {
        title: "oarlock speed".into(),
        x_label,
        unit: unit.into(),
        mark: is_compared.then(|| (1.0, peers(rows))),
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

    /// Rates of OpenSSL 3.0.19, of OpenSSL 4.0.3 if there is a second one, and of AWS-LC.
    fn rows(
        op: &str,
        engine: &'static str,
        per_s: f64,
        libraries: &[Option<f64>],
        aws_lc: Option<f64>,
    ) -> Vec<SpeedRow> {
        let row = SpeedRow {
            op: op.into(),
            engine,
            leaf: (engine == "lanes").then_some("avx512"),
            threads: 1,
            batch: 65_536,
            keys: 1_024,
            bytes: 16_384,
            table_bytes: 90_112,
            ..SpeedRow::default()
        };
        let versions = ["OpenSSL 3.0.19", "OpenSSL 4.0.3"].into_iter();
        let libraries = versions.zip(libraries).map(|(version, rate)| LibraryRate {
            version: version.into(),
            in_process: *rate,
            program: None,
        });
        row.beside(SpeedRate { per_s, batch_us: 1.0 }, &PeerRates { aws_lc, libraries: libraries.collect() })
    }

    #[test]
    fn json_has_the_documented_fields_in_order() {
        let row = SpeedRow { op: "p256-sign".into(), engine: "scalar", threads: 1, ..SpeedRow::default() };
        let library = LibraryRate {
            version: "OpenSSL 3.0.19".into(),
            in_process: Some(60_000.0),
            program: Some(57_000.0),
        };
        let peers = PeerRates { aws_lc: Some(75_000.0), libraries: vec![library] };
        let rows = row.beside(SpeedRate { per_s: 90_000.0, batch_us: 1.0 }, &peers);
        let text = serde_json::to_string(&rows).unwrap();
        let version = crate::peer::aws_lc_version();
        let expected = format!(
            r#"[{{"op":"p256-sign","engine":"scalar","leaf":null,"threads":1,"batch":0,"keys":0,"bytes":0,"ops_per_s":90000.0,"batch_us":1.0,"openssl_ops_per_s":60000.0,"ratio":1.5,"libcrypto":"OpenSSL 3.0.19","table_bytes":0,"openssl_speed_ops_per_s":57000.0,"aws_lc_ops_per_s":75000.0,"best_peer":"{version}","ratio_to_best":1.2}}]"#
        );
        assert_eq!(text, expected);
        let alone = serde_json::to_string(&self::rows("p256-sign", "scalar", 90_000.0, &[], None)).unwrap();
        let nothing = r#""openssl_ops_per_s":null,"ratio":null,"libcrypto":null"#;
        assert!(alone.contains(nothing) && alone.contains(r#""best_peer":null,"ratio_to_best":null"#));
    }

    #[test]
    fn each_library_has_a_row_and_all_have_the_ratio_to_the_best() {
        let rows = rows("p256-sign", "lanes", 300.0, &[Some(60.0), Some(150.0)], Some(100.0));
        let ratios: Vec<_> = rows.iter().map(|row| (row.ratio, row.ratio_to_best)).collect();
        assert_eq!(ratios, [(Some(5.0), Some(2.0)), (Some(2.0), Some(2.0))]);
        assert!(rows.iter().all(|row| row.best_peer.as_deref() == Some("OpenSSL 4.0.3")), "{rows:?}");
        assert_eq!(table(&rows, false).lines().count(), 3, "one line for both");
    }

    #[test]
    fn the_sentence_names_range_peers_most_and_least() {
        let rows = [
            rows("a", "scalar", 100.0, &[Some(100.0)], Some(90.0)),
            rows("a", "lanes", 300.0, &[Some(100.0)], Some(90.0)),
            rows("b", "scalar", 90.0, &[Some(90.0)], Some(100.0)),
        ];
        let text = sentence(&rows.concat());
        assert!(
            text.contains("0.90x to 3.00x the rate of the better of OpenSSL 3.0.19 and AWS-LC"),
            "{text}"
        );
        assert!(text.ends_with("it gains most in a and least in b."), "{text}");
        let without = sentence(&self::rows("a", "scalar", 2.0, &[], Some(1.0)));
        assert_eq!(without, "Per core, this machine does a at 2.00x the rate of AWS-LC.");
        assert!(sentence(&self::rows("a", "scalar", 1.0, &[None], None)).starts_with("There is no peer"));
    }

    #[test]
    fn a_row_without_a_ratio_is_drawn_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("speed.svg");
        let absent = rows("b", "scalar", 1.0, &[None], None);
        let good = rows("c", "scalar", 3.0, &[Some(1.0)], Some(0.5));
        plot(&[absent, good].concat(), &path).unwrap();
        let svg = std::fs::read_to_string(&path).unwrap();
        assert!(svg.contains("scalar: not compared: no peer here does it"), "{svg}");
        assert!(svg.contains("the better of OpenSSL 3.0.19 and AWS-LC"), "{svg}");
        assert!(svg.contains(">3.00x<") && !svg.contains("n/a"), "{svg}");
    }

    #[test]
    fn the_table_fits_a_page_with_two_libraries() {
        let both = [Some(77_000.0), Some(75_000.0)];
        let rows = [
            rows("ed25519-verify-hot", "lanes", 76_123.4, &both, Some(76_200.0)),
            rows("aes128-cbc-sha256-1024", "lanes", 1e8, &[None, None], None),
        ];
        let text = table(&rows.concat(), false);
        assert!(text.lines().all(|line| line.chars().count() <= MAX_COLUMNS), "{text}");
        assert!(text.contains("OpenSSL 3.0.19  OpenSSL 4.0.3  AWS-LC  to best"), "{text}");
        assert!(
            text.contains("ed25519-verify-hot") && text.contains("76.1k") && text.contains("0.99x"),
            "{text}"
        );
    }
}

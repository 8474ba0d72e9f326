//! `oarlock records`, the program itself: a million rows there and back, compared byte by byte.
//!
//! `cargo bench -p oarlock-cli --bench records [-- ROWS]`. Rates are those of `--json`: from the first byte read to
//! the last byte synced and named, without the program's start. The best of three turns.
#![allow(missing_docs, clippy::unwrap_used, reason = "a program that may stop at the first surprise")]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const ROWS: u64 = 1_000_000;
const TURNS: usize = 3;
const KEYS: u64 = 1_024;

struct Case {
    name: &'static str,
    file: &'static str,
    /// Said of both directions, and of the first and the second alone.
    how: [&'static str; 3],
    /// False where columns are added on the way.
    comes_back_whole: bool,
}

const CASES: [Case; 6] = [
    Case {
        name: "csv, tdes2-cbc, IV from a column",
        file: "in.csv",
        how: ["--cipher tdes2-cbc --key-file key --iv column", "", ""],
        comes_back_whole: true,
    },
    Case {
        name: "csv, tdes2-cbc, IV zero",
        file: "in.csv",
        how: ["--cipher tdes2-cbc --key-file key --iv zero", "", ""],
        comes_back_whole: true,
    },
    Case {
        name: "csv, tdes2-cbc, new IVs, padded",
        file: "in.csv",
        how: ["--cipher tdes2-cbc --key-file key --padding pkcs7", "--iv new", "--iv column"],
        comes_back_whole: false,
    },
    Case {
        name: "csv, tdes2-cbc, 1,024 keys by column",
        file: "in.csv",
        how: ["--cipher tdes2-cbc --keys keys --key-column key --iv column", "", ""],
        comes_back_whole: true,
    },
    Case {
        name: "csv, aes128-gcm, new IVs",
        file: "in.csv",
        how: ["--cipher aes128-gcm --key-file key", "", ""],
        comes_back_whole: false,
    },
    Case {
        name: "ndjson, tdes2-cbc, IV from a column",
        file: "in.ndjson",
        how: ["--cipher tdes2-cbc --key-file key --iv column", "", ""],
        comes_back_whole: true,
    },
];

fn main() {
    // `cargo test --all-targets` runs this too, without `--bench`: then it only shows that it works.
    let is_bench = std::env::args().any(|word| word == "--bench");
    let wanted = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let (rows, turns) = if is_bench { (wanted.unwrap_or(ROWS), TURNS) } else { (1_000, 1) };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("records-bench");
    fs::create_dir_all(&folder).unwrap();
    write_inputs(&folder, rows);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{rows} rows, one 16-byte column; rows/s there and back");
    for case in &CASES {
        for threads in if is_bench { vec![1, cores] } else { vec![cores] } {
            let [there, back] = best(&folder, case, threads, rows, turns);
            println!("{:38} {threads:3} threads {:8.2} M/s {:8.2} M/s", case.name, there / 1e6, back / 1e6);
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

fn best(folder: &Path, case: &Case, threads: usize, rows: u64, turns: usize) -> [f64; 2] {
    let [both, first, second] = case.how;
    let format = if case.file.ends_with("ndjson") { "ndjson" } else { "csv" };
    let mut best = [0.0_f64; 2];
    for _ in 0..turns {
        let there = format!("encrypt {} -o sealed --format {format} --column pan {both} {first}", case.file);
        let back = format!("decrypt sealed -o back --format {format} --column pan {both} {second}");
        best[0] = best[0].max(run(folder, &there, threads, rows));
        best[1] = best[1].max(run(folder, &back, threads, rows));
        compare(folder, case);
    }
    best
}

fn run(folder: &Path, words: &str, threads: usize, rows: u64) -> f64 {
    let output = Command::new(env!("CARGO_BIN_EXE_oarlock"))
        .args(["--json", "--threads", &threads.to_string(), "records"])
        .args(words.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["done"].as_u64(), Some(rows));
    summary["rows_per_s"].as_f64().unwrap()
}

fn compare(folder: &Path, case: &Case) {
    let [before, after] = [case.file, "back"].map(|name| fs::read(folder.join(name)).unwrap());
    if case.comes_back_whole {
        assert!(before == after, "{}: not the same file", case.name);
        return;
    }
    let value = |line: &[u8]| line.split(|byte| *byte == b',').nth(1).map(<[u8]>::to_vec);
    let pairs = before.split(|byte| *byte == b'\n').zip(after.split(|byte| *byte == b'\n'));
    assert!(
        pairs.into_iter().all(|(left, right)| value(left) == value(right)),
        "{}: other values",
        case.name
    );
}

fn write_inputs(folder: &Path, rows: u64) {
    let (mut csv, mut json) = ("id,pan,iv,key\n".to_owned(), String::new());
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    for id in 0..rows {
        let (high, low, iv, key) = (next(), next(), next(), next() % KEYS);
        writeln!(csv, "{id},{high:016x}{low:016x},{iv:016x},k{key}").unwrap();
        writeln!(json, "{{\"id\":{id},\"pan\":\"{high:016x}{low:016x}\",\"iv\":\"{iv:016x}\"}}").unwrap();
    }
    let mut keys = String::new();
    for key in 0..KEYS {
        let (high, low) = (next(), next());
        writeln!(keys, "{{\"name\":\"k{key}\",\"type\":\"tdes2\",\"hex\":\"{high:016x}{low:016x}\"}}")
            .unwrap();
    }
    for (name, text) in [
        ("in.csv", &csv),
        ("in.ndjson", &json),
        ("keys", &keys),
        ("key", &"0123456789abcdeffedcba9876543210".into()),
    ] {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        // Keys that others may read are refused.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

//! The benchmark as its users start it, at small scale.

use std::process::{Command, Output};

use serde_json::Value;

use crate::program::LAB;

fn tls_head(arguments: &[&str]) -> Output {
    Command::new(LAB)
        .args(["--json", "tls-head"])
        // A line on the progress would be the only thing on stderr.
        .env("OARLOCK_PROGRESS_SECONDS", "0")
        .args(arguments)
        .output()
        .expect("the benchmark starts")
}

#[test]
fn every_way_to_sign_answers_every_connection() {
    let output = tls_head(&["--connections", "1,5", "--seconds", "0.5"]);
    let rows: Vec<Value> =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let ways = ["head-s2n", "head-scalar", "head-oarlock", "head-unix", "head-tls", "head-plaintext"];
    let names: Vec<_> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, [ways, ways].concat());
    for row in &rows {
        for field in ["answers", "rate_per_s", "rate_per_cpu_s", "server_cpu_us", "ratio", "p50_us", "p99_us"]
        {
            assert!(row[field].as_f64().is_some_and(|value| value > 0.0), "{field}: {row}");
        }
        let is_remote =
            ["head-unix", "head-tls", "head-plaintext"].contains(&row["name"].as_str().unwrap_or(""));
        assert_eq!(row["cryptoserver_cpu_us"].as_f64().is_some_and(|us| us > 0.0), is_remote, "{row}");
    }
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn wrong_usage_is_said() {
    for arguments in [["--seconds", "0"], ["--seconds", "NaN"], ["--by", "nobody"], ["--connections", "0"]] {
        let output = tls_head(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(arguments[0]), "{said}");
        assert!(output.stdout.is_empty());
    }
}

//! The rows of `oarlock dnssec bench`, for a zone so small that the rates have no meaning.

use crate::program::{code, lab, stderr};
use serde_json::Value;

const ROWS: [&str; 3] = ["verify-p256", "sign-p256", "parse"];

#[test]
fn rows_have_rates_and_the_fastest_peer() {
    let rows = ROWS.join(",");
    let arguments = ["--json", "dnssec", "bench", "--delegations", "50", "--turns", "1", "--rows", &rows];
    let done = lab(&arguments);
    assert_eq!(code(&done), 0, "{}", stderr(&done));
    let report: Vec<Value> = serde_json::from_slice(&done.stdout).unwrap();
    for name in ROWS {
        let rows: Vec<&Value> = report.iter().filter(|row| row["name"] == name).collect();
        assert!(!rows.is_empty(), "{name}: {report:?}");
        for row in &rows {
            assert_row(row);
        }
        match rows[0]["peer"].as_str() {
            Some(peer) => assert!(rows.iter().any(|row| row["engine"] == peer), "{rows:?}"),
            None => println!("SKIPPED: no peer of {name} is here"),
        }
    }
    assert!(report.iter().all(|row| ROWS.iter().any(|name| row["name"] == *name)), "{report:?}");
}

/// Asserts that a row has a peer, its rate and the ratio, or none of them.
fn assert_row(row: &Value) {
    assert!(row["engine"].as_str().is_some_and(|engine| !engine.is_empty()), "{row}");
    assert!(row["threads"].as_u64().is_some_and(|threads| threads > 0), "{row}");
    let is_positive = |field: &str| row[field].as_f64().is_some_and(|rate| rate > 0.0);
    assert!(is_positive("rate_per_s") && is_positive("rate_per_cpu_s"), "{row}");
    let has_peer = row["peer"].is_string();
    for field in ["peer_rate_per_cpu_s", "ratio"] {
        assert!(row.get(field).is_some() && is_positive(field) == has_peer, "{field}: {row}");
    }
}

#[test]
fn rejects_unknown_rows() {
    let refused = lab(&["dnssec", "bench", "--rows", "verify-dsa"]);
    let text = stderr(&refused);
    assert!(code(&refused) == 2 && text.contains("verify-p256") && text.contains("parse"), "{text}");
}

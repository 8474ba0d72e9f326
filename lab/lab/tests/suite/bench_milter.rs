//! `oarlock bench milter` with our own filter.

use crate::program::{code, lab, stderr};
use serde_json::Value;

#[test]
fn every_row_is_measured_at_each_number_of_sessions() {
    let output = lab(&[
        "--json",
        "bench",
        "milter",
        "--sessions",
        "1,5",
        "--seconds",
        "0.2",
        "--turns",
        "1",
        "--messages",
        "8",
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<_> =
        rows.iter().map(|row| (row["name"].as_str().unwrap(), row["sessions"].as_u64().unwrap())).collect();
    let expected = ["verify-rsa2048", "verify-ed25519", "sign-rsa2048", "sign-ed25519", "accept"]
        .map(|name| [(name, 1), (name, 5)]);
    assert_eq!(names, expected.as_flattened());
    for row in &rows {
        assert!(row["messages"].as_u64().unwrap() > 0, "{row}");
        assert!(row["p50_us"].as_f64().unwrap() > 0.0, "{row}");
        let is_ours = row["name"] != "accept";
        assert_eq!(row["cpu_us_per_message"].is_number(), is_ours, "{row}");
        assert_eq!(row["added_p50_us"].is_number(), is_ours, "{row}");
    }
}

#[test]
fn rejects_rows_that_cannot_be_measured() {
    let directory = tempfile::tempdir().unwrap();
    let nobody = format!("unix:{}", directory.path().join("nobody").display());
    let output = lab(&["bench", "milter", "--connect", &nobody, "--rows", "accept", "--seconds", "0.1"]);
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    for wrong in
        [&["--seconds", "0"][..], &["--sessions", "0"], &["--connect", &nobody], &["--rows", "nothing"]]
    {
        let output = lab(&[&["bench", "milter"], wrong].concat());
        assert_eq!(code(&output), 2, "{wrong:?}: {}", stderr(&output));
    }
}

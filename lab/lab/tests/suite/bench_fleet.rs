//! `oarlock bench fleet` with short phases.

use crate::program::{code, lab, stderr};
use serde_json::Value;

/// Nothing fails while servers are restarted, killed, added and removed. Latencies and shares say more about this
/// machine than about the fleet, so they are not judged here.
#[test]
fn no_operation_fails_in_a_fleet_that_changes() {
    let output = lab(&["--json", "bench", "fleet", "--seconds", "3", "--clients", "4", "--rate", "50"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let phases: Vec<&str> = rows.iter().map(|row| row["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["calm", "restarts", "kill", "added", "removed"]);
    for row in &rows {
        assert!(row["failed"] == 0 && row["operations"].as_u64().unwrap() > 0, "{row}");
    }
    let shares: Vec<bool> = rows.iter().map(|row| row["share"].is_null()).collect();
    assert_eq!(shares, [true, true, true, false, false]);
}

#[test]
fn wrong_usage_is_said() {
    for (words, reason) in [
        (["--servers", "1"], "2..=16"),
        (["--seconds", "0"], "expected 1 to 3600"),
        (["--rate", "0"], "1..="),
    ] {
        let output = lab(&[&["bench", "fleet"], &words[..]].concat());
        assert!(code(&output) == 2 && stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

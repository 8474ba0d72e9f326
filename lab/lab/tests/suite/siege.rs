//! A short siege: nobody honest is refused, and memory stays within what the limits say.

use std::process::{Command, Output};

use serde_json::Value;

use crate::program::LAB;

fn siege(arguments: &[&str]) -> Output {
    Command::new(LAB).args(["--json", "siege"]).args(arguments).output().expect("the benchmark starts")
}

#[test]
fn no_attack_locks_an_honest_client_out() {
    // How long the client waits says more about this machine than about the server.
    let output = siege(&["--seconds", "1", "--max-p99-ms", "3600", "--max-recovery-seconds", "3600"]);
    let rows: Vec<Value> =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(rows.len(), 18);
    for row in &rows {
        assert!(row["faults"].as_array().is_some_and(Vec::is_empty), "{row}");
        assert!(row["answers"].as_u64().is_some_and(|answers| answers > 0), "{row}");
    }
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn wrong_usage_is_said() {
    for arguments in [["--seconds", "0"], ["--max-p99-ms", "NaN"], ["--attacks", "nobody"]] {
        let output = siege(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert!(!output.stderr.is_empty());
    }
}

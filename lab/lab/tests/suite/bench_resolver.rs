//! Unbound and BIND, measured with and without the provider.

use std::fs;

use serde_json::Value;

use crate::peers::{has, module};
use crate::program::{code, command, stderr};

/// Measures a resolver at a small scale with both engines that a machine may have, and checks its rows.
fn check(resolver: &str, program: &str) {
    if !has("knotd") || !has(program) {
        return;
    }
    let Some(module) = module() else { return };
    let keep = tempfile::tempdir().unwrap();
    let mut command =
        command(&["--json", "--engines", "scalar", "bench", "resolver", "--resolvers", resolver]);
    command.args(["--keys", "p256,ed25519", "--names", "100", "--turns", "2", "--provider"]).arg(&module);
    // This variable would override the settings of the rows.
    let output = command.arg("--keep").arg(keep.path()).env("OARLOCK_ENGINES", "none").output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["bench"], "resolver");
    let rows = document["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["p256", "ed25519"].map(|key| format!("{resolver}-{key}")));
    for row in rows {
        assert_eq!((&row["engine"], &row["threads"]), (&Value::from("scalar"), &Value::from(1)));
        // Each query needs the verification of one signature that the resolver has not seen.
        assert_eq!((&row["answers"], &row["signatures_per_answer"]), (&Value::from(200), &Value::from(1)));
        for field in ["rate_per_s", "rate_per_cpu_s", "peer_rate_per_cpu_s", "ratio", "verify_us", "cpu_us"] {
            assert!(row[field].as_f64().unwrap() > 0.0, "{field}: {row}");
        }
    }
    let settings = |provider: &str| {
        let directory = keep.path().join("resolver").join(format!("{resolver}-p256-{provider}"));
        fs::read_to_string(directory.join("openssl.cnf")).unwrap()
    };
    assert_eq!(settings("default"), "");
    assert!(settings("scalar").contains("engines = scalar"), "{}", settings("scalar"));
}

#[test]
fn unbound_has_a_row_for_each_key() {
    check("unbound", "unbound");
}

#[test]
fn bind_has_a_row_for_each_key() {
    check("bind", "named");
}

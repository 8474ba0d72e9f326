//! Unbound and BIND, measured with and without the provider.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod program;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use program::{code, command, stderr};

/// Returns the path of the provider that this build made. Prints SKIPPED and returns None if it was not built.
fn module() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_BIN_EXE_oarlock")).parent().unwrap();
    let found = [beside.to_owned(), beside.join("deps")]
        .into_iter()
        .map(|directory| directory.join("liboarlock_openssl.so"))
        .find(|path| path.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: liboarlock_openssl.so is not built");
    }
    found
}

/// True if a program is installed; prints SKIPPED if not.
fn has(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let is_here = directories.any(|directory| directory.join(name).is_file());
    if !is_here {
        eprintln!("SKIPPED: {name} is not installed");
    }
    is_here
}

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

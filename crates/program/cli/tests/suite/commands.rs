//! The program as its users run it: output, exit codes, and errors of usage.

use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::program::{code, command, oarlock, stderr, text};

/// Returns the rows on stdout, which must be JSON.
fn rows(output: &Output) -> Vec<Value> {
    assert_eq!(code(output), 0, "{}", stderr(output));
    serde_json::from_slice::<Vec<Value>>(&output.stdout).unwrap()
}

fn temporary(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn engines_prints_every_self_test() {
    let rows = rows(&oarlock(&["--json", "engines"]));
    assert!(rows.len() > 60);
    let is_good = |row: &Value| match row["absence"].is_null() {
        true => row["passed"] == true && row["failure"].is_null(),
        false => row["shape"].is_null(),
    };
    assert!(rows.iter().all(is_good), "{rows:?}");
    let shape =
        |name: &str| rows.iter().find(|row| row["engine"] == "scalar" && row["shape"] == name).unwrap();
    assert_eq!(shape("rsa2048-private")["confirms"], true);
    assert!(shape("p256-verify")["c2_ns"].as_f64().unwrap() > 0.0);
}

/// The name of the cost file is long in many a home directory. It stands in a line of its own.
#[test]
fn lines_of_engines_do_not_depend_on_the_length_of_a_path() {
    let directory = tempfile::tempdir().unwrap();
    let cache = directory.path().join(format!("Jürgen {}", "long/".repeat(30)));
    let engines = || text(&command(&["engines"]).env("XDG_CACHE_HOME", &cache).output().unwrap());
    let path = format!("  {}", cache.join("oarlock/costs").display());
    for origin in ["Measured now, kept in", "Read from"] {
        let text = engines();
        let (lines, last) = text.trim_end().rsplit_once('\n').unwrap();
        assert_eq!(last, path);
        assert!(lines.ends_with(origin) && lines.contains("all passed"), "{text}");
        assert!(lines.lines().all(|line| line.chars().count() <= 130), "{text}");
    }
}

#[test]
fn speed_prints_the_documented_fields_and_a_plot() {
    let plot = temporary("speed.svg");
    let path = plot.to_str().unwrap();
    let ops = "ed25519-verify,aes128-gcm-40,sha256-64";
    let output = oarlock(&[
        "--json",
        "--engines",
        "scalar",
        "speed",
        "--ops",
        ops,
        "--seconds",
        "0.02",
        "--records",
        "256",
        "--no-check",
        "--plot",
        path,
    ]);
    let rows = rows(&output);
    let names: Vec<&str> = rows.iter().map(|row| row["op"].as_str().unwrap()).collect();
    assert_eq!(names, ["ed25519-verify", "aes128-gcm-40", "sha256-64"]);
    let fields = [
        "op",
        "engine",
        "leaf",
        "threads",
        "batch",
        "keys",
        "bytes",
        "ops_per_s",
        "batch_us",
        "openssl_ops_per_s",
        "ratio",
        "libcrypto",
        "table_bytes",
        "openssl_speed_ops_per_s",
        "aws_lc_ops_per_s",
        "best_peer",
        "ratio_to_best",
    ];
    for row in &rows {
        let row = row.as_object().unwrap();
        assert!(fields.iter().all(|field| row.contains_key(*field)) && row.len() == fields.len(), "{row:?}");
        assert!(row["ops_per_s"].as_f64().unwrap() > 0.0);
        assert_eq!(row["ratio"].is_null(), row["openssl_ops_per_s"].is_null());
        // AWS-LC is always there, and has these operations.
        let rate = |field: &str| row[field].as_f64().unwrap_or(0.0);
        let best = rate("openssl_ops_per_s").max(rate("aws_lc_ops_per_s"));
        assert!(rate("aws_lc_ops_per_s") > 0.0, "{row:?}");
        let is_aws_lc = row["best_peer"].as_str().unwrap().starts_with("AWS-LC ");
        assert_eq!(is_aws_lc, rate("aws_lc_ops_per_s") == best, "{row:?}");
        assert!((rate("ratio_to_best") * best / rate("ops_per_s") - 1.0).abs() < 0.01, "{row:?}");
        assert!(row["openssl_speed_ops_per_s"].is_null(), "--no-check");
    }
    assert_eq!(
        (&rows[1]["batch"], &rows[1]["keys"], &rows[1]["bytes"]),
        (&256.into(), &1024.into(), &40.into())
    );
    let drawing = std::fs::read_to_string(plot).unwrap();
    assert!(drawing.starts_with("<svg") || drawing.starts_with("<?xml"), "{drawing:.80}");
}

#[test]
fn speed_ends_with_a_sentence() {
    let output =
        oarlock(&["speed", "--ops", "sha1-64", "--seconds", "0.02", "--records", "64", "--no-check"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().unwrap();
    assert!(
        last.ends_with('.') && (last.starts_with("Per core") || last.starts_with("There is no")),
        "{text}"
    );
    assert!(text.lines().filter(|line| line.contains("sha1-64 ")).all(|line| line.chars().count() <= 120));
    assert!(text.contains("AWS-LC  to best\n"), "{text}");
}

/// Operations that a peer lacks get a note, and their rows stay.
#[test]
fn speed_says_which_peer_lacks_an_operation() {
    let ops = ["speed", "--ops", "aes128-ff1-16,shake128-64", "--seconds", "0.02", "--records", "64"];
    let output = oarlock(&[&["--json", "--engines", "scalar"], &ops[..]].concat());
    let (told, rows) = (stderr(&output), rows(&output));
    assert!(told.contains("aes128-ff1-16: no AWS-LC figure: AWS-LC 5"), "{told}");
    assert!(!told.contains("shake128-64: no AWS-LC figure"), "{told}");
    let of = |op: &str| rows.iter().find(|row| row["op"] == op).unwrap();
    for field in ["aws_lc_ops_per_s", "best_peer", "ratio_to_best"] {
        assert!(
            of("aes128-ff1-16")[field].is_null() && !of("shake128-64")[field].is_null(),
            "{field}: {rows:?}"
        );
    }
}

#[test]
fn speed_fits_costs_with_their_error() {
    let ops = "des-cbc-40,ed25519-sign";
    let rows = rows(&oarlock(&["--json", "--engines", "scalar", "speed", "--fit", "--ops", ops]));
    let shapes: Vec<&str> = rows.iter().map(|row| row["shape"].as_str().unwrap()).collect();
    assert_eq!(shapes.len(), 2);
    for (shape, has_bytes) in [("des-cbc-encrypt", true), ("ed25519-sign", false)] {
        let row = rows.iter().find(|row| row["shape"] == shape).unwrap();
        assert_eq!((row["engine"].as_str(), row["lanes"].as_u64()), (Some("scalar"), Some(1)));
        assert_eq!(row["c3_ns"].is_number(), has_bytes, "{row}");
        // Beside other work the fit may find the cost in one term alone.
        let cost: f64 = ["c1_ns", "c2_ns", "c3_ns"].iter().filter_map(|term| row[*term].as_f64()).sum();
        assert!(cost > 0.0 && row["timings"].as_u64().unwrap() > 2, "{row}");
        assert!(row["worst"].as_f64() >= row["rms"].as_f64(), "{row}");
    }
}

#[test]
fn warns_once_about_an_absent_engine_and_uses_scalar() {
    let without_lanes =
        |arguments: &[&str]| command(arguments).env("OARLOCK_DISABLE", "lanes").output().unwrap();
    let told = "oarlock: lanes: turned off by OARLOCK_DISABLE; the scalar engine does its work\n";
    let speed = ["speed", "--ops", "ed25519-verify-hot,p256-sign", "--seconds", "0.02", "--no-check"];
    for engines in [&["--json"][..], &["--json", "--engines", "lanes"]] {
        let output = without_lanes(&[engines, &speed].concat());
        assert_eq!(stderr(&output).matches(told).count(), 1, "{}", stderr(&output));
        let rows = rows(&output);
        assert!(rows.len() == 2 && rows.iter().all(|row| row["engine"] == "scalar"));
        // Without the lanes, the scalar engine has tables for keys that verify often.
        assert!(rows.iter().all(|row| (row["table_bytes"] == 0) == (row["op"] == "p256-sign")), "{rows:?}");
    }
    let output = without_lanes(&["engines"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("lanes: absent, turned off by OARLOCK_DISABLE\n") && output.stderr.is_empty(),
        "{text}"
    );
    let output = without_lanes(&["--engines", "scalar", "engines"]);
    assert!(!String::from_utf8(output.stdout).unwrap().contains("lanes:"), "nobody asked for it");
}

/// P-384 has no lanes without AVX-512. Other engines make the work, so the row is missing with a note and the others
/// are measured.
#[test]
fn speed_leaves_out_what_an_engine_does_not_offer() {
    let arguments =
        ["--json", "--engines", "lanes", "speed", "--ops", "p384-sign,aes128-cbc-48", "--no-check"];
    let sizes = ["--seconds", "0.02", "--records", "64"];
    let output =
        command(&[&arguments[..], &sizes].concat()).env("OARLOCK_DISABLE", "avx512").output().unwrap();
    let has_lanes = !stderr(&output).contains("oarlock: lanes: ");
    if !has_lanes {
        eprintln!("SKIPPED: this processor has no leaf but AVX-512");
        return;
    }
    assert!(stderr(&output).contains("p384-sign: lanes does not offer it"), "{}", stderr(&output));
    let rows = rows(&output);
    assert!(!rows.is_empty(), "the other operation is measured");
    assert!(rows.iter().all(|row| row["op"] == "aes128-cbc-48" && row["engine"] == "lanes"), "{rows:?}");
}

#[test]
fn hot_rows_are_measured_for_each_number_of_keys() {
    let arguments =
        ["--json", "speed", "--ops", "p256-verify-hot", "--keys", "1,8", "--seconds", "0.02", "--no-check"];
    let rows = rows(&oarlock(&arguments));
    let keys = |engine: &str| -> Vec<u64> {
        let of_engine = rows.iter().filter(|row| row["engine"] == engine);
        of_engine.map(|row| row["keys"].as_u64().unwrap()).collect()
    };
    assert_eq!(keys("scalar"), [1, 8]);
    // The tables of all keys are built before anything is timed.
    for engine in ["scalar", "lanes"] {
        let bytes: Vec<u64> = rows
            .iter()
            .filter(|row| row["engine"] == engine)
            .map(|row| row["table_bytes"].as_u64().unwrap() / row["keys"].as_u64().unwrap())
            .collect();
        assert!(bytes.windows(2).all(|pair| pair[0] > 0 && pair[0] == pair[1]), "{engine}: {bytes:?}");
    }
}

#[test]
fn errors_of_usage_exit_with_2_and_name_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent/x.svg").to_str().unwrap().to_owned();
    let unwritten = format!("cannot write {absent}");
    let cases: [(&[&str], &str); 10] = [
        (&["speed", "--ops", "rsa2047-sign"], "expected one of rsa1024-sign"),
        (&["speed", "--ops", "des-cbc-41"], "a multiple of 8"),
        (&["speed", "--seconds", "0"], "a number above 0"),
        (&["speed", "--keys", "0"], "0 is not in 1..=65536"),
        (
            &["speed", "--libcrypto", "/dev/null", "--ops", "p256-sign"],
            "--libcrypto: no libcrypto found: /dev/null",
        ),
        (&["speed", "--ops", "p256-sign", "--plot", &absent], &unwritten),
        (&["speed", "--fit", "--plot", "x.svg"], "cannot be used with"),
        (
            &["--engines", "scalar,abacus", "engines"],
            "unknown engine \"abacus\": expected some of lanes, scalar",
        ),
        (&["--threads", "0", "engines"], "0 is not in 1..=4096"),
        (&["row"], "unrecognized subcommand 'row'"),
    ];
    for (arguments, expected) in cases {
        let output = oarlock(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

/// Accounts of services often have a home directory that does not exist.
#[test]
fn creates_no_directory_in_a_missing_home() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("absent");
    for (arguments, expected) in [
        (&["--engines", "scalar", "engines"][..], 0),
        (&["--engines", "scalar", "speed", "--ops", "p256-verify", "--seconds", "0.01"], 0),
        (&["keys", "list"], 2),
        (&["keys", "generate", "ed25519"], 2),
        (&["serve", "--check"], 2),
    ] {
        for is_set in [true, false] {
            let mut command = command(arguments);
            command.env_remove("XDG_CACHE_HOME").env_remove("XDG_STATE_HOME").env_remove("HOME");
            if is_set {
                command.env("HOME", &home);
            }
            let output = command.current_dir(folder.path()).output().unwrap();
            assert_eq!(code(&output), expected, "{arguments:?}: {}", stderr(&output));
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{arguments:?}");
        }
    }
}

#[test]
fn help_and_version_exit_with_0() {
    for arguments in [&["--help"][..], &["speed", "--help"], &["--version"]] {
        let output = oarlock(arguments);
        assert_eq!(code(&output), 0, "{arguments:?}");
        assert!(!output.stdout.is_empty());
    }
    assert_eq!(code(&oarlock(&[])), 2);
}

#[test]
fn a_reader_that_closes_stdout_early_is_not_a_failure() {
    let mut child = command(&["engines"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

#[test]
fn the_scalar_engine_cannot_be_disabled() {
    let output = command(&["--json", "engines"]).env("OARLOCK_DISABLE", "scalar, lanes").output().unwrap();
    assert!(rows(&output).iter().any(|row| row["engine"] == "scalar"));
}

//! `ladder` and `latency`, and what all commands have in common: output, exit codes, errors of usage.

use std::path::PathBuf;

use serde_json::Value;

use crate::program::{code, command, lab, oarlock_path, rows, stderr};

fn temporary(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn the_ladder_measures_and_compares_every_step() {
    let plot = temporary("ladder.svg");
    let common = ["--json", "ladder", "--batches", "1,40", "--keys", "6", "--seconds", "0.0005"];
    let rows = rows(&lab(&[&common[..], &["--lengths", "8-80", "--plot", plot.to_str().unwrap()]].concat()));
    let steps = ["1", "1c", "2", "2c", "3", "3r", "4", "4c", "5", "6", "7", "7d", "7k", "7o", "7s", "8"];
    for (batch, rows) in [1, 40].iter().zip(rows.chunks(steps.len())) {
        let found: Vec<&str> = rows.iter().map(|row| row["step"].as_str().unwrap()).collect();
        assert_eq!(found, steps);
        for row in rows {
            assert_eq!((row["batch"].as_u64(), &row["compared"]), (Some(*batch), &true.into()), "{row}");
            assert!(row["kb_per_s"].as_f64().unwrap() > 0.0 && row["lengths"] == "8-80", "{row}");
        }
    }
    assert!(std::fs::read_to_string(plot).unwrap().contains("known answers checked"));
    let without_lanes = command(&[&common[..], &["--cipher", "tdes"]].concat())
        .env("OARLOCK_DISABLE", "lanes")
        .output()
        .unwrap();
    assert_eq!(code(&without_lanes), 0, "{}", stderr(&without_lanes));
    assert!(stderr(&without_lanes).contains("steps 6 to 8 run on the scalar engine"));
}

#[test]
fn latency_measures_every_rule() {
    let output = lab(&["--json", "latency", "--op", "ed25519-sign", "--loads", "5,50", "--seconds", "0.05"]);
    let rows = rows(&output);
    let rules: Vec<&str> = rows.iter().take(4).map(|row| row["rule"].as_str().unwrap()).collect();
    assert_eq!(rows.len(), 8);
    assert!(rules.contains(&"adaptive") && rules.contains(&"scalar-only"), "{rules:?}");
    let without_lanes = command(&["latency", "--op", "ed25519-sign", "--loads", "5", "--seconds", "0.05"])
        .env("OARLOCK_DISABLE", "lanes")
        .output()
        .unwrap();
    assert!(stderr(&without_lanes).contains("no lane engine here"));
}

#[test]
fn warns_once_about_an_absent_engine_and_uses_scalar() {
    let without_lanes =
        |arguments: &[&str]| command(arguments).env("OARLOCK_DISABLE", "lanes").output().unwrap();
    let told = "oarlock: lanes: turned off by OARLOCK_DISABLE; the scalar engine does its work\n";
    let latency = ["latency", "--op", "ed25519-sign", "--loads", "5", "--seconds", "0.05"];
    let output = without_lanes(&[&["--engines", "lanes"], &latency[..]].concat());
    assert_eq!((code(&output), stderr(&output).matches(told).count()), (0, 1), "{}", stderr(&output));
}

#[test]
fn errors_of_usage_exit_with_2_and_name_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent/x.svg").to_str().unwrap().to_owned();
    let unwritten = format!("cannot write {absent}");
    let cases: [(&[&str], &str); 7] = [
        (&["latency", "--op", "p521-sign"], "expected one of rsa1024-sign"),
        (&["ladder", "--cipher", "rot13"], "expected des or tdes, found \"rot13\""),
        (&["ladder", "--lengths", "9"], "expected 8-80 or 40"),
        (&["ladder", "--plot", &absent], &unwritten),
        (&["latency", "--op", "p256-sign", "--loads", "5,-1"], "--loads"),
        (&["latency", "--op", "p256-sign", "--plot", &absent], &unwritten),
        (&["row"], "unrecognized subcommand 'row'"),
    ];
    for (arguments, expected) in cases {
        let output = lab(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn help_and_version_exit_with_0() {
    for arguments in [&["--help"][..], &["latency", "--help"], &["ladder", "--help"], &["--version"]] {
        let output = lab(arguments);
        assert_eq!(code(&output), 0, "{arguments:?}");
        assert!(!output.stdout.is_empty());
    }
    assert_eq!(code(&lab(&[])), 2);
}

#[test]
fn every_json_output_is_one_document() {
    let folder = tempfile::tempdir().unwrap();
    for line in [
        "dnssec zonegen --delegations 3 --out zone",
        "latency --op ed25519-sign --loads 5 --seconds 0.02",
        "ladder --batches 1 --keys 2 --seconds 0.0005",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output =
            command(&[&["--json"], &words[..]].concat()).current_dir(folder.path()).output().unwrap();
        assert_eq!(code(&output), 0, "{line}: {}", stderr(&output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap();
        assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), 1, "{line}");
    }
}

/// Commands that start `oarlock` say where it must be.
#[test]
fn a_laboratory_without_oarlock_says_how_to_build_it() {
    // A link, in the directory of the build: a copy could not start while another test's child still holds it open.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let alone = folder.path().join("oarlock-lab");
    std::fs::hard_link(oarlock_path().with_file_name("oarlock-lab"), &alone).unwrap();
    for words in [
        &["bench", "fleet", "--seconds", "1"][..],
        &["bench", "proxy"],
        &["dnssec", "bench", "--delegations", "1"],
    ] {
        let output = std::process::Command::new(&alone).args(words).output().unwrap();
        assert_eq!(code(&output), 3, "{words:?}: {}", stderr(&output));
        let expected = "oarlock-lab: build it with \"make build\" in a checkout of Oarlock";
        assert!(stderr(&output).contains("oarlock is not beside"), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{words:?}: {}", stderr(&output));
    }
}

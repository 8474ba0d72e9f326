//! The laboratory's commands as `oarlock` runs them.

use crate::program::{code, lab, oarlock, rows, stderr, text};

#[test]
fn oarlock_runs_the_laboratory_with_the_same_arguments() {
    let words = ["--json", "ladder", "--batches", "1", "--keys", "2", "--seconds", "0.0005"];
    let (direct, handed) = (rows(&lab(&words)), rows(&oarlock(&words).output().unwrap()));
    let steps = |rows: &[serde_json::Value]| rows.iter().map(|row| row["step"].clone()).collect::<Vec<_>>();
    assert_eq!(steps(&direct), steps(&handed));
    let engines =
        ["--engines", "scalar", "latency", "--op", "ed25519-sign", "--loads", "5", "--seconds", "0.02"];
    let handed = oarlock(&engines).output().unwrap();
    assert!(!stderr(&handed).contains("has no effect"), "{}", stderr(&handed));
    assert_eq!(code(&handed), 0, "{}", stderr(&handed));
}

#[test]
fn help_is_that_of_the_laboratory() {
    for path in [
        &["bench"][..],
        &["bench", "tls"],
        &["ladder"],
        &["latency"],
        &["sockets", "bench"],
        &["dkim", "bench"],
        &["dnssec", "bench"],
        &["dnssec", "zonegen"],
    ] {
        let words = [path, &["--help"]].concat();
        assert_eq!(text(&oarlock(&words).output().unwrap()), text(&lab(&words)), "{path:?}");
    }
}

#[test]
fn both_programs_have_one_version() {
    let version = text(&lab(&["-V"]));
    let other = text(&oarlock(&["-V"]).output().unwrap());
    assert_eq!(version.strip_prefix("oarlock-lab "), other.strip_prefix("oarlock "), "{version}{other}");
}

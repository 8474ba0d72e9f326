//! `oarlock dkim bench`, and `dkim sign` and `verify` with `--compare`.

use std::fs;

use serde_json::Value;

use crate::program::{code, lab, stderr};

const MAIL: &str = "From: a@example.com\nTo: b@example.net\nSubject: hello\n\nHow  are you? \n\n";

#[test]
fn engines_are_compared_on_messages_as_the_paper_did() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (mail, bare, plot) = (path("mail"), path("bare"), path("gains.svg"));
    fs::write(&mail, MAIL).unwrap();
    fs::write(&bare, "Subject: nobody's\n\nbody\n").unwrap();
    let output = lab(&["--json", "dkim", "verify", "--compare", "--turns", "1", &mail, &bare]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["messages"], &report["left_out"]), (&1.into(), &1.into()));
    let rows = report["rows"].as_array().unwrap();
    let tables: Vec<_> = rows.iter().map(|row| row["table"].as_u64()).collect();
    let expected = [Some(2), Some(3), Some(4), Some(5), None].map(|table| [table; 2]);
    assert_eq!(tables, expected.as_flattened());
    let paper = rows[0]["paper_gain_percent"].as_f64().unwrap();
    assert!((paper - 63.82).abs() < 0.01, "{paper}");
    assert!(rows.iter().all(|row| row["software_us"].as_f64().unwrap() > 0.0), "{rows:?}");
    let compared = ["dkim", "verify", "--compare", "--turns", "1", "--plot", &plot, &mail];
    if rows[0]["engine"].is_null() {
        println!("SKIPPED: the picture of gains: there is one engine here");
    } else {
        assert_eq!(code(&lab(&compared)), 0);
        assert!(fs::read_to_string(&plot).unwrap().starts_with("<svg"));
        fs::remove_file(&plot).unwrap();
    }
    let alone = lab(&[&["--engines", "scalar"], &compared[..]].concat());
    assert_eq!((code(&alone), fs::exists(&plot).unwrap()), (2, false), "{}", stderr(&alone));
    assert!(stderr(&alone).contains("the scalar engine is the only one here"), "{}", stderr(&alone));
    let text = lab(&["--engines", "scalar", "dkim", "sign", "--compare", "--turns", "1", &mail]);
    let said = String::from_utf8(text.stdout.clone()).unwrap();
    assert!(said.contains("Table 2: RSA-1024 with SHA-1") && said.contains("Table 6"), "{said}");
    assert!(!said.lines().any(|line| line.trim_start().starts_with("- ")), "a column without a name: {said}");
    assert!(stderr(&text).contains("scalar is the only engine here"), "{}", stderr(&text));
    assert_eq!(code(&lab(&["dkim", "sign", "--compare", &bare])), 2);
    assert_eq!(code(&lab(&["dkim", "sign", "--plot", "x.svg", &mail])), 2);
}

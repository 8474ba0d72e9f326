//! `oarlock dnssec zonegen`, compared with the signer of BIND if it is installed.

use std::fs;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::peers::has;
use crate::program::{code, lab, oarlock, text};

fn zonegen(arguments: &[&str]) -> String {
    text(&lab(&[&["dnssec", "zonegen"], arguments].concat()))
}

#[test]
fn zonegen_repeats_a_zone_for_a_seed_and_has_the_requested_size() {
    let zone = zonegen(&["--delegations", "3000"]);
    assert_eq!(zone, zonegen(&["--delegations", "3000"]));
    assert_ne!(zone, zonegen(&["--delegations", "3000", "--seed", "2"]));
    let owners = |rtype: &str| {
        let word = format!(" {rtype} ");
        let lines = zone.lines().filter(|line| line.contains(&word) && !line.starts_with('@'));
        lines.map(|line| line.split(' ').next().unwrap()).collect::<std::collections::HashSet<_>>()
    };
    assert_eq!((owners("NS").len(), owners("DS").len()), (3000, 1800));
    assert!(owners("DS").is_subset(&owners("NS")));
    let ordered = zone.lines().filter(|line| line.contains(" NS ")).is_sorted();
    assert!(!ordered);
    for wrong in
        [&["--ds-share", "1.1"][..], &["--delegations", "0"], &["--origin", "a..b"], &["--seed", "x"]]
    {
        assert_eq!(code(&lab(&[&["dnssec", "zonegen"], wrong].concat())), 2, "{wrong:?}");
    }
    assert_eq!(code(&lab(&["--json", "dnssec", "zonegen"])), 2);
}

#[test]
fn bind_makes_as_many_signatures_as_zonegen_predicts() {
    let folder = TempDir::new().unwrap();
    let (zone, directory) = (folder.path().join("zone"), folder.path().to_str().unwrap());
    let path = zone.to_str().unwrap();
    let arguments = ["--json", "dnssec", "zonegen", "--delegations", "2000", "--out", path];
    let made: Value = serde_json::from_str(&text(&lab(&arguments))).unwrap();
    assert_eq!(
        (made["delegations_with_ds"].as_u64(), made["origin"].as_str()),
        (Some(1200), Some("example."))
    );
    assert_eq!(made["bytes"].as_u64(), Some(fs::metadata(&zone).unwrap().len()));
    let key = oarlock(&["--json", "dnssec", "keygen", "--out-dir", directory, "example."]).output().unwrap();
    let key: Value = serde_json::from_str(&text(&key)).unwrap();
    let mut text_of_zone = fs::read_to_string(&zone).unwrap();
    text_of_zone += key["dnskey"].as_str().unwrap();
    fs::write(&zone, text_of_zone + "\n").unwrap();
    if !has("dnssec-signzone") {
        return;
    }
    let public = key["public_file"].as_str().unwrap();
    let arguments = ["-z", "-P", "-O", "full", "-o", "example.", "-d", directory, path, public];
    text(&Command::new("dnssec-signzone").args(arguments).output().unwrap());
    let signed = fs::read_to_string(format!("{path}.signed")).unwrap();
    let signatures = signed.lines().filter(|line| line.split_whitespace().nth(3) == Some("RRSIG")).count();
    assert_eq!(signatures, 2000 + 1200 + 9);
}

//! Keys of `dnssec-keygen`: the reader finds the DNSKEY and the tag that the program states.

use std::fs;
use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use oarlock::keys::bind;
use oarlock_dnssec::{Dnskey, dnskey_rdata};

/// Makes a key and returns the name of its files without their ending, or None if the program is not installed.
fn keygen(folder: &Path, algorithm: u8, extra: &[&str]) -> Option<String> {
    let run = Command::new("dnssec-keygen")
        .arg("-q")
        .arg("-K")
        .arg(folder)
        .args(["-a", &algorithm.to_string()])
        .args(extra)
        .arg("example.")
        .output();
    let Ok(output) = run else {
        println!("SKIPPED: there is no dnssec-keygen");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[test]
fn keys_of_dnssec_keygen_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(u8, &[&str], u16); 7] = [
        (8, &["-b", "2048"], 256),
        (8, &["-b", "1025", "-f", "KSK"], 257),
        (10, &["-b", "2048"], 256),
        (13, &[], 256),
        (13, &["-f", "KSK"], 257),
        (14, &[], 256),
        (15, &[], 256),
    ];
    for (algorithm, extra, flags) in cases {
        let Some(name) = keygen(folder.path(), algorithm, extra) else { return };
        let text = |ending: &str| fs::read_to_string(folder.path().join(format!("{name}.{ending}"))).unwrap();
        let private = bind::import(text("private").as_bytes()).unwrap();
        assert_eq!(private.algorithm, algorithm);
        let public = text("key");
        let line = public.lines().find(|line| !line.starts_with(';')).unwrap();
        let base64: String = line.split_whitespace().skip(6).collect();
        let rdata = dnskey_rdata(flags, algorithm.into(), &private.key).unwrap();
        assert_eq!(rdata[4..], STANDARD.decode(base64).unwrap());
        let tag = format!("+{:05}", Dnskey::parse(&rdata).unwrap().key_tag());
        assert!(name.ends_with(&tag), "{name} {tag}");
    }
}

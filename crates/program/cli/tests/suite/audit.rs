//! `oarlock audit verify`, on logs that a running server wrote.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use oarlock_server::development::Development;
use serde_json::Value;

use crate::program::{code, command, oarlock, stderr, text};
use crate::served::Served;

/// Runs a server that signs three times, and stops it.
fn run_server(state: &Path) {
    let development = Development::at(state);
    development.prepare().unwrap();
    let settings = fs::read_to_string(development.config()).unwrap();
    if !settings.contains("[audit]") {
        fs::write(development.config(), format!("{settings}\n[audit]\nfile = \"audit.jsonl\"\n")).unwrap();
    }
    let served = Served::start(state);
    let message = state.join("message");
    fs::write(&message, "message").unwrap();
    for _ in 0..3 {
        let out = state.join("signature");
        let (message, out) = (message.to_str().unwrap(), out.to_str().unwrap());
        text(&served.call(&["sign", "--key", "ed25519", "--in", message, "--out", out]));
    }
    served.signal("-TERM");
    let (status, log) = served.end();
    assert!(status.success(), "{log}");
}

fn verify(files: &[&Path]) -> Output {
    command(&["audit", "verify"]).args(files).output().unwrap()
}

fn report(files: &[&Path]) -> Value {
    let output = command(&["--json", "audit", "verify"]).args(files).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn verifies_a_log_over_restart_and_rotation_and_finds_a_changed_line() {
    let folder = tempfile::tempdir().unwrap();
    let (log, former) = (folder.path().join("audit.jsonl"), folder.path().join("audit.jsonl.1"));
    run_server(folder.path());
    let whole = verify(&[&log]);
    assert!(text(&whole).contains("the chain is whole"), "{whole:?}");
    let last = report(&[&log])["last"].as_str().unwrap().to_owned();
    assert_eq!(fs::read_to_string(folder.path().join("audit.jsonl.chain")).unwrap().trim(), last);
    fs::rename(&log, &former).unwrap();
    run_server(folder.path());
    // The order of the shell's pattern, with the kept hash among the files.
    let chain = folder.path().join("audit.jsonl.chain");
    let document = report(&[&log, &former, &chain]);
    assert_eq!(
        (&document["is_whole"], &document["faults"]),
        (&true.into(), &serde_json::json!([])),
        "{document}"
    );
    assert_eq!(document["files"].as_array().unwrap().len(), 2);
    assert!(document["files"][0]["file"].as_str().unwrap().ends_with(".1"));
    assert_eq!(code(&command(&["audit", "verify", "--first", &last]).arg(&log).output().unwrap()), 0);
    assert_eq!(code(&command(&["audit", "verify", "--first", &last]).arg(&former).output().unwrap()), 1);

    let good = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    let changed = good.replacen("\"count\":1", "\"count\":2", 1);
    let number = changed.lines().zip(&lines).position(|(new, old)| new != *old).unwrap() + 1;
    fs::write(&log, &changed).unwrap();
    let broken = verify(&[&former, &log]);
    assert_eq!(code(&broken), 1);
    assert!(
        stderr(&broken)
            .contains(&format!("audit.jsonl:{}: this line does not follow line {number}", number + 1)),
        "{}",
        stderr(&broken)
    );
    let document = report(&[&former, &log]);
    assert_eq!(
        (&document["is_whole"], &document["faults"][0]["kind"]),
        (&false.into(), &"other-hash".into())
    );
    assert_eq!(document["faults"][0]["line"], number as u64 + 1);
    // Without its last line the file does not end with the hash that the server left.
    fs::write(&log, lines[..lines.len() - 1].iter().map(|line| format!("{line}\n")).collect::<String>())
        .unwrap();
    let broken = verify(&[&former, &log]);
    assert!(
        code(&broken) == 1 && stderr(&broken).contains("the last line does not have the expected hash"),
        "{broken:?}"
    );
}

#[test]
fn reads_compressed_files_and_hashes_that_other_programs_compute() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    run_server(folder.path());
    let good = fs::read_to_string(&log).unwrap();
    let mut lines = good.lines();
    let (first, second): (&str, Value) =
        (lines.next().unwrap(), serde_json::from_str(lines.next().unwrap()).unwrap());
    let line = folder.path().join("line");
    fs::write(&line, first).unwrap();
    match Command::new("sha256sum").arg(&line).output() {
        Ok(sum) => assert!(text(&sum).starts_with(second["previous"].as_str().unwrap())),
        Err(error) => eprintln!("SKIPPED: sha256sum: {error}"),
    }
    match Command::new("gzip").arg("--keep").arg(&log).status() {
        Ok(_) => {
            let packed = folder.path().join("audit.jsonl.gz");
            assert_eq!(report(&[&packed])["entries"], good.lines().count() as u64);
        }
        Err(error) => eprintln!("SKIPPED: gzip: {error}"),
    }
}

#[test]
fn says_what_it_expects() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent");
    let output = verify(&[&absent]);
    assert!(code(&output) == 2 && stderr(&output).contains("absent"), "{output:?}");
    let output = oarlock(&["audit", "verify", "--last", "xyz", "file"]);
    assert!(code(&output) == 2 && stderr(&output).contains("64 hexadecimal digits"), "{output:?}");
    assert_eq!(code(&oarlock(&["audit", "verify"])), 2);
    let empty = folder.path().join("empty");
    fs::write(&empty, "").unwrap();
    assert_eq!(code(&verify(&[&empty])), 0);
}

//! The mail filter as its operators run it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod program;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use program::{code, command, oarlock, stderr};
use serde_json::Value;

/// Settings, a table and a key.
fn prepare(directory: &Path) -> String {
    let key = directory.join("mail.pem");
    let made = oarlock(&["keys", "generate", "ed25519", "--out", key.to_str().unwrap()]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    fs::write(directory.join("signing.table"), "example.com s1 mail.pem\n").unwrap();
    let path = directory.join("milter.toml");
    let settings = "signing.table = \"signing.table\"\nauthserv_id = \"mx.example\"\nlisten.metrics = \"127.0.0.1:0\"\n\
                    listen.sockets = [\"inet:0@127.0.0.1\"]\n";
    fs::write(&path, settings).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_check_says_what_would_be_done_or_what_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let config = prepare(directory.path());
    let check = || oarlock(&["milter", "--config", &config, "--check"]);
    let good = check();
    let said = String::from_utf8(good.stdout.clone()).unwrap();
    assert_eq!(code(&good), 0, "{}", stderr(&good));
    assert!(said.contains("would filter mail as mx.example") && said.contains("1 lines"), "{said}");
    for (file, text, fault) in [
        ("signing.table", "example.com s1 missing.pem\n", "missing.pem"),
        ("signing.table", "example.com s1\n", "signing.table:1: expected PATTERN"),
        ("milter.toml", "[signing]\ntabel = \"x\"\n", "unknown field `tabel`"),
        ("milter.toml", "signing.table = \"nowhere\"\n", "nowhere"),
    ] {
        fs::write(directory.path().join(file), text).unwrap();
        let bad = check();
        assert_eq!(code(&bad), 2, "{}", stderr(&bad));
        assert!(stderr(&bad).contains(fault), "{}", stderr(&bad));
    }
}

#[test]
fn it_runs_reads_its_table_again_and_ends_when_it_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let config = prepare(directory.path());
    let mut child = command(&["--json", "milter", "--log", "json", "--config", &config])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&said["authserv_id"], &said["signing_lines"]), (&"mx.example".into(), &1.into()));
    let mut log = BufReader::new(child.stderr.take().unwrap());
    fs::write(directory.path().join("signing.table"), "example.com s1 mail.pem\nexample.net s1 mail.pem\n")
        .unwrap();
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    };
    // It may have seen the change before it is told.
    signal("-HUP");
    let mut heard = String::new();
    while !heard.contains("the signing table was read again") {
        assert_ne!(log.read_line(&mut heard).unwrap(), 0, "{heard}");
    }
    let mut stream = TcpStream::connect(said["metrics"].as_str().unwrap()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    assert!(page.contains("\noarlock_milter_signing_lines 2\n"), "{page}");
    signal("-TERM");
    assert!(child.wait().unwrap().success());
}

//! Sessions of OpenSSL's client and server through a recording relay: every protected record is opened, and sealed
//! again byte for byte.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use oarlock_sockets::{Content, Suite};

use crate::common::relay::{Relay, RunningServer, make_certificate};
use crate::common::tls_session::{TlsSession, check_session};

const CBC: [&str; 5] = ["AES128-SHA", "AES128-SHA256", "AES256-SHA", "AES256-SHA256", "DES-CBC3-SHA"];
const AEAD: [&str; 3] = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"];
const TLS13: [&str; 3] = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

/// The lines that the client sends. The server sends each line back, reversed.
fn lines() -> [String; 3] {
    ["hello".to_owned(), "0123456789".repeat(30), "abcdefghijklm".repeat(300)]
}

#[test]
fn cbc_suites_of_tls_1_2_with_mac_first() {
    CBC.iter().for_each(|name| check(name, &["-tls1_2", "-no_etm"], false));
}

#[test]
fn cbc_suites_of_tls_1_2_with_encryption_first() {
    CBC.iter().for_each(|name| check(name, &["-tls1_2"], false));
}

#[test]
fn aead_suites_of_tls_1_2() {
    AEAD.iter().for_each(|name| check(name, &["-tls1_2"], false));
}

#[test]
fn suites_of_tls_1_3_with_key_updates() {
    TLS13.iter().for_each(|name| check(name, &["-tls1_3"], true));
}

fn check(name: &str, options: &[&str], is_tls13: bool) {
    let Some(session) = record(name, options, is_tls13, true) else { return };
    let content = check_session(&session);
    let suite = content.suite.unwrap();
    let wanted = options.contains(&"-tls1_2") && !options.contains(&"-no_etm") && CBC.contains(&name);
    assert_eq!(suite.to_string().ends_with("encrypt-then-mac"), wanted, "{name}: {suite}");
    let sent: String = lines().map(|line| line + "\n").concat();
    assert_eq!(content.data[0], sent.as_bytes(), "{name}");
    let reversed: String = lines().map(|line| line.chars().rev().collect::<String>() + "\n").concat();
    assert_eq!(content.data[1], (reversed + "detcejni\n").as_bytes(), "{name}");
    assert!(content.records >= 8, "{name}: {} records", content.records);
    assert_eq!(content.key_updates, if is_tls13 { 2 } else { 0 }, "{name}: one from each side");
}

/// Runs a session and returns its bytes, or None if OpenSSL or the suite is missing.
///
/// If `injects` is true, the server receives one more record, which this crate sealed.
fn record(name: &str, options: &[&str], is_tls13: bool, injects: bool) -> Option<TlsSession> {
    if !has_suite(name, is_tls13) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let (key, certificate) = (folder.path().join("key.pem"), folder.path().join("certificate.pem"));
    let log = folder.path().join("keys.log");
    make_certificate(&key, &certificate);
    let list = format!("{name}:@SECLEVEL=0");
    let suite = if is_tls13 { ["-ciphersuites", name] } else { ["-cipher", &list] };

    let mut server = RunningServer(
        Command::new("openssl")
            .args(["s_server", "-accept", "127.0.0.1:0", "-naccept", "1", "-rev", "-key"])
            .args([&key, Path::new("-cert"), &certificate, Path::new("-keylogfile"), &log])
            .args(suite)
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let mut output = BufReader::new(server.0.stdout.take().unwrap());
    let relay = Relay::start(accepting_port(&mut output));
    let mut client = Command::new("openssl")
        .args(["s_client", "-connect", &format!("127.0.0.1:{}", relay.port)])
        .args(suite)
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (input, mut output) = talk(&mut client, is_tls13);
    if injects {
        inject(&relay, &log);
        wait_for(&mut output, |line| line.trim_end().ends_with("detcejni"));
    }
    drop(input);
    std::io::copy(&mut output, &mut std::io::sink()).unwrap();
    client.wait().unwrap();
    let [to_server, to_client] = relay.finish();
    drop(server);
    Some(TlsSession { to_server, to_client, key_log: std::fs::read_to_string(&log).unwrap() })
}

fn has_suite(name: &str, is_tls13: bool) -> bool {
    let list = format!("{name}:@SECLEVEL=0");
    let arguments = if is_tls13 { ["-ciphersuites", name] } else { ["-tls1_2", &list] };
    match Command::new("openssl").args(["ciphers", "-s"]).args(arguments).output() {
        Ok(output) if output.status.success() && !output.stdout.is_empty() => true,
        Ok(_) => {
            println!("SKIPPED: this OpenSSL has no {name}");
            false
        }
        Err(error) => {
            println!("SKIPPED: openssl does not start: {error}");
            false
        }
    }
}

/// Reads the port from the server's line `ACCEPT 127.0.0.1:PORT`.
fn accepting_port(output: &mut impl BufRead) -> u16 {
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        if let Some((_, port)) =
            line.trim().strip_prefix("ACCEPT ").and_then(|address| address.rsplit_once(':'))
        {
            return port.parse().unwrap();
        }
        line.clear();
    }
    panic!("the server does not accept");
}

/// Sends the lines one by one and waits for each answer, so that each has a record of its own.
fn talk(client: &mut Child, is_tls13: bool) -> (ChildStdin, BufReader<ChildStdout>) {
    let mut input = client.stdin.take().unwrap();
    let mut output = BufReader::new(client.stdout.take().unwrap());
    let mut messages = BufReader::new(client.stderr.take().unwrap());
    for (number, line) in lines().iter().enumerate() {
        if is_tls13 && number == 1 {
            // A command of s_client: a KeyUpdate that asks the server for one.
            input.write_all(b"K\n").unwrap();
            input.flush().unwrap();
            wait_for(&mut messages, |line| line.contains("KEYUPDATE"));
        }
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
        let reversed: String = line.chars().rev().collect();
        wait_for(&mut output, |found| found.trim_end().ends_with(&reversed));
    }
    (input, output)
}

/// Seals a record behind the client's last one and sends it to the server.
fn inject(relay: &Relay, log: &Path) {
    let [to_server, to_client] = relay.passed();
    let session = TlsSession { to_server, to_client, key_log: std::fs::read_to_string(log).unwrap() };
    let mut wire = Vec::new();
    let mut sealer = check_session(&session).client.unwrap();
    sealer.seal(Content::ApplicationData, &[b"injected\n"], &mut wire).unwrap();
    relay.inject(&wire);
}

fn wait_for(output: &mut impl BufRead, is_found: impl Fn(&str) -> bool) {
    let mut line = String::new();
    while !is_found(&line) {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "the program ended too early");
    }
}

/// The sessions that `known_answers` checks without OpenSSL. This writes them again:
/// `cargo test -p oarlock-sockets --test suite -- --ignored openssl::`.
#[test]
#[ignore = "writes tests/data/tls_sessions.json"]
fn write_sessions() {
    let text = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut sessions = Vec::new();
    let cases = [
        ("AES128-SHA", vec!["-tls1_2", "-no_etm"], false),
        ("AES256-SHA256", vec!["-tls1_2", "-no_etm"], false),
        ("AES128-SHA256", vec!["-tls1_2"], false),
        ("AES256-SHA", vec!["-tls1_2"], false),
        ("AES128-GCM-SHA256", vec!["-tls1_2"], false),
        ("AES256-GCM-SHA384", vec!["-tls1_2"], false),
        ("ECDHE-RSA-CHACHA20-POLY1305", vec!["-tls1_2"], false),
        ("TLS_AES_256_GCM_SHA384", vec!["-tls1_3"], true),
        ("TLS_CHACHA20_POLY1305_SHA256", vec!["-tls1_3"], true),
    ];
    for (name, options, is_tls13) in cases {
        let session = record(name, &options, is_tls13, false).unwrap();
        assert!(check_session(&session).suite.is_some_and(|suite| Suite::ALL.contains(&suite)));
        sessions.push(serde_json::json!({
            "suite": name,
            "to_server": text(&session.to_server),
            "to_client": text(&session.to_client),
            "key_log": session.key_log,
        }));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls_sessions.json");
    std::fs::write(path, serde_json::to_string_pretty(&sessions).unwrap() + "\n").unwrap();
}

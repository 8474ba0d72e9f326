//! `mode = auto`, the default: measured costs choose between the process and a cryptoserver, and no failure of the
//! server is a failure of an operation.

use std::fs::File;
use std::process::Stdio;

use crate::common::server::{ALL_GRANTED, CryptoServer};
use crate::common::{KEYS, TestDirectory, configuration, program};
use crate::conformance::{self, Server};
use crate::lives;

/// Makes a directory whose provider may use a cryptoserver with these settings.
fn start(settings: &str) -> Option<(TestDirectory, CryptoServer)> {
    program("openssl")?;
    let dir = TestDirectory::new("");
    dir.keys();
    dir.certificate("rsa");
    dir.write("message", b"a message");
    let server = CryptoServer::with(&dir, settings);
    dir.write("openssl.cnf", configuration(&format!("socket = {}", server.socket().display())));
    Some((dir, server))
}

/// Returns the number of RSA private operations that the server has done.
fn signed(server: &CryptoServer) -> u64 {
    let page = server.metrics();
    let is_counted = |line: &&str| {
        line.starts_with("oarlock_operations_total{operation=\"rsa-") && line.contains("code=\"DONE\"")
    };
    let counts = page.lines().filter(is_counted);
    counts.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

/// Connects to a server for a while, longer than a period of `route`, in which every place is tried. Calls `disturb`
/// again and again meanwhile. No handshake may fail. Returns what the provider said.
fn shake_hands(dir: &TestDirectory, seconds: u32, mut disturb: impl FnMut()) -> String {
    let log = dir.path("server.log");
    let server = Server::starting(dir, true, "rsa", "", File::create(&log).unwrap().into());
    let mut client = dir.plain_command(&dir.openssl);
    client.args(["s_time", "-new", "-CAfile", "rsa.crt", "-verify", "1", "-time", &seconds.to_string()]);
    client.args(["-connect", &format!("127.0.0.1:{}", server.port)]);
    let mut running = client.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while running.try_wait().unwrap().is_none() {
        disturb();
        std::thread::yield_now();
    }
    let output = running.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let connections = said.lines().find_map(|line| line.split_once(" connections in "));
    let count = connections.and_then(|(count, _)| count.trim().parse::<u32>().ok());
    assert!(output.status.success() && count > Some(100) && !said.contains("ERROR"), "{said}");
    drop(server);
    std::fs::read_to_string(log).unwrap()
}

#[test]
fn without_a_server_everything_works_and_nothing_is_said() {
    if program("openssl").is_none() {
        return;
    }
    let dir = TestDirectory::new("socket = /nonexistent/oarlock.sock");
    dir.keys();
    dir.certificate("rsa");
    dir.write("message", b"a message");
    conformance::signatures(&dir);
    conformance::handshakes(&dir);
    conformance::async_jobs(&dir);
    lives::lead(&dir, &["rsa"]);
    let said = shake_hands(&dir, 5, || {});
    assert!(!said.contains("oarlock:"), "{said}");
}

#[test]
fn the_server_is_tried_and_has_keys_of_its_own() {
    let Some((dir, mut server)) = start(ALL_GRANTED) else { return };
    server.stop();
    for (name, _) in KEYS {
        server.hold(&dir, name, name);
        server.reference(&dir, name, name, &format!("{name}.ref"));
    }
    server.begin();
    for key in ["rsa", "oarlock:rsa", "rsa.ref", "p256", "p256.ref"] {
        dir.openssl(&format!("dgst -sha256 -sign {key} -out signature message")).ok();
        let public = if key.contains("rsa") { "rsa.pub" } else { "p256.pub" };
        dir.plain(&format!("dgst -sha256 -verify {public} -signature signature message")).ok();
    }
    let before = signed(&server);
    shake_hands(&dir, 5, || {});
    assert!(signed(&server) > before, "{}", server.metrics());
}

#[test]
fn a_server_that_takes_no_keys_costs_nothing_but_a_note() {
    let Some((dir, server)) = start(&format!("limits.may_bring_keys = false\n{ALL_GRANTED}")) else { return };
    let said = shake_hands(&dir, 5, || {});
    assert!(said.contains("oarlock: note: "), "{said}");
    assert_eq!(signed(&server), 0);
}

#[test]
fn a_server_that_comes_and_goes_fails_no_operation() {
    let Some((dir, mut server)) = start(ALL_GRANTED) else { return };
    shake_hands(&dir, 12, || {
        server.stop();
        server.begin();
    });
}

//! Unchanged programs of Debian, with the provider and with keys of every origin.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use rustix::process::Signal;

use crate::common::server::CryptoServer;
use crate::common::{ProgramResult, TestDirectory, configuration, program};
use crate::peers::mute::MuteServer;
use crate::peers::{
    VISITS, Visit, apache, haproxy, has, nginx, postfix, signal_to, test_directory, wait_for,
};

/// The certificates and their keys.
const PAIRS: [(&str, &str); 2] = [("rsa.crt", "rsa"), ("p256.crt", "p256")];

/// The certificates with keys in the cryptoserver.
const HELD: [(&str, &str); 2] = [("rsa.crt", "rsa.ref"), ("p256.crt", "p256.ref")];

/// The options of a client whose first message makes the server sign with an RSA key.
const HELLO: &str = "-tls1_3 -groups X25519 -sigalgs RSA-PSS+SHA256:RSA+SHA256";

/// The descriptor that a paused handshake waits for in local mode.
const EVENT: &str = "anon_inode:[eventfd]";

/// The settings of a cryptoserver for every user, with an audit log.
const RECORDED: &str = "limits.may_bring_keys = true\naudit.file = \"audit\"\nlisten.unix_mode = \"0666\"\n\
                        [[grant]]\nkeys = [\"*\"]\nclients = [\"*\"]\n";

/// Makes a directory whose provider uses the engines of its process.
fn local() -> TestDirectory {
    test_directory("mode = local\nthreads = 2")
}

/// Makes a directory whose provider uses a cryptoserver that holds both keys.
fn service() -> (TestDirectory, CryptoServer) {
    let dir = test_directory("");
    let mut server = CryptoServer::with(&dir, RECORDED);
    server.stop();
    for name in ["rsa", "p256"] {
        server.hold(&dir, name, name);
        server.reference(&dir, name, name, &format!("{name}.ref"));
    }
    server.begin();
    dir.write("openssl.cnf", configuration(&server.section()));
    (dir, server)
}

/// Makes a directory whose provider uses a cryptoserver that never answers.
fn mute() -> (TestDirectory, MuteServer) {
    let (dir, _) = service();
    let server = MuteServer::start(&dir);
    dir.write("openssl.cnf", configuration(&server.section()));
    (dir, server)
}

/// Connects one client for each version and certificate.
fn visit(dir: &TestDirectory, port: u16) {
    for (key, options) in VISITS {
        Visit { port, key, options }.succeeds(dir);
    }
}

/// Waits until the audit log has `count` signatures for certificates, with keys whose names `key` accepts.
fn signed(dir: &TestDirectory, key: impl Fn(&str) -> bool, count: usize) {
    wait_for("signatures in the audit log", || {
        let audit = String::from_utf8(dir.read("server/audit")).unwrap();
        let is_wanted = |line: &&str| line.contains("-sign\"") && line.contains("\"DONE\"") && key(line);
        (audit.lines().filter(is_wanted).count() >= count).then_some(())
    });
}

/// True for a key that a client sent, which has no name in the log.
fn is_brought(line: &str) -> bool {
    !is_held(line)
}

fn is_held(line: &str) -> bool {
    line.contains("\"key\":\"rsa\"") || line.contains("\"key\":\"p256\"")
}

#[test]
fn nginx_serves_both_certificates_through_reloads_and_lost_workers() {
    let dir = local();
    let Some((daemon, port)) = nginx::start(&dir, &PAIRS) else { return };
    visit(&dir, port);
    while_clients_come(&dir, port, || {
        for reloads in 1..=2 {
            nginx::reload(&dir);
            daemon.wait_for_log(|log| {
                log.matches("start worker process ").count() == 2 + 2 * reloads
                    && nginx::workers(log).len() == 2
            });
        }
    });
    for worker in nginx::workers(&daemon.log()) {
        let count = daemon.log().matches("start worker process ").count();
        signal_to(worker, Signal::KILL);
        daemon.wait_for_log(|log| log.matches("start worker process ").count() == count + 1);
        visit(&dir, port);
    }
    daemon.signal(Signal::QUIT);
    daemon.wait_for_log(|log| log.contains("exited with code 0") && nginx::workers(log).is_empty());
    // One for each worker that was killed.
    assert_eq!(daemon.log().matches("[alert]").count(), 2, "{}", daemon.log());
}

/// Connects clients until `change` has returned and each client has connected once more. No client may fail.
fn while_clients_come(dir: &TestDirectory, port: u16, change: impl FnOnce()) {
    let (is_done, visits) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        for (key, options) in &VISITS[..2] {
            let (is_done, visits) = (&is_done, &visits);
            scope.spawn(move || {
                while !is_done.load(Ordering::Acquire) {
                    Visit { port, key, options }.succeeds(dir);
                    visits.fetch_add(1, Ordering::Release);
                }
                Visit { port, key, options }.succeeds(dir);
            });
        }
        wait_for("the first clients", || (visits.load(Ordering::Acquire) > 2).then_some(()));
        change();
        is_done.store(true, Ordering::Release);
    });
}

#[test]
fn nginx_uses_keys_of_files_and_of_the_cryptoserver() {
    for (pairs, is_from) in [(PAIRS, is_brought as fn(&str) -> bool), (HELD, is_held)] {
        let (dir, server) = service();
        let Some((daemon, port)) = nginx::start(&dir, &pairs) else { return };
        visit(&dir, port);
        signed(&dir, is_from, 2);
        while_clients_come(&dir, port, || {
            nginx::reload(&dir);
            daemon.wait_for_log(|log| {
                log.matches("start worker process ").count() == 4 && nginx::workers(log).len() == 2
            });
        });
        drop(daemon);
        drop(server);
    }
}

#[test]
fn nginx_starts_without_the_cryptoserver_and_recovers_with_it() {
    let (dir, mut server) = service();
    server.stop();
    let Some((daemon, port)) = nginx::start(&dir, &HELD) else { return };
    let (key, options) = VISITS[0];
    Visit { port, key, options }.https(&dir).failed();
    daemon.wait_for_log(|log| log.contains("cryptoserver"));
    server.begin();
    visit(&dir, port);
}

#[test]
fn apache_serves_both_certificates() {
    let dir = local();
    let Some((_daemon, port)) = apache::start(&dir, &PAIRS) else { return };
    visit(&dir, port);
}

#[test]
fn apache_uses_keys_of_files_and_of_the_cryptoserver() {
    for (pairs, is_from) in [(PAIRS, is_brought as fn(&str) -> bool), (HELD, is_held)] {
        let (dir, server) = service();
        let Some((daemon, port)) = apache::start(&dir, &pairs) else { return };
        visit(&dir, port);
        signed(&dir, is_from, 2);
        drop(daemon);
        drop(server);
    }
}

#[test]
fn postfix_starts_tls() {
    let dir = local();
    let Some((daemon, port)) = postfix::start(&dir, "rsa.crt", "rsa") else { return };
    for (key, options) in VISITS.into_iter().filter(|(key, _)| *key == "rsa") {
        Visit { port, key, options }.starts_tls(&dir);
    }
    daemon.wait_for_log(|log| log.contains("TLS connection established"));
}

#[test]
fn postfix_uses_keys_of_files_and_of_the_cryptoserver() {
    for (key, is_from) in [("rsa", is_brought as fn(&str) -> bool), ("rsa.ref", is_held)] {
        let (dir, server) = service();
        let Some((daemon, port)) = postfix::start(&dir, "rsa.crt", key) else { return };
        let (key, options) = VISITS[0];
        Visit { port, key, options }.starts_tls(&dir);
        signed(&dir, is_from, 1);
        drop(daemon);
        drop(server);
    }
}

#[test]
fn haproxy_serves_others_while_a_handshake_waits() {
    let (dir, mut server) = mute();
    let Some(proxy) = haproxy::start(&dir, &HELD, 60_000) else { return };
    let (key, options) = VISITS[0];
    thread::scope(|scope| {
        let client = scope.spawn(|| Visit { port: proxy.port, key, options }.https(&dir));
        wait_for("a question", || (server.connections() == 1).then_some(()));
        // Its only thread has something else to do.
        let mut other = TcpStream::connect(("127.0.0.1", proxy.plain_port)).unwrap();
        other.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        let mut said = String::new();
        other.read_to_string(&mut said).unwrap();
        assert!(said.ends_with("hello"), "{said}");
        assert!(!client.is_finished());
        server.leave();
        client.join().unwrap().failed();
    });
}

#[test]
fn haproxy_forgets_clients_that_leave_during_a_handshake() {
    let dir = local();
    let Some(proxy) = haproxy::start(&dir, &PAIRS, 60_000) else { return };
    let hello = Visit::hello(&dir, HELLO);
    visit(&dir, proxy.port);
    // A few are there at any time, so that some leave before their answer and some behind it.
    let mut clients = VecDeque::new();
    for _ in 0..200 {
        clients.push_back(greet(proxy.port, &hello));
        if clients.len() > 6 {
            clients.pop_front();
        }
    }
    drop(clients);
    visit(&dir, proxy.port);
    proxy.daemon.wait_for_descriptors(EVENT, 0);
    // The two that it listens on, and HAProxy's own.
    proxy.daemon.wait_for_descriptors("socket:", 2);
}

#[test]
fn curl_checks_certificates_with_the_provider() {
    if !has(&["curl", "openssl"]) {
        return;
    }
    let dir = local();
    let Some((_daemon, port)) = nginx::start(&dir, &PAIRS) else { return };
    for (certificate, cipher) in
        [("rsa", "ECDHE-RSA-AES128-GCM-SHA256"), ("p256", "ECDHE-ECDSA-AES128-GCM-SHA256")]
    {
        let curl = |authority: &str| {
            let arguments = format!(
                "-sS --tls-max 1.2 --ciphers {cipher} --cacert {authority}.crt --resolve localhost:{port}:127.0.0.1 \
                 https://localhost:{port}/"
            );
            ProgramResult::from_command(
                dir.command(program("curl").unwrap()).args(arguments.split_whitespace()),
            )
        };
        assert_eq!(curl(certificate).ok(), "hello");
        let other = if certificate == "rsa" { "p256" } else { "rsa" };
        assert!(curl(other).failed().contains("certificate"));
    }
}

/// Connects a client and sends its first message.
fn greet(port: u16, hello: &[u8]) -> TcpStream {
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    client.write_all(hello).unwrap();
    client
}

#[test]
fn haproxy_closes_connections_with_pending_jobs() {
    const CLIENTS: usize = 40;
    let (dir, mut server) = mute();
    let Some(mut proxy) = haproxy::start(&dir, &HELD, 1000) else { return };
    let hello = Visit::hello(&dir, HELLO);
    // It was connected to when it started.
    proxy.daemon.wait_for_descriptors("socket:", 2);
    let before = proxy.daemon.descriptors("anon_inode:");
    let clients: Vec<TcpStream> = (0..CLIENTS).map(|_| greet(proxy.port, &hello)).collect();
    wait_for("questions of all", || (server.connections() == CLIENTS).then_some(()));
    drop(clients);
    // HAProxy gives the clients up, and what they asked for is still not answered.
    proxy.daemon.wait_for_descriptors("socket:", 2 + CLIENTS);
    server.leave();
    proxy.daemon.wait_for_descriptors("socket:", 2);
    proxy.daemon.wait_for_descriptors("anon_inode:", before);
    assert!(proxy.daemon.is_running(), "{}", proxy.daemon.log());
}

#[test]
fn haproxy_uses_keys_of_the_cryptoserver() {
    let (dir, _server) = service();
    let Some(proxy) = haproxy::start(&dir, &HELD, 60_000) else { return };
    visit(&dir, proxy.port);
    signed(&dir, is_held, 2);
}

#[test]
fn haproxy_pauses_handshakes() {
    let dir = local();
    let Some(proxy) = haproxy::start(&dir, &PAIRS, 60_000) else { return };
    visit(&dir, proxy.port);
    proxy.daemon.wait_for_descriptors(EVENT, 0);
    // A session whose handshake paused keeps the descriptor that it was woken by. An answer that comes at once pauses
    // nothing.
    let (key, options) = VISITS[0];
    let mut clients = Vec::new();
    wait_for("a pause", || {
        if clients.len() < 30 {
            clients.push(Visit { port: proxy.port, key, options }.stays(&dir));
        }
        (proxy.daemon.descriptors(EVENT) > 0).then_some(())
    });
    for mut client in clients {
        client.kill().unwrap();
        client.wait().unwrap();
    }
    proxy.daemon.wait_for_descriptors(EVENT, 0);
}

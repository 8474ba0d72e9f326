//! The way of requests between programs and a server on one machine: which one it is, and how programs report it.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::program::filter::{ForbiddenCall, are_filters_possible, forbid};
use crate::program::{code, command, oarlock, stderr};
use crate::served::Served;
use oarlock::keys::held;
use oarlock::{Accelerator, Input, Job, SigningScheme, VerifyingScheme};
use oarlock_wire::{ConnectionPool, JobKeySource, PoolConfig, ServerUsers};

const SHARED: &str = "go through shared memory";
const ALONE: &str = "go through the UNIX socket alone, without shared memory: ";

/// Returns `oarlock -v call WORDS` for a server.
fn verbose_call(served: &Served, words: &[&str]) -> Command {
    let mut command = command(&["-v", "call", "--state"]);
    command.arg(&served.state).args(words);
    command
}

/// Returns what a successful command printed on stderr.
fn notes(output: &Output) -> String {
    assert_eq!(code(output), 0, "{}", stderr(output));
    stderr(output)
}

/// Signs with a server, and verifies the signature there.
fn signs(served: &Served, change: impl Fn(&mut Command)) -> String {
    let (message, signature) = (served.state.join("message"), served.state.join("signature"));
    fs::write(&message, "a message").unwrap();
    let files = [message.to_str().unwrap(), signature.to_str().unwrap()];
    let mut sign = verbose_call(served, &["sign", "--key", "ed25519", "--in", files[0], "--out", files[1]]);
    change(&mut sign);
    let noted = notes(&sign.output().unwrap());
    let verified = served.call(&["verify", "--key", "ed25519", "--in", files[0], "--signature", files[1]]);
    assert_eq!(code(&verified), 0, "{}", stderr(&verified));
    noted
}

#[test]
fn verbose_commands_name_the_way_of_their_requests() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path());
    let shared = signs(&served, |_| {});
    assert!(shared.contains(SHARED) && shared.contains("oarlock.sock"), "{shared}");
    let switched_off = signs(&served, |command| {
        command.env("OARLOCK_NO_RING", "1");
    });
    assert!(switched_off.contains(&format!("{ALONE}OARLOCK_NO_RING is set")), "{switched_off}");
    let silent = stderr(&served.call(&["keys"]));
    assert!(!silent.contains("go through"), "{silent}");
    let tls = format!("https://{}", served.said["tcp"].as_str().unwrap());
    let by_tls = notes(&verbose_call(&served, &["--server", &tls, "keys"]).output().unwrap());
    assert!(by_tls.contains(&format!("requests to {tls} go through TLS")), "{by_tls}");
    // Several servers: each connection is named.
    let several = signs(&served, |command| {
        command.args(["--also", &tls, "--agree", "2"]);
    });
    assert!(several.contains(SHARED) && several.contains("go through TLS"), "{several}");
}

#[test]
fn other_verbose_commands_name_it_too() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path());
    let file = |name: &str| folder.path().join(name);
    let key = oarlock(&["keys", "show", file("keys/p256.pem").to_str().unwrap(), "--reference"]);
    fs::write(file("zone.pem"), &key.stdout).unwrap();
    fs::write(file("zone"), "$ORIGIN example.com.\n$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n")
        .unwrap();
    let mut sign =
        command(&["-v", "dnssec", "sign", "zone", "--key", "zone.pem", "--out", "signed", "--state"]);
    let noted = notes(&sign.arg(folder.path()).current_dir(folder.path()).output().unwrap());
    assert!(noted.contains(SHARED), "{noted}");
    let mut load = command(&["-v", "load", "--op", "ed25519-sign", "--turns", "1", "--seconds", "0.05"]);
    load.args(["--clients", "1", "--server"]).arg(served.socket()).env("OARLOCK_PROGRESS_SECONDS", "0");
    let noted = notes(&load.output().unwrap());
    assert!(noted.contains(&format!("ed25519-sign-ring: requests {SHARED}")), "{noted}");
}

#[test]
fn a_verbose_server_logs_its_rings() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = Served::start_with(folder.path(), |command| {
        command.arg("-v");
    });
    let mut log = served.log();
    signs(&served, |_| {});
    log.wait_for("shared memory for a client");
}

#[test]
fn a_server_that_may_not_make_or_send_memory_files_serves_by_the_socket() {
    if !are_filters_possible() {
        return;
    }
    for (call, reason, fault) in [
        (ForbiddenCall::MemfdCreate, "the server: memfd_create: ", "memfd_create: "),
        (ForbiddenCall::SendMsg, "no file came with the answer", "sendmsg: "),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut served = crate::served::with_metrics(folder.path(), "", |command| forbid(command, call));
        let mut log = served.log();
        for _ in 0..3 {
            let noted = signs(&served, |_| {});
            assert!(noted.contains(&format!("{ALONE}{reason}")), "{call:?}: {noted}");
        }
        let line = log.wait_for("no shared memory for clients");
        assert!(line.contains("WARN") && line.contains(fault), "{call:?}: {line}");
        let page = served.metrics();
        // Each of the three signatures was also verified.
        assert!(page.contains("\noarlock_rings_refused_total{reason=\"system\"} 6\n"), "{call:?}: {page}");
        assert!(page.contains("\noarlock_rings_open 0\n"), "{call:?}: {page}");
        assert!(page.contains("\noarlock_ring_received_bytes_total 0\n"), "{call:?}: {page}");
        served.signal("-TERM");
        let rest = log.all();
        let lines = rest.matches("no shared memory for clients").count();
        assert_eq!(lines, 1, "{call:?}: one line a minute: {rest}");
    }
}

#[test]
fn a_client_that_may_not_map_the_memory_or_receive_a_file_uses_the_socket() {
    if !are_filters_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let served = crate::served::with_metrics(folder.path(), "", |_| {});
    for (call, reason) in
        [(ForbiddenCall::SharedMmap, "mmap: "), (ForbiddenCall::RecvMsg, "no file came with the answer")]
    {
        let noted = signs(&served, |command| forbid(command, call));
        assert!(noted.contains(&format!("{ALONE}{reason}")), "{call:?}: {noted}");
        let noted = pool_signs(&served, |command| forbid(command, call));
        assert!(noted.contains(&format!("unexpected: {reason}")), "{call:?}: {noted}");
    }
    assert!(pool_signs(&served, |_| {}).contains("shared memory"));
    while !served.metrics().contains("\noarlock_rings_open 0\n") {
        std::thread::yield_now();
    }
}

/// The path of the socket, for a test that runs again as the client of a server.
const SOCKET: &str = "OARLOCK_TEST_SOCKET";

/// Signs with a connection pool in a process of its own, and returns what it printed.
fn pool_signs(served: &Served, change: impl Fn(&mut Command)) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "ring::the_client_of_a_pool", "--nocapture", "--ignored"]);
    command.env(SOCKET, served.socket()).stdin(Stdio::null());
    change(&mut command);
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", stderr(&output));
    printed
}

#[test]
#[ignore = "the other tests start it"]
fn the_client_of_a_pool() {
    let Some(path) = std::env::var_os(SOCKET) else { return };
    let patience = Duration::from_secs(60);
    let config = PoolConfig {
        path: path.into(),
        users: ServerUsers::default(),
        patience,
        max_idle: 4,
        has_ring: true,
    };
    let checker = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    let pool = ConnectionPool::new(config, checker.clone());
    let info = pool.key_info("ed25519").unwrap();
    let key = held::from_spki(&info.public_key, "servers", "ed25519").unwrap();
    let source = JobKeySource::Resident { name: "ed25519", fingerprint: None };
    for number in 0..20_u8 {
        let message = [number; 40];
        let input = Input::Message(&message);
        let signature =
            pool.start(&Job::sign(SigningScheme::ED25519, &key, input), source).unwrap().wait().unwrap();
        let check = Job::verify(VerifyingScheme::ED25519, &key, input, signature.output.expose());
        assert!(checker.run_all(&[check]).get(0).is_ok());
    }
    assert_eq!(pool.idle(), 1, "all on one connection");
    match pool.no_ring() {
        Some(reason) if reason.is_unexpected() => println!("unexpected: {reason}"),
        Some(reason) => println!("expected: {reason}"),
        None => println!("shared memory"),
    }
}

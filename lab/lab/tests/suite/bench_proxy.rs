//! TLS-terminating proxies, measured side by side.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::peers::has;
use crate::printed::PrintedLines;
use crate::program::{code, command, stderr, text};

/// True if nginx relays TCP; prints SKIPPED if not.
fn has_stream() -> bool {
    let is_here = Path::new("/usr/lib/nginx/modules/ngx_stream_module.so").is_file();
    if !is_here {
        eprintln!("SKIPPED: the stream module of nginx is not installed");
    }
    is_here
}

/// Measures a peer with few handshakes and few writes, and returns its rows.
fn peer_rows(name: &str, tls: &str) -> Vec<Value> {
    let mut command =
        command(&["--json", "bench", "proxy", "--beside", name, "--own", "scalar", "--tls", tls]);
    command.args(["--handshakes", "40", "--connections", "4", "--turns", "1"]);
    let output = command.output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    rows.into_iter().filter(|row| row["proxy"] == name).collect()
}

/// Checks the rows of a peer that resumes sessions of this version.
fn check(name: &str, tls: &str) {
    let rows = peer_rows(name, tls);
    let found: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["key"].as_str().unwrap(), row["load"].as_str().unwrap())).collect();
    let loads = ["full", "resumed", "bulk"];
    let expected: Vec<(&str, &str)> =
        ["rsa2048", "p256"].iter().flat_map(|key| loads.iter().map(move |load| (*key, *load))).collect();
    assert_eq!(found, expected);
    for row in rows {
        assert_eq!((&row["available"], &row["errors"]), (&true.into(), &0.into()), "{row}");
        let (amount, resumed) = (row["amount"].as_u64().unwrap(), row["resumed"].as_u64());
        match row["load"].as_str().unwrap() {
            "full" => assert_eq!((amount, resumed), (40, Some(0)), "{row}"),
            "resumed" => assert_eq!((amount, resumed), (40, Some(40)), "{row}"),
            _ => assert_eq!((amount, resumed), (4 * 40 * 16_384, None), "{row}"),
        }
    }
}

#[test]
fn hitch_has_a_row_for_each_key_and_load() {
    if has("hitch") {
        check("hitch", "1.3");
        check("hitch", "1.2");
    }
}

#[test]
fn haproxy_has_a_row_for_each_key_and_load() {
    if has("haproxy") {
        check("haproxy", "1.3");
        check("haproxy", "1.2");
    }
}

#[test]
fn nginx_has_a_row_for_each_key_and_load() {
    if has("nginx") && has_stream() {
        check("nginx", "1.3");
        check("nginx", "1.2");
    }
}

#[test]
fn stunnel_has_a_row_for_each_key_and_load() {
    if has("stunnel") {
        check("stunnel", "1.3");
        check("stunnel", "1.2");
    }
}

#[test]
fn a_proxy_that_is_not_installed_has_a_row_that_says_how_to_install_it() {
    let empty = tempfile::tempdir().unwrap();
    // The programs of /usr/sbin are found without PATH; stunnel is in /usr/bin.
    let mut command =
        command(&["bench", "proxy", "--beside", "stunnel", "--own", "scalar", "--loads", "full"]);
    command.args(["--key", "p256", "--handshakes", "8", "--connections", "2", "--turns", "1"]);
    let output = command.env("PATH", empty.path()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    if Path::new("/usr/sbin/stunnel").is_file() {
        eprintln!("SKIPPED: stunnel is in /usr/sbin");
        return;
    }
    assert!(printed.contains("absent"), "{printed}");
    assert!(printed.contains("stunnel: not measured: stunnel is neither in PATH"), "{printed}");
    assert!(printed.contains("apt-get install stunnel4"), "{printed}");
}

#[test]
fn reports_wrong_usage() {
    let full = tempfile::tempdir().unwrap();
    std::fs::write(full.path().join("file"), "").unwrap();
    let full = full.path().to_str().unwrap();
    for (arguments, expected) in [
        (&["--beside", "apache"][..], "possible values: hitch, haproxy, nginx, stunnel"),
        (&["--own", "cuda"], "lanes, scalar, keyless"),
        (&["--key", "rsa1024"], "rsa2048, p256"),
        (&["--loads", "half"], "full, resumed, bulk"),
        (&["--tls", "1.1"], "1.2, 1.3"),
        (&["--connections", "0"], "--connections"),
        (&["--turns", "1001"], "--turns"),
        (&["--seconds", "0"], "--seconds: expected a number above 0"),
        (&["--seconds", "1", "--handshakes", "5"], "cannot be used with"),
        (&["--keep", full], "expected an empty directory"),
        (&["--plot", "/nowhere/proxies.svg"], "/nowhere/proxies.svg"),
    ] {
        let output = command(&["bench", "proxy"]).args(arguments).output().unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn help_has_examples_and_exit_codes() {
    let help = text(&command(&["bench", "proxy", "--help"]).output().unwrap());
    for words in ["Examples:", "Exit codes:", "--beside", "keyless", "--handshakes"] {
        assert!(help.contains(words), "{words}: {help}");
    }
}

/// A bench that is killed if a test fails.
struct RunningBench(Child);

impl Drop for RunningBench {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_interrupt_stops_the_proxies_and_removes_their_files() {
    if !has("haproxy") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command =
        command(&["bench", "proxy", "--beside", "haproxy", "--own", "scalar", "--loads", "full"]);
    command.args(["--key", "p256", "--seconds", "3600", "--turns", "1"]);
    command.env("TMPDIR", folder.path()).env("OARLOCK_PROGRESS_SECONDS", "0.05");
    let mut bench = RunningBench(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = PrintedLines::from_stream(bench.0.stderr.take().unwrap());
    lines.wait_for("p256 full");
    let id = bench.0.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(bench.0.wait().unwrap().code(), Some(3));
    let printed = lines.all();
    assert!(printed.contains("interrupted"), "{printed}");
    // The proxies are stopped before their files are removed.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

//! nginx and HAProxy, measured with and without the provider.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::peers::{has, module};
use crate::program::{LAB, code, command, stderr};

/// Measures rows at a small scale. The files of the servers stay in `keep`.
fn rows_with(name: &str, module: &Path, keep: &Path, options: &[&str]) -> Vec<Value> {
    let mut command = command(&["--json", "bench", "tls", "--rows", name, "--seconds", "0.3"]);
    command
        .args(options)
        .args(["--connections", "2", "--workers", "2", "--provider"])
        .arg(module)
        .arg("--keep")
        .arg(keep);
    // This variable would override the settings of the rows.
    let output = command.env("OARLOCK_MODE", "neither").output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn check(rows: &[Value], name: &str, providers: &[&str]) {
    let found: Vec<&str> = rows.iter().map(|row| row["provider"].as_str().unwrap()).collect();
    assert_eq!(found, providers);
    for row in rows {
        assert_eq!(row["name"], name);
        for field in ["handshakes", "server_cpu_us", "connections", "workers", "seconds", "p50_us", "p99_us"]
        {
            assert!(row[field].as_f64().unwrap() > 0.0, "{field}: {row}");
        }
        for field in ["ratio", "latency_ratio"] {
            let [lowest, highest] =
                [0, 1].map(|index| row[format!("{field}_range")][index].as_f64().unwrap());
            let median = row[field].as_f64().unwrap();
            assert!(0.0 < lowest && lowest <= median && median <= highest, "{field}: {row}");
        }
    }
    assert_eq!((&rows[0]["ratio"], &rows[0]["latency_ratio"]), (&json!(1.0), &json!(1.0)));
}

#[test]
fn nginx_has_a_row_for_each_provider() {
    let (Some(module), true) = (module(), has("nginx")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let keep = folder.path().join("kept");
    let providers = ["--turns", "1", "--providers", "oarlock-service,oarlock-local"];
    let rows = rows_with("nginx-p256", &module, &keep, &providers);
    check(&rows, "nginx-p256", &["default", "oarlock-service", "oarlock-local"]);
    assert!(rows[0]["cryptoserver_cpu_us"].is_null() && rows[1]["cryptoserver_cpu_us"].is_u64());
    for row in &rows {
        assert_eq!((&row["tls"], &row["group"]), (&json!("1.3"), &json!("x25519")), "{row}");
        assert_eq!((&row["client_certificates"], &row["resumed"]), (&json!(false), &json!(0)), "{row}");
        assert!(row["group_share"].is_null(), "{row}");
    }
    assert!(keep.join("nginx-p256/oarlock-service/nginx.conf").is_file());
}

#[test]
fn keys_of_servers_are_brought_and_held() {
    let (Some(module), true) = (module(), has("nginx")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let providers = ["--turns", "1", "--providers", "oarlock-service,oarlock-held"];
    let rows = rows_with("nginx-rsa2048", &module, folder.path(), &providers);
    check(&rows, "nginx-rsa2048", &["default", "oarlock-service", "oarlock-held"]);
    let held = configuration(folder.path(), "nginx-rsa2048/oarlock-held/rsa2048.pem");
    assert!(held.starts_with("-----BEGIN OARLOCK KEY REFERENCE-----"), "{held}");
}

/// Returns the text of a server's configuration.
fn configuration(keep: &Path, file: &str) -> String {
    std::fs::read_to_string(keep.join(file)).unwrap()
}

#[test]
fn nginx_speaks_tls_1_2_and_demands_client_certificates() {
    let (Some(module), true) = (module(), has("nginx")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let rows = rows_with(
        "nginx-p256",
        &module,
        folder.path(),
        &["--turns", "1", "--tls", "1.2", "--client-certificates"],
    );
    check(&rows, "nginx-p256", &["default", "oarlock"]);
    for row in &rows {
        assert_eq!((&row["tls"], &row["client_certificates"]), (&json!("1.2"), &json!(true)), "{row}");
    }
    let text = configuration(folder.path(), "nginx-p256/default/nginx.conf");
    assert!(text.contains("ssl_protocols TLSv1.2;") && text.contains("ssl_verify_client on;"), "{text}");
}

#[test]
fn haproxy_speaks_tls_1_2_and_demands_client_certificates() {
    let (Some(module), true) = (module(), has("haproxy")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let options = ["--turns", "1", "--tls", "1.2", "--client-certificates"];
    let rows = rows_with("haproxy-rsa2048", &module, folder.path(), &options);
    check(&rows, "haproxy-rsa2048", &["default", "oarlock"]);
    let text = configuration(folder.path(), "haproxy-rsa2048/default/haproxy.cfg");
    assert!(text.contains("ssl-max-ver TLSv1.2") && text.contains("verify required"), "{text}");
}

/// Clients take the P-256 certificate. Each number of connections has servers and rows of its own.
#[test]
fn servers_have_both_certificates_and_rows_for_each_number_of_connections() {
    let Some(module) = module() else { return };
    for (name, program) in [("nginx-both", "nginx"), ("haproxy-both", "haproxy")] {
        if !has(program) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut command = command(&["--json", "bench", "tls", "--rows", name, "--seconds", "0.2"]);
        command.args(["--turns", "1", "--workers", "2", "--connections", "1,3", "--provider"]).arg(&module);
        let output = command.arg("--keep").arg(folder.path()).output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        check(&rows[..2], name, &["default", "oarlock"]);
        check(&rows[2..], name, &["default", "oarlock"]);
        assert_eq!((&rows[1]["connections"], &rows[3]["connections"]), (&json!(1), &json!(3)));
        for kind in ["rsa2048", "p256"] {
            assert!(folder.path().join(format!("{name}-3/{kind}-certificate.pem")).is_file());
        }
    }
}

#[test]
fn sessions_are_resumed_in_both_versions() {
    let Some(module) = module() else { return };
    for (name, program) in [("nginx-p256", "nginx"), ("haproxy-rsa2048", "haproxy")] {
        for version in ["1.2", "1.3"] {
            if !has(program) {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            // In the second turn, tickets of another server would be of no use.
            let options = ["--turns", "2", "--tls", version, "--resume"];
            let rows = rows_with(name, &module, folder.path(), &options);
            for row in &rows {
                // The first handshakes, which warm up, are the full ones. Two connections may wait for one ticket.
                let [all, resumed] = ["handshakes", "resumed"].map(|field| row[field].as_u64().unwrap());
                assert!(resumed > 0 && resumed * 10 >= all * 9, "{row}");
            }
        }
    }
}

/// Returns a directory with OpenSSL 3.5 or later, which `OARLOCK_TEST_LIBSSL` names. Prints SKIPPED if it does not.
fn libssl() -> Option<String> {
    let found = std::env::var("OARLOCK_TEST_LIBSSL").ok();
    if found.is_none() {
        eprintln!("SKIPPED: OARLOCK_TEST_LIBSSL names no directory with libssl.so.3 of OpenSSL 3.5 or later");
    }
    found
}

/// rustls with AWS-LC alone is a row of the group, also beside an OpenSSL that has it.
#[test]
fn rustls_is_measured_with_the_group() {
    let (Some(module), Some(libssl)) = (module(), libssl()) else { return };
    if !has("nginx") {
        return;
    }
    for more in [&["--client-certificates"][..], &["--resume"]] {
        let folder = tempfile::tempdir().unwrap();
        let options = ["--turns", "1", "--group", "x25519mlkem768", "--libssl", &libssl];
        let rows = rows_with("nginx-p256", &module, folder.path(), &[&options, more].concat());
        let row = rows.last().unwrap();
        assert_eq!((&row["provider"], &row["workers"]), (&json!("rustls"), &json!(1)), "{row}");
    }
}

#[test]
fn a_group_of_a_newer_openssl_is_measured_beside_x25519() {
    let (Some(module), Some(libssl)) = (module(), libssl()) else { return };
    for (name, program) in [("nginx-p256", "nginx"), ("haproxy-rsa2048", "haproxy")] {
        if has(program) {
            let folder = tempfile::tempdir().unwrap();
            let options = ["--turns", "1", "--group", "x25519mlkem768", "--libssl", &libssl];
            for row in rows_with(name, &module, folder.path(), &options) {
                assert_eq!(row["group"], "x25519mlkem768", "{row}");
                assert!(row["group_share"].as_f64().is_some_and(|share| share < 1.0), "{row}");
            }
        }
    }
}

/// OpenSSL before 3.5 lacks the group. Oarlock's provider brings it.
#[test]
fn a_default_without_the_group_is_measured_with_x25519() {
    let (Some(module), true) = (module(), has("nginx")) else { return };
    let version = Command::new("/bin/sh").args(["-c", "PATH=$PATH:/usr/sbin nginx -V"]).output().unwrap();
    let version = String::from_utf8_lossy(&version.stderr).into_owned();
    if !["OpenSSL 3.0.", "OpenSSL 3.1.", "OpenSSL 3.2.", "OpenSSL 3.3.", "OpenSSL 3.4."]
        .iter()
        .any(|old| version.contains(old))
    {
        eprintln!("SKIPPED: nginx runs with an OpenSSL that has the group: {version}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(&["--json", "bench", "tls", "--rows", "nginx-p256", "--seconds", "0.3"]);
    command.args(["--turns", "1", "--connections", "2", "--workers", "2", "--group", "x25519mlkem768"]);
    command.arg("--keep").arg(folder.path()).arg("--provider").arg(&module);
    let output = command.output().unwrap();
    let text = stderr(&output);
    assert_eq!(code(&output), 0, "{text}");
    assert!(text.contains("nginx-p256 default: measured with X25519: nginx runs with OpenSSL 3."), "{text}");
    assert!(text.contains("3.5 or later") && text.contains("--libssl"), "{text}");
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let groups: Vec<&Value> = rows.iter().map(|row| &row["group"]).collect();
    assert_eq!(groups, ["x25519", "x25519mlkem768", "x25519mlkem768"]);
    assert!(rows[0]["group_share"].is_null() && rows[1]["group_share"].is_f64(), "{rows:?}");
    let text = configuration(folder.path(), "nginx-p256/oarlock/nginx.conf");
    assert!(text.contains("ssl_ecdh_curve X25519MLKEM768:X25519:prime256v1;"), "{text}");
}

#[test]
fn reloads_and_killed_workers_fail_no_other_connection() {
    let (Some(module), true) = (module(), has("nginx")) else { return };
    let mut command = command(&["--json", "bench", "reloads", "--rows", "default,oarlock-held"]);
    command.args(["--seconds", "2", "--reload-every", "0.7", "--kill-every", "0.4"]);
    command.args(["--connections", "3", "--workers", "3", "--provider"]).arg(module);
    let output = command.output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(rows.iter().map(|row| &row["provider"]).collect::<Vec<_>>(), ["default", "oarlock-held"]);
    for row in rows {
        assert_eq!(row["failed"], 0, "{row}");
        for field in ["handshakes", "reloads", "memory_kib_start", "memory_kib_end"] {
            assert!(row[field].as_u64().unwrap() > 0, "{field}: {row}");
        }
    }
}

#[test]
fn no_fault_of_the_cryptoserver_fails_a_handshake() {
    let (Some(module), true) = (module(), has("nginx")) else { return };
    let mut command = command(&["--json", "bench", "reloads", "--rows", "oarlock", "--fault-every", "0.2"]);
    command.args(["--seconds", "6", "--reload-every", "3", "--kill-every", "100", "--connections", "8"]);
    let output = command.args(["--workers", "4", "--provider"]).arg(module).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert!(rows[0]["failed"] == 0 && rows[0]["faults"].as_u64() > Some(0), "{rows:?}");
    assert!(rows[0]["decisions"].is_u64(), "{rows:?}");
}

#[test]
fn reports_wrong_usage() {
    let full = tempfile::tempdir().unwrap();
    std::fs::write(full.path().join("file"), "").unwrap();
    let full = full.path().to_str().unwrap();
    let absent = format!("{full}/absent/oarlock.so");
    let library = LAB;
    for (arguments, expected) in [
        (&["--rows", "apache"][..], "nginx-rsa2048"),
        (&["--turns", "0"], "--turns"),
        (&["--connections", "none"], "--connections"),
        (&["--provider", library, "--seconds", "0"], "--seconds: expected a number above 0"),
        (&["--provider", &absent], &absent),
        (&["--provider", full], "it is no file"),
        (&["--tls", "1.1"], "1.2"),
        (&["--provider", library, "--tls", "1.2", "--group", "x25519mlkem768"], "TLS 1.2 lacks the group"),
        (&["--provider", library, "--libssl", full], "libssl.so.3: No such file"),
    ] {
        let output = command(&["bench", "tls"]).args(arguments).output().unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
    assert_eq!(code(&command(&["bench"]).output().unwrap()), 2);
    if has("nginx") {
        let kept = ["--rows", "nginx-p256", "--provider", library, "--keep", full];
        let output = command(&["bench", "tls"]).args(kept).output().unwrap();
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains("expected an empty directory"), "{}", stderr(&output));
    }
}

#[test]
fn a_library_that_is_not_a_provider_fails_with_the_log_of_the_server() {
    if !has("nginx") {
        return;
    }
    let rows = ["--rows", "nginx-p256", "--workers", "1", "--provider", LAB];
    let output = command(&["bench", "tls"]).args(rows).output().unwrap();
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    assert!(stderr(&output).contains("server.log"), "{}", stderr(&output));
}

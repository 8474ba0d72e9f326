//! `oarlock serve` under load, and several of them together.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use oarlock::{Accelerator, Input, Job, SigningScheme};
use oarlock_server::development::Development;
use oarlock_wire::{Endpoint, RemoteConfig, RemoteHolder};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{code, command, oarlock, stderr, text};
use crate::served::Served;

/// Two servers with the same keys, and with different shares of a threshold key.
fn twins(folders: &[TempDir; 2]) -> [Served; 2] {
    let [first, second] = folders;
    Development::at(first.path()).prepare().unwrap();
    Development::at(second.path()).prepare().unwrap();
    for entry in fs::read_dir(first.path().join("keys")).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("shared.pem") {
            fs::copy(&path, second.path().join("keys").join(path.file_name().unwrap())).unwrap();
        }
    }
    [Served::start(first.path()), Served::start(second.path())]
}

fn sockets(servers: &[Served]) -> Vec<PathBuf> {
    servers.iter().map(Served::socket).collect()
}

const ED25519: (&str, SigningScheme) = ("ed25519", SigningScheme::ED25519);

/// Clients that sign with a key of the servers until they are stopped, and check and count every signature.
pub(crate) fn under_load(
    sockets: &[PathBuf],
    (name, scheme): (&str, SigningScheme),
    during: impl FnOnce(&AtomicU64),
) -> u64 {
    let checker = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    let endpoints = sockets.iter().map(Endpoint::unix).collect();
    let remote = RemoteHolder::new(RemoteConfig::new("servers", endpoints), checker.clone()).unwrap();
    let key = remote.key(name).unwrap();
    let client = Accelerator::builder().engines(["scalar"]).holder(Arc::new(remote)).lazy().build().unwrap();
    let (is_over, signed) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (client, checker, key, is_over, signed) = (&client, &checker, &key, &is_over, &signed);
            scope.spawn(move || {
                let mut round = 0_u64;
                while !is_over.load(Ordering::Relaxed) {
                    round += 1;
                    let messages: Vec<String> = (0..16).map(|at| format!("{thread} {round} {at}")).collect();
                    let jobs: Vec<Job<'_>> = messages
                        .iter()
                        .map(|text| Job::sign(scheme, key, Input::Message(text.as_bytes())))
                        .collect();
                    let signatures = client.run_all(&jobs);
                    for (text, signature) in messages.iter().zip(signatures.iter()) {
                        let signature = signature.unwrap();
                        let input = Input::Message(text.as_bytes());
                        let check = Job::verify(scheme.verifying(), key, input, signature);
                        assert!(checker.run_all(&[check]).get(0).is_ok());
                    }
                    signed.fetch_add(16, Ordering::Relaxed);
                }
            });
        }
        during(&signed);
        is_over.store(true, Ordering::Relaxed);
    });
    signed.into_inner()
}

pub(crate) fn wait_for(signed: &AtomicU64, more: u64) {
    let goal = signed.load(Ordering::Relaxed) + more;
    while signed.load(Ordering::Relaxed) < goal {
        std::thread::yield_now();
    }
}

#[test]
fn killing_one_of_two_servers_under_load_loses_no_operation() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let servers = twins(&folders);
    let signed = under_load(&sockets(&servers), ED25519, |signed| {
        wait_for(signed, 200);
        servers[0].signal("-KILL");
        wait_for(signed, 400);
    });
    assert!(signed >= 600);
}

#[test]
fn stopping_one_of_two_servers_under_load_loses_no_operation() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let servers = twins(&folders);
    under_load(&sockets(&servers), ED25519, |signed| {
        wait_for(signed, 200);
        servers[1].signal("-TERM");
        wait_for(signed, 400);
    });
    let [_, stopped] = servers;
    let (status, log) = stopped.end();
    assert!(status.success() && !log.contains("deadline passed"), "{log}");
}

#[test]
fn a_load_of_its_own_server_has_the_documented_fields() {
    let output = oarlock(&[
        "--json",
        "load",
        "--spawn",
        "--op",
        "null,p256-verify-hot,tdes-cbc-40",
        "--by",
        "tls,plaintext,unix,local",
        "--clients",
        "2",
        "--in-flight",
        "2",
        "--batch",
        "16",
        "--seconds",
        "0.05",
    ]);
    let rows: Vec<Value> = serde_json::from_str(&text(&output)).unwrap();
    assert_eq!(rows.len(), 11);
    for row in &rows {
        assert_eq!(row["errors"], 0);
        for field in ["clients", "in_flight", "batch", "rate_per_s", "server_cpu_us_per_op"] {
            assert!(row[field].as_f64().unwrap() > 0.0, "{field}: {row}");
        }
        if row["remote"] == true {
            for field in ["wire_bytes_per_op", "p50_us", "p99_us", "rss_start_kb", "rss_end_kb"] {
                assert!(row[field].as_f64().unwrap() > 0.0, "{field}: {row}");
            }
        }
    }
    assert_eq!(rows.iter().filter(|row| row["secure"] == true).count(), 3);
    let plot = tempfile::tempdir().unwrap();
    let plot = plot.path().join("load.svg");
    let mixed = command(&[
        "--json",
        "load",
        "--spawn",
        "--mix",
        "--op",
        "ed25519-sign,tdes-cbc-40,p256-verify",
        "--clients",
        "3,6",
        "--batch",
        "4",
        "--rate",
        "2000",
        "--server-engines",
        "scalar,scalar+lanes",
        "--seconds",
        "0.05",
        "--plot",
    ])
    .arg(&plot)
    .output()
    .unwrap();
    let rows: Vec<Value> = serde_json::from_str(&text(&mixed)).unwrap();
    assert_eq!((rows.len(), rows[1]["name"].as_str()), (4, Some("mix-tls")));
    assert_eq!(
        (rows[0]["engines"].as_str(), rows[3]["engines"].as_str()),
        (Some("scalar"), Some("scalar+lanes"))
    );
    assert!(fs::read_to_string(plot).unwrap().contains("<svg"));
    let table =
        oarlock(&["load", "--spawn", "--server-engines", "scalar", "--batch", "4", "--seconds", "0.05"]);
    assert!(text(&table).contains("ed25519-sign-tls scalar"), "{}", text(&table));
}

#[test]
fn several_servers_are_compared_and_sign_together() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let out = tempfile::tempdir().unwrap();
    let safe = concat!(env!("CARGO_MANIFEST_DIR"), "/../../engine/keys/tests/data/threshold/safe1024.pem");
    let split =
        command(&["keys", "split", safe, "--threshold", "2", "--shares", "3", "--name", "shared", "--out"])
            .arg(out.path())
            .output()
            .unwrap();
    assert_eq!(code(&split), 0, "{}", stderr(&split));
    for (folder, server) in folders.iter().zip(["server-1", "server-3"]) {
        Development::at(folder.path()).prepare().unwrap();
        fs::copy(out.path().join(server).join("shared.pem"), folder.path().join("keys/shared.pem")).unwrap();
    }
    let [first, second] = twins(&folders);
    let other = second.socket();
    let other = other.to_str().unwrap();
    let file = |name: &str| out.path().join(name).to_str().unwrap().to_owned();
    let (message, signature, threshold) = (file("message"), file("signature"), file("shared.threshold.pem"));
    fs::write(&message, "transfer nothing").unwrap();
    let sign = |more: &[&str], key: &str| {
        let end = ["sign", "--key", key, "--in", &message, "--out", &signature];
        first.call(&[more, &end].concat())
    };
    text(&sign(&["--also", other, "--threshold-key", &threshold], "shared"));
    let public = file("public.pem");
    fs::write(&public, text(&oarlock(&["keys", "show", safe, "--pem"]))).unwrap();
    let verify = ["verify", "--own-key", &public, "--in", &message, "--signature", &signature];
    assert!(text(&first.call(&verify)).contains("is valid"));
    let alone = sign(&[], "shared");
    assert!(code(&alone) == 2 && stderr(&alone).contains("--threshold-key"), "{}", stderr(&alone));
    text(&sign(&["--also", other, "--agree", "2"], "ed25519"));
    let few = sign(&["--agree", "2"], "ed25519");
    assert!(code(&few) == 2 && stderr(&few).contains("at least 2 servers"), "{}", stderr(&few));
    drop(second);
    let passed = sign(&["--also", other], "ed25519");
    assert_eq!(code(&passed), 0, "{}", stderr(&passed));
    let missing = sign(&["--also", other, "--threshold-key", &threshold], "shared");
    assert_eq!(code(&missing), 3);
    assert!(stderr(&missing).contains("2 servers must sign together, 1 did"), "{}", stderr(&missing));
}

#[test]
fn load_compares_calls_with_empty_calls() {
    let output = oarlock(&[
        "--json",
        "load",
        "--spawn",
        "--op",
        "empty-call,encrypt-call",
        "--by",
        "tls,plaintext,unix,local",
        "--clients",
        "2",
        "--in-flight",
        "4",
        "--batch",
        "1,3",
        "--turns",
        "2",
        "--seconds",
        "0.05",
    ]);
    let rows: Vec<Value> = serde_json::from_str(&text(&output)).unwrap();
    let names: Vec<_> = rows.iter().map(|row| (row["name"].as_str().unwrap(), &row["batch"])).collect();
    assert_eq!(names.len(), 6, "{names:?}");
    for row in &rows {
        assert_eq!(row["errors"], 0, "{row}");
        assert!(row["server_cpu_us_per_op"].as_f64().unwrap() > 0.0, "{row}");
        let is_empty = row["name"].as_str().unwrap().starts_with("empty-call");
        assert_eq!(row["of_empty_call"].is_null(), is_empty, "{row}");
    }
    let streams = command(&["load", "--spawn", "--mix", "--op", "empty-call,null"]).output().unwrap();
    assert!(code(&streams) == 2 && stderr(&streams).contains("--mix"), "{}", stderr(&streams));
    let socket = command(&["load", "--spawn", "--op", "encrypt-call", "--by", "unix"]).output().unwrap();
    assert!(code(&socket) == 2 && stderr(&socket).contains("tls and plaintext"), "{}", stderr(&socket));
}

#[test]
fn load_measures_keys_of_streams_batches_and_servers() {
    let output = oarlock(&[
        "--json",
        "load",
        "--spawn",
        "--op",
        "ed25519-sign,p256-verify",
        "--by",
        "unix,tls,local",
        "--keys-at",
        "stream,batch,server",
        "--keys",
        "2",
        "--clients",
        "2",
        "--batch",
        "4",
        "--turns",
        "3",
        "--seconds",
        "0.05",
    ]);
    let rows: Vec<Value> = serde_json::from_str(&text(&output)).unwrap();
    assert_eq!(rows.len(), 14);
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}"));
    for op in ["ed25519-sign", "p256-verify"] {
        for way in ["unix", "tls"] {
            let of = |home: &str, field: &str| row(&format!("{op}-{way}{home}"))[field].as_f64().unwrap();
            for home in ["", "-key-per-batch", "-resident"] {
                assert!(of(home, "rate_per_s") > 0.0 && of(home, "of_local") > 0.0, "{op} {way} {home}");
            }
            // Two keys cross for four operations.
            let more = of("-key-per-batch", "wire_bytes_per_op") - of("", "wire_bytes_per_op");
            assert!(more > 20.0, "{op} {way}: {more}");
        }
        assert_eq!(row(&format!("{op}-local"))["of_local"], Value::Null);
    }
}

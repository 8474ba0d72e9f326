//! Properties of all commands: the positions of options, errors of usage, and JSON documents.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::program::{code, command, oarlock, stderr};
use crate::served::Served;

/// The configuration of a filter that verifies.
const MILTER: &str =
    "mode = \"verify\"\nauthserv_id = \"mx.example\"\n[listen]\nsockets = [\"inet:8891@127.0.0.1\"]\n";

/// Returns the JSON document on stdout, which must be one line.
fn document(output: &Output) -> Value {
    let value = lines_of_document(output);
    let text = std::str::from_utf8(&output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    value
}

/// Returns the JSON document on stdout, which may have several lines.
fn lines_of_document(output: &Output) -> Value {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    let value = serde_json::from_str(text).unwrap_or_else(|error| {
        panic!("{error}: {text:?}, and on stderr {}", stderr(output));
    });
    assert!(text.ends_with('\n'), "{text:?}");
    value
}

#[test]
fn errors_of_usage_begin_like_all_other_errors() {
    for line in [
        &["--nonsense"][..],
        &["speed", "--ops"],
        &["keys", "show"],
        &["row"],
        &["--threads", "0", "engines"],
    ] {
        for color in [&[][..], &["--color", "always"]] {
            let output = oarlock(&[color, line].concat());
            assert_eq!((code(&output), output.stdout.len()), (2, 0), "{line:?}");
            assert!(stderr(&output).starts_with("oarlock: "), "{line:?}: {}", stderr(&output));
            assert!(!stderr(&output).contains("error:"), "{line:?}: {}", stderr(&output));
        }
    }
}

#[test]
fn color_is_always_never_or_automatic() {
    let engines = |color: &[&str]| {
        let output = oarlock(&[&["--engines", "scalar", "engines"], color].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(engines(&["--color", "always"]).contains("\u{1b}[2m"));
    assert!(!engines(&["--color", "never"]).contains('\u{1b}') && !engines(&[]).contains('\u{1b}'));
}

#[test]
fn warns_about_an_option_without_effect() {
    let folder = tempfile::tempdir().unwrap();
    let list = ["keys", "list", "--engines", "scalar", "--threads", "2", "--directory"];
    let output = command(&list).arg(folder.path()).output().unwrap();
    let text = stderr(&output);
    assert_eq!(code(&output), 0, "{text}");
    for option in ["engines", "threads"] {
        assert!(text.contains(&format!("oarlock: --{option} has no effect in `keys list`\n")), "{text}");
    }
    let output = oarlock(&["--engines", "scalar", "--threads", "2", "engines"]);
    assert_eq!(stderr(&output), "oarlock: --threads has no effect in `engines`\n");
}

#[test]
fn tables_fit_the_terminal() {
    for columns in [40, 60, 80] {
        let output = command(&["--engines", "scalar", "engines"])
            .env("COLUMNS", columns.to_string())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (tables, _file_of_costs) = text.trim_end().rsplit_once('\n').unwrap();
        let widest =
            |line: &&str| line.chars().count() > columns && !line.contains(". ") && !line.contains("(");
        assert_eq!(tables.lines().find(widest), None, "{columns}");
        assert!(text.contains("rsa2048-private"), "{text}");
    }
}

#[test]
fn rejects_an_unknown_engine_in_the_environment() {
    for value in ["foo", "lanes,Scalar", "lanes,,foo"] {
        for line in [&["engines"][..], &["speed", "--ops", "p256-sign"], &["dkim", "verify", "/dev/null"]] {
            let output = command(line).env("OARLOCK_DISABLE", value).output().unwrap();
            let text = stderr(&output);
            assert_eq!(code(&output), 2, "{value} {line:?}: {text}");
            assert!(text.contains("OARLOCK_DISABLE: unknown engine or leaf"), "{text}");
            assert!(text.contains("expected some of lanes, scalar"), "{text}");
        }
    }
}

#[test]
fn lists_absent_engines_with_their_reasons() {
    let output = command(&["engines", "--json"]).env("OARLOCK_DISABLE", "lanes").output().unwrap();
    let rows = document(&output);
    let lanes = rows.as_array().unwrap().iter().find(|row| row["engine"] == "lanes").unwrap();
    assert_eq!(lanes["absence"], "turned off by OARLOCK_DISABLE");
    assert!(lanes["shape"].is_null() && lanes["passed"].is_null(), "{lanes}");
}

/// Forces each leaf that this machine has, and turns each off.
#[test]
fn leaves_of_the_lanes_can_be_forced_and_turned_off() {
    let output = command(&["speed", "--leaf", "avx4096", "--ops", "des-cbc-40"]).output().unwrap();
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("unknown leaf \"avx4096\": expected one of"), "{}", stderr(&output));
    let rows = document(&command(&["engines", "--json"]).output().unwrap());
    let leaves: BTreeSet<&str> =
        rows.as_array().unwrap().iter().filter_map(|row| row["leaf"].as_str()).collect();
    if leaves.is_empty() {
        eprintln!("SKIPPED: this processor has no leaf of the lanes");
    }
    for leaf in leaves {
        let of_leaf = |row: &&Value| row["leaf"] == leaf;
        let used = rows.as_array().unwrap().iter().find(of_leaf).unwrap();
        assert!(used["lanes"].as_u64().unwrap() > 0, "{used}");
        let output = command(&["engines", "--json"]).env("OARLOCK_DISABLE", leaf).output().unwrap();
        assert!(!document(&output).as_array().unwrap().iter().any(|row| of_leaf(&row)), "{leaf}");
        let ops = "rsa1024-verify,des-cbc-40,aes128-cbc-48,sha256-64";
        let line = ["speed", "--leaf", leaf, "--ops", ops, "--seconds", "0.01", "--no-check", "--json"];
        let output = command(&line).output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let rows = document(&output);
        let lanes: Vec<&Value> =
            rows.as_array().unwrap().iter().filter(|row| row["engine"] == "lanes").collect();
        assert!(!lanes.is_empty() && lanes.iter().all(|row| row["leaf"] == leaf), "{leaf}: {lanes:?}");
    }
}

#[test]
fn connection_options_come_from_the_environment_or_follow_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path());
    let tls = format!("https://{}", served.said["tcp"].as_str().unwrap());
    let development = oarlock_server::development::Development::at(folder.path());
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let (ca, cert, key) =
        (text(&development.ca()), text(&development.client_certificate()), text(&development.client_key()));
    let by_environment = command(&["call", "keys", "--json"])
        .env("OARLOCK_SERVER", &tls)
        .envs([("OARLOCK_CA", &ca), ("OARLOCK_CERT", &cert), ("OARLOCK_KEY", &key)])
        .output()
        .unwrap();
    let keys = document(&by_environment);
    assert!(keys.as_array().unwrap().iter().any(|key| key["name"] == "p256"), "{keys}");
    let behind =
        ["call", "keys", "--json", "--server", &tls, "--ca", &ca, "--cert", &cert, "--cert-key", &key];
    assert_eq!(document(&oarlock(&behind)), keys);
    let half = oarlock(&["call", "keys", "--server", &tls, "--ca", &ca, "--cert", &cert]);
    assert_eq!(code(&half), 2);
    assert!(stderr(&half).contains("--cert needs --cert-key"), "{}", stderr(&half));
    for line in [&["call", "engines", "--json"][..], &["call", "public-key", "p256", "--json"]] {
        let output = command(line).env("OARLOCK_SERVER", served.socket()).output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        document(&output);
    }
}

#[test]
fn servers_log_absent_engines() {
    let folder = tempfile::tempdir().unwrap();
    oarlock_server::development::Development::at(folder.path()).prepare().unwrap();
    let config = oarlock_server::development::Development::at(folder.path()).config();
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("127.0.0.1:7443", "127.0.0.1:0")).unwrap();
    let serve = |arguments: &[&str]| {
        let output = command(&["serve", "--check", "--state", folder.path().to_str().unwrap()])
            .args(arguments)
            .env("OARLOCK_DISABLE", "lanes")
            .output()
            .unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stderr(&output)
    };
    let asked = serve(&["--engines", "lanes"]);
    assert!(asked.contains("warning: [engines] lanes: turned off by OARLOCK_DISABLE"), "{asked}");
    assert!(asked.contains("the scalar engine does its work"), "{asked}");
    assert!(!serve(&[]).contains("[engines]"));
    let settings = folder.path().join("milter.toml");
    fs::write(&settings, MILTER).unwrap();
    let milter = command(&["milter", "--check", "--engines", "lanes", "--config"])
        .arg(&settings)
        .env("OARLOCK_DISABLE", "lanes")
        .output()
        .unwrap();
    assert!(stderr(&milter).contains("the scalar engine does its work"), "{}", stderr(&milter));
}

#[test]
fn every_json_output_is_one_document() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.csv"), "v\n0011223344556677\n").unwrap();
    let key = folder.path().join("hex.key");
    fs::write(&key, "0123456789abcdeffedcba9876543210\n").unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(folder.path().join("milter.toml"), MILTER).unwrap();
    fs::write(folder.path().join("mail"), "From: a@example.com\nSubject: s\n\nbody\n").unwrap();
    for line in [
        "keys generate ed25519 --name one --directory .",
        "keys list --directory .",
        "keys show one.pem",
        "dkim keygen example.com s1 --type ed25519 --out s1.key",
        "dkim sign --domain example.com --key s1=s1.key mail",
        "dnssec keygen example.com --out-dir .",
        "records encrypt in.csv -o out.csv --column v --cipher tdes2-cbc --key-file hex.key",
        "speed --ops sha1-64 --seconds 0.02 --records 64 --no-check --engines scalar",
        "speed --fit --ops ed25519-sign --engines scalar",
        "engines",
        "milter --check --config milter.toml",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output =
            command(&[&["--json"], &words[..]].concat()).current_dir(folder.path()).output().unwrap();
        assert_eq!(code(&output), 0, "{line}: {}", stderr(&output));
        if line.starts_with("dkim sign") {
            // The results of mails are written one by one, each in its own line of the document.
            lines_of_document(&output);
        } else {
            document(&output);
        }
    }
}

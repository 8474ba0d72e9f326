//! The server as its operators run it, and its clients.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use oarlock::keys::reference::Reference;
use oarlock_server::development::Development;
use oarlock_wire::proto::{ListKeysRequest, request};
use oarlock_wire::{Credentials, Endpoint, ServerLink};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
use serde_json::Value;

use crate::program::printed::{PrintedLines, announcement};
use crate::program::{code, command, oarlock, stderr, text};
use crate::served::Served;

#[test]
fn the_commands_that_the_server_prints_work() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path());
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (message, signature, public) = (file("hello.txt"), file("hello.sig"), file("key.pub"));
    fs::write(&message, "hello\n").unwrap();
    assert!(text(&served.call(&["keys"])).contains("rsa2048"));
    for key in ["rsa2048", "p256"] {
        text(&served.call(&["sign", "--key", key, "--in", &message, "--out", &signature]));
        text(&served.call(&["public-key", key, "--out", &public]));
        let openssl = Command::new("openssl")
            .args(["dgst", "-sha256", "-verify", &public, "-signature", &signature, &message])
            .output();
        if let Ok(verified) = openssl {
            assert!(verified.status.success(), "{}", stderr(&verified));
        }
    }
    let reference = text(&served.call(&["public-key", "rsa2048", "--reference"]));
    let read = Reference::parse_pem(reference.as_bytes()).unwrap();
    assert_eq!((&*read.name, read.to_uri().as_str()), ("rsa2048", "oarlock:rsa2048"));
    let shown = text(&oarlock(&["keys", "show", &file("keys/rsa2048.pem"), "--reference"]));
    assert_eq!(shown, reference);
    let tls = format!("https://{}", served.said["tcp"].as_str().unwrap());
    let verify = |key: &str| {
        served.call(&["--server", &tls, "verify", "--key", key, "--in", &message, "--signature", &signature])
    };
    assert!(text(&verify("p256")).contains("is valid"));
    fs::write(&message, "hallo\n").unwrap();
    assert_eq!(code(&verify("p256")), 1);
    let engines = served.call(&["engines"]);
    assert!(text(&engines).contains("scalar"));
    let load = command(&["--json", "load", "--seconds", "0.05", "--clients", "2", "--batch", "3", "--state"])
        .arg(folder.path())
        .output()
        .unwrap();
    let rows: Vec<Value> = serde_json::from_str(&text(&load)).unwrap();
    assert_eq!((rows[0]["errors"].as_u64(), rows[0]["name"].as_str()), (Some(0), Some("ed25519-sign-ring")));
    assert!(rows[0]["rate_per_s"].as_f64().unwrap() > 0.0);
}

/// `keys --help` states that symmetric keys have no fingerprint; that is true of the keys of a server too.
#[test]
fn symmetric_keys_are_listed_without_a_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path());
    let json = command(&["--json", "call", "--state"]).arg(folder.path()).arg("keys").output().unwrap();
    let rows: Vec<Value> = serde_json::from_str(&text(&json)).unwrap();
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    assert!(row("aes128")["fingerprint"].is_null() && row("hmac")["fingerprint"].is_null(), "{rows:?}");
    assert_eq!(row("p256")["fingerprint"].as_str().unwrap().len(), 64);
    let table = text(&served.call(&["keys"]));
    let line = table.lines().find(|line| line.starts_with("aes128")).unwrap();
    assert!(line.trim_end().ends_with('-'), "{table}");
}

#[test]
fn results_are_text_on_request_and_never_raw_on_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path());
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (message, signature) = (file("message"), file("signature"));
    fs::write(&message, "hello\n").unwrap();
    // Ed25519 signatures are deterministic.
    let sign = |more: &[&str]| served.call(&[&["sign", "--key", "ed25519", "--in", &message], more].concat());
    let raw = sign(&[]).stdout;
    assert_eq!(raw.len(), 64);
    let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(text(&sign(&["--hex"])), format!("{hex}\n"));
    let base64 = text(&sign(&["--base64"]));
    assert!(base64.len() == 89 && base64.ends_with("==\n"), "{base64}");
    text(&sign(&["--hex", "--out", &signature]));
    assert_eq!(fs::read_to_string(&signature).unwrap(), format!("{hex}\n"));
    assert_eq!(code(&sign(&["--hex", "--base64"])), 2);
    let words = format!(
        "{} call --state {} sign --key ed25519 --in {message}",
        env!("CARGO_BIN_EXE_oarlock"),
        folder.path().display()
    );
    let on_terminal = |words: &str| {
        let run = Command::new("script").args(["-qec", words, "/dev/null"]).stdin(Stdio::null()).output();
        run.map_err(|error| println!("SKIPPED: no terminal can be had from script(1): {error}"))
    };
    let Ok(refused) = on_terminal(&words) else { return };
    let said = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert!(said.contains("stdout is a terminal") && said.contains("--hex"), "{said}");
    assert_eq!(code(&refused), 2, "{said}");
    let shown = on_terminal(&format!("{words} --hex")).unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains(&hex));
}

/// Users who can write to the directory of a socket can start their own server there. It must get no request.
#[test]
fn rejects_a_socket_of_another_user() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    fs::create_dir(&state).unwrap();
    let nobody = 65534;
    if chown(folder.path(), Some(nobody), None).and(chown(&state, Some(nobody), None)).is_err() {
        println!("SKIPPED: only root can run a server of another user");
        return;
    }
    let user = nobody.to_string();
    let server = command(&["--json", "serve", "--log", "json", "--state"]);
    let mut other = Command::new("setpriv");
    other.args(["--reuid", &user, "--clear-groups", "--"]).arg(server.get_program()).args(server.get_args());
    Development::at(&state).prepare().unwrap();
    let config = Development::at(&state).config();
    let settings = fs::read_to_string(&config).unwrap().replace("127.0.0.1:7443", "127.0.0.1:0");
    fs::write(config, settings).unwrap();
    for entry in fs::read_dir(&state).unwrap().chain(fs::read_dir(state.join("keys")).unwrap()) {
        chown(entry.unwrap().path(), Some(nobody), None).unwrap();
    }
    let started = other
        .arg(&state)
        .env("XDG_CACHE_HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        println!("SKIPPED: setpriv is not installed");
        return;
    };
    let line = PrintedLines::from_stream(child.stdout.take().unwrap()).next_or_end().unwrap_or_default();
    let Ok(said) = serde_json::from_str(&line) else {
        println!("SKIPPED: user {nobody} cannot run the program");
        return;
    };
    let served = Served { child, state, said };
    let refused = served.call(&["keys"]);
    assert_eq!(code(&refused), 3, "{}", stderr(&refused));
    assert!(stderr(&refused).contains("found one of uid 65534"), "{}", stderr(&refused));
    assert!(text(&served.call(&["--server-user", &user, "keys"])).contains("rsa2048"));
}

#[test]
fn errors_of_calls_name_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path());
    let missing = served.call(&["sign", "--key", "nobody's", "--in", "/dev/null"]);
    assert_eq!(code(&missing), 2);
    assert!(stderr(&missing).contains("nobody's"), "{}", stderr(&missing));
    let scheme = served.call(&["sign", "--key", "ed25519", "--scheme", "rot13", "--in", "/dev/null"]);
    assert_eq!(code(&scheme), 2);
    assert!(stderr(&scheme).contains("rsa-pkcs1-DIGEST"));
    let symmetric = served.call(&["sign", "--key", "tdes2", "--in", "/dev/null"]);
    assert_eq!(code(&symmetric), 2);
    let absent = folder.path().join("absent/socket").to_str().unwrap().to_owned();
    let unreachable = oarlock(&["call", "--server", &absent, "keys"]);
    assert_eq!(code(&unreachable), 3);
    let nowhere =
        oarlock(&["call", "--server", "https://", "--state", folder.path().to_str().unwrap(), "keys"]);
    assert_eq!(code(&nowhere), 2, "{}", stderr(&nowhere));
    assert_eq!(code(&oarlock(&["load", "--op", "rot13"])), 2);
    assert_eq!(code(&oarlock(&["load", "--by", "tls"])), 2);
    assert_eq!(code(&oarlock(&["load", "--keys-at", "server"])), 2);
    let records = oarlock(&["load", "--spawn", "--op", "tdes-cbc-40", "--keys-at", "server"]);
    assert_eq!(code(&records), 2);
    assert!(stderr(&records).contains("--keys-at"), "{}", stderr(&records));
}

#[test]
fn rejects_bad_configurations_with_the_setting() {
    let folder = tempfile::tempdir().unwrap();
    let development = Development::at(folder.path());
    development.prepare().unwrap();
    let good = fs::read_to_string(development.config()).unwrap();
    let check = |text: &str| {
        let path = folder.path().join("test.toml");
        fs::write(&path, text).unwrap();
        command(&["serve", "--check", "--config"]).arg(&path).output().unwrap()
    };
    let checked = check(&good.replace(":7443", ":0"));
    assert!(text(&checked).contains("would listen at"), "{}", stderr(&checked));
    for (found, expected) in [
        ("[listen]\n".to_owned(), "expected at least one of tcp, plaintext, unix"),
        ("[listen]\ntcp = \"127.0.0.1:0\"\n".into(), "expected a section [tls]"),
        ("[listen]\nplaintext = \"0.0.0.0:0\"\n".into(), "expected a loopback address"),
        ("[listen]\nunix = \"s\"\nunix_mode = \"rw\"\n".into(), "octal"),
        ("[listen]\nunix = \"s\"\nport = 1\n".into(), "unknown field `port`"),
        ("[listen\n".into(), "test.toml"),
        (
            "[listen]\nunix = \"s\"\n[limits]\nmax_in_flight = 0\n".into(),
            "[limits] max_in_flight: expected 1 or more",
        ),
        ("[listen]\nunix = \"s\"\n[engines]\nallowed = [\"gpu\"]\n".into(), "unknown engine \"gpu\""),
        ("[listen]\nunix = \"s\"\n[keys]\ndirectory = \"nowhere\"\n".into(), "nowhere"),
        (good.replace("server-key.pem", "client-key.pem").replace(":7443", ":0"), "server.pem"),
        (
            good.replace("ca.pem", "records.keys").replace(":7443", ":0"),
            "records.keys: expected certificates",
        ),
    ] {
        let output = check(&found);
        assert_eq!(code(&output), 2, "{found}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
    let absent = folder.path().join("absent/oarlock.toml").to_str().unwrap().to_owned();
    let missing = oarlock(&["serve", "--config", &absent]);
    assert_eq!(code(&missing), 2);
}

#[test]
fn a_second_server_is_rejected_and_a_dead_socket_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path());
    let second = command(&["serve", "--state"]).arg(folder.path()).output().unwrap();
    assert_eq!(code(&second), 3);
    assert!(stderr(&second).contains("another server listens at this path"), "{}", stderr(&second));
    served.signal("-KILL");
    served.end();
    let again = Served::start(folder.path());
    assert!(text(&again.call(&["keys"])).contains("ed25519"));
    again.signal("-TERM");
    let (status, log) = again.end();
    assert!(status.success() && log.contains("draining") && log.contains("stopped"), "{log}");
    assert!(!folder.path().join("oarlock.sock").exists());
}

#[test]
fn does_not_replace_a_file_with_the_socket() {
    let folder = tempfile::tempdir().unwrap();
    let (config, file) = (folder.path().join("c.toml"), folder.path().join("f.txt"));
    fs::write(&config, "[listen]\nunix = \"f.txt\"\n").unwrap();
    fs::write(&file, "precious").unwrap();
    for arguments in [&["serve", "--check", "--config"][..], &["serve", "--config"]] {
        let refused = command(arguments).arg(&config).output().unwrap();
        assert_eq!(code(&refused), 2, "{}", stderr(&refused));
        assert!(
            stderr(&refused).contains("a file that is not a socket has this name"),
            "{}",
            stderr(&refused)
        );
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
}

/// Returns every file below a directory, with its contents.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => drop(found.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    found
}

#[test]
fn a_check_writes_nothing_and_warns() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let check = |arguments: &[&str]| {
        let mut checked = command(&["serve", "--check"]);
        checked.args(arguments).env("XDG_CACHE_HOME", folder.path().join("cache")).output().unwrap()
    };
    // A check creates nothing.
    let missing = check(&["--state", state.to_str().unwrap()]);
    assert_eq!((code(&missing), state.exists()), (2, false), "{}", stderr(&missing));
    let development = Development::at(&state);
    development.prepare().unwrap();
    let config = fs::read_to_string(development.config()).unwrap();
    let config = config.replace("keys = [\"*\"]", "keys = [\"*\", \"mial-*\"]");
    fs::write(development.config(), format!("{config}\n[audit]\nfile = \"audit.jsonl\"\n")).unwrap();
    let before = files(folder.path());
    let checked = check(&["--state", state.to_str().unwrap()]);
    assert!(text(&checked).contains("would listen at"), "{}", stderr(&checked));
    let warning = "oarlock: warning: [[grant]] 1, keys: no key has a name that \"mial-*\" fits";
    assert!(stderr(&checked).contains(warning), "{}", stderr(&checked));
    assert_eq!(files(folder.path()).keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert!(files(folder.path()) == before);
}

#[test]
fn hangups_reload_and_user_signals_have_no_effect() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = Served::start(folder.path());
    let mut log = served.log();
    log.wait_for("listening");
    for signal in ["-USR1", "-USR2", "-HUP"] {
        served.signal(signal);
    }
    log.wait_for("certificates, keys and grants were read again");
    assert!(text(&served.call(&["keys"])).contains("rsa2048"));
    // A configuration with errors changes nothing.
    let path = folder.path().join("oarlock.toml");
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, good.replace("keys = [\"*\"]", "keys = [\"ed*\"]").replace("dns:", "sna:")).unwrap();
    served.signal("-HUP");
    assert!(log.wait_for("nothing was reloaded").contains("expected dns:NAME"));
    assert!(text(&served.call(&["keys"])).contains("rsa2048"));
    fs::write(&path, good.replace("keys = [\"*\"]", "keys = [\"ed*\"]")).unwrap();
    served.signal("-HUP");
    log.wait_for("certificates, keys and grants were read again");
    let keys = text(&served.call(&["keys"]));
    assert!(keys.contains("ed25519") && !keys.contains("rsa2048"), "{keys}");
    fs::write(&path, good.replace("keys = [\"*\"]", "keys = [\"none\"]")).unwrap();
    served.signal("-HUP");
    log.wait_for("certificates, keys and grants were read again");
    let none = served.call(&["keys"]);
    assert_eq!((code(&none), &*none.stdout), (0, &b""[..]));
    assert!(stderr(&none).contains("oarlock: this client may use no key: "), "{}", stderr(&none));
    served.signal("-TERM");
    log.wait_for("stopped");
    assert!(served.child.wait().unwrap().success());
}

#[test]
fn a_json_log_is_the_only_output_and_the_service_manager_is_notified() {
    let folder = tempfile::tempdir().unwrap();
    let notify = UnixDatagram::bind(folder.path().join("notify")).unwrap();
    let state = folder.path().join("state");
    let development = Development::at(&state);
    development.prepare().unwrap();
    let config = fs::read_to_string(development.config()).unwrap().replace(":7443", ":0");
    fs::write(development.config(), config).unwrap();
    let mut child = command(&["serve", "-v", "--log", "json", "--state"])
        .arg(&state)
        .env("NOTIFY_SOCKET", folder.path().join("notify"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut buffer = [0; 64];
    let mut told = || {
        let len = notify.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..len].to_vec()).unwrap()
    };
    assert_eq!(told(), "READY=1");
    let mut log = PrintedLines::from_stream(child.stderr.take().unwrap());
    let line: Value = serde_json::from_str(&log.wait_for("\"kind\":\"tls\"")).unwrap();
    let tls = line["fields"]["address"].as_str().unwrap();
    // The libraries of TLS and HTTP/2 would log each frame.
    let call = command(&["call", "--server", &format!("https://{tls}"), "--state"])
        .arg(&state)
        .arg("keys")
        .output()
        .unwrap();
    assert!(text(&call).contains("rsa2048"));
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(told(), "STOPPING=1");
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    let log = log.all();
    assert!(child.wait().unwrap().success() && out.is_empty(), "{out}");
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{log}");
    assert!(log.contains("listening") && !log.contains("frame"), "{log}");
}

#[test]
fn a_hangup_opens_the_audit_log_again() {
    let folder = tempfile::tempdir().unwrap();
    let development = Development::at(folder.path());
    development.prepare().unwrap();
    let config = fs::read_to_string(development.config()).unwrap();
    fs::write(development.config(), format!("{config}\n[audit]\nfile = \"audit.jsonl\"\n")).unwrap();
    let mut served = Served::start(folder.path());
    let mut log = served.log();
    let (path, former) = (folder.path().join("audit.jsonl"), folder.path().join("audit.jsonl.1"));
    // Entries that wait would go to the new file.
    while !fs::read_to_string(&path).unwrap().contains("\"event\":\"start\"") {
        std::thread::yield_now();
    }
    fs::rename(&path, &former).unwrap();
    served.signal("-HUP");
    log.wait_for("the audit log was opened again");
    assert_eq!(code(&served.call(&["sign", "--key", "ed25519", "--in", "/dev/null"])), 0);
    served.signal("-TERM");
    assert!(served.child.wait().unwrap().success());
    let (old, new) = (fs::read_to_string(former).unwrap(), fs::read_to_string(path).unwrap());
    assert!(!old.contains("ed25519-sign"), "{old}");
    assert!(new.contains("\"event\":\"reopen\"") && new.contains("ed25519-sign"), "{new}");
    assert!(new.contains("\"event\":\"stop\""), "{new}");
}

/// Returns the endpoint of a client whose certificate another authority issued.
fn stranger(served: &Served, foreign: &Path) -> Endpoint {
    let (development, foreign) = (Development::at(&served.state), Development::at(foreign));
    foreign.prepare().unwrap();
    Endpoint::Grpc {
        url: format!("https://{}", served.said["tcp"].as_str().unwrap()),
        credentials: Some(Credentials {
            server_ca: fs::read(development.ca()).unwrap(),
            certificate: fs::read(foreign.client_certificate()).unwrap(),
            private_key: fs::read(foreign.client_key()).unwrap().into(),
        }),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_handshakes_are_logged_with_peer_and_reason_at_a_limited_rate() {
    const FAILURES: u64 = 50;
    let (folder, foreign) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let served = Served::start(folder.path());
    let endpoint = stranger(&served, foreign.path());
    let began = Instant::now();
    for _ in 0..FAILURES {
        // In TLS 1.3 the client may learn of the refusal only after its handshake.
        if let Ok(link) = ServerLink::open(&endpoint).await {
            let list = request::Body::ListKeys(ListKeysRequest {});
            link.call(list).await.expect_err("a stranger was served");
        }
    }
    served.signal("-TERM");
    let (status, log) = served.end();
    assert!(status.success(), "{log}");
    let lines: Vec<Value> = log
        .lines()
        .filter(|line| line.contains("a client was refused in its TLS handshake"))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    // One line a second at most, however slow the machine is.
    let max_lines = began.elapsed().as_secs() as usize + 2;
    assert!((1..=max_lines).contains(&lines.len()), "{log}");
    let mut told = 0;
    for line in &lines {
        let fields = &line["fields"];
        assert_eq!(line["level"], "WARN");
        assert!(fields["peer"].as_str().unwrap().starts_with("127.0.0.1:"), "{line}");
        assert!(fields["reason"].as_str().unwrap().contains("invalid peer certificate"), "{line}");
        told += 1 + fields["suppressed"].as_u64().unwrap();
    }
    // A client that was refused connects once more, for the reason.
    assert!(told <= 2 * FAILURES, "{told} of {FAILURES}");
}

/// A server without free descriptors cannot accept connections, and tries again and again.
#[test]
fn a_lack_of_descriptors_does_not_fill_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let development = Development::at(folder.path());
    development.prepare().unwrap();
    let config = fs::read_to_string(development.config()).unwrap().replace("127.0.0.1:7443", "127.0.0.1:0");
    let config = config.replace("[listen]\n", "[listen]\nmetrics = \"127.0.0.1:0\"\n");
    fs::write(development.config(), config).unwrap();
    let server = command(&["--json", "serve", "--log", "json", "--state"]);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""])
        .arg(server.get_program())
        .args(server.get_args());
    let mut child = limited
        .arg(folder.path())
        .env("XDG_CACHE_HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = announcement(&mut child);
    let mut lines = PrintedLines::from_stream(child.stderr.take().unwrap());
    let served = Served { child, state: folder.path().to_owned(), said };
    let address = |kind: &str| served.said[kind].as_str().unwrap().to_owned();
    let connect = |kind: &str| -> Vec<TcpStream> {
        (0..100).filter_map(|_| TcpStream::connect(address(kind)).ok()).collect()
    };
    // The connections for metrics take the last descriptors, so that neither listener can accept.
    let mut connections = [connect("metrics"), connect("tcp")];
    let (mut log, mut turns) = (String::new(), 0);
    let texts = ["a connection could not be accepted", "a client of the metrics could not be accepted"];
    // Each reload takes a turn of the server, so it has had many failures when all reloads are done.
    served.signal("-HUP");
    while turns < 100 || !texts.iter().all(|text| log.contains(text)) {
        let line = lines.next_or_end().unwrap_or_else(|| panic!("the log ended: {log}"));
        // Each reload logs exactly one of these.
        if line.contains("nothing was reloaded") || line.contains("keys and grants were read again") {
            served.signal("-HUP");
            turns += 1;
            // The listener of the clients can be served before the other one has taken the last descriptor. Then the
            // shortage is made again.
            if turns % 200 == 0 {
                connections = [connect("metrics"), connect("tcp")];
            }
            assert!(turns < 10_000, "{log}");
        }
        log += &format!("{line}\n");
    }
    drop(connections);
    served.signal("-KILL");
    for text in texts {
        let count = log.lines().filter(|line| line.contains(text)).count();
        assert!(count < 20, "{count} lines of {text:?}");
    }
}

/// The packaged unit forbids the system calls that change owners of files.
#[test]
fn a_server_that_cannot_change_owners_binds_its_socket() {
    // seccomp(2) by way of prctl(2): the numbers of chown, fchown, lchown and fchownat on x86-64 end with EPERM.
    const CONFINED: &str = "
import ctypes, os, struct, sys
flat = [(0x20, 0, 0, 0)]
for number in (92, 93, 94, 260):
    flat += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050001)]
flat.append((0x06, 0, 0, 0x7fff0000))
filters = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *one) for one in flat))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', len(flat), ctypes.addressof(filters)))
prctl = ctypes.CDLL(None, use_errno=True).prctl
zero = ctypes.c_ulong(0)
if prctl(38, ctypes.c_ulong(1), zero, zero, zero) or prctl(22, ctypes.c_ulong(2), program, zero, zero):
    sys.exit(77)
try:
    os.chown(sys.argv[2], -1, -1)
    sys.exit(77)
except PermissionError:
    os.execv(sys.argv[1], [sys.argv[1]] + sys.argv[3:])
";
    if !cfg!(target_arch = "x86_64") {
        println!("SKIPPED: the filter has the numbers of x86-64");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("c.toml");
    fs::write(&config, "[listen]\nunix = \"s\"\n").unwrap();
    let server = command(&["--json", "serve", "--config"]);
    let started = Command::new("python3")
        .args(["-c", CONFINED])
        .arg(server.get_program())
        .arg(&config)
        .args(server.get_args())
        .arg(&config)
        .env("XDG_CACHE_HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        println!("SKIPPED: python3 is not installed");
        return;
    };
    let line = PrintedLines::from_stream(child.stdout.take().unwrap()).next_or_end().unwrap_or_default();
    if line.is_empty() && child.wait().unwrap().code() == Some(77) {
        println!("SKIPPED: no system calls can be forbidden here");
        return;
    }
    let mut log = String::new();
    if line.is_empty() {
        child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    }
    assert!(line.contains("\"unix\"") && folder.path().join("s").exists(), "{log}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn logs_certificates_that_expire_soon_or_have_expired() {
    let folder = tempfile::tempdir().unwrap();
    let development = Development::at(folder.path());
    development.prepare().unwrap();
    let until = |end: SystemTime, is_ca: bool| {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = end.into();
        params.is_ca = if is_ca { IsCa::Ca(BasicConstraints::Unconstrained) } else { IsCa::NoCa };
        let key = KeyPair::generate().unwrap();
        (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
    };
    let day = Duration::from_secs(86_400);
    let (certificate, key) = until(SystemTime::now() + day * 9 + day / 2, false);
    fs::write(folder.path().join("server.pem"), certificate).unwrap();
    fs::write(folder.path().join("server-key.pem"), key).unwrap();
    fs::write(folder.path().join("ca.pem"), until(SystemTime::now() - day, true).0).unwrap();
    let mut served = Served::start(folder.path());
    let mut log = served.log();
    let server = log.wait_for("[tls] certificate");
    assert!(server.contains("WARN") && server.contains("expires in 9 days"), "{server}");
    let authority = log.wait_for("[tls] client_ca");
    assert!(authority.contains("has expired"), "{authority}");
}

#[test]
fn call_rejects_a_key_that_others_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let development = Development::at(folder.path());
    development.prepare().unwrap();
    let key = development.client_key();
    let said = |words: &[&str]| {
        let mut call = command(&["call", "--server", "https://127.0.0.1:1", "--state"]);
        stderr(&call.arg(folder.path()).args(words).output().unwrap())
    };
    let ca = development.ca();
    let listed = ["--cert", ca.to_str().unwrap(), "--cert-key", key.to_str().unwrap(), "keys"];
    assert!(!said(&listed).contains("others may read"), "{}", said(&listed));
    fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    assert!(said(&listed).contains("others may read this private file (mode 0644)"), "{}", said(&listed));
}

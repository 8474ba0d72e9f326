//! `oarlock dkim publish` with BIND's named and Knot DNS: records are published, replaced and deleted by signed
//! updates.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use oarlock_measure::ports::free_ports;
use serde_json::Value;
use tempfile::TempDir;

use crate::hsm::Tokens;
use crate::program::{code, oarlock, set_clock, stderr};

/// The time after which a name server counts as hanging.
const HANGS: Duration = Duration::from_secs(60);

const ZONE: &str = "$TTL 300\n@ SOA ns admin 1 3600 600 86400 60\n@ NS ns\nns A 127.0.0.1\n";

/// The secrets of the TSIG keys, which no output may contain.
const SECRETS: [&str; 4] = [
    "7Cfl3bG1m1z0S7l2k2xq9v1n2m3b4v5c6x7z8a9s0d8=",
    "Zm9yIHRoZSBsb25nIGtleSBvZiBzaGEgNTEyLCBzaXh0eS1mb3VyIGJ5dGVzIGFyZSBmaW5lIGhlcmU=",
    "YW5vdGhlciBrZXkgdGhhdCBub2JvZHkga25vd3MuLi4=",
    "dGhlIHdyb25nIHNlY3JldCBvZiBhIGtub3duIGtleS4=",
];

/// A name server with the zone example.com, which two TSIG keys may update.
struct ZoneServer {
    directory: TempDir,
    child: Child,
    port: u16,
}

impl Drop for ZoneServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_installed(program: &str) -> bool {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];
    let is_there = folders.iter().any(|folder| Path::new(folder).join(program).is_file());
    if !is_there {
        println!("SKIPPED: {program} is not installed");
    }
    is_there
}

fn tsig_key(name: &str, algorithm: &str, secret: &str) -> String {
    format!("key \"{name}\" {{\n\talgorithm {algorithm};\n\tsecret \"{secret}\";\n}};\n")
}

/// Asks a server for the SOA record of a zone. Returns true if it answers with a record. RFC 1035 4.
fn serves(port: u16, zone: &str) -> io::Result<bool> {
    let mut query = vec![0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in zone.split('.') {
        query.push(u8::try_from(label.len()).unwrap());
        query.extend_from_slice(label.as_bytes());
    }
    // The root, type SOA, class IN.
    query.extend_from_slice(&[0, 0, 6, 0, 1]);
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.write_all(&u16::try_from(query.len()).unwrap().to_be_bytes())?;
    stream.write_all(&query)?;
    let mut head = [0; 14];
    stream.read_exact(&mut head)?;
    let (code, answers) = (head[5] & 15, u16::from_be_bytes([head[8], head[9]]));
    Ok(code == 0 && answers > 0)
}

impl ZoneServer {
    /// Starts named. None if it is not installed.
    fn named() -> Option<Self> {
        if !is_installed("named") || !is_installed("nsupdate") {
            return None;
        }
        let (directory, port) = (Self::files(), free_ports(1).unwrap()[0]);
        let path = directory.path().display();
        let settings = format!(
            "include \"{path}/upd.key\";\ninclude \"{path}/long.key\";\n\
             options {{ directory \"{path}\"; listen-on port {port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; recursion no; \
             pid-file \"{path}/pid\"; session-keyfile \"{path}/session.key\"; dnssec-validation no; }};\ncontrols {{ }};\n\
             zone \"example.com\" {{ type primary; file \"zone\"; allow-update {{ key upd; key long; }}; }};\n\
             zone \"fixed.example\" {{ type primary; file \"fixed\"; }};\n"
        );
        fs::write(directory.path().join("conf"), settings).unwrap();
        let mut command = Command::new("named");
        command.args(["-g", "-c"]).arg(directory.path().join("conf"));
        Some(Self::started(directory, port, command, &["example.com", "fixed.example"]))
    }

    /// Starts Knot DNS, with another clock if there is one. None if it is not installed.
    fn knot(clock: Option<&str>) -> Option<Self> {
        if !is_installed("knotd") || !is_installed("nsupdate") {
            return None;
        }
        let (directory, port) = (Self::files(), free_ports(1).unwrap()[0]);
        let path = directory.path().display();
        let settings = format!(
            "server:\n    listen: 127.0.0.1@{port}\n    rundir: {path}\ndatabase:\n    storage: {path}/database\n\
             key:\n  - id: upd\n    algorithm: hmac-sha256\n    secret: {}\n\
             acl:\n  - id: update\n    key: upd\n    action: update\n\
             zone:\n  - domain: example.com\n    storage: {path}\n    file: zone\n    acl: update\n",
            SECRETS[0]
        );
        // Without this directory Knot answers updates with SERVFAIL.
        fs::create_dir(directory.path().join("database")).unwrap();
        fs::write(directory.path().join("conf"), settings).unwrap();
        let mut command = Command::new("knotd");
        command.arg("-c").arg(directory.path().join("conf"));
        if clock.is_some_and(|clock| !set_clock(&mut command, clock)) {
            return None;
        }
        Some(Self::started(directory, port, command, &["example.com"]))
    }

    /// Writes zones, TSIG keys and mail keys.
    fn files() -> TempDir {
        let directory = TempDir::new().unwrap();
        for name in ["zone", "fixed"] {
            fs::write(directory.path().join(name), ZONE).unwrap();
        }
        for (file, text) in [
            ("upd.key", tsig_key("upd", "hmac-sha256", SECRETS[0])),
            ("long.key", tsig_key("long", "hmac-sha512", SECRETS[1])),
            ("unknown.key", tsig_key("unknown", "hmac-sha256", SECRETS[2])),
            ("wrong.key", tsig_key("upd", "hmac-sha256", SECRETS[3])),
        ] {
            let path = directory.path().join(file);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        for (name, kind) in [("one", "rsa"), ("two", "ed25519")] {
            let path = directory.path().join(name);
            let made = oarlock(&[
                "dkim",
                "keygen",
                "example.com",
                "s1",
                "--type",
                kind,
                "--bits",
                "4096",
                "--out",
                path.to_str().unwrap(),
            ]);
            assert_eq!(code(&made), 0, "{}", stderr(&made));
        }
        directory
    }

    /// Starts a server, and waits until it serves the zones: it listens before it has read them.
    fn started(directory: TempDir, port: u16, mut command: Command, zones: &[&str]) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut server = Self { directory, child, port };
        let begin = Instant::now();
        while !zones.iter().all(|zone| serves(port, zone).unwrap_or(false)) {
            assert!(server.child.try_wait().unwrap().is_none(), "{command:?} has ended");
            assert!(begin.elapsed() < HANGS, "{command:?} does not serve {zones:?}");
            std::thread::yield_now();
        }
        server
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().unwrap().to_owned()
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Runs the command for example.com with the usual TSIG key.
    fn publish(&self, selector: &str, more: &[&str]) -> Output {
        let key = self.path("upd.key");
        self.publish_to("example.com", selector, &[&["--tsig-key", &key], more].concat())
    }

    fn publish_to(&self, domain: &str, selector: &str, more: &[&str]) -> Output {
        let address = self.address();
        let start = ["--json", "dkim", "publish", domain, selector, "--server", &address];
        let output = oarlock(&[&start, more].concat());
        for secret in SECRETS {
            let said = [&*output.stdout, &*output.stderr].concat();
            assert!(!String::from_utf8_lossy(&said).contains(secret));
        }
        output
    }

    /// Returns what was done.
    fn done(&self, selector: &str, more: &[&str]) -> String {
        let output = self.publish(selector, more);
        assert_eq!(code(&output), 0, "{more:?}: {}", stderr(&output));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["name"], format!("{selector}._domainkey.example.com"));
        assert_eq!(document["server"], self.address());
        document["action"].as_str().unwrap().to_owned()
    }

    /// Returns true if the server has this key under a selector, according to `dkim check`.
    fn has(&self, selector: &str, key: &str) -> bool {
        let (key, address) = (self.path(key), self.address());
        let check = ["dkim", "check", "example.com", selector, "--key", &key, "--dns", &address];
        code(&oarlock(&check)) == 0
    }
}

/// The life of a record, at any server.
fn publish_replace_and_delete(server: &ZoneServer) {
    let (one, two) = (server.path("one"), server.path("two"));
    assert!(!server.has("s1", "one"));
    assert_eq!(server.done("s1", &["--key", &one]), "published");
    assert!(server.has("s1", "one"));
    assert_eq!(server.done("s1", &["--key", &one]), "unchanged");
    // The same key with another note is not another key.
    assert_eq!(server.done("s1", &["--key", &one, "--test-mode", "--notes", "a \"b\" \\ c"]), "replaced");
    assert_eq!(server.done("s1", &["--key", &one, "--test-mode", "--notes", "a \"b\" \\ c"]), "unchanged");
    assert!(server.has("s1", "one"));
    // Another key is neither overwritten nor deleted.
    for more in [&["--key", &*two][..], &["--key", &two, "--delete"]] {
        let refused = server.publish("s1", more);
        assert_eq!(code(&refused), 1, "{}", stderr(&refused));
        assert!(stderr(&refused).contains("another key") && stderr(&refused).contains("--force"));
        assert!(server.has("s1", "one"));
    }
    assert_eq!(server.done("s1", &["--key", &two, "--force"]), "replaced");
    assert!(server.has("s1", "two"));
    assert_eq!(server.done("s1", &["--key", &two, "--delete"]), "deleted");
    assert!(!server.has("s1", "two"));
    assert_eq!(server.done("s1", &["--key", &two, "--delete"]), "absent");
    // Without the key a record is only deleted on purpose.
    assert_eq!(server.done("s2", &["--key", &two, "--ttl", "60"]), "published");
    let refused = server.publish("s2", &["--delete"]);
    assert_eq!(code(&refused), 2, "{}", stderr(&refused));
    assert_eq!(server.done("s2", &["--delete", "--force"]), "deleted");
}

#[test]
fn named_takes_signed_updates() {
    let Some(server) = ZoneServer::named() else { return };
    publish_replace_and_delete(&server);
    let (key, tsig) = (server.path("two"), server.path("long.key"));
    let long = server.publish_to(
        "example.com",
        "s3",
        &["--key", &key, "--tsig-key", &tsig, "--zone", "example.com."],
    );
    assert_eq!(code(&long), 0, "{}", stderr(&long));
    assert!(server.has("s3", "two"));
}

/// The device gives the public half of the key.
#[test]
fn the_key_may_be_in_a_device() {
    let Some(server) = ZoneServer::named() else { return };
    let Some(tokens) = Tokens::with(&["mail"]) else { return };
    tokens.import("rsa2048", "s1", &["mail"]);
    let (address, tsig, table) = (server.address(), server.path("upd.key"), server.path("signing.table"));
    let publish = |more: &[&str]| {
        let start = ["--json", "dkim", "publish", "example.com", "s1", "--server", &address];
        let done = tokens.run(&[&start[..], &["--tsig-key", &tsig], more].concat());
        let document: Option<Value> = serde_json::from_slice(&done.stdout).ok();
        (code(&done), document.map(|document| document["action"].clone()), stderr(&done))
    };
    let done = |action: &str| (0, Some(Value::from(action)), String::new());
    let (uri, file) = (tokens.uri("mail", "s1"), tokens.path("s1.pem"));
    assert_eq!(publish(&["--key", &uri]), done("published"));
    assert!(server.has("s1", file.to_str().unwrap()));
    fs::write(&table, format!("example.com s1 {uri}\n")).unwrap();
    assert_eq!(publish(&["--table", &table]), done("unchanged"));
    let (exit, _, said) = publish(&["--key", &tokens.uri("mail", "none")]);
    assert!(exit == 3 && said.contains("no object of token \"mail\" is pkcs11:"), "{said}");
    assert_eq!(publish(&["--key", &uri, "--delete"]), done("deleted"));
    assert!(!server.has("s1", file.to_str().unwrap()));
}

/// RFC 8945 5.2.3. The first question fails already unless the zone is named.
#[test]
fn a_clock_that_is_an_hour_slow_is_the_reason_of_a_refusal() {
    let Some(server) = ZoneServer::knot(Some("+1h")) else { return };
    let one = server.path("one");
    for more in [&["--key", &*one][..], &["--key", &one, "--zone", "example.com"]] {
        let refused = server.publish("s1", more);
        assert_eq!(code(&refused), 3, "{}", stderr(&refused));
        let said = stderr(&refused);
        assert!(said.contains("rejects the time of the update (BADTIME): the clocks differ"), "{said}");
    }
    assert!(!server.has("s1", "one"));
}

#[test]
fn knot_takes_signed_updates() {
    let Some(server) = ZoneServer::knot(None) else { return };
    publish_replace_and_delete(&server);
}

#[test]
fn a_line_of_the_signing_table_names_the_key() {
    let Some(server) = ZoneServer::named() else { return };
    let table = server.path("signing.table");
    fs::write(&table, "example.net s1 one domain=example.com\n* s2 two\nexample.com s9 nowhere retiring\n")
        .unwrap();
    assert_eq!(server.done("s1", &["--table", &table]), "published");
    assert_eq!(server.done("s2", &["--table", &table]), "published");
    assert!(server.has("s1", "one") && server.has("s2", "two"));
    for (selector, fault) in [("s3", "no line with the selector s3 signs for example.com"), ("s9", "nowhere")]
    {
        let refused = server.publish(selector, &["--table", &table]);
        assert_eq!(code(&refused), 2, "{}", stderr(&refused));
        assert!(stderr(&refused).contains(fault), "{}", stderr(&refused));
    }
}

#[test]
fn a_dry_run_prints_what_nsupdate_takes() {
    let Some(server) = ZoneServer::named() else { return };
    let (one, address, tsig) = (server.path("one"), server.address(), server.path("upd.key"));
    let arguments =
        ["dkim", "publish", "example.com", "s1", "--key", &one, "--server", &address, "--dry-run"];
    let dry = oarlock(&arguments);
    assert_eq!(code(&dry), 0, "{}", stderr(&dry));
    let script = String::from_utf8(dry.stdout).unwrap();
    let begin = format!(
        "server 127.0.0.1 {}\nprereq nxrrset s1._domainkey.example.com. IN TXT\nupdate add s1._domainkey.example.com. 3600 IN TXT \"v=DKIM1; ",
        server.port
    );
    assert!(script.starts_with(&begin) && script.ends_with("\nsend\n"), "{script}");
    assert!(!server.has("s1", "one"));
    let path = server.path("script");
    fs::write(&path, script).unwrap();
    let sent = Command::new("nsupdate").args(["-k", &tsig, &path]).output().unwrap();
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    assert!(server.has("s1", "one"));
}

#[test]
fn each_refusal_has_its_reason() {
    let Some(server) = ZoneServer::named() else { return };
    let one = server.path("one");
    let [upd, unknown, wrong] = ["upd.key", "unknown.key", "wrong.key"].map(|name| server.path(name));
    for (domain, more, reason) in [
        ("example.com", vec!["--tsig-key", &*unknown], "does not know the TSIG key \"unknown\" (BADKEY)"),
        ("example.com", vec!["--tsig-key", &wrong], "the TSIG key \"upd\" has another secret there"),
        ("example.com", vec![], "refuses the update (REFUSED)"),
        ("fixed.example", vec!["--tsig-key", &upd], "refuses the update (REFUSED)"),
        (
            "example.com",
            vec!["--tsig-key", &upd, "--zone", "other.example"],
            "is not authoritative for the zone (NOTAUTH)",
        ),
        ("example.com", vec!["--tsig-key", &upd, "--zone", "fixed.example"], "(REFUSED)"),
        (
            "elsewhere.example",
            vec!["--tsig-key", &upd],
            "no zone was found for s1._domainkey.elsewhere.example",
        ),
        ("example.com", vec!["--nsupdate", "/nonexistent/nsupdate"], "/nonexistent/nsupdate: No such file"),
        ("example.com", vec!["--nsupdate", "false"], "false: it failed without a message"),
        ("example.com", vec!["--nsupdate", "true"], "true: it failed without a message"),
    ] {
        let refused = server.publish_to(domain, "s1", &[&["--key", &*one], &*more].concat());
        assert_eq!(code(&refused), 3, "{more:?}: {}", stderr(&refused));
        assert!(stderr(&refused).contains(reason), "{more:?}: {}", stderr(&refused));
        assert!(!server.has("s1", "one"));
    }
}

#[test]
fn files_and_names_are_checked_before_anything_is_sent() {
    let Some(server) = ZoneServer::named() else { return };
    let one = server.path("one");
    let open = server.path("open.key");
    fs::write(&open, tsig_key("upd", "hmac-sha256", SECRETS[0])).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o644)).unwrap();
    let weak = server.path("weak.key");
    fs::write(&weak, tsig_key("upd", "hmac-md5", SECRETS[0])).unwrap();
    fs::set_permissions(&weak, fs::Permissions::from_mode(0o600)).unwrap();
    for (selector, more, reason) in [
        ("s1", vec!["--tsig-key", &*open], "others may read this private file"),
        ("s1", vec!["--tsig-key", &weak], "the algorithm of the TSIG key is not accepted"),
        ("s1", vec!["--tsig-key", &one], "expected one TSIG key"),
        ("s1", vec!["--tsig-key", "/nonexistent"], "/nonexistent: No such file"),
        ("s1", vec!["--zone", "a b"], "`a b` is not a domain name"),
        ("s 1", vec![], "`s 1` is not a domain name"),
        ("s1\nsend", vec![], "is not a domain name"),
    ] {
        let refused = server.publish_to("example.com", selector, &[&["--key", &*one], &*more].concat());
        assert_eq!(code(&refused), 2, "{more:?}: {}", stderr(&refused));
        assert!(stderr(&refused).contains(reason), "{more:?}: {}", stderr(&refused));
    }
    assert!(!server.has("s1", "one"));
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    if !is_installed("nsupdate") {
        return;
    }
    let directory = ZoneServer::files();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    // It takes every packet and answers none.
    let silent = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let tsig = path("upd.key");
    let given_up = oarlock(&[
        "dkim",
        "publish",
        "example.com",
        "s1",
        "--key",
        &path("two"),
        "--server",
        &address,
        "--zone",
        "example.com",
        "--tsig-key",
        &tsig,
        "--timeout",
        "2",
    ]);
    assert_eq!(code(&given_up), 3, "{}", stderr(&given_up));
    assert!(stderr(&given_up).contains("no answer: timed out"), "{}", stderr(&given_up));
}

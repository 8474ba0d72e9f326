//! The mail filter as its operators run it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::guide::shell_blocks;
use crate::hsm::Tokens;
use crate::program::printed::{PrintedLines, announcement};
use crate::program::{code, command, oarlock, stderr};
use crate::served::Served;
use oarlock_dkim::{RecordOptions, record_text};
use oarlock_milter::MilterClient;
use oarlock_milter::client::{FilterAnswer, SentMessage};
use oarlock_milter::protocol::{FilterReply, MessageChange};
use serde_json::Value;

/// Writes a configuration, a signing table and a key, and returns the path of the configuration.
fn prepare(directory: &Path) -> String {
    let key = directory.join("mail.pem");
    let made = oarlock(&["keys", "generate", "ed25519", "--out", key.to_str().unwrap()]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    fs::write(directory.join("signing.table"), "example.com s1 mail.pem\n").unwrap();
    let path = directory.join("milter.toml");
    let settings = "signing.table = \"signing.table\"\nauthserv_id = \"mx.example\"\nlisten.metrics = \"127.0.0.1:0\"\n\
                    listen.sockets = [\"inet:0@127.0.0.1\"]\n";
    fs::write(&path, settings).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn check_prints_what_would_be_done_or_the_error() {
    let directory = tempfile::tempdir().unwrap();
    let config = prepare(directory.path());
    let check = || oarlock(&["milter", "--config", &config, "--check"]);
    let good = check();
    let said = String::from_utf8(good.stdout.clone()).unwrap();
    assert_eq!(code(&good), 0, "{}", stderr(&good));
    assert!(said.contains("would filter mail as mx.example") && said.contains("  1 line in"), "{said}");
    let p256 = directory.path().join("p256.pem");
    assert_eq!(code(&oarlock(&["keys", "generate", "p256", "--out", p256.to_str().unwrap()])), 0);
    for (file, text, fault) in [
        ("signing.table", "example.com s1 missing.pem\n", "missing.pem"),
        (
            "signing.table",
            "example.com s1 p256.pem\n",
            "p256.pem (selector s1): an ECDSA private key over P-256",
        ),
        ("signing.table", "sales-*@example.com s1 mail.pem\n", "*@DOMAIN"),
        ("signing.table", "example.com s1\n", "signing.table:1: expected PATTERN"),
        ("milter.toml", "[signing]\ntabel = \"x\"\n", "unknown field `tabel`"),
        ("milter.toml", "authserv_id = \"mx.example\"\nsigning.table = \"nowhere\"\n", "nowhere"),
    ] {
        fs::write(directory.path().join(file), text).unwrap();
        let bad = check();
        assert_eq!(code(&bad), 2, "{}", stderr(&bad));
        assert!(stderr(&bad).contains(fault), "{}", stderr(&bad));
    }
}

#[test]
fn reloads_its_table_at_a_hangup_and_ends_at_a_signal() {
    let directory = tempfile::tempdir().unwrap();
    let config = prepare(directory.path());
    let mut child = command(&["--json", "milter", "--log", "json", "--config", &config])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = announcement(&mut child);
    assert_eq!((&said["authserv_id"], &said["signing_lines"]), (&"mx.example".into(), &1.into()));
    let mut log = PrintedLines::from_stream(child.stderr.take().unwrap());
    fs::write(directory.path().join("signing.table"), "example.com s1 mail.pem\nexample.net s1 mail.pem\n")
        .unwrap();
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    };
    // These signals have no effect.
    signal("-USR1");
    signal("-USR2");
    signal("-HUP");
    log.wait_for("the settings, the signing table and the keys were read again");
    // An invalid configuration changes nothing.
    let settings = fs::read_to_string(&config).unwrap();
    fs::write(&config, settings.clone() + "mode = 7\n").unwrap();
    signal("-HUP");
    log.wait_for("the new settings were rejected: the old ones stay in use");
    fs::write(&config, settings.replace("mx.example", "mx2.example")).unwrap();
    signal("-HUP");
    log.wait_for("the settings, the signing table and the keys were read again");
    let mut stream = TcpStream::connect(said["metrics"].as_str().unwrap()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    assert!(page.contains("\noarlock_milter_signing_lines 2\n"), "{page}");
    assert!(page.contains("\noarlock_milter_refused_reloads_total 1\n"), "{page}");
    signal("-TERM");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_json_log_is_the_only_output_and_the_service_manager_is_notified() {
    let directory = tempfile::tempdir().unwrap();
    let config = prepare(directory.path());
    let notify = UnixDatagram::bind(directory.path().join("notify")).unwrap();
    let mut child = command(&["milter", "--log", "json", "--config", &config])
        .env("NOTIFY_SOCKET", directory.path().join("notify"))
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
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(told(), "STOPPING=1");
    let (mut out, mut log) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(child.wait().unwrap().success() && out.is_empty(), "{out}");
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{log}");
    let listening: Vec<&str> = log.lines().filter(|line| line.contains("listening")).collect();
    assert!(
        listening.len() == 2 && listening[0].contains("inet:") && listening[1].contains("metrics"),
        "{log}"
    );
}

/// The self tests take some time before the filter is ready. A hangup in that time must not end it.
#[test]
fn a_hangup_during_the_start_does_not_end_it() {
    let directory = tempfile::tempdir().unwrap();
    let config = prepare(directory.path());
    // Opening a pipe waits for its other end, and reading it for a line: the filter has not opened its keys until then.
    let table = directory.path().join("signing.table");
    fs::remove_file(&table).unwrap();
    let made = Command::new("mkfifo").arg(&table).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("SKIPPED: mkfifo(1) cannot make a pipe");
        return;
    }
    let mut child = command(&["--json", "milter", "--log", "json", "--config", &config])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // This returns when the filter has opened the pipe: it is starting then.
    let mut pipe = fs::OpenOptions::new().write(true).open(&table).unwrap();
    assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
    // A process that opens the table again finds a file.
    let next = directory.path().join("next.table");
    fs::write(&next, "example.com s1 mail.pem\n").unwrap();
    fs::rename(&next, &table).unwrap();
    pipe.write_all(b"example.com s1 mail.pem\n").unwrap();
    drop(pipe);
    assert_eq!(announcement(&mut child)["authserv_id"], "mx.example");
    // The hangup that came before the filter was ready is handled now.
    PrintedLines::from_stream(child.stderr.take().unwrap()).wait_for("were read again");
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert!(child.wait().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_that_break_the_protocol_do_not_fill_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let config = prepare(directory.path());
    let mut child = command(&["--json", "milter", "--log", "json", "--config", &config])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = announcement(&mut child);
    let socket = said["sockets"][0].as_str().unwrap();
    let port = socket.trim_start_matches("inet:").split('@').next().unwrap().parse::<u16>().unwrap();
    for _ in 0..50 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        // The filter closes the connection when it has read this.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(child.wait().unwrap().success());
    let count = log.lines().filter(|line| line.contains("broke the protocol")).count();
    assert!((1..10).contains(&count), "{count} lines: {log}");
}

/// Sends a message of an authenticated client, as an MTA does.
async fn submit(socket: &str) -> FilterAnswer {
    let mut client = MilterClient::connect(&socket.parse().unwrap()).await.unwrap();
    client.negotiate().await.unwrap();
    client.greet(b"").await.unwrap();
    let message = SentMessage {
        from: b"<joe@example.com>",
        recipients: &[b"<jane@example.net>"],
        headers: &[(b"From", b" joe@example.com"), (b"Subject", b" lunch")],
        body: b"At noon?\r\n",
        mail_macros: b"{auth_authen}\0joe\0",
        ..SentMessage::default()
    };
    client.send(&message).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_at_the_cryptoserver_signs_and_mail_is_deferred_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = Served::start(&folder.path().join("server"));
    let (key, socket) = (server.state.join("keys/rsa2048.pem"), server.socket());
    let reference = oarlock(&["keys", "show", key.to_str().unwrap(), "--reference"]);
    let file = |name: &str| folder.path().join(name);
    fs::write(file("mail.ref"), reference.stdout).unwrap();
    fs::write(file("signing.table"), "example.com s1 mail.ref\n").unwrap();
    let settings = format!(
        "signing.table = \"signing.table\"\nauthserv_id = \"mx.example\"\nlisten.sockets = [\"inet:0@127.0.0.1\"]\n\
         cryptoserver.servers = [\"{}\"]\ncryptoserver.patience_ms = 300\n",
        socket.display()
    );
    fs::write(file("milter.toml"), settings).unwrap();
    let mut filter = command(&["--json", "milter", "--config"])
        .arg(file("milter.toml"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = announcement(&mut filter);
    let filter_socket = said["sockets"][0].as_str().unwrap();
    let answer = submit(filter_socket).await;
    let [MessageChange::InsertHeader { name, value, .. }] = &answer.changes[..] else { panic!("{answer:?}") };
    assert_eq!(name, b"DKIM-Signature");
    let value = String::from_utf8_lossy(value).replace('\n', "\r\n");
    let signed =
        format!("DKIM-Signature:{value}\r\nFrom: joe@example.com\r\nSubject: lunch\r\n\r\nAt noon?\r\n");
    fs::write(file("signed.eml"), signed).unwrap();
    let key = oarlock::keys::import::pem(&fs::read(key).unwrap(), None).unwrap();
    let record = record_text(&key, &RecordOptions::default()).unwrap();
    fs::write(file("records"), format!("s1._domainkey.example.com {record}\n")).unwrap();
    let verified = command(&["dkim", "verify", "--keys-file"])
        .arg(file("records"))
        .arg(file("signed.eml"))
        .output()
        .unwrap();
    assert_eq!(code(&verified), 0, "{}", stderr(&verified));
    drop(server);
    for _ in 0..8 {
        assert!(matches!(submit(filter_socket).await.reply, FilterReply::Smtp(_) | FilterReply::Tempfail));
    }
    filter.kill().unwrap();
    filter.wait().unwrap();
    // The messages fail for the same reason, so the log repeats it only a few times.
    let mut log = String::new();
    filter.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    let count = log.lines().filter(|line| line.contains("a signature was not made")).count();
    assert!((1..6).contains(&count), "{count} lines: {log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_in_a_device_sign_and_mail_is_deferred_while_it_is_away() {
    for tokens in Tokens::of_each_module(&["mail"]) {
        sign_mail_with_a_key_of(&tokens).await;
    }
}

async fn sign_mail_with_a_key_of(tokens: &Tokens) {
    tokens.import("rsa2048", "s1", &["mail"]);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    // One key by its URI in the table, the same by a file with the URI.
    fs::write(file("s2.uri"), "pkcs11:object=s1;type=private\n").unwrap();
    let table = "example.com s1 pkcs11:token=mail;object=s1\nexample.com s2 s2.uri\n";
    fs::write(file("signing.table"), table).unwrap();
    let settings = format!(
        "signing.table = \"signing.table\"\nauthserv_id = \"mx.example\"\nlisten.sockets = [\"inet:0@127.0.0.1\"]\n\
         listen.metrics = \"127.0.0.1:0\"\narc.seal = {{ domain = \"example.com\", selector = \"s1\", key = \
         \"pkcs11:object=s1\" }}\n{}",
        tokens.section("mail", &tokens.faulty(), "")
    );
    fs::write(file("milter.toml"), &settings).unwrap();
    tokens.plant("removed");
    let mut filter = command(&["--json", "milter", "--log", "json", "--config"]);
    tokens.set_environment(&mut filter);
    let started = filter.arg(file("milter.toml")).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut filter = started.unwrap();
    let said = announcement(&mut filter);
    let mut log = PrintedLines::from_stream(filter.stderr.take().unwrap());
    let socket = said["sockets"][0].as_str().unwrap();
    assert!(matches!(submit(socket).await.reply, FilterReply::Smtp(_) | FilterReply::Tempfail));
    fs::remove_file(tokens.path("removed")).unwrap();
    log.wait_for("connected to the device");
    let answer = submit(socket).await;
    let key = oarlock::keys::import::pem(&fs::read(tokens.path("s1.pem")).unwrap(), None).unwrap();
    let record = record_text(&key, &RecordOptions::default()).unwrap();
    let records: String =
        ["s1", "s2"].map(|name| format!("{name}._domainkey.example.com {record}\n")).concat();
    fs::write(file("records"), records).unwrap();
    assert_eq!(answer.changes.len(), 2, "{answer:?}");
    for change in &answer.changes {
        let MessageChange::InsertHeader { name, value, .. } = change else { panic!("{answer:?}") };
        assert_eq!(name, b"DKIM-Signature");
        let value = String::from_utf8_lossy(value).replace('\n', "\r\n");
        let mail =
            format!("DKIM-Signature:{value}\r\nFrom: joe@example.com\r\nSubject: lunch\r\n\r\nAt noon?\r\n");
        fs::write(file("signed.eml"), mail).unwrap();
        let (records, mail) = (file("records"), file("signed.eml"));
        let paths = [records.to_str().unwrap(), mail.to_str().unwrap()];
        let verified = oarlock(&["dkim", "verify", "--keys-file", paths[0], paths[1]]);
        assert_eq!(code(&verified), 0, "{}", stderr(&verified));
    }
    let mut stream = TcpStream::connect(said["metrics"].as_str().unwrap()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    assert!(page.contains("oarlock_hsm_available{device=\"mail\"} 1\n"), "{page}");
    filter.kill().unwrap();
    filter.wait().unwrap();
    let check = || tokens.run(&["milter", "--config", file("milter.toml").to_str().unwrap(), "--check"]);
    assert_eq!(code(&check()), 0, "{}", stderr(&check()));
    for (table, toml, fault) in [
        (
            "example.com s1 pkcs11:token=web;object=s1\n",
            &*settings,
            "no device of the settings has the token",
        ),
        (
            "example.com s1 pkcs11:object=s1?pin-value=4711\n",
            &settings,
            "signing.table:1: the URI of the key: ",
        ),
        (table, &settings.replace("pkcs11:object", "pkcs11:?pin-value=4711&object"), "[arc] seal.key: "),
        (table, settings.split("[[hsm]]").next().unwrap(), "expected a section [[hsm]]"),
    ] {
        fs::write(file("signing.table"), table).unwrap();
        fs::write(file("milter.toml"), toml).unwrap();
        let bad = check();
        assert_eq!(code(&bad), 2, "{fault}: {}", stderr(&bad));
        assert!(stderr(&bad).contains(fault) && !stderr(&bad).contains("4711"), "{}", stderr(&bad));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_of_the_guide_sign_a_mail() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let socket = folder.path().to_str().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_oarlock")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let blocks = shell_blocks(include_str!("../../../../../docs/guides/sign-mail.md"));
    let commands: String = blocks.into_iter().map(|block| block.commands).collect();
    let commands = commands
        .replace("unix:/var/spool/postfix/oarlock/", &format!("unix:{socket}/"))
        .replace("[\"postfix\"]", "[\"0\"]");
    let ran =
        Command::new("sh").args(["-ec", &commands]).current_dir(folder.path()).env("PATH", &path).output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{commands}: {}", stderr(&ran));
    let mut filter = command(&["--json", "milter", "--config", "milter.toml"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let said = announcement(&mut filter);
    let answer = submit(said["sockets"][0].as_str().unwrap()).await;
    let [MessageChange::InsertHeader { name, value, .. }] = &answer.changes[..] else { panic!("{answer:?}") };
    let value = String::from_utf8_lossy(value).replace('\n', "\r\n");
    let mail = "From: joe@example.com\r\nSubject: lunch\r\n\r\nAt noon?\r\n";
    let signed = format!("{}:{value}\r\n{mail}", String::from_utf8_lossy(name));
    fs::write(file("received.eml"), signed).unwrap();
    let verified = command(&["dkim", "verify", "--keys-file", "record.zone", "received.eml"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(code(&verified), 0, "{}", stderr(&verified));
    filter.kill().unwrap();
    filter.wait().unwrap();
}

#[test]
fn rejects_a_tls_key_that_others_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let config = prepare(directory.path());
    let path = |name: &str| directory.path().join(name);
    let certificate = include_bytes!("../../../../engine/keys/tests/data/certificate.pem");
    fs::write(path("ca.pem"), certificate).unwrap();
    fs::copy(path("mail.pem"), path("tls.pem")).unwrap();
    let server = "[cryptoserver]\nservers = [\"https://127.0.0.1:1\"]\nserver_ca = \"ca.pem\"\ncertificate = \"ca.pem\"\n\
                  private_key = \"tls.pem\"\n";
    fs::write(&config, fs::read_to_string(&config).unwrap() + server).unwrap();
    let said = || stderr(&oarlock(&["milter", "--config", &config, "--check"]));
    fs::set_permissions(path("tls.pem"), fs::Permissions::from_mode(0o644)).unwrap();
    let refused = said();
    assert!(
        refused.contains("private_key") && refused.contains("others may read this private file"),
        "{refused}"
    );
    fs::set_permissions(path("tls.pem"), fs::Permissions::from_mode(0o600)).unwrap();
    let fine = said();
    assert!(!fine.contains("others may read"), "{fine}");
}

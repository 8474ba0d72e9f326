//! Sessions of GnuTLS through a recording relay. It still has triple DES, which OpenSSL leaves out.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use oarlock_sockets::Suite;

use crate::common::relay::{Relay, RunningServer, make_certificate};
use crate::common::tls_session::{TlsSession, check_session};

#[test]
fn triple_des_in_both_orders() {
    check("+3DES-CBC:+SHA1:%NO_ETM", Suite::TLS12_3DES_CBC_SHA);
    check("+3DES-CBC:+SHA1", Suite::TLS12_3DES_CBC_SHA_ETM);
}

#[test]
fn aes_in_both_orders() {
    check("+AES-256-CBC:+SHA256:%NO_ETM", Suite::TLS12_AES_256_CBC_SHA256);
    check("+AES-128-CBC:+SHA256", Suite::TLS12_AES_128_CBC_SHA256_ETM);
}

fn check(algorithms: &str, suite: Suite) {
    if let Err(error) = Command::new("gnutls-serv").arg("--version").output() {
        println!(
            "SKIPPED: gnutls-serv does not start: {error} (Debian and Ubuntu: apt-get install gnutls-bin)"
        );
        return;
    }
    let lines = ["hello".to_owned(), "0123456789".repeat(30)];
    let content = check_session(&record(algorithms, &lines));
    assert_eq!(content.suite, Some(suite));
    let sent = lines.map(|line| line + "\n").concat();
    assert_eq!(content.data, [sent.as_bytes(), sent.as_bytes()], "{suite}: the server echoes");
    assert!(content.records >= 6, "{suite}: {} records", content.records);
}

fn record(algorithms: &str, lines: &[String]) -> TlsSession {
    let priority = format!("NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:-MAC-ALL:-KX-ALL:+RSA:{algorithms}");
    let folder = tempfile::tempdir().unwrap();
    let (key, certificate) = (folder.path().join("key.pem"), folder.path().join("certificate.pem"));
    let log = folder.path().join("keys.log");
    make_certificate(&key, &certificate);
    let port = oarlock_measure::ports::free_port().unwrap();
    let mut server = RunningServer(
        Command::new("gnutls-serv")
            .args(["--echo", "--port", &port.to_string(), "--priority", &priority])
            .arg("--x509keyfile")
            .arg(&key)
            .arg("--x509certfile")
            .arg(&certificate)
            .env("SSLKEYLOGFILE", &log)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut messages = BufReader::new(server.0.stderr.take().unwrap());
    wait_for(&mut messages, |line| line.contains("listening on IPv4"));
    let relay = Relay::start(port);
    let mut client = Command::new("gnutls-cli")
        .args(["--insecure", "--port", &relay.port.to_string(), "--priority", &priority, "127.0.0.1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = client.stdin.take().unwrap();
    let mut output = BufReader::new(client.stdout.take().unwrap());
    wait_for(&mut output, |line| line.contains("Simple Client Mode"));
    for line in lines {
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
        wait_for(&mut output, |found| found.trim_end() == line);
    }
    drop(input);
    std::io::copy(&mut output, &mut std::io::sink()).unwrap();
    client.wait().unwrap();
    drop(server);
    let [to_server, to_client] = relay.finish();
    TlsSession { to_server, to_client, key_log: std::fs::read_to_string(&log).unwrap() }
}

fn wait_for(output: &mut impl BufRead, is_found: impl Fn(&str) -> bool) {
    let mut line = String::new();
    while !is_found(&line) {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "the program ended too early");
    }
}

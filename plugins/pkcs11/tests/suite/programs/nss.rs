//! NSS and its tools.

use std::path::Path;

use oarlock_measure::ports::free_port;

use super::running::RunningServer;
use super::{TestDirectory, module_path, program, with_keys};

/// Makes a database of NSS that loads the module.
fn with_database(modutil: &Path, certutil: &Path) -> TestDirectory {
    let dir = with_keys();
    std::fs::create_dir(dir.path("db")).unwrap();
    dir.run(certutil, &["-N", "-d", "sql:db", "--empty-password"]);
    dir.run(modutil, &["-dbdir", "sql:db", "-add", "oarlock", "-libfile", &module_path(), "-force"]);
    dir
}

#[test]
fn certutil_lists_keys_and_signs_a_request() {
    let (Some(modutil), Some(certutil)) = (program("modutil"), program("certutil")) else { return };
    let dir = with_database(&modutil, &certutil);
    let modules = dir.run(&modutil, &["-dbdir", "sql:db", "-list", "oarlock"]);
    assert!(
        modules.contains("Token Name: test keys") && modules.contains("PKCS #11 Version 3.2"),
        "{modules}"
    );
    let token = ["-d", "sql:db", "-h", "test keys"];
    let keys = dir.run(&certutil, &[&["-K"], &token[..]].concat());
    let certificates = dir.run(&certutil, &[&["-L"], &token[..]].concat());
    for key in ["rsa", "p256"] {
        let line = keys.lines().find(|line| line.trim_end().ends_with(key)).unwrap();
        let id = line.split_whitespace().nth(3).unwrap();
        let name = format!("test keys:{key}");
        let is_users = |line: &str| line.starts_with(&name) && line.trim_end().ends_with("u,u,u");
        assert!(certificates.lines().any(is_users), "NSS finds the key of the certificate: {certificates}");
        let request = ["-R", "-k", id, "-s", "CN=a test", "-Z", "SHA256", "-o", "request"];
        dir.run(&certutil, &[&request[..], &token].concat());
        let verified = dir.run("openssl", &["req", "-inform", "der", "-in", "request", "-verify", "-noout"]);
        assert!(verified.contains("verify OK"), "{verified}");
    }
}

#[test]
fn selfserv_serves_tls_with_keys_of_the_module() {
    let (Some(modutil), Some(certutil)) = (program("modutil"), program("certutil")) else { return };
    let (Some(server), Some(curl)) = (program("selfserv"), program("curl")) else { return };
    let dir = with_database(&modutil, &certutil);
    for key in ["rsa", "p256"] {
        let port = free_port().unwrap().to_string();
        let mut command = dir.command(&server);
        // The certificate of an elliptic curve has an option of its own.
        let option = if key == "rsa" { "-n" } else { "-e" };
        command.args(["-d", "sql:db", "-p", &port, "-v", "-V", "tls1.2:tls1.3"]);
        let mut running = RunningServer::start(command.args([option, &format!("test keys:{key}")]));
        running.wait_for("About to call accept");
        let authority = dir.path(&format!("keys/{key}.crt"));
        let address = format!("localhost:{port}:127.0.0.1");
        for version in ["1.2", "1.3"] {
            let options = ["--silent", "--show-error", "--max-time", "30", "--tls-max", version];
            let names = ["--resolve", &address, "--cacert", authority.to_str().unwrap()];
            let url = format!("https://localhost:{port}/");
            let answer = dir.run(&curl, &[&options[..], &names, &[&url]].concat());
            assert!(answer.contains("GET / HTTP/1.1"), "the server echoes: {answer}");
        }
    }
}

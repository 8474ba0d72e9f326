//! GnuTLS and its tools.

use oarlock_measure::ports::free_port;

use super::running::RunningServer;
use super::{module_path, program, with_keys};

#[test]
fn p11tool_lists_keys_and_certificates() {
    let Some(tool) = program("p11tool") else { return };
    let dir = with_keys();
    let module = module_path();
    let listed = dir.run(&tool, &["--provider", &module, "--list-all", "pkcs11:token=test%20keys"]);
    assert!(
        listed.contains("object=p256;type=private") && listed.contains("object=p256;type=cert"),
        "{listed}"
    );
    let exported = dir
        .run(&tool, &["--provider", &module, "--export", "pkcs11:token=test%20keys;object=p256;type=cert"]);
    assert!(exported.contains("BEGIN CERTIFICATE"), "{exported}");
    let signed =
        dir.run(&tool, &["--provider", &module, "--test-sign", "pkcs11:token=test%20keys;object=p256"]);
    assert!(signed.contains("ok"), "{signed}");
}

#[test]
fn gnutls_serv_uses_a_key_and_a_certificate_of_the_module() {
    let (Some(server), Some(client)) = (program("gnutls-serv"), program("gnutls-cli")) else { return };
    let dir = with_keys();
    let object = |key: &str, kind: &str| format!("pkcs11:token=test%20keys;object={key};type={kind}");
    for key in ["rsa", "p256"] {
        let port = free_port().unwrap().to_string();
        let mut command = dir.command(&server);
        command.args(["--echo", "--port", &port, "--provider", &module_path()]);
        command.args(["--x509keyfile", &object(key, "private"), "--x509certfile", &object(key, "cert")]);
        let mut running = RunningServer::start(&mut command);
        running.wait_for("listening on IPv4");
        let authority = dir.path(&format!("keys/{key}.crt"));
        for version in ["TLS1.2", "TLS1.3"] {
            let priority = format!("NORMAL:-VERS-ALL:+VERS-{version}");
            let arguments = ["--port", &port, "--priority", &priority, "--x509cafile"];
            let visited =
                dir.run(&client, &[&arguments[..], &[authority.to_str().unwrap(), "localhost"]].concat());
            assert!(visited.contains("The certificate is trusted"), "{visited}");
            assert!(visited.contains(&format!("Description: ({version}")), "{visited}");
        }
    }
}

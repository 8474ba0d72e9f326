//! nginx and curl, which use the module through the engine of libp11 for OpenSSL, or through a provider.

use std::path::Path;

use super::running::RunningServer;
use super::{TestDirectory, has_engine, module_path, program, said, with_keys};

#[test]
fn nginx_and_curl_use_keys_of_the_module() {
    let (Some(nginx), Some(curl)) = (program("nginx"), program("curl")) else { return };
    if !has_engine() {
        return;
    }
    let dir = with_keys();
    // libp11 0.4 finds no key at all if one is of a kind that it does not know.
    std::fs::remove_file(dir.path("keys/ed25519.pem")).unwrap();
    dir.write("openssl.cnf", engine_settings());
    let _server = start_nginx(&dir, &nginx, |key| format!("engine:pkcs11:{}", object(key)));
    for version in ["1.2", "1.3"] {
        for key in ["rsa", "p256"] {
            let url = object("p256");
            let certificate = dir.path("keys/p256.crt");
            let client = ["--engine", "pkcs11", "--key-type", "ENG", "--key", &url, "--cert"];
            let client = [&client[..], &[certificate.to_str().unwrap()]].concat();
            let answer = visit(&dir, &curl, key, &[&["--tls-max", version][..], &client].concat());
            assert_eq!(answer, "hello SUCCESS", "TLS {version} {key}");
        }
    }
    let stranger = visit(&dir, &curl, "p256", &[]);
    assert!(stranger.contains("No required SSL certificate"), "{stranger}");
}

/// Starts a master that loads the keys `rsa` and `p256`, and workers that use them after a fork. `private_key` returns
/// the name by which nginx finds a key.
pub fn start_nginx(dir: &TestDirectory, nginx: &Path, private_key: impl Fn(&str) -> String) -> RunningServer {
    dir.write("nginx.conf", nginx_settings(dir, private_key));
    let mut command = dir.command(nginx);
    command.env("OPENSSL_CONF", dir.path("openssl.cnf"));
    command.arg("-p").arg(dir.path("")).arg("-c").arg(dir.path("nginx.conf")).args(["-e", "stderr"]);
    let mut server = RunningServer::start(&mut command);
    // Connections wait from here on until a worker accepts them.
    server.wait_for("start worker process ");
    server
}

/// Asks the server that has this key, and returns its answer.
pub fn visit(dir: &TestDirectory, curl: &Path, key: &str, options: &[&str]) -> String {
    let mut command = dir.command(curl);
    command.env("OPENSSL_CONF", dir.path("openssl.cnf"));
    command.args(["--silent", "--show-error", "--max-time", "30", "https://localhost/"]);
    command.arg("--cacert").arg(dir.path(&format!("keys/{key}.crt")));
    command.arg("--unix-socket").arg(dir.path(&format!("{key}.sock")));
    said(&command.args(options).output().unwrap())
}

fn object(key: &str) -> String {
    format!("pkcs11:token=test%20keys;object={key};type=private")
}

/// nginx does not initialise an engine itself.
fn engine_settings() -> String {
    format!(
        "openssl_conf = start\n[start]\nengines = engines\n[engines]\npkcs11 = pkcs11\n\
         [pkcs11]\nengine_id = pkcs11\nMODULE_PATH = {}\ninit = 1\n",
        module_path()
    )
}

/// A server for each key. Workers read the settings of the module again, so nginx must pass the variable on; and they
/// read the keys again, so they stay root.
fn nginx_settings(dir: &TestDirectory, private_key: impl Fn(&str) -> String) -> String {
    let root = dir.path("").display().to_string();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {root}/temporary.{name};\n"))
        .concat();
    let servers: String = ["rsa", "p256"]
        .map(|key| {
            format!(
                "server {{\nlisten unix:{root}/{key}.sock ssl;\nssl_certificate {root}/keys/{key}.crt;\n\
                 ssl_certificate_key \"{}\";\nssl_client_certificate {root}/keys/p256.crt;\n\
                 ssl_verify_client on;\nlocation / {{ return 200 \"hello $ssl_client_verify\"; }}\n}}\n",
                private_key(key)
            )
        })
        .concat();
    format!(
        "daemon off;\nuser root;\nworker_processes 2;\nenv {};\npid {root}/nginx.pid;\nerror_log stderr notice;\n\
         events {{ worker_connections 64; }}\n\
         http {{\naccess_log off;\nssl_protocols TLSv1.2 TLSv1.3;\n{temporary}{servers}}}\n",
        super::SETTINGS
    )
}

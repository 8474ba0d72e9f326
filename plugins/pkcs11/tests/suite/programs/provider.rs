//! `openssl` with pkcs11-provider, the provider of OpenSSL 3 for PKCS#11 modules.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::running::RunningServer;
use super::tls::{start_nginx, visit};
use super::{TestDirectory, USER_PIN, module_path, program, said, with_store};
use crate::common::{KEYS, STORE};

/// The keys of a directory of key files, which need no login.
const KEY_FILES: &str = "pkcs11:token=test%20keys";

/// The keys of a token, for which the provider logs in.
const TOKEN: &str = "pkcs11:token=a%20token";

/// A test directory, and `openssl` with the provider.
struct WithProvider {
    dir: TestDirectory,
    openssl: PathBuf,
}

impl WithProvider {
    /// Makes a token and key files. Returns `None` if a program or the provider is not installed.
    fn new() -> Option<Self> {
        let (openssl, tool) = (program("openssl")?, program("pkcs11-tool")?);
        if !has_provider(&openssl) {
            return None;
        }
        let dir = with_store(&tool, KEYS);
        dir.make_keys();
        dir.write("message", "some data to sign");
        dir.write("pin", USER_PIN);
        dir.write("openssl.cnf", provider_settings(&dir));
        make_keys_of_token(&dir, &tool);
        Some(Self { dir, openssl })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.dir.command(&self.openssl);
        command.env("OPENSSL_CONF", self.dir.path("openssl.cnf")).args(arguments);
        command
    }

    /// Runs `openssl` with the words of a line and further arguments. It must succeed.
    #[track_caller]
    fn run(&self, line: &str, more: &[&str]) -> String {
        let mut command = self.command(&line.split(' ').collect::<Vec<_>>());
        let output = command.args(more).output().unwrap();
        assert!(output.status.success(), "{line} {more:?}: {:?}\n{}", output.status, said(&output));
        said(&output)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.dir.path(name)).unwrap()
    }

    /// Writes the public key to `public.pem`, for OpenSSL's own code.
    fn export_public(&self, key: &str) {
        self.run("pkey -pubout -out public.pem -in", &[key]);
    }

    /// Signs by the key, and verifies with OpenSSL's own code and by the public key of the module.
    fn sign_and_verify(&self, key: &str, options: &str) {
        self.run(&format!("dgst{options} -out signature -sign"), &[&private(key), "message"]);
        for public in ["public.pem", &public(key)] {
            let verify = format!("dgst{options} -signature signature -verify");
            assert!(self.run(&verify, &[public, "message"]).contains("Verified OK"));
        }
    }
}

/// True if OpenSSL finds the provider, in its own directory or in that of the variable `OPENSSL_MODULES`. Prints
/// SKIPPED otherwise.
fn has_provider(openssl: &Path) -> bool {
    let dir = TestDirectory::new();
    dir.write("pin", USER_PIN);
    dir.write("openssl.cnf", provider_settings(&dir));
    let mut command = dir.command(openssl);
    let output = command.env("OPENSSL_CONF", dir.path("openssl.cnf")).args(["list", "-providers"]).output();
    let is_there = said(&output.unwrap()).contains("PKCS#11 Provider");
    if !is_there {
        eprintln!("SKIPPED: OpenSSL has no provider pkcs11 (pkcs11-provider)");
    }
    is_there
}

fn provider_settings(dir: &TestDirectory) -> String {
    format!(
        "openssl_conf = start\n[start]\nproviders = providers\n\
         [providers]\ndefault = default_provider\npkcs11 = pkcs11_provider\n[default_provider]\nactivate = 1\n\
         [pkcs11_provider]\npkcs11-module-path = {}\npkcs11-module-token-pin = file:{}\n\
         pkcs11-module-encode-provider-uri-to-pem = true\nactivate = 1\n",
        module_path(),
        dir.path("pin").display()
    )
}

fn make_keys_of_token(dir: &TestDirectory, tool: &Path) {
    let module = module_path();
    for (kind, label, id) in [("rsa:2048", "rsa", "01"), ("EC:prime256v1", "p256", "02")] {
        let login = ["--module", &module, "--login", "--pin", USER_PIN, "--keypairgen"];
        let mut key = vec!["--key-type", kind, "--label", label, "--id", id, "--usage-sign"];
        key.push(if label == "rsa" { "--usage-decrypt" } else { "--usage-derive" });
        dir.run(tool, &[&login[..], &key].concat());
    }
}

fn private(key: &str) -> String {
    format!("{key};type=private")
}

fn public(key: &str) -> String {
    format!("{key};type=public")
}

#[test]
fn openssl_signs_with_a_provider() {
    let Some(openssl) = WithProvider::new() else { return };
    for slot in [KEY_FILES, TOKEN] {
        for kind in ["rsa", "p256"] {
            let key = format!("{slot};object={kind}");
            openssl.export_public(&private(&key));
            for digest in ["sha1", "sha224", "sha256", "sha384", "sha512"] {
                openssl.sign_and_verify(&key, &format!(" -{digest}"));
            }
            if kind == "rsa" {
                let pss = " -sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen";
                openssl.sign_and_verify(&key, &format!("{pss}:digest"));
                openssl.sign_and_verify(&key, &format!("{pss}:20"));
            }
            openssl.run("req -x509 -new -subj /CN=me -out me.crt -key", &[&private(&key)]);
            openssl.run("verify -CAfile me.crt", &["me.crt"]);
        }
    }
    let key = format!("{KEY_FILES};object=ed25519");
    openssl.export_public(&private(&key));
    openssl.run("pkeyutl -sign -rawin -in message -out signature -inkey", &[&private(&key)]);
    openssl.run("pkeyutl -verify -rawin -in message -sigfile signature -pubin -inkey", &["public.pem"]);
}

#[test]
fn openssl_decrypts_with_a_provider() {
    let Some(openssl) = WithProvider::new() else { return };
    // The provider 1.0 needs both digests of OAEP.
    let oaep =
        " -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha256".to_owned();
    for slot in [KEY_FILES, TOKEN] {
        let key = private(&format!("{slot};object=rsa"));
        openssl.export_public(&key);
        for padding in ["", &oaep] {
            let encrypt = format!("pkeyutl{padding} -encrypt -in message -out encrypted -pubin -inkey");
            openssl.run(&encrypt, &["public.pem"]);
            openssl.run(&format!("pkeyutl{padding} -decrypt -in encrypted -out decrypted -inkey"), &[&key]);
            assert_eq!(openssl.read("decrypted"), openssl.read("message"));
        }
    }
}

#[test]
fn openssl_agrees_on_secrets_with_a_provider() {
    let Some(openssl) = WithProvider::new() else { return };
    for (slot, key, curve) in
        [(KEY_FILES, "p256", "P-256"), (KEY_FILES, "p384", "P-384"), (TOKEN, "p256", "P-256")]
    {
        let key = private(&format!("{slot};object={key}"));
        openssl.export_public(&key);
        openssl.run("genpkey -algorithm EC -out peer.pem -pkeyopt", &[&format!("ec_paramgen_curve:{curve}")]);
        openssl.run("pkey -in peer.pem -pubout -out", &["peer.pub"]);
        openssl.run("pkeyutl -derive -out ours -peerkey peer.pub -inkey", &[&key]);
        openssl.run("pkeyutl -derive -out theirs -peerkey public.pem -inkey", &["peer.pem"]);
        assert_eq!(openssl.read("ours"), openssl.read("theirs"));
    }
}

#[test]
fn openssl_generates_keys_with_a_provider() {
    let Some(openssl) = WithProvider::new() else { return };
    // The provider's templates say that a key wraps too.
    openssl.dir.write("pkcs11.toml", format!("{STORE}compatible = true\n"));
    for (name, kind) in [
        ("new-rsa", "RSA -pkeyopt rsa_keygen_bits:2048"),
        ("new-p256", "EC -pkeyopt ec_paramgen_curve:P-256"),
    ] {
        let key = format!("{TOKEN};object={name}");
        let generate =
            format!("genpkey -propquery provider=pkcs11 -algorithm {kind} -out reference.pem -pkeyopt");
        openssl.run(&generate, &[&format!("pkcs11_uri:{key}")]);
        // The file names the key, for programs that take no URI.
        openssl.run("dgst -sha256 -out signature -sign reference.pem message", &[]);
        openssl.run("dgst -sha256 -signature signature -verify", &[&public(&key), "message"]);
        openssl.export_public(&private(&key));
        openssl.sign_and_verify(&key, " -sha256");
    }
}

#[test]
fn openssl_serves_tls_with_a_provider() {
    let Some(openssl) = WithProvider::new() else { return };
    for slot in [KEY_FILES, TOKEN] {
        for kind in ["rsa", "p256"] {
            let key = private(&format!("{slot};object={kind}"));
            openssl.run("req -x509 -new -subj /CN=localhost -out server.crt -key", &[&key]);
            let socket = format!("{kind}-{}.sock", slot.len());
            let listen =
                "s_server -www -cert server.crt -CAfile keys/p256.crt -Verify 1 -verify_return_error";
            let mut command = openssl.command(&listen.split(' ').collect::<Vec<_>>());
            let mut server = RunningServer::start(command.args(["-key", &key, "-unix", &socket]));
            server.wait_for("ACCEPT");
            for version in ["tls1_2", "tls1_3"] {
                let client = "s_client -brief -verify_return_error -CAfile server.crt -cert keys/p256.crt";
                let client = format!("{client} -{version} -unix {socket} -key");
                let answer = openssl.run(&client, &[&private(&format!("{KEY_FILES};object=p256"))]);
                assert!(answer.contains("Verification: OK"), "{key} {version}: {answer}");
            }
        }
    }
}

/// nginx 1.22 takes no URI of a provider, but a file that names a key.
#[test]
fn nginx_uses_a_provider() {
    let (Some(nginx), Some(curl)) = (program("nginx"), program("curl")) else { return };
    let Some(openssl) = WithProvider::new() else { return };
    let dir = &openssl.dir;
    for kind in ["rsa", "p256"] {
        let key = private(&format!("{KEY_FILES};object={kind}"));
        openssl.run(&format!("pkey -out {kind}.reference -in"), &[&key]);
    }
    let _server = start_nginx(dir, &nginx, |key| dir.path(&format!("{key}.reference")).display().to_string());
    let client = ["--cert", "keys/p256.crt", "--key", "keys/p256.pem"];
    for version in ["1.2", "1.3"] {
        for key in ["rsa", "p256"] {
            let answer = visit(dir, &curl, key, &[&["--tls-max", version][..], &client].concat());
            assert_eq!(answer, "hello SUCCESS", "TLS {version} {key}");
        }
    }
}

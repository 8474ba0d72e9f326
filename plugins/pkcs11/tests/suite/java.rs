//! Java programs with keys of the module, by Java's own provider for PKCS#11, and a Netty server with a key of a
//! cryptoserver. Each test prints SKIPPED without a JDK.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use oarlock::Accelerator;
use oarlock_server::{BoundServer, CryptoserverConfig};

use crate::common::{self, KEYS, TestDirectory, USER_PIN, module_path, program, with_store};

/// A key that `keytool` generates, and the schemes that a client accepts for it.
struct JavaKey {
    arguments: &'static [&'static str],
    /// The signature of the handshake, and that of the certificate.
    schemes: &'static str,
}

const RSA_PSS: JavaKey = JavaKey {
    arguments: &["-keyalg", "RSA", "-keysize", "2048", "-sigalg", "SHA256withRSA"],
    schemes: "rsa_pss_rsae_sha256,rsa_pkcs1_sha256",
};
const P256: JavaKey = JavaKey {
    arguments: &["-keyalg", "EC", "-groupname", "secp256r1", "-sigalg", "SHA256withECDSA"],
    schemes: "ecdsa_secp256r1_sha256",
};

#[test]
fn keytool_lists_the_entries_of_a_directory() {
    let Some(tools) = JavaTools::find() else { return };
    let dir = with_keys();
    let listed = tools.keytool(&dir, &["-list"]);
    assert!(listed.contains("p256, PrivateKeyEntry"), "{listed}");
}

#[test]
fn jarsigner_signs_with_a_key_of_the_module() {
    let Some(tools) = JavaTools::find() else { return };
    let (Some(signer), Some(jar)) = (program("jarsigner"), program("jar")) else { return };
    let dir = with_keys();
    dir.write("hello.txt", "hello");
    dir.run(jar, &["cf", "hello.jar", "hello.txt"]);
    let signed = tools.with_provider(&dir, &signer, &["hello.jar", "p256"]);
    assert!(signed.contains("jar signed"), "{signed}");
    let verified = dir.run(&signer, &["-verify", "hello.jar"]);
    assert!(verified.contains("jar verified"), "{verified}");
}

#[test]
fn a_tls_server_signs_with_rsa_pss_in_the_token() {
    serve_tls(&RSA_PSS);
}

#[test]
fn a_tls_server_signs_with_p256_in_the_token() {
    serve_tls(&P256);
}

#[test]
fn threads_sign_and_verify_with_a_key_of_the_token() {
    let Some((tools, dir)) = with_generated_key(&P256) else { return };
    let rate = source("SignRate.java");
    let arguments = [rate.to_str().unwrap(), "32", "0.2", "SHA256withECDSA", "java.cfg", USER_PIN, "www"];
    let signed = dir.run(&tools.java, &arguments);
    assert!(signed.contains("32 threads, SHA256withECDSA: "), "{signed}");
}

#[test]
fn one_event_loop_of_netty_signs_at_a_cryptoserver() {
    let Some(tools) = JavaTools::find() else { return };
    let dir = with_keys();
    let Some(classes) = build_netty_example(&dir) else { return };
    let settings = "listen.unix = \"oarlock.sock\"\nkeys.directory = \"keys\"\n\
                    [[grant]]\nkeys = [\"*\"]\nclients = [\"*\"]\n";
    dir.write("oarlock.toml", settings);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let config = CryptoserverConfig::read(&dir.path("oarlock.toml")).unwrap();
    let engines = Accelerator::builder().threads(1).lazy();
    let cryptoserver = runtime.block_on(BoundServer::bind(config, engines)).unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = runtime.spawn(cryptoserver.run(async { drop(stopped.await) }));

    for (key, schemes) in [("rsa", RSA_PSS.schemes), ("p256", P256.schemes)] {
        let certificate = format!("keys/{key}.crt");
        let mut command = dir.command(&tools.java);
        command.args(["-cp", &classes, "LaneServer", "oarlock.sock", key, &certificate, "0"]);
        let server = JavaServer::start(command);
        for protocol in ["TLSv1.3", "TLSv1.2"] {
            connect_clients(&dir, &tools, &server, schemes, &certificate, protocol);
        }
    }
    drop(stop);
    runtime.block_on(running).unwrap().unwrap();
}

/// Builds the example, and returns the class path. Prints SKIPPED and returns None without Maven, or if Maven would
/// download something.
fn build_netty_example(dir: &TestDirectory) -> Option<String> {
    let maven = program("mvn")?;
    let pom = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/netty/pom.xml");
    let built = dir.path("netty");
    // Not by the directory's command: Maven's artifacts are in the home of the user.
    let mut build = Command::new(maven);
    build.args(["--batch-mode", "--quiet", "--offline", "package", "--file"]).arg(pom);
    let output = build.arg(format!("-DbuildDirectory={}", built.display())).output().unwrap();
    if !output.status.success() {
        let printed = common::said(&output);
        assert!(printed.contains("offline mode") || printed.contains("has not been downloaded"), "{printed}");
        eprintln!("SKIPPED: `mvn package` in examples/netty has not downloaded Netty yet");
        return None;
    }
    Some(format!("{0}/classes:{0}/dependency/*", built.display()))
}

/// Generates a key in a token, and lets 32 threads of clients connect to a server that uses it.
fn serve_tls(key: &JavaKey) {
    let Some((tools, dir)) = with_generated_key(key) else { return };
    let mut command = dir.command(&tools.java);
    command.arg(source("TlsServer.java")).args(["java.cfg", USER_PIN]);
    let mut server = JavaServer::start(command);
    for protocol in ["TLSv1.3", "TLSv1.2"] {
        connect_clients(&dir, &tools, &server, key.schemes, "www.crt", protocol);
    }
    let printed = server.end();
    assert!(printed.contains("128 connections"), "{printed}");
}

/// Lets 32 threads open two connections each. They accept these schemes of signatures only.
fn connect_clients(
    dir: &TestDirectory,
    tools: &JavaTools,
    server: &JavaServer,
    schemes: &str,
    certificate: &str,
    protocol: &str,
) {
    let mut clients = dir.command(&tools.java);
    clients.arg(format!("-Djdk.tls.client.SignatureSchemes={schemes}")).arg(source("TlsClients.java"));
    clients.args([server.port.as_str(), certificate, protocol, "32", "2"]);
    let output = clients.output().unwrap();
    let printed = common::said(&output);
    assert!(output.status.success() && printed.contains("64 connections with"), "{protocol}: {printed}");
}

/// Makes a directory of keys, and the settings of Java's provider.
fn with_keys() -> TestDirectory {
    let dir = TestDirectory::new();
    dir.write("pkcs11.toml", KEYS);
    dir.make_keys();
    write_java_settings(&dir);
    dir
}

/// Makes a token with a key `www` and its certificate, both generated by `keytool`. `www.crt` is the certificate.
fn with_generated_key(key: &JavaKey) -> Option<(JavaTools, TestDirectory)> {
    let tools = JavaTools::find()?;
    let dir = with_store(&program("pkcs11-tool")?, "");
    write_java_settings(&dir);
    let generate = ["-genkeypair", "-alias", "www", "-dname", "CN=localhost", "-validity", "2"];
    tools.keytool(&dir, &[&generate[..], key.arguments].concat());
    tools.keytool(&dir, &["-exportcert", "-rfc", "-alias", "www", "-file", "www.crt"]);
    Some((tools, dir))
}

fn write_java_settings(dir: &TestDirectory) {
    // Java reads this file in Latin-1, and the module's path may have other letters.
    let link = dir.path("module.so");
    if !link.exists() {
        std::os::unix::fs::symlink(module_path(), &link).unwrap();
    }
    dir.write("java.cfg", format!("name = Oarlock\nlibrary = {}\nslotListIndex = 0\n", link.display()));
}

/// The programs of a JDK.
struct JavaTools {
    java: PathBuf,
    keytool: PathBuf,
}

impl JavaTools {
    /// Finds the programs. Prints SKIPPED and returns None if one is not installed.
    fn find() -> Option<Self> {
        // A JRE has no compiler, without which `java` does not run source files.
        program("javac")?;
        Some(Self { java: program("java")?, keytool: program("keytool")? })
    }

    fn keytool(&self, dir: &TestDirectory, arguments: &[&str]) -> String {
        self.with_provider(dir, &self.keytool, arguments)
    }

    /// Runs a tool with the keys of the module as its key store.
    fn with_provider(&self, dir: &TestDirectory, tool: &Path, arguments: &[&str]) -> String {
        let settings = dir.path("java.cfg");
        let store = ["-keystore", "NONE", "-storetype", "PKCS11", "-storepass", USER_PIN];
        let provider =
            ["-providerClass", "sun.security.pkcs11.SunPKCS11", "-providerArg", settings.to_str().unwrap()];
        // `keytool` wants its command first, and `jarsigner` the file last.
        let (first, last) = if tool == self.keytool { (arguments, &[][..]) } else { (&[][..], arguments) };
        dir.run(tool, &[first, &store, &provider, last].concat())
    }
}

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java").join(file)
}

/// A server in Java. It prints its port first.
struct JavaServer {
    child: Child,
    printed: BufReader<ChildStdout>,
    port: String,
}

impl JavaServer {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut printed = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        printed.read_line(&mut line).unwrap();
        let port = line.strip_prefix("port ").unwrap_or_else(|| panic!("the server ended: {line}"));
        Self { child, port: port.trim().to_owned(), printed }
    }

    /// Ends the input of the server, and returns what it prints at its end.
    fn end(&mut self) -> String {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        self.printed.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
        rest
    }
}

impl Drop for JavaServer {
    fn drop(&mut self) {
        // A server that does not read its input, or one whose test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! The clients of `examples`, and `curl`, run against a server.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::program::{code, stderr};
use crate::served::Served;

/// The output of every client, but for the spelling of some words.
const EXPECTED: &str = "signature valid: true\ndecrypted: 4111111111111111 5555555555554444\n\
                        code valid: true\nabsent key: permissiondenied\n";

fn example(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples").join(language)
}

fn run<A: AsRef<OsStr>>(program: &Path, directory: &Path, arguments: &[A]) -> Output {
    Command::new(program).args(arguments).current_dir(directory).output().unwrap()
}

/// Returns the path of a program of PATH. Prints SKIPPED and returns None if it is not there.
fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file());
    if found.is_none() {
        println!("SKIPPED: {name} is not installed");
    }
    found
}

/// True if a preparation, which may need a network, worked. Prints SKIPPED and the end of its output if not.
fn is_prepared(what: &str, output: &Output) -> bool {
    if !output.status.success() {
        let text = [&output.stdout[..], &output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        let last: Vec<&str> = text.lines().rev().take(3).collect();
        println!("SKIPPED: {what}: {last:?}");
    }
    output.status.success()
}

/// Checks what a client printed. Languages spell truth and codes in ways of their own.
fn assert_expected(output: &Output) {
    assert_eq!(code(output), 0, "{}", stderr(output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(text.to_lowercase().replace('_', ""), EXPECTED);
}

/// Returns the address at which clients reach the server by the name in its certificate.
fn address(served: &Served) -> String {
    let port = served.said["tcp"].as_str().unwrap().rsplit_once(':').unwrap().1;
    format!("localhost:{port}")
}

/// Copies the files of a directory, and of those in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().unwrap().is_dir() {
            true => copy(&from, &to),
            false => drop(fs::copy(from, to).unwrap()),
        }
    }
}

/// The calls of docs/cryptoserver/clients.md, Calls with curl.
#[test]
fn curl_makes_single_calls_under_mutual_tls() {
    let Some(curl) = installed("curl") else { return };
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path());
    let url = |name: &str| format!("https://{}/oarlock.v1.Cryptoserver/{name}", address(&served));
    let post = |credentials: &[&str], name: &str, json: &str| {
        let all = [&["--silent", "--show-error", "--cacert", "ca.pem"], credentials].concat();
        let request = ["--write-out", "\n%{http_code} %{http_version}", "--json", json];
        run(&curl, folder.path(), &[&all[..], &request, &[&url(name)]].concat())
    };
    let known = ["--cert", "client.pem", "--key", "client-key.pem"];
    let answer = |name: &str, json: &str| {
        let output = post(&known, name, json);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        let (body, end) = text.rsplit_once('\n').unwrap();
        (end.to_owned(), serde_json::from_str::<serde_json::Value>(body).unwrap())
    };
    let (end, sealed) = answer(
        "Encrypt",
        r#"{"key": "aes128", "plaintexts": ["NDExMTExMTExMTExMTExMQ=="], "aad": "Y2FyZHM="}"#,
    );
    assert_eq!(end, "200 2", "{sealed}");
    let request =
        format!(r#"{{"key": "aes128", "ciphertexts": {}, "aad": "Y2FyZHM="}}"#, sealed["ciphertexts"]);
    let (end, opened) = answer("Decrypt", &request);
    assert_eq!((end.as_str(), &opened["plaintexts"][0]), ("200 2", &"NDExMTExMTExMTExMTExMQ==".into()));
    let (end, refused) = answer("Mac", r#"{"key": "absent", "messages": ["aGVsbG8="]}"#);
    assert_eq!((end.as_str(), &refused["code"]), ("403 2", &"permission_denied".into()));

    // Without a certificate there is no answer at all.
    let stranger = post(&[], "ListKeys", "{}");
    assert_ne!(code(&stranger), 0);
    assert!(stderr(&stranger).contains("certificate required"), "{}", stderr(&stranger));
}

#[test]
fn the_client_in_python_works() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let python = target.join("grpc-python/bin/python");
    if !python.exists() {
        println!("SKIPPED: grpcio and grpcio-tools are not in {}", target.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path());
    let protocol = concat!(env!("CARGO_MANIFEST_DIR"), "/../../io/wire/proto");
    let compile = ["-m", "grpc_tools.protoc", "-I", protocol, "--python_out=.", "--grpc_python_out=."];
    let compile = [&compile[..], &["oarlock/v1/cryptoserver.proto"]].concat();
    let compiled = run(&python, folder.path(), &compile);
    assert_eq!(code(&compiled), 0, "{}", stderr(&compiled));
    let client = example("python").join("client.py");
    let state = folder.path().to_str().unwrap();
    assert_expected(&run(&python, folder.path(), &[client.to_str().unwrap(), state, &address(&served)]));
}

#[test]
fn the_client_in_go_works() {
    let (Some(go), Some(_)) = (installed("go"), installed("protoc")) else { return };
    let source = example("go");
    if !is_prepared("the modules of Go", &run(&go, &source, &["mod", "download"])) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Beside the protocol, as in the repository, so that nothing is written there.
    let (copied, protocol) = (folder.path().join("examples/go"), folder.path().join("crates/io/wire/proto"));
    copy(&source, &copied);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../io/wire/proto"), &protocol);
    let generated = run(&go, &copied, &["generate", "./..."]);
    assert_eq!(code(&generated), 0, "{}", stderr(&generated));
    let built = run(&go, &copied, &["build", "-o", "client", "."]);
    assert_eq!(code(&built), 0, "{}", stderr(&built));
    let state = folder.path().join("state");
    let served = Served::start(&state);
    assert_expected(&run(&copied.join("client"), &copied, &[state.to_str().unwrap(), &address(&served)]));
}

/// A library that is not ours speaks the protocol that `curl` is answered in.
#[test]
fn a_client_of_connect_makes_single_calls() {
    let (Some(go), Some(protoc)) = (installed("go"), installed("protoc")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let client = folder.path().join("connect");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/connect"), &client);
    if !is_prepared("the modules of Connect", &run(&go, &client, &["mod", "download"])) {
        return;
    }
    let plugin = run(&go, &client, &["tool", "-n", "protoc-gen-go"]);
    assert_eq!(code(&plugin), 0, "{}", stderr(&plugin));
    let plugin = format!("--plugin=protoc-gen-go={}", String::from_utf8(plugin.stdout).unwrap().trim());
    let (file, module) = ("oarlock/v1/cryptoserver.proto", "example.com/oarlock-connect");
    let (package, module) =
        (format!("--go_opt=M{file}={module}/oarlockv1"), format!("--go_opt=module={module}"));
    let protocol = concat!(env!("CARGO_MANIFEST_DIR"), "/../../io/wire/proto");
    let compiled = run(&protoc, &client, &["-I", protocol, &plugin, "--go_out=.", &module, &package, file]);
    assert_eq!(code(&compiled), 0, "{}", stderr(&compiled));
    let built = run(&go, &client, &["build", "-o", "client", "."]);
    assert_eq!(code(&built), 0, "{}", stderr(&built));
    let state = folder.path().join("state");
    let served = Served::start(&state);
    let called = run(&client.join("client"), &client, &[state.to_str().unwrap(), &address(&served)]);
    assert_eq!(code(&called), 0, "{}", stderr(&called));
    let each = "decrypted: [\"4111111111111111\" \"\"]\npermission_denied true\n";
    assert_eq!(String::from_utf8(called.stdout).unwrap(), each.repeat(2));
}

#[test]
fn the_client_in_java_works() {
    let (Some(maven), Some(_)) = (installed("mvn"), installed("javac")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (copied, protocol) =
        (folder.path().join("examples/java"), folder.path().join("crates/io/wire/proto"));
    copy(&example("java"), &copied);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../io/wire/proto"), &protocol);
    // The compiler of Java is offline: only the first of the two may fail for want of a network.
    let fetched = run(&maven, &copied, &["-q", "-B", "generate-sources"]);
    if !is_prepared("packages of Maven", &fetched) {
        return;
    }
    let state = folder.path().join("state");
    let served = Served::start(&state);
    let words = format!("-Dexec.args={} {}", state.display(), address(&served));
    let ran = run(&maven, &copied, &["-q", "-B", "compile", "exec:java", &words]);
    let text = String::from_utf8_lossy(&ran.stdout);
    // Without a terminal, Maven resets its colours all the same.
    let stdout = text.replace("\u{1b}[0m", "").into_bytes();
    assert_expected(&Output { stdout, ..ran });
}

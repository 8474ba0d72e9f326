//! The Python client of docs/cryptoserver.md, run against a server.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod program;
mod served;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use program::{code, stderr};
use served::Served;

const GUIDE: &str = include_str!("../../../docs/cryptoserver.md");

/// Returns the first code block of a language in the section on other languages.
fn block(language: &str) -> &'static str {
    let (_, section) = GUIDE.split_once("## Clients in other languages").unwrap();
    let (_, rest) = section.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

/// Returns a Python that has gRPC and the compiler of its messages. Prints SKIPPED and returns None if there is none.
fn python() -> Option<&'static str> {
    let has_grpc = |python: &&str| {
        let asked =
            Command::new(python).args(["-c", "import grpc, grpc_tools"]).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    let found = ["python3", "/usr/bin/python3"].into_iter().find(has_grpc);
    if found.is_none() {
        println!("SKIPPED: no Python here has grpcio and grpcio-tools");
    }
    found
}

fn run(python: &str, directory: &Path, arguments: &[&str]) -> Output {
    Command::new(python).args(arguments).current_dir(directory).output().unwrap()
}

#[test]
fn the_documented_client_in_python_works() {
    let Some(python) = python() else { return };
    let place = tempfile::tempdir().unwrap();
    let served = Served::start(place.path());
    let protocol = concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/proto");
    let compile = ["-m", "grpc_tools.protoc", "-I", protocol, "--python_out=.", "--grpc_python_out=."];
    let written = block("console").lines().find(|line| line.contains("grpc_tools.protoc")).unwrap();
    let words = compile.join(" ").replace(protocol, "crates/wire/proto");
    assert_eq!(written, format!("$ python3 {words} oarlock/v1/cryptoserver.proto"));
    let compiled = run(python, place.path(), &[&compile[..], &["oarlock/v1/cryptoserver.proto"]].concat());
    if stderr(&compiled).contains("Explicit 'optional' labels") {
        println!(
            "SKIPPED: the compiler of gRPC's messages here is older than 3.15 and knows no optional fields"
        );
        return;
    }
    assert_eq!(code(&compiled), 0, "{}", stderr(&compiled));

    let port = served.said["tcp"].as_str().unwrap().rsplit_once(':').unwrap().1;
    let client = block("python").replace("localhost:7443", &format!("localhost:{port}"));
    assert_ne!(client, block("python"));
    fs::write(place.path().join("client.py"), client).unwrap();
    let ran = run(python, place.path(), &["client.py"]);
    assert_eq!(code(&ran), 0, "{}", stderr(&ran));
    let shown = block("console").split_once("client.py\n").unwrap().1;
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), shown);
    let opened =
        served.call(&["open", "--key", "aes128", "--in", place.path().join("sealed").to_str().unwrap()]);
    assert_eq!((code(&opened), &opened.stdout[..]), (0, &b"4111111111111111"[..]), "{}", stderr(&opened));
}

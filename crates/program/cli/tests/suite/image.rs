//! packaging/Dockerfile, built by buildah. Stand-ins replace the base images, so that no registry is asked: one whose
//! `cargo` has the tested program, and one with a shell and the libraries of the program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::program::peers::has;
use crate::program::{code, oarlock, stderr};
use serde_json::{Value, json};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

const DOCKERFILE: &str = include_str!("../../../../../packaging/Dockerfile");

/// The stand-in for a compiler in the image of Rust. It takes the command of the Dockerfile, in the sources, and no
/// other.
const CARGO: &str = r#"#!/bin/sh
[ "$*" = "build --release --locked --package oarlock-cli" ] || { echo "cargo $*"; exit 1; }
[ -e Cargo.lock ] && [ -e crates/program/cli/src/main.rs ] && [ ! -e .git ] || { echo "other sources"; exit 1; }
mkdir -p target/release && cp /program target/release/oarlock
"#;

/// Images and containers in a directory of their own.
struct Builder(PathBuf);

impl Builder {
    fn run(&self, arguments: &[&str]) -> Output {
        let path = |name: &str| self.0.join(name);
        Command::new("buildah")
            .arg(format!("--root={}", path("root").display()))
            .arg(format!("--runroot={}", path("run").display()))
            .arg("--storage-driver=vfs")
            .args(arguments)
            // Neither a user namespace nor a network, which a build machine may lack.
            .env("BUILDAH_ISOLATION", "chroot")
            .env("TMPDIR", &self.0)
            .output()
            .unwrap()
    }

    fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Makes an image of the files of a directory.
    fn import(&self, name: &str, directory: &Path) {
        let dockerfile = self.0.join("Importfile");
        fs::write(&dockerfile, "FROM scratch\nCOPY . /\n").unwrap();
        let [dockerfile, directory] = [&dockerfile, directory].map(|path| path.to_str().unwrap());
        self.text(&["build", "--file", dockerfile, "--tag", name, directory]);
    }
}

/// Copies a program of this system into a root, with the libraries that it needs.
fn install(program: &Path, root: &Path, target: &str) {
    let listed = Command::new("ldd").arg(program).output().unwrap();
    assert_eq!(code(&listed), 0, "{}", stderr(&listed));
    let libraries = String::from_utf8(listed.stdout).unwrap();
    let copy = |from: &Path, target: &str| {
        let to = root.join(target.trim_start_matches('/'));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    };
    copy(program, target);
    for library in libraries.split_whitespace().filter(|word| word.starts_with('/')) {
        copy(Path::new(library), library);
    }
}

fn write_script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_base_images_are_fixed_by_digest() {
    for name in ["RUST_IMAGE", "BASE_IMAGE"] {
        let line = format!("\nARG {name}=");
        let (_, image) = DOCKERFILE.split_once(&line).unwrap();
        let (tag, digest) = image.lines().next().unwrap().split_once("@sha256:").unwrap();
        assert!(tag.contains(':') && !tag.ends_with(":latest"), "{tag}");
        assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{digest}");
        assert!(DOCKERFILE.contains(&format!("FROM ${{{name}}}")), "{name}");
    }
    let minor = |version: &str| version.split('.').nth(1).unwrap().parse::<u32>().unwrap();
    let (_, version) = DOCKERFILE.split_once("ARG RUST_IMAGE=rust:").unwrap();
    assert!(minor(version) >= minor(env!("CARGO_PKG_RUST_VERSION")), "{version:.9}");
}

#[test]
fn the_image_has_the_program_and_runs_it_without_root() {
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: only root can build an image without a user namespace");
        return;
    }
    if !has("buildah") || !has("strip") || !has("ldd") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (rust, base) = (folder.path().join("rust"), folder.path().join("base"));
    // A debug build has 200 MB of symbols, which each layer would copy.
    let program = folder.path().join("oarlock");
    let stripped = Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_oarlock")).status();
    assert!(stripped.unwrap().success());
    for tool in ["sh", "cp", "rm", "mkdir"] {
        install(&Path::new("/bin").join(tool), &rust, &format!("/bin/{tool}"));
    }
    write_script(&rust.join("bin/apt-get"), "#!/bin/sh\n");
    write_script(&rust.join("bin/cargo"), CARGO);
    fs::copy(&program, rust.join("program")).unwrap();
    install(Path::new("/bin/bash"), &base, "/bin/bash");
    install(&program, &base, "/program");
    fs::remove_file(base.join("program")).unwrap();

    let builder = Builder(folder.path().join("builder"));
    fs::create_dir(&builder.0).unwrap();
    builder.import("localhost/rust", &rust);
    builder.import("localhost/base", &base);
    let dockerfile = format!("{ROOT}/packaging/Dockerfile");
    let arguments =
        ["build", "--format", "docker", "--pull-never", "--file", &dockerfile, "--tag", "localhost/oarlock"];
    let images = ["RUST_IMAGE=localhost/rust", "BASE_IMAGE=localhost/base", "OARLOCK_COMMIT=0123456789ab"];
    let images = images.iter().flat_map(|argument| ["--build-arg", argument]);
    builder.text(&arguments.into_iter().chain(images).chain([ROOT]).collect::<Vec<_>>());

    let image: Value =
        serde_json::from_str(&builder.text(&["inspect", "--type", "image", "localhost/oarlock"])).unwrap();
    let config = &image["Docker"]["config"];
    assert_eq!((&config["User"], &config["StopSignal"]), (&json!("65532:65532"), &json!("SIGTERM")));
    assert_eq!(config["Entrypoint"], json!(["oarlock"]));
    assert_eq!(config["Cmd"], json!(["serve", "--config", "/etc/oarlock/oarlock.toml", "--log", "json"]));
    assert_eq!(config["Labels"]["org.opencontainers.image.revision"], "0123456789ab");
    assert_eq!(config["Healthcheck"]["Test"][0], "CMD");
    let ports: Vec<_> = config["ExposedPorts"].as_object().unwrap().keys().collect();
    assert_eq!(ports, ["7443/tcp", "9464/tcp"]);

    let container = builder.text(&["from", "--pull-never", "localhost/oarlock"]);
    let container = container.trim();
    let version = builder.text(&["run", container, "--", "oarlock", "--version"]);
    assert_eq!(version.as_bytes(), oarlock(&["--version"]).stdout);
    assert_eq!(builder.text(&["run", container, "--", "bash", "-c", "echo $UID"]), "65532\n");
    // Nothing of the sources and of the first stage came along.
    let listed = builder.text(&["run", container, "--", "bash", "-c", "echo /src* /program* /oarlock*"]);
    assert_eq!(listed, "/src* /program* /oarlock*\n");
}

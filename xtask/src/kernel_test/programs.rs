//! The programs that run in the guest, as `make test` built them.

use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cargo_metadata::{Message, TargetKind};

use super::KernelTestError;

/// The paths of the programs.
#[derive(Debug)]
pub(super) struct GuestPrograms {
    /// The program `oarlock`.
    pub(super) oarlock: PathBuf,
    /// The tests of `oarlock-kernel-tls`.
    pub(super) kernel_tls_tests: PathBuf,
    /// The tests of the proxy, which has those with records of the kernel.
    pub(super) proxy_tests: PathBuf,
    /// The program `oarlock-lab`.
    pub(super) lab: PathBuf,
    /// The tests of `oarlock-lab`, of which those of `sockets bench` run.
    pub(super) lab_tests: PathBuf,
    /// The example that serves a file.
    pub(super) serve_file: PathBuf,
}

impl GuestPrograms {
    /// Builds all tests of `make test`, so that nothing is built twice: a build of fewer has other features.
    pub(super) fn build() -> Result<Self, KernelTestError> {
        let found = cargo(&["as-tested", "--no-run"])?;
        let path = |folder: &str, name: &str, kind: &TargetKind| {
            let is_meant = |program: &&BuiltProgram| {
                program.folder.ends_with(folder) && program.name == name && program.kind == *kind
            };
            let program = found.iter().find(is_meant);
            program
                .map(|program| program.path.clone())
                .ok_or_else(|| KernelTestError::Build(format!("cargo built no `{name}` of {folder}")))
        };
        Ok(Self {
            oarlock: path("crates/program/cli", "oarlock", &TargetKind::Bin)?,
            kernel_tls_tests: path("crates/io/kernel-tls", "suite", &TargetKind::Test)?,
            proxy_tests: path("crates/service/proxy", "suite", &TargetKind::Test)?,
            lab: path("lab/lab", "oarlock-lab", &TargetKind::Bin)?,
            lab_tests: path("lab/lab", "suite", &TargetKind::Test)?,
            serve_file: path("crates/io/kernel-tls", "serve_file_tls", &TargetKind::Example)?,
        })
    }
}

/// A program that cargo built.
#[derive(Debug)]
struct BuiltProgram {
    /// The folder of its crate. Programs of several crates have the same name.
    folder: PathBuf,
    name: String,
    kind: TargetKind,
    path: PathBuf,
}

/// Runs cargo, and returns the programs that it built.
fn cargo(arguments: &[&str]) -> Result<Vec<BuiltProgram>, KernelTestError> {
    let failed = |error: std::io::Error| KernelTestError::Build(error.to_string());
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).args(["--message-format", "json-render-diagnostics"]);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut found = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        for message in Message::parse_stream(BufReader::new(stdout)) {
            let Message::CompilerArtifact(artifact) = message.map_err(failed)? else { continue };
            let kind = artifact.target.kind.first().cloned();
            // A program has unit tests, which are a program of the same name.
            let is_meant = artifact.profile.test == (kind == Some(TargetKind::Test));
            if let (Some(path), Some(kind), true) = (artifact.executable, kind, is_meant) {
                let folder = artifact.manifest_path.with_file_name("").into();
                found.push(BuiltProgram { folder, name: artifact.target.name, kind, path: path.into() });
            }
        }
    }
    match child.wait().map_err(failed)?.success() {
        true => Ok(found),
        false => Err(KernelTestError::Build("the programs for the guest cannot be built".to_owned())),
    }
}

//! The programs that run in the guest, as `make unit` built them.

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
    /// The tests of the kernel's TLS.
    pub(super) kernel_tls: PathBuf,
    /// The tests of the proxy with records of the kernel.
    pub(super) hand_over: PathBuf,
    /// The program `oarlock-lab`.
    pub(super) lab: PathBuf,
    /// The tests of `oarlock-lab`, of which those of `sockets bench` run.
    pub(super) lab_tests: PathBuf,
    /// The example that serves a file.
    pub(super) serve_file: PathBuf,
}

impl GuestPrograms {
    /// Builds all tests of the workspace, so that nothing is built twice: a build of fewer has other features, and
    /// compiles the lanes again. Only the tests of the lanes themselves are left out, which take minutes.
    pub(super) fn build() -> Result<Self, KernelTestError> {
        let found = cargo(&["test", "--no-run", "--exclude", "oarlock-lanes"])?;
        let path = |name: &str, kind: &TargetKind| {
            let own = found.iter().find(|(own, own_kind, _)| (own.as_str(), own_kind) == (name, kind));
            own.map(|(.., path)| path.clone())
                .ok_or_else(|| KernelTestError::Build(format!("cargo built no `{name}`")))
        };
        Ok(Self {
            oarlock: path("oarlock", &TargetKind::Bin)?,
            kernel_tls: path("kernel_tls", &TargetKind::Test)?,
            hand_over: path("kernel_hand_over", &TargetKind::Test)?,
            lab: path("oarlock-lab", &TargetKind::Bin)?,
            lab_tests: path("laboratory", &TargetKind::Test)?,
            serve_file: path("serve_file_tls", &TargetKind::Example)?,
        })
    }
}

/// Runs cargo, and returns the programs that it built: name, kind and path.
fn cargo(arguments: &[&str]) -> Result<Vec<(String, TargetKind, PathBuf)>, KernelTestError> {
    let failed = |error: std::io::Error| KernelTestError::Build(error.to_string());
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).args(["--workspace", "--message-format", "json-render-diagnostics"]);
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut found = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        for message in Message::parse_stream(BufReader::new(stdout)) {
            let Message::CompilerArtifact(artifact) = message.map_err(failed)? else { continue };
            let kind = artifact.target.kind.first().cloned();
            // A program has unit tests, which are a program of the same name.
            let is_meant = artifact.profile.test == (kind == Some(TargetKind::Test));
            if let (Some(path), Some(kind), true) = (artifact.executable, kind, is_meant) {
                found.push((artifact.target.name, kind, path.into()));
            }
        }
    }
    match child.wait().map_err(failed)?.success() {
        true => Ok(found),
        false => Err(KernelTestError::Build("the programs for the guest cannot be built".to_owned())),
    }
}

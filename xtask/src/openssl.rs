//! `cargo xtask openssl`: the newest OpenSSL, built from the crate that carries its sources, as a peer of
//! `oarlock speed`. `make lab` runs it. No program of ours is linked with it. Its program `openssl` is in `bin`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Metadata, MetadataCommand};

/// The crate that carries the sources.
const SOURCES: &str = "openssl-src";

/// The sources of the crate lack what shared libraries and modules are linked with, so both are left out, and the
/// provider "legacy" with its DES is a part of libcrypto. The other parts take long to build, and no measurement uses
/// them.
const OPTIONS: [&str; 8] =
    ["no-shared", "no-module", "no-cmp", "no-docs", "no-quic", "no-tests", "no-ts", "enable-lms"];

/// All of the static library, as a shared one.
const LINK: [&str; 9] = [
    "-shared",
    "-o",
    "libcrypto.so.4",
    "-Wl,-soname,libcrypto.so.4",
    "-Wl,-Bsymbolic",
    "-Wl,--whole-archive",
    "libcrypto.a",
    "-Wl,--no-whole-archive",
    "-lpthread",
];

#[derive(Debug, thiserror::Error)]
pub(crate) enum OpensslBuildError {
    #[error("cargo metadata: {0}")]
    Metadata(#[from] cargo_metadata::Error),
    #[error(
        "no package {SOURCES} with a version such as 400.0.2+4.0.3 in the workspace: Cargo.lock must name it"
    )]
    NoSources,
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    #[error(
        "cannot start {program}, which builds OpenSSL: {error}; Debian and Ubuntu: apt-get install {program}"
    )]
    Start { program: &'static str, error: io::Error },
    #[error("{program} failed with {status} in the sources of OpenSSL {version}:\n{said}")]
    Build { program: &'static str, status: std::process::ExitStatus, version: String, said: String },
}

/// Builds OpenSSL below the target directory unless it is there, and returns the path of its libcrypto.
pub(crate) fn build() -> Result<PathBuf, OpensslBuildError> {
    let metadata = MetadataCommand::new().other_options(["--locked".to_owned()]).exec()?;
    let (version, sources) = sources(&metadata).ok_or(OpensslBuildError::NoSources)?;
    let target = metadata.target_directory.as_std_path();
    let installed = target.join(format!("openssl-{version}"));
    let library = installed.join("lib/libcrypto.so.4");
    if !library.is_file() {
        println!(
            "openssl: building OpenSSL {version}: this takes 2 to 5 minutes on two cores, and only the first time"
        );
        install(&version, &sources, target, &installed)?;
    }
    Ok(library)
}

/// Returns version and directory of the sources: version `400.0.2+4.0.3` of the crate has those of OpenSSL 4.0.3.
fn sources(metadata: &Metadata) -> Option<(String, PathBuf)> {
    let package = metadata.packages.iter().find(|package| package.name.as_str() == SOURCES)?;
    let version = package.version.build.as_str();
    let directory = package.manifest_path.parent()?.as_std_path().join("openssl");
    (!version.is_empty()).then(|| (version.to_owned(), directory))
}

/// Builds in a directory of its own and moves the result to its place, so that it is there whole or not at all.
fn install(version: &str, sources: &Path, target: &Path, installed: &Path) -> Result<(), OpensslBuildError> {
    let file = |path: &Path| {
        let path = path.to_owned();
        move |error| OpensslBuildError::File { path, error }
    };
    fs::create_dir_all(target).map_err(file(target))?;
    let work = tempfile::tempdir_in(target).map_err(file(target))?;
    let (tree, made) = (work.path().join("tree"), work.path().join("made"));
    copy(sources, &tree)?;
    let run = |program: &'static str, arguments: &[&str]| run(program, arguments, &tree, version);
    run("perl", &[&["Configure", "-fPIC"], &OPTIONS[..]].concat())?;
    let jobs = format!("-j{}", std::thread::available_parallelism().map_or(1, usize::from));
    run("make", &["-s", &jobs, "build_generated", "apps/openssl"])?;
    run("cc", &LINK)?;
    for (from, directory) in [("libcrypto.so.4", "lib"), ("apps/openssl", "bin")] {
        let to = made.join(directory);
        fs::create_dir_all(&to).map_err(file(&to))?;
        let from = tree.join(from);
        fs::copy(&from, to.join(from.file_name().unwrap_or_default())).map_err(file(&from))?;
    }
    fs::rename(&made, installed).map_err(file(installed))
}

fn run(
    program: &'static str,
    arguments: &[&str],
    tree: &Path,
    version: &str,
) -> Result<(), OpensslBuildError> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(tree);
    // What a calling make tells its own programs is not for this one.
    for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CARGO_MAKEFLAGS"] {
        command.env_remove(name);
    }
    let output = command.output().map_err(|error| OpensslBuildError::Start { program, error })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let last: Vec<&str> = said.lines().rev().take(20).collect();
    let said = last.into_iter().rev().collect::<Vec<_>>().join("\n");
    Err(OpensslBuildError::Build { program, status: output.status, version: version.to_owned(), said })
}

fn copy(from: &Path, to: &Path) -> Result<(), OpensslBuildError> {
    let file = |error| OpensslBuildError::File { path: from.to_owned(), error };
    fs::create_dir_all(to).map_err(file)?;
    for entry in fs::read_dir(from).map_err(file)? {
        let entry = entry.map_err(file)?;
        let target = to.join(entry.file_name());
        match entry.file_type().map_err(file)?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target).map_err(file)?),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crate_has_the_sources_of_the_version_that_it_names() {
        let metadata = MetadataCommand::new().other_options(["--locked".to_owned()]).exec().unwrap();
        let (version, directory) = sources(&metadata).unwrap();
        let text = fs::read_to_string(directory.join("VERSION.dat")).unwrap();
        let part = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
        let parts = ["MAJOR=", "MINOR=", "PATCH="].map(part);
        assert_eq!(version, parts.join("."));
        // The name of the library above has it.
        assert_eq!(parts[0], "4");
    }

    #[test]
    fn a_step_that_fails_is_told_with_its_last_lines() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Makefile"), "all:\n\t@echo no way; exit 7\n").unwrap();
        let error = run("make", &["all"], folder.path(), "4.0.3").unwrap_err().to_string();
        assert!(error.starts_with("make failed with") && error.contains("no way"), "{error}");
    }
}

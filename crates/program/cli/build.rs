//! States the version that `--version` prints: the package's, the commit that it was built from if that can be known,
//! the target and the features. The package `oarlock-lab` has this build script too.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Digits of a commit's name that tell it from others.
const DIGITS: usize = 12;

fn main() {
    // This line also keeps cargo from running the script at each change of a source.
    println!("cargo::rerun-if-env-changed=OARLOCK_COMMIT");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let commit = stated_commit().or_else(commit_of_repository);
    let suffix = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    println!("cargo::rustc-env=OARLOCK_VERSION={version}{suffix}");
    println!("cargo::rustc-env=OARLOCK_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo::rustc-env=OARLOCK_FEATURES={}", features().join(", "));
}

/// Returns the names of the features of this package that are on. Cargo sets a variable for each, in capitals and with
/// underscores.
fn features() -> Vec<String> {
    let name = |(name, _): (std::ffi::OsString, _)| {
        let name = name.into_string().ok()?;
        Some(name.strip_prefix("CARGO_FEATURE_")?.to_ascii_lowercase().replace('_', "-"))
    };
    let mut features: Vec<String> =
        env::vars_os().filter_map(name).filter(|name| name != "default").collect();
    features.sort();
    features
}

/// The commit that the builder states if the sources are not a repository: in containers, in packages.
fn stated_commit() -> Option<String> {
    let stated = env::var("OARLOCK_COMMIT").ok()?;
    shortened(&stated)
}

/// The commit of the repository whose root is this workspace. Another repository around the sources says nothing of
/// them.
fn commit_of_repository() -> Option<String> {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?).canonicalize().ok()?;
    // Both packages with this script lie below the workspace, at different depths.
    let root = folder.ancestors().find(|above| above.join("Cargo.lock").exists())?;
    let top = PathBuf::from(git(root, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != root {
        return None;
    }
    watch(root);
    shortened(&git(root, &["rev-parse", "HEAD"])?)
}

/// Has the program built again when another commit is checked out or made.
fn watch(root: &Path) {
    let branch = git(root, &["symbolic-ref", "--quiet", "HEAD"]);
    for name in [Some("HEAD"), Some("packed-refs"), branch.as_deref()].into_iter().flatten() {
        let path = git(root, &["rev-parse", "--git-path", name]).map(|path| root.join(path));
        // Cargo builds each time anew for a file that is not there.
        if let Some(path) = path.filter(|path| path.exists()) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

/// A commit's name is hexadecimal digits and nothing else.
fn shortened(commit: &str) -> Option<String> {
    let is_name = commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then(|| commit.chars().take(DIGITS).collect())
}

/// Returns the output of git, or None if git is not here or fails.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let text = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
    Some(text.trim().to_owned())
}

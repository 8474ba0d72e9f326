//! The programs and libraries that a test needs beside its own.

use std::path::{Path, PathBuf};

/// Returns the path of the provider that this build made. Prints SKIPPED and returns None if it was not built.
pub(crate) fn module() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_BIN_EXE_oarlock")).parent().unwrap();
    let found = [beside.to_owned(), beside.join("deps")]
        .into_iter()
        .map(|directory| directory.join("liboarlock_openssl.so"))
        .find(|path| path.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: liboarlock_openssl.so is not built");
    }
    found
}

/// True if a program is installed; prints SKIPPED if not.
pub(crate) fn has(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let is_here = directories.any(|directory| directory.join(name).is_file());
    if !is_here {
        eprintln!("SKIPPED: {name} is not installed");
    }
    is_here
}

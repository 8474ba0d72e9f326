//! The programs that a test needs beside its own.

use std::path::PathBuf;

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

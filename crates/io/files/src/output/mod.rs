//! Files that a command writes: they appear complete or not at all, also if a signal ends the program.
//!
//! | item | purpose |
//! |---|---|
//! | `create_draft` | begins a file whose temporary name a signal removes |
//! | [`write_private`] | writes a secret into a file that only its owner can read |
//! | [`write_file`], [`checked_path`] | writes a complete file, over an old one only with permission |
//! | [`replace_file`] | replaces a file, and keeps its permissions and its owner |
//! | [`OutputFile`] | writes a file piece by piece; `-` is standard output |

mod draft;
mod file;
mod whole;

use std::io;
use std::path::{Path, PathBuf};

use crate::atomic_file::folder_of;

pub(crate) use self::draft::create_draft;
pub use self::draft::write_private;
pub use self::file::OutputFile;
pub use self::whole::{Overwrite, checked_path, private_permissions, replace_file, write_file};

/// An error of an output file.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The file cannot be created.
    #[error("cannot write {}: {}", path.display(), create_fault(path, error))]
    Create {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file exists and must not be overwritten.
    #[error("{} exists", path.display())]
    Exists {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file cannot be written to its end, or cannot get its name.
    #[error("{}: {error}", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Standard output cannot be written.
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

/// Describes an error of creating a file, with the next step if its directory does not exist.
fn create_fault(path: &Path, error: &io::Error) -> String {
    let folder = folder_of(path);
    match error.kind() {
        io::ErrorKind::NotFound if !folder.exists() => {
            let folder = folder.display();
            format!("the directory {folder} does not exist: `mkdir -p {folder}` creates it")
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_missing_directory_and_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let said = |path: &Path| {
            write_file(path, b"", private_permissions(), Overwrite::Nothing).unwrap_err().to_string()
        };
        let text = said(&missing.join("key.pem"));
        assert!(text.ends_with(&format!("`mkdir -p {}` creates it", missing.display())), "{text}");
        std::fs::write(&missing, "a file").unwrap();
        let text = said(&missing.join("key.pem"));
        assert!(text.ends_with("not a directory") && !text.contains(".part"), "{text}");
    }
}

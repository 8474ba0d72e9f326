//! Files that a command writes: they appear complete or not at all, also if a signal ends the program (feature
//! `output`).
//!
//! | item | purpose |
//! |---|---|
//! | [`create_draft`] | begins a file whose temporary name a signal removes |
//! | [`write_private`] | writes a secret into a file that only its owner can read |
//! | [`write_file`], [`checked_path`] | writes a complete file, over an old one only with permission |
//! | [`OutputFile`] | writes a file piece by piece; `-` is standard output |

mod draft;
mod file;
mod whole;

use std::io;
use std::path::PathBuf;

pub use self::draft::{create_draft, write_private};
pub use self::file::OutputFile;
pub use self::whole::{Overwrite, checked_path, private_permissions, write_file};

/// An error of an output file.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The file cannot be created.
    #[error("cannot write {}: {error}", path.display())]
    Create {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file exists and must not be overwritten.
    #[error("{} exists: --force replaces it", path.display())]
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

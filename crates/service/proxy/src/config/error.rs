//! Errors of the settings.

use std::path::{Path, PathBuf};

use oarlock_files::line_number;

/// An error in the settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyConfigError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The file has a syntax error. The line is not quoted: a key that was pasted into the file must not appear in a
    /// log.
    #[error("{}:{line}: {reason}", path.display())]
    Syntax {
        /// The path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The fault in that line.
        reason: String,
    },
    /// A value is not allowed.
    #[error("{field}: expected {expected}, found {found}")]
    Value {
        /// The name of the setting.
        field: &'static str,
        /// The allowed values.
        expected: &'static str,
        /// The value found.
        found: String,
    },
}

impl ProxyConfigError {
    pub(super) fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let line = line_number(text, error.span().map_or(0, |span| span.start));
        Self::Syntax { path: path.to_owned(), line, reason: error.message().to_owned() }
    }
}

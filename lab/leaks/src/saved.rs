//! Samples of earlier runs, because a million batches of a slow shape take hours.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use oarlock_files::atomic_file::{WriteOptions, write};

use crate::LeakError;
use crate::welch::CroppedTests;

/// The tests of each subject and leaf, one per thread of every run.
///
/// Each test compares within its thread, so runs on different machines may share a file.
#[derive(Debug)]
pub struct SavedSamples {
    path: PathBuf,
    tests: BTreeMap<String, Vec<CroppedTests>>,
}

impl SavedSamples {
    /// Reads a file. A file that does not exist has no samples yet.
    ///
    /// # Errors
    /// The file cannot be read, or is not of this form.
    pub fn open(path: &Path) -> Result<Self, LeakError> {
        let tests = match std::fs::read(path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| wrong(path, error.into()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(wrong(path, error)),
        };
        Ok(Self { path: path.to_owned(), tests })
    }

    /// Returns the tests of earlier runs.
    #[must_use]
    pub fn tests(&self, subject: &str, leaf: &str) -> &[CroppedTests] {
        self.tests.get(&key(subject, leaf)).map_or(&[], Vec::as_slice)
    }

    /// Replaces the tests of one subject and leaf, and writes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn replace(&mut self, subject: &str, leaf: &str, tests: Vec<CroppedTests>) -> Result<(), LeakError> {
        self.tests.insert(key(subject, leaf), tests);
        let text = serde_json::to_vec(&self.tests).map_err(|error| wrong(&self.path, error.into()))?;
        let options = WriteOptions { mode: 0o644, is_synced: false };
        write(&self.path, &text, options).map_err(|error| wrong(&self.path, error))
    }
}

fn key(subject: &str, leaf: &str) -> String {
    format!("{subject} {leaf}")
}

fn wrong(path: &Path, error: std::io::Error) -> LeakError {
    LeakError::Saved { path: path.to_owned(), error }
}

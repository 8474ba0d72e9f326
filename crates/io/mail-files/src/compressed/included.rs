//! Files that a text includes, and the limit of the text in all of them.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{DecompressedInput, TextLimit, open};

/// An error of [`IncludedFiles::read`].
#[derive(Debug, thiserror::Error)]
pub enum IncludeError {
    /// The file cannot be opened or read.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// All included files together hold more text than the limit allows.
    #[error("included files hold more than the {max_bytes} bytes that are allowed together")]
    TooLong {
        /// The limit in bytes.
        max_bytes: u64,
    },
}

/// A reader of included files. A text may include one file thousands of times, so the limit is for all of them
/// together.
#[derive(Debug)]
pub struct IncludedFiles {
    /// The directory that paths are relative to.
    folder: PathBuf,
    limit: TextLimit,
    /// Device and inode number of each file that was included.
    seen: HashSet<(u64, u64)>,
    /// The size of these files on disk, in bytes.
    file_bytes: u64,
    /// The length of the counted text, in bytes.
    text_bytes: u64,
}

impl IncludedFiles {
    /// Creates a reader of files whose paths are relative to `folder`.
    #[must_use]
    pub fn new(folder: PathBuf, limit: TextLimit) -> Self {
        Self { folder, limit, seen: HashSet::new(), file_bytes: 0, text_bytes: 0 }
    }

    /// Returns the text of a file, decompressed if it is compressed.
    ///
    /// # Errors
    /// The file cannot be read, or all files together hold more text than the limit allows.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>, IncludeError> {
        let path = self.folder.join(name);
        let mut input = open(&path)?;
        let mut text = Vec::new();
        if self.is_plain_and_new(&path, &input) {
            input.read_to_end(&mut text)?;
            return Ok(text);
        }
        let max_bytes = self.limit.max_bytes(self.file_bytes);
        let left = max_bytes.saturating_sub(self.text_bytes);
        let read = input.take(left.saturating_add(1)).read_to_end(&mut text);
        self.text_bytes = self.text_bytes.saturating_add(text.len() as u64);
        read?;
        if text.len() as u64 > left { Err(IncludeError::TooLong { max_bytes }) } else { Ok(text) }
    }

    /// True for a plain file that is read for the first time: its text is not larger than the file.
    fn is_plain_and_new(&mut self, path: &Path, input: &DecompressedInput) -> bool {
        let (Some(len_bytes), Ok(about)) = (input.len_bytes(), fs::metadata(path)) else { return false };
        let is_new = self.seen.insert((about.dev(), about.ino()));
        if is_new {
            self.file_bytes = self.file_bytes.saturating_add(len_bytes);
        }
        is_new && input.format().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_read_again_count() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "x".repeat(100)).unwrap();
        fs::write(folder.path().join("b"), "x".repeat(100)).unwrap();
        let mut includes = IncludedFiles::new(folder.path().to_owned(), TextLimit::Bytes(150));
        for name in ["a", "b", "a"] {
            assert_eq!(includes.read(name).unwrap().len(), 100, "{name}");
        }
        assert!(matches!(includes.read("b"), Err(IncludeError::TooLong { max_bytes: 150 })));
        assert!(includes.read("none").unwrap_err().to_string().contains("No such file"));
        // A file without a length always counts.
        assert!(matches!(includes.read("/dev/zero"), Err(IncludeError::TooLong { .. })));
    }
}

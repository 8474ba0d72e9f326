//! Files that `$INCLUDE` names, and how much text they may hold together.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use oarlock_io::compressed::{self, DecompressedInput, TextLimit};

/// Reads included files. A zone may include one file 65,536 times, so the limit is for all of them together.
#[derive(Debug)]
pub(super) struct IncludedFiles {
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
    pub(super) fn new(folder: PathBuf, limit: TextLimit) -> Self {
        Self { folder, limit, seen: HashSet::new(), file_bytes: 0, text_bytes: 0 }
    }

    /// Returns the text of a file, or the reason why there is no text.
    pub(super) fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.folder.join(name);
        let mut input = compressed::open(&path).map_err(|error| error.to_string())?;
        let mut text = Vec::new();
        if self.is_as_it_lies(&path, &input) {
            return input.read_to_end(&mut text).map(|_| text).map_err(|error| error.to_string());
        }
        let max_bytes = self.limit.max_bytes(self.file_bytes);
        let left = max_bytes.saturating_sub(self.text_bytes);
        let read = input.take(left.saturating_add(1)).read_to_end(&mut text);
        self.text_bytes = self.text_bytes.saturating_add(text.len() as u64);
        match read {
            Err(error) => Err(error.to_string()),
            Ok(_) if text.len() as u64 > left => Err(format!(
                "included files hold more than the {max_bytes} bytes that are allowed together; --max-text allows more"
            )),
            Ok(_) => Ok(text),
        }
    }

    /// True for a plain file that is read for the first time: its text is not larger than the file.
    fn is_as_it_lies(&mut self, path: &Path, input: &DecompressedInput) -> bool {
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
            assert_eq!(includes.read(name).map(|text| text.len()), Ok(100), "{name}");
        }
        let error = includes.read("b").unwrap_err();
        assert!(error.contains("more than the 150 bytes") && error.contains("--max-text"), "{error}");
        assert!(includes.read("none").unwrap_err().contains("No such file"));
        // A file without a length always counts.
        assert!(includes.read("/dev/zero").unwrap_err().contains("more than"));
    }
}

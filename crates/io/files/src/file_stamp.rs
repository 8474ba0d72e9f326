//! The recognition of changed files.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The properties of a file that change if it is written or replaced.
///
/// Two changes that keep the length and happen in one tick of the file system's clock, 1 to 10 ms, have one stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    device: u64,
    inode: u64,
    len: u64,
    /// The modification times of contents and inode, in seconds and nanoseconds.
    times: [i64; 4],
    mode: u32,
}

impl FileStamp {
    /// Reads the stamp of the file at a path. It follows links.
    ///
    /// # Errors
    /// The file does not exist, or cannot be examined.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(Self::from(&path.metadata()?))
    }

    /// Returns true if users outside the owner and the group may read or write the file.
    #[must_use]
    pub fn is_open_to_all(&self) -> bool {
        self.mode & 0o007 != 0
    }
}

impl From<&Metadata> for FileStamp {
    fn from(about: &Metadata) -> Self {
        let times = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
        Self { device: about.dev(), inode: about.ino(), len: about.len(), times, mode: about.mode() }
    }
}

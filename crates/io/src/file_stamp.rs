//! Whether a file has changed.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What changes when a file is written or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    device: u64,
    inode: u64,
    len: u64,
    /// Of the contents and of the inode, in seconds and nanoseconds.
    times: [i64; 4],
    mode: u32,
}

impl FileStamp {
    /// The stamp of what a path leads to now.
    ///
    /// # Errors
    /// There is nothing there, or it may not be looked at.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self::from(&path.metadata()?))
    }

    /// True where others than the owner and the group may read or write it.
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

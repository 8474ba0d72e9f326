//! Files that get their name when they are complete. A reader sees the old file or the new one, but never a part of
//! one.
//!
//! If the file system has files without names (`O_TMPFILE`), the file has no name until the end, and the system frees
//! it with the process, however the process ends. Otherwise it has a temporary name, which is removed when
//! [`AtomicFile`] is dropped. A program that is ended by a signal drops nothing: it calls `remove_unfinished`
//! first. `OARLOCK_NAMED_DRAFTS=1` gives every file a temporary name, because tests rarely have a file system without
//! `O_TMPFILE`.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
use tempfile::{PathPersistError, TempPath};

/// The environment variable that gives every unfinished file a temporary name, as on file systems without `O_TMPFILE`.
const NAMED_VARIABLE: &str = "OARLOCK_NAMED_DRAFTS";

/// A file under construction.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    /// The temporary name, if the file system has no files without a name.
    name: Option<TemporaryName>,
    folder: PathBuf,
}

/// The options of [`write()`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// The permissions of the new file, before the umask.
    pub mode: u32,
    /// True if the file and its folder are on disk before the function returns.
    pub is_synced: bool,
}

/// Writes a complete file. It replaces another file of the same name.
///
/// # Errors
/// The file cannot be created, written or named. The old file is untouched then.
pub fn write(path: &Path, bytes: &[u8], options: WriteOptions) -> io::Result<()> {
    let mut file = AtomicFile::create(folder_of(path), options.mode)?;
    file.write_all(bytes)?;
    if !options.is_synced {
        return file.replace(path);
    }
    // The order matters after a loss of power: the bytes first, then the name.
    file.sync()?;
    file.replace(path)?;
    sync_folder(path)
}

/// Returns the folder of a path; `.` for a path of a single name.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Waits until the folder of a path is on disk, so that the name of a new file survives a loss of power.
///
/// # Errors
/// The folder cannot be opened or written.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

/// Removes the temporary names of all unfinished files. A program calls this before it ends because of a signal.
///
/// A thread that creates or names a file afterwards waits forever, so no name can appear after this function.
pub(crate) fn remove_unfinished() {
    let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names.iter().for_each(|path| drop(fs::remove_file(path)));
    // The guard is leaked, so the lock is never released.
    Box::leak(Box::new(names));
}

impl AtomicFile {
    /// Creates a file without a final name in a folder. It can be given names in the same file system only.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn create(folder: &Path, mode: u32) -> io::Result<Self> {
        if std::env::var_os(NAMED_VARIABLE).is_some_and(|value| value == "1") {
            return Self::create_named(folder, mode);
        }
        match open(folder, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::from_raw_mode(mode)) {
            Ok(file) => Ok(Self { file: file.into(), name: None, folder: folder.to_owned() }),
            // File systems without such files return different errors. A real fault occurs again with a temporary name.
            Err(_) => Self::create_named(folder, mode),
        }
    }

    fn create_named(folder: &Path, mode: u32) -> io::Result<Self> {
        let (file, path) = builder(mode).tempfile_in(folder)?.into_parts();
        Ok(Self { file, name: Some(TemporaryName::new(path)), folder: folder.to_owned() })
    }

    /// Returns the open file, for its permissions and times.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns true if the unfinished file has a temporary name, which outlives a process that a signal ends.
    #[must_use]
    pub(crate) fn has_temporary_name(&self) -> bool {
        self.name.is_some()
    }

    /// Waits until the bytes are on disk.
    ///
    /// # Errors
    /// The system cannot write them.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Gives the file its name. It replaces another file of that name.
    ///
    /// # Errors
    /// The name cannot be given.
    pub fn replace(self, path: &Path) -> io::Result<()> {
        match self.name {
            Some(name) => name.rename(|name| name.persist(path)),
            None => {
                // linkat never replaces a file, so this succeeds only if the name is free.
                if link(&self.file, path).is_ok() {
                    return Ok(());
                }
                // rename(2) replaces, but needs a name to begin with.
                let linked = builder(0o600).make_in(&self.folder, |path| link(&self.file, path))?;
                TemporaryName::new(linked.into_temp_path()).rename(|name| name.persist(path))
            }
        }
    }

    /// Gives the file its name, unless another file has it.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if another file has the name; or the name cannot be given.
    pub fn create_new(self, path: &Path) -> io::Result<()> {
        match self.name {
            Some(name) => name.rename(|name| name.persist_noclobber(path)),
            None => link(&self.file, path),
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn builder<'b>(mode: u32) -> tempfile::Builder<'b, 'b> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".oarlock-").suffix(".part").permissions(Permissions::from_mode(mode));
    builder
}

/// Names a file that has no name. open(2), `O_TMPFILE`.
fn link(file: &File, path: &Path) -> io::Result<()> {
    // linkat with AT_EMPTY_PATH would need CAP_DAC_READ_SEARCH; the link in /proc needs no capability.
    let descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, descriptor, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// The temporary names that exist now.
static NAMES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A temporary name, removed when this is dropped.
#[derive(Debug)]
struct TemporaryName(Option<TempPath>);

impl TemporaryName {
    fn new(path: TempPath) -> Self {
        change_names(|names| names.insert(path.to_path_buf()));
        Self(Some(path))
    }

    /// Gives the file another name. Its temporary name is gone afterwards, even after an error.
    fn rename(mut self, rename: impl FnOnce(TempPath) -> Result<(), PathPersistError>) -> io::Result<()> {
        let Some(path) = self.0.take() else { return Ok(()) };
        let name = path.to_path_buf();
        let renamed = rename(path).map_err(|error| error.error);
        change_names(|names| names.remove(&name));
        renamed
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            change_names(|names| names.remove(&*path));
        }
    }
}

fn change_names<T>(change: impl FnOnce(&mut BTreeSet<PathBuf>) -> T) -> T {
    change(&mut NAMES.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_files(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    type Create = fn(&Path, u32) -> io::Result<AtomicFile>;

    #[test]
    fn a_file_appears_whole_or_not_at_all_with_and_without_a_temporary_name() {
        for create in [AtomicFile::create as Create, AtomicFile::create_named] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out");
            let begin = |text: &[u8]| {
                let mut file = create(folder.path(), 0o600).unwrap();
                file.write_all(text).unwrap();
                file
            };
            drop(begin(b"none"));
            assert_eq!(count_files(folder.path()), 0);
            begin(b"one").create_new(&path).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            let error = begin(b"two").create_new(&path).unwrap_err();
            assert_eq!((error.kind(), count_files(folder.path())), (io::ErrorKind::AlreadyExists, 1));
            begin(b"three").replace(&path).unwrap();
            assert_eq!((fs::read(&path).unwrap(), count_files(folder.path())), (b"three".to_vec(), 1));
            let new = folder.path().join("new");
            begin(b"four").replace(&new).unwrap();
            assert_eq!((fs::read(&new).unwrap(), count_files(folder.path())), (b"four".to_vec(), 2));
        }
    }

    #[test]
    fn write_replaces_the_old_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        for (text, is_synced) in [("one", false), ("two", true)] {
            write(&path, text.as_bytes(), WriteOptions { mode: 0o600, is_synced }).unwrap();
            assert_eq!((fs::read_to_string(&path).unwrap().as_str(), count_files(folder.path())), (text, 1));
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let absent = folder.path().join("absent/out");
        let error = write(&absent, b"", WriteOptions { mode: 0o600, is_synced: true }).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_temporary_name_is_registered_until_its_file_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let file = AtomicFile::create_named(folder.path(), 0o600).unwrap();
        assert!(file.has_temporary_name());
        let path = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        assert!(change_names(|names| names.contains(&path)));
        drop(file);
        assert!(!change_names(|names| names.contains(&path)) && !path.exists());
    }
}

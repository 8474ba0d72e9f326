//! Files that take their name when they are whole, and of which an interruption leaves nothing.
//!
//! If the file system has files without names (`O_TMPFILE`), the file has none until the end, and the system frees it with the
//! process, however that ends. Else it has a name of its own, which is removed at SIGINT, SIGTERM and SIGHUP.
//! `OARLOCK_NAMED_DRAFTS=1` has it named everywhere: tests have no file system without `O_TMPFILE` at hand.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
use tempfile::{PathPersistError, TempPath};
use tokio::signal::unix::{SignalKind, signal};

/// The environment variable that has files under construction named, as on file systems without `O_TMPFILE`.
const NAMED_VARIABLE: &str = "OARLOCK_NAMED_DRAFTS";

/// A file under construction.
#[derive(Debug)]
pub(crate) struct DraftFile {
    file: File,
    /// Its own name, if the file system has no files without one.
    name: Option<NamedDraft>,
    folder: PathBuf,
}

/// A name that is removed when this is dropped, and at a signal.
#[derive(Debug)]
struct NamedDraft(Option<TempPath>);

impl DraftFile {
    /// Begins a file in a folder.
    pub(crate) fn create(folder: &Path, mode: u32) -> io::Result<Self> {
        if std::env::var_os(NAMED_VARIABLE).is_some_and(|value| value == "1") {
            return Self::create_named(folder, mode);
        }
        match open(folder, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::from_raw_mode(mode)) {
            Ok(file) => Ok(Self { file: file.into(), name: None, folder: folder.to_owned() }),
            // What a file system without such files answers differs between them; a real fault shows again.
            Err(_) => Self::create_named(folder, mode),
        }
    }

    fn create_named(folder: &Path, mode: u32) -> io::Result<Self> {
        let (file, path) = builder(mode).tempfile_in(folder)?.into_parts();
        Ok(Self { file, name: Some(NamedDraft::new(path)), folder: folder.to_owned() })
    }

    /// Writes a whole file for its owner alone, in the place of another one. What a link points at is replaced, not the
    /// link; a device or a pipe is written to as it is.
    pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
            return File::options().write(true).open(&path)?.write_all(bytes);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut draft = Self::create(folder, 0o600)?;
        draft.write_all(bytes)?;
        draft.replace(&path)
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name, in the place of another file that has it.
    pub(crate) fn replace(self, path: &Path) -> io::Result<()> {
        match self.name {
            Some(name) => name.end(|own| own.persist(path)),
            None => {
                // Unless another file has the name, it is given at once.
                if link(&self.file, path).is_ok() {
                    return Ok(());
                }
                let draft = NamedDraft::new(
                    builder(0o600).make_in(&self.folder, |path| link(&self.file, path))?.into_temp_path(),
                );
                draft.end(|own| own.persist(path))
            }
        }
    }

    /// Gives the file its name, unless another file has it.
    pub(crate) fn name(self, path: &Path) -> io::Result<()> {
        match self.name {
            Some(name) => name.end(|own| own.persist_noclobber(path)),
            None => link(&self.file, path),
        }
    }
}

impl Write for DraftFile {
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
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, own, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Names to remove at a signal.
static NAMES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

impl NamedDraft {
    fn new(path: TempPath) -> Self {
        static LISTENING: Once = Once::new();
        LISTENING.call_once(listen);
        names(|names| names.insert(path.to_path_buf()));
        Self(Some(path))
    }

    /// Ends the draft by giving its file another name. It is no longer removed at a signal.
    fn end(mut self, rename: impl FnOnce(TempPath) -> Result<(), PathPersistError>) -> io::Result<()> {
        let Some(path) = self.0.take() else { return Ok(()) };
        let own = path.to_path_buf();
        let renamed = rename(path).map_err(|error| error.error);
        names(|names| names.remove(&own));
        renamed
    }
}

impl Drop for NamedDraft {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            names(|names| names.remove(&*path));
        }
    }
}

fn names<T>(change: impl FnOnce(&mut BTreeSet<PathBuf>) -> T) -> T {
    change(&mut NAMES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Removes the names at the first signal, and ends as the shell reports it. If signals cannot be heard, they end the process as ever.
fn listen() {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    // Not within `block_on`, which is forbidden if this thread runs another runtime already.
    let signals = {
        let _within = runtime.enter();
        Signals::new()
    };
    let Ok(mut signals) = signals else { return };
    let wait = move || {
        let number = runtime.block_on(signals.first());
        let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        names.iter().for_each(|path| drop(fs::remove_file(path)));
        std::process::exit(128 + number);
    };
    let _ = std::thread::Builder::new().name("signals".into()).spawn(wait);
}

/// The signals that end a program which does not hear them.
struct Signals([(i32, tokio::signal::unix::Signal); 3]);

impl Signals {
    fn new() -> io::Result<Self> {
        let heard = |kind: SignalKind| signal(kind).map(|signal| (kind.as_raw_value(), signal));
        Ok(Self([
            heard(SignalKind::interrupt())?,
            heard(SignalKind::terminate())?,
            heard(SignalKind::hangup())?,
        ]))
    }

    async fn first(&mut self) -> i32 {
        let [(interrupt, first), (terminate, second), (hangup, third)] = &mut self.0;
        tokio::select! {
            _ = first.recv() => *interrupt,
            _ = second.recv() => *terminate,
            _ = third.recv() => *hangup,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    type Create = fn(&Path, u32) -> io::Result<DraftFile>;

    #[test]
    fn with_and_without_a_name_of_its_own_a_file_is_there_whole_or_not_at_all() {
        for create in [DraftFile::create as Create, DraftFile::create_named] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out");
            let begin = |text: &[u8]| {
                let mut draft = create(folder.path(), 0o600).unwrap();
                draft.write_all(text).unwrap();
                draft
            };
            drop(begin(b"none"));
            assert_eq!(count(folder.path()), 0);
            begin(b"one").name(&path).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            let error = begin(b"two").name(&path).unwrap_err();
            assert_eq!((error.kind(), count(folder.path())), (io::ErrorKind::AlreadyExists, 1));
            begin(b"three").replace(&path).unwrap();
            assert_eq!((fs::read(&path).unwrap(), count(folder.path())), (b"three".to_vec(), 1));
            let new = folder.path().join("new");
            begin(b"four").replace(&new).unwrap();
            assert_eq!((fs::read(&new).unwrap(), count(folder.path())), (b"four".to_vec(), 2));
        }
    }

    #[test]
    fn a_private_file_is_its_owners_alone_and_devices_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("out"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        DraftFile::write_private(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!((fs::read(&path).unwrap(), count(folder.path())), (b"new".to_vec(), 2));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        DraftFile::write_private(Path::new("/dev/null"), b"new").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(DraftFile::write_private(folder.path(), b"new").is_err());
    }

    #[test]
    fn a_file_with_a_name_of_its_own_is_known_to_the_signals() {
        let folder = tempfile::tempdir().unwrap();
        let draft = DraftFile::create_named(folder.path(), 0o600).unwrap();
        let own = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        assert!(names(|names| names.contains(&own)));
        drop(draft);
        assert!(!names(|names| names.contains(&own)) && !own.exists());
    }
}

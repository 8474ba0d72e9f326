//! Files that get their name when they are complete, and that an interruption removes.
//!
//! If the file system gives an unfinished file a temporary name, that name is removed at SIGINT, SIGTERM and SIGHUP.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Once;

use oarlock_io::atomic_file::{AtomicFile, folder_of, remove_unfinished};
use tokio::signal::unix::{SignalKind, signal};

/// Begins a file in a folder. A signal that ends the program removes its temporary name, if it has one.
pub(crate) fn create_draft(folder: &Path, mode: u32) -> io::Result<AtomicFile> {
    static LISTENING: Once = Once::new();
    let file = AtomicFile::create(folder, mode)?;
    if file.has_temporary_name() {
        LISTENING.call_once(listen);
    }
    Ok(file)
}

/// Writes a whole file for its owner alone, in the place of another one. The file that a link points at is replaced,
/// not the link; a device or a pipe is written to as it is.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
        return File::options().write(true).open(&path)?.write_all(bytes);
    }
    let mut draft = create_draft(folder_of(&path), 0o600)?;
    draft.write_all(bytes)?;
    draft.replace(&path)
}

/// Removes the temporary names at the first signal, and ends as the shell reports it. If signals cannot be heard,
/// they end the process as ever.
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
        remove_unfinished();
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
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_private_file_is_its_owners_alone_and_devices_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("out"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write_private(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!((fs::read(&path).unwrap(), count(folder.path())), (b"new".to_vec(), 2));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        write_private(Path::new("/dev/null"), b"new").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        assert!(write_private(folder.path(), b"new").is_err());
    }
}

//! Files that get their name when they are complete, and that an interruption removes.
//!
//! If the file system gives an unfinished file a temporary name, that name is removed at SIGINT, SIGTERM and SIGHUP.

use std::fs::{self, File};
use std::future::poll_fn;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Once;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::atomic_file::{AtomicFile, folder_of, remove_unfinished};

/// Begins a file in a folder, with this mode before the umask. A signal that ends the program removes its temporary
/// name, if it has one.
///
/// # Errors
/// The folder cannot be written.
pub(crate) fn create_draft(folder: &Path, mode: u32) -> io::Result<AtomicFile> {
    static LISTENING: Once = Once::new();
    let file = AtomicFile::create(folder, mode).map_err(without_path)?;
    if file.has_temporary_name() {
        LISTENING.call_once(listen);
    }
    Ok(file)
}

/// Writes a whole file for its owner alone, in the place of another one. The file that a link points at is replaced,
/// not the link; a device or a pipe is written to as it is.
///
/// # Errors
/// The file cannot be created, written or named. The old file is untouched then.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
        return File::options().write(true).open(&path)?.write_all(bytes);
    }
    let mut draft = create_draft(folder_of(&path), 0o600)?;
    draft.write_all(bytes)?;
    draft.replace(&path)
}

/// Removes the path of a temporary file from an error, because it means nothing to a user.
fn without_path(error: io::Error) -> io::Error {
    // An error with a path wraps that of the system, and gives only its kind.
    if error.raw_os_error().is_none() { error.kind().into() } else { error }
}

/// Starts a thread that removes the temporary names at the first signal and then ends the process with the exit code
/// that shells report. If no handler can be installed, signals end the process as before.
fn listen() {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    // Not within `block_on`, which is forbidden if this thread runs another runtime already.
    let signals = {
        let _within = runtime.enter();
        handle_signals()
    };
    let Ok(mut signals) = signals else { return };
    let wait = move || {
        let number = runtime.block_on(first_signal(&mut signals));
        remove_unfinished();
        std::process::exit(128 + number);
    };
    let _ = std::thread::Builder::new().name("signals".into()).spawn(wait);
}

/// Installs handlers of the signals that end a program. A signal that the parent has set to be ignored stays ignored,
/// as nohup(1) demands.
fn handle_signals() -> io::Result<Vec<(i32, Signal)>> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()]
        .into_iter()
        .map(|kind| (kind.as_raw_value(), kind))
        .filter(|(number, _)| !is_ignored(*number, &status))
        .map(|(number, kind)| Ok((number, signal(kind)?)))
        .collect()
}

/// True if the status of a process lists a signal as ignored. proc(5), `SigIgn`.
fn is_ignored(number: i32, status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0);
    // Signals count from 1.
    mask >> (number - 1) & 1 == 1
}

/// Waits for a signal, and returns its number.
async fn first_signal(signals: &mut [(i32, Signal)]) -> i32 {
    poll_fn(|context| {
        for (number, signal) in signals.iter_mut() {
            if signal.poll_recv(context).is_ready() {
                return Poll::Ready(*number);
            }
        }
        Poll::Pending
    })
    .await
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
    fn ignored_signals_are_those_of_the_mask() {
        let status = "Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\tffffffffffffffff\n";
        assert!(is_ignored(1, status) && is_ignored(13, status));
        assert!(!is_ignored(2, status) && !is_ignored(15, status) && !is_ignored(1, "Name:\tx\n"));
    }

    #[test]
    fn only_its_owner_can_read_a_private_file_and_devices_are_not_replaced() {
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

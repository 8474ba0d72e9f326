//! Private files, and the detection of keys in place of file names.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use zeroize::Zeroizing;

use crate::check_secret_mode;

/// An error for a key in place of the name of its file, as `--key "$(cat key.pem)"` passes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the name of a file, found what looks like a key itself (it is not shown): write the key into a file and name \
     that"
)]
pub struct KeyForPath;

/// Checks that the name of a file is neither PEM nor several lines. Messages quote the names of files, and a key must
/// not appear in a message.
///
/// # Errors
/// The name may be a key.
pub fn check_key_path(path: &Path) -> Result<(), KeyForPath> {
    let text = path.as_os_str().as_encoded_bytes();
    let has = |wanted: &[u8]| text.windows(wanted.len()).any(|window| window == wanted);
    if has(b"-----BEGIN") || has(b"\n") || has(b"\r") { Err(KeyForPath) } else { Ok(()) }
}

/// Reads at most `max_bytes` of a file with a secret, and leaves no copies in memory. The rest is ignored.
///
/// # Errors
/// The file cannot be read, or other users may read it ([`check_secret_mode`]). The reason does not repeat the name
/// of the file.
pub fn read_private(path: &Path, max_bytes: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    check_key_path(path).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let file = File::open(path)?;
    check_private(path, &file)?;
    read_open(file, max_bytes)
}

/// Checks that other users may not read an open file with a secret. Files that the caller's shell opened
/// (`/dev/stdin`, `/dev/fd/N`) are not checked.
///
/// # Errors
/// Other users may read it. The reason does not repeat the name of the file.
pub fn check_private(path: &Path, file: &File) -> io::Result<()> {
    if path.starts_with("/dev") || path.starts_with("/proc/self/fd") {
        return Ok(());
    }
    check_secret_mode(path, &file.metadata()?).map_err(|error| {
        let text = error.to_string();
        let reason = text.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&text);
        io::Error::new(io::ErrorKind::PermissionDenied, reason)
    })
}

/// Reads an open file or pipe into a buffer that never moves.
pub(crate) fn read_open(file: File, max_bytes: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let about = file.metadata()?;
    let max = max_bytes as u64;
    let len = if about.is_file() { about.len().min(max) } else { max };
    let mut bytes = Zeroizing::new(Vec::with_capacity(len as usize + 1));
    // Within its capacity the buffer never moves. If the file grows meanwhile, it is cut, and the parser rejects it.
    file.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn rejects_a_file_that_other_users_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        fs::write(&path, "a secret\n").unwrap();
        for (mode, is_private) in
            [(0o600, true), (0o400, true), (0o644, false), (0o620, false), (0o604, false)]
        {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let read = read_private(&path, 100);
            assert_eq!(read.is_ok(), is_private, "{mode:o}: {read:?}");
            if let Err(error) = read {
                let text = error.to_string();
                assert!(
                    text.starts_with("others may read this private file") && text.contains("chmod 600"),
                    "{text}"
                );
            }
            assert_eq!(crate::read_private_passphrase(&path).is_ok(), is_private);
        }
    }

    #[test]
    fn reads_files_that_the_shell_opened() {
        assert_eq!(*read_private(Path::new("/dev/zero"), 3).unwrap(), [0; 3]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("redirected");
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let file = File::open(&path).unwrap();
        check_private(Path::new("/dev/stdin"), &file).unwrap();
        check_private(&path, &file).unwrap_err();
    }

    #[test]
    fn rejects_a_key_in_place_of_a_file_name() {
        for key in ["-----BEGIN PRIVATE KEY-----\nMC4C\n", "x-----BEGIN PRIVATE KEY-----", "a\nb", "a\r"] {
            let error = check_key_path(Path::new(key)).unwrap_err().to_string();
            assert!(!error.contains("MC4C") && error.contains("not shown"), "{error}");
            let read = read_private(Path::new(key), 9).unwrap_err().to_string();
            assert_eq!(read, error);
        }
        for path in ["key.pem", "/etc/oarlock/a b.pem", "-", "BEGIN"] {
            check_key_path(Path::new(path)).unwrap();
        }
    }
}

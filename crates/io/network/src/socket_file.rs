//! The file of a UNIX socket.

use std::fs::{self, FileType, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The file of a bound UNIX socket. Dropping it removes the file, unless another file has replaced it.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: FileIdentity,
}

/// The device and inode numbers, which distinguish a file from another one of the same name.
type FileIdentity = (u64, u64);

/// The reason why a path cannot be used for a UNIX socket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum SocketFileError {
    /// A file that is not a socket has the name.
    #[error("{}: a file that is not a socket has this name ({found}): name another path or remove it", path.display())]
    NotASocket {
        path: PathBuf,
        /// The kind of the file.
        found: &'static str,
    },
    /// A live server listens at the path.
    #[error("{}: another server listens at this path", path.display())]
    Taken { path: PathBuf },
    /// The system failed.
    #[error("{}: {error}", path.display())]
    Io {
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl SocketFile {
    /// Binds a socket at a path with these permissions and, if given, this group. It replaces the socket of a dead
    /// server. The socket of a live server, a regular file, a symbolic link and every other file stay.
    ///
    /// # Errors
    /// The path is in use, or the system fails.
    pub fn bind(path: &Path, mode: u32, group: Option<u32>) -> Result<(UnixListener, Self), SocketFileError> {
        let failed = |error| SocketFileError::Io { path: path.to_owned(), error };
        if let Some(dead) = inspect(path)? {
            // Another server may have bound its socket in between, which must stay.
            if identity(path).is_ok_and(|now| now == dead) {
                fs::remove_file(path).map_err(failed)?;
            }
        }
        // Other users cannot reach the socket in a private directory, so it never has wider permissions than its
        // final ones.
        let private = private_directory(path).map_err(failed)?;
        let new = private.path().join("s");
        let listener = UnixListener::bind(&new).map_err(failed)?;
        if group.is_some() {
            chown(&new, None, group).map_err(failed)?;
        }
        fs::set_permissions(&new, Permissions::from_mode(mode)).map_err(failed)?;
        let identity = identity(&new).map_err(failed)?;
        // A link instead of a rename: it fails if another file has taken the name meanwhile.
        fs::hard_link(&new, path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => SocketFileError::Taken { path: path.to_owned() },
            _ => failed(error),
        })?;
        Ok((listener, Self { path: path.to_owned(), identity }))
    }

    /// Checks that [`SocketFile::bind`] would succeed, and changes nothing. A live server is allowed here, because it
    /// may be the server whose configuration is checked.
    ///
    /// # Errors
    /// A file that is not a socket has the name, or the directory cannot be used.
    pub fn check(path: &Path) -> Result<(), SocketFileError> {
        match inspect(path) {
            Err(SocketFileError::Taken { .. }) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => fs::metadata(parent(path))
                .and_then(
                    |about| if about.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) },
                )
                .map_err(|error| SocketFileError::Io { path: parent(path).to_owned(), error }),
        }
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // A successor may have replaced the socket while this server was draining.
        if identity(&self.path).is_ok_and(|now| now == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns the identity of a dead server's socket, or `None` if the path is free.
fn inspect(path: &Path) -> Result<Option<FileIdentity>, SocketFileError> {
    let about = match path.symlink_metadata() {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SocketFileError::Io { path: path.to_owned(), error }),
    };
    if !about.file_type().is_socket() {
        let found = kind(about.file_type());
        return Err(SocketFileError::NotASocket { path: path.to_owned(), found });
    }
    // The kernel refuses the connection if no process listens, so the file is left over.
    match UnixStream::connect(path) {
        Ok(_) => Err(SocketFileError::Taken { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            Ok(Some((about.dev(), about.ino())))
        }
        Err(error) => Err(SocketFileError::Io { path: path.to_owned(), error }),
    }
}

fn kind(file_type: FileType) -> &'static str {
    match file_type {
        kind if kind.is_file() => "a regular file",
        kind if kind.is_dir() => "a directory",
        kind if kind.is_symlink() => "a symbolic link",
        kind if kind.is_fifo() => "a named pipe",
        _ => "a device",
    }
}

fn identity(path: &Path) -> io::Result<FileIdentity> {
    path.symlink_metadata().map(|about| (about.dev(), about.ino()))
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a directory beside the path that only this user may enter. Its name is short, because the path of a socket
/// has at most 107 bytes.
fn private_directory(path: &Path) -> io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix(".s").permissions(Permissions::from_mode(0o700)).tempdir_in(parent(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_socket_has_its_permissions_and_is_removed_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let (_listener, file) = SocketFile::bind(&path, 0o620, None).unwrap();
        let about = path.symlink_metadata().unwrap();
        assert!(about.file_type().is_socket());
        assert_eq!((about.mode() & 0o7777, names(folder.path()).len()), (0o620, 1));
        UnixStream::connect(&path).unwrap();
        drop(file);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_file_that_is_not_a_socket_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("f.txt"), folder.path().join("link"));
        fs::write(&file, "precious").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for (path, found) in [(&file, "a regular file"), (&link, "a symbolic link")] {
            let bound = SocketFile::bind(path, 0o600, None).unwrap_err();
            assert!(bound.to_string().contains(found), "{bound}");
            assert!(matches!(SocketFile::check(path), Err(SocketFileError::NotASocket { .. })));
        }
        let directory = SocketFile::bind(folder.path(), 0o600, None).unwrap_err();
        assert!(directory.to_string().contains("a directory"), "{directory}");
        assert_eq!(fs::read_to_string(&link).unwrap(), "precious");
        assert!(link.symlink_metadata().unwrap().is_symlink());
    }

    #[test]
    fn a_symbolic_link_to_a_socket_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("s.sock"), folder.path().join("link"));
        // Dropping a listener leaves its file, like the socket of a dead server.
        drop(UnixListener::bind(&path).unwrap());
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(SocketFile::bind(&link, 0o600, None).unwrap_err().to_string().contains("a symbolic link"));
        assert!(link.symlink_metadata().unwrap().is_symlink() && path.exists());
    }

    #[test]
    fn replaces_the_socket_of_a_dead_server_but_not_of_a_live_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        drop(UnixListener::bind(&path).unwrap());
        SocketFile::check(&path).unwrap();
        let (_listener, _file) = SocketFile::bind(&path, 0o600, None).unwrap();
        let second = SocketFile::bind(&path, 0o600, None).unwrap_err();
        assert!(matches!(second, SocketFileError::Taken { .. }), "{second}");
        SocketFile::check(&path).unwrap();
        UnixStream::connect(&path).unwrap();
    }

    #[test]
    fn a_successor_s_socket_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let (_listener, first) = SocketFile::bind(&path, 0o600, None).unwrap();
        fs::remove_file(&path).unwrap();
        let (_second, _file) = SocketFile::bind(&path, 0o600, None).unwrap();
        drop(first);
        UnixStream::connect(&path).unwrap();
    }

    #[test]
    fn a_check_changes_nothing_and_names_a_missing_directory() {
        let folder = tempfile::tempdir().unwrap();
        SocketFile::check(&folder.path().join("s.sock")).unwrap();
        assert!(names(folder.path()).is_empty());
        let missing = SocketFile::check(&folder.path().join("nowhere/s.sock")).unwrap_err();
        assert!(missing.to_string().contains("nowhere"), "{missing}");
    }
}

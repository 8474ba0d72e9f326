//! Sockets to listen at.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, UnixListener};

use super::{ServerError, Settings, Stream};
use crate::socket::{Socket, resolve};

/// A bound socket; that of a path is removed with it.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener, Socket),
    Unix(UnixListener, Place),
}

/// The file of a UNIX socket.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    /// Device and number, by which it is known from another server's of the same name.
    file: (u64, u64),
}

impl Listener {
    pub(super) async fn bind(socket: &Socket, settings: &Settings) -> Result<Self, ServerError> {
        let failed = |error| ServerError::Listen { socket: socket.clone(), error };
        match socket {
            Socket::Inet { host, port, is_v6 } => {
                let address = resolve(host.as_deref(), *port, *is_v6).await.map_err(failed)?;
                let listener = TcpListener::bind(address).await.map_err(failed)?;
                let bound = listener.local_addr().map_err(failed)?;
                Ok(Self::Tcp(listener, bound.into()))
            }
            Socket::Unix(path) => {
                let group = settings.unix_group.as_deref().map(group_number).transpose()?;
                take_over(path)?;
                let listener = bind_unix(path, settings.unix_mode, group).map_err(failed)?;
                let file = identity(path).map_err(failed)?;
                Ok(Self::Unix(listener, Place { path: path.clone(), file }))
            }
        }
    }

    pub(super) fn socket(&self) -> Socket {
        match self {
            Self::Tcp(_, socket) => socket.clone(),
            Self::Unix(_, place) => Socket::Unix(place.path.clone()),
        }
    }

    pub(super) async fn accept(&self) -> io::Result<Box<dyn Stream>> {
        match self {
            Self::Tcp(listener, _) => {
                let (stream, _) = listener.accept().await?;
                // Replies leave at once. A connection that has broken meanwhile says so when it is read.
                let _ = stream.set_nodelay(true);
                Ok(Box::new(stream))
            }
            Self::Unix(listener, _) => Ok(Box::new(listener.accept().await?.0)),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|file| file == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    path.symlink_metadata().map(|about| (about.dev(), about.ino()))
}

/// A socket that a dead server left behind is removed, that of a living one is not, nor any other file.
fn take_over(path: &Path) -> Result<(), ServerError> {
    let failed = |error| ServerError::Listen { socket: Socket::Unix(path.into()), error };
    let Ok(about) = path.symlink_metadata() else { return Ok(()) };
    if !about.file_type().is_socket() {
        return Err(failed(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "a file that is no socket is there",
        )));
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => Err(ServerError::Taken(path.into())),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Bound under another name and moved when its permissions are right: nobody comes in between.
fn bind_unix(path: &Path, mode: u32, group: Option<u32>) -> io::Result<UnixListener> {
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let _ = fs::remove_file(&new);
    let listener = UnixListener::bind(&new)?;
    let dressed = std::os::unix::fs::chown(&new, None, group)
        .and_then(|()| fs::set_permissions(&new, fs::Permissions::from_mode(mode)))
        .and_then(|()| fs::rename(&new, path));
    if dressed.is_err() {
        let _ = fs::remove_file(&new);
    }
    dressed.map(|()| listener)
}

fn group_number(group: &str) -> Result<u32, ServerError> {
    let unknown = || ServerError::Group(group.into());
    match group.parse() {
        Ok(number) => Ok(number),
        Err(_) => {
            let groups = fs::read_to_string("/etc/group").map_err(|_| unknown())?;
            find_group(&groups, group).ok_or_else(unknown)
        }
    }
}

/// The number of a group in the format of `group(5)`.
fn find_group(groups: &str, name: &str) -> Option<u32> {
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then(|| fields.nth(1)?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_by_their_whole_name() {
        let groups = "root:x:0:\nmail:x:8:a,b\nmailman:x:38:\nbroken\n:x:9:\n";
        assert_eq!(find_group(groups, "mail"), Some(8));
        assert_eq!(find_group(groups, "mailm"), None);
        assert_eq!(find_group(groups, "broken"), None);
        assert_eq!(group_number("42").unwrap(), 42);
        assert!(matches!(group_number("no such group"), Err(ServerError::Group(_))));
    }
}

//! Sockets to listen at.

use std::fs;
use std::io;
use std::path::Path;

use oarlock_io::SocketFile;
use tokio::net::{TcpListener, UnixListener};

use super::{ServerError, Settings, Stream};
use crate::session::MtaSocket;
use crate::socket::{Socket, resolve};

/// A bound socket; that of a path is removed with it.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener, Socket),
    Unix { listener: UnixListener, file: SocketFile, users: Option<Vec<u32>> },
}

/// A connection that came to a listener.
pub(super) enum Accepted {
    Stream(Box<dyn Stream>, MtaSocket),
    /// Somebody who may not come, whose connection is closed by now.
    Refused {
        uid: u32,
        pid: Option<i32>,
    },
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
                let users = settings.unix_users.as_ref().map(|users| allowed_users(users)).transpose()?;
                let (listener, file) = bind_unix(path, settings.unix_mode, group)?;
                Ok(Self::Unix { listener, file, users })
            }
        }
    }

    pub(super) fn socket(&self) -> Socket {
        match self {
            Self::Tcp(_, socket) => socket.clone(),
            Self::Unix { file, .. } => Socket::Unix(file.path().to_owned()),
        }
    }

    pub(super) async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Self::Tcp(listener, _) => {
                let (stream, _) = listener.accept().await?;
                // Replies leave at once. A connection that has broken meanwhile says so when it is read.
                let _ = stream.set_nodelay(true);
                Ok(Accepted::Stream(Box::new(stream), MtaSocket::Tcp))
            }
            Self::Unix { listener, users, .. } => {
                let (stream, _) = listener.accept().await?;
                let peer = stream.peer_cred()?;
                let uid = peer.uid();
                Ok(match users {
                    Some(users) if !users.contains(&uid) => Accepted::Refused { uid, pid: peer.pid() },
                    _ => Accepted::Stream(Box::new(stream), MtaSocket::Unix { uid }),
                })
            }
        }
    }
}

/// Binds a socket at a path, whose file goes with it.
fn bind_unix(path: &Path, mode: u32, group: Option<u32>) -> Result<(UnixListener, SocketFile), ServerError> {
    let failed = |error| ServerError::Listen { socket: Socket::Unix(path.into()), error };
    let (listener, file) = SocketFile::bind(path, mode, group)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok((UnixListener::from_std(listener).map_err(failed)?, file))
}

fn group_number(group: &str) -> Result<u32, ServerError> {
    number(group, "/etc/group").ok_or_else(|| ServerError::Group(group.into()))
}

/// The numbers of users that may connect: those named, the filter's own, and root, who may do everything anyway.
fn allowed_users(users: &[String]) -> Result<Vec<u32>, ServerError> {
    let named =
        users.iter().map(|user| number(user, "/etc/passwd").ok_or_else(|| ServerError::User(user.into())));
    let own = [0, rustix::process::geteuid().as_raw()];
    named.chain(own.into_iter().map(Ok)).collect()
}

fn number(name: &str, file: &str) -> Option<u32> {
    name.parse().ok().or_else(|| find_number(&fs::read_to_string(file).ok()?, name))
}

/// The number of a group or user in the format of `group(5)` and `passwd(5)`, which begin alike.
fn find_number(entries: &str, name: &str) -> Option<u32> {
    entries.lines().find_map(|line| {
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
        assert_eq!(find_number(groups, "mail"), Some(8));
        assert_eq!(find_number(groups, "mailm"), None);
        assert_eq!(find_number(groups, "broken"), None);
        assert_eq!(group_number("42").unwrap(), 42);
        assert!(matches!(group_number("no such group"), Err(ServerError::Group(_))));
        let users = "root:x:0:0:root:/root:/bin/sh\npostfix:x:101:106::/var/spool/postfix:/bin/false\n";
        assert_eq!(find_number(users, "postfix"), Some(101));
        assert!(allowed_users(&["7".to_owned()]).unwrap().starts_with(&[7, 0]));
        assert!(matches!(allowed_users(&["no such user".to_owned()]), Err(ServerError::User(_))));
    }
}

//! Listening sockets.

use std::io;
use std::path::PathBuf;

use oarlock_network::{PassedSockets, SocketFile};
use tokio::net::{TcpListener, UnixListener};

use super::peers::{AllowedUsers, PeerProcess, UnixUsers, group_number};
use super::{MilterServerError, MilterSettings, MilterStream};
use crate::session::MtaSocket;
use crate::socket::{MilterSocket, resolve};

/// A bound socket. The file of a UNIX socket is removed with it, unless the service manager has bound it.
#[derive(Debug)]
pub(super) enum MilterListener {
    Tcp(TcpListener, MilterSocket),
    Unix { listener: UnixListener, path: PathBuf, _file: Option<SocketFile>, users: AllowedUsers },
}

/// A connection that came to a listener.
pub(super) enum AcceptOutcome {
    Stream(Box<dyn MilterStream>, MtaSocket),
    /// The user may not connect. The connection is closed already.
    Refused {
        uid: u32,
        pid: Option<i32>,
    },
}

impl MilterListener {
    pub(super) async fn bind(
        socket: &MilterSocket,
        settings: &MilterSettings,
        users: &UnixUsers,
        passed: &mut PassedSockets,
    ) -> Result<Self, MilterServerError> {
        let failed = |error| MilterServerError::Listen { socket: socket.clone(), error };
        match socket {
            MilterSocket::Inet { host, port, is_v6 } => {
                let address = resolve(host.as_deref(), *port, *is_v6).await.map_err(failed)?;
                let listener = passed.bind_tcp(address).await.map_err(failed)?;
                let bound = listener.local_addr().map_err(failed)?;
                Ok(Self::Tcp(listener, bound.into()))
            }
            MilterSocket::Unix(path) => {
                let group = settings.unix_group.as_deref().map(group_number).transpose()?;
                let (listener, file) = passed.bind_unix(path, settings.unix_mode, group)?;
                let users = AllowedUsers::new(users.clone(), path).map_err(failed)?;
                Ok(Self::Unix { listener, path: path.clone(), _file: file, users })
            }
        }
    }

    pub(super) fn socket(&self) -> MilterSocket {
        match self {
            Self::Tcp(_, socket) => socket.clone(),
            Self::Unix { path, .. } => MilterSocket::Unix(path.clone()),
        }
    }

    pub(super) async fn accept(&self) -> io::Result<AcceptOutcome> {
        match self {
            Self::Tcp(listener, _) => {
                let (stream, _) = listener.accept().await?;
                // Replies must leave at once. If this fails, reading from the connection reports the error.
                let _ = stream.set_nodelay(true);
                Ok(AcceptOutcome::Stream(Box::new(stream), MtaSocket::Tcp))
            }
            Self::Unix { listener, users, .. } => {
                let (stream, _) = listener.accept().await?;
                let peer = PeerProcess::from_stream(&stream)?;
                let uid = peer.uid;
                Ok(match users.admits(&peer, rustix::process::geteuid().as_raw()) {
                    false => AcceptOutcome::Refused { uid, pid: peer.pid },
                    true => AcceptOutcome::Stream(Box::new(stream), MtaSocket::Unix { uid }),
                })
            }
        }
    }
}

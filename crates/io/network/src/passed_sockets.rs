//! Listening sockets that the service manager has bound. sd_listen_fds(3).

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::Path;

use listenfd::ListenFd;

use crate::socket_file::{SocketFile, SocketFileError};

/// A listening socket that the service manager has bound. It does not block.
#[derive(Debug)]
pub enum ServiceSocket {
    /// A TCP socket.
    Tcp(TcpListener),
    /// A UNIX socket. Its file belongs to the service manager.
    Unix(UnixListener),
}

/// The listening sockets that the service manager has passed. The default is none.
#[derive(Debug, Default)]
pub struct PassedSockets(Vec<ServiceSocket>);

impl PassedSockets {
    /// Takes the sockets of the environment variables `LISTEN_FDS` and `LISTEN_PID`. A program calls this once, because
    /// a second caller would own the same descriptors.
    ///
    /// # Errors
    /// A descriptor is not a listening socket of TCP or UNIX.
    pub fn from_env() -> io::Result<Self> {
        let mut passed = ListenFd::from_env();
        let sockets = (0..passed.len()).filter_map(|number| take(&mut passed, number).transpose());
        sockets.collect::<io::Result<_>>().map(Self)
    }

    /// Returns true if no socket is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all sockets, in the order of the socket unit.
    #[must_use]
    pub fn into_sockets(self) -> Vec<ServiceSocket> {
        self.0
    }

    /// Takes the TCP socket that is bound to this address, if there is one.
    fn take_tcp(&mut self, address: SocketAddr) -> Option<TcpListener> {
        let is_it = |socket: &ServiceSocket| match socket {
            ServiceSocket::Tcp(tcp) => tcp.local_addr().is_ok_and(|local| local == address),
            ServiceSocket::Unix(_) => false,
        };
        let index = self.0.iter().position(is_it)?;
        match self.0.remove(index) {
            ServiceSocket::Tcp(tcp) => Some(tcp),
            ServiceSocket::Unix(_) => None,
        }
    }

    /// Takes the UNIX socket that is bound to this path, if there is one.
    fn take_unix(&mut self, path: &Path) -> Option<UnixListener> {
        let is_it = |socket: &ServiceSocket| match socket {
            ServiceSocket::Unix(unix) => {
                unix.local_addr().is_ok_and(|local| local.as_pathname() == Some(path))
            }
            ServiceSocket::Tcp(_) => false,
        };
        let index = self.0.iter().position(is_it)?;
        match self.0.remove(index) {
            ServiceSocket::Unix(unix) => Some(unix),
            ServiceSocket::Tcp(_) => None,
        }
    }

    /// Takes the TCP socket that is bound to this address, or binds one. It needs a tokio runtime.
    ///
    /// # Errors
    /// The system does not bind the address.
    pub async fn bind_tcp(&mut self, address: SocketAddr) -> io::Result<tokio::net::TcpListener> {
        match self.take_tcp(address) {
            Some(tcp) => tokio::net::TcpListener::from_std(tcp),
            None => tokio::net::TcpListener::bind(address).await,
        }
    }

    /// Takes the UNIX socket that is bound to this path, whose file belongs to the service manager, or binds one as
    /// [`SocketFile::bind`] does. It needs a tokio runtime.
    ///
    /// # Errors
    /// The path is in use, or the system fails.
    pub fn bind_unix(
        &mut self,
        path: &Path,
        mode: u32,
        group: Option<u32>,
    ) -> Result<(tokio::net::UnixListener, Option<SocketFile>), SocketFileError> {
        let (unix, file) = match self.take_unix(path) {
            Some(unix) => (unix, None),
            None => SocketFile::bind(path, mode, group).map(|(unix, file)| (unix, Some(file)))?,
        };
        let listener = unix.set_nonblocking(true).and_then(|()| tokio::net::UnixListener::from_std(unix));
        let listener = listener.map_err(|error| SocketFileError::Io { path: path.to_owned(), error })?;
        Ok((listener, file))
    }

    /// Returns the addresses of the sockets that nobody has taken.
    #[must_use]
    pub fn addresses(&self) -> Vec<String> {
        self.0.iter().map(ServiceSocket::address).collect()
    }
}

impl From<Vec<ServiceSocket>> for PassedSockets {
    fn from(sockets: Vec<ServiceSocket>) -> Self {
        Self(sockets)
    }
}

impl ServiceSocket {
    /// Returns the address for messages: `ADDRESS:PORT`, or `unix:PATH`.
    #[must_use]
    pub fn address(&self) -> String {
        match self {
            Self::Tcp(tcp) => {
                tcp.local_addr().map_or_else(|error| error.to_string(), |local| local.to_string())
            }
            Self::Unix(unix) => {
                let address = unix.local_addr().ok();
                let path = address.as_ref().and_then(std::os::unix::net::SocketAddr::as_pathname);
                path.map_or_else(|| "unix".to_owned(), |path| format!("unix:{}", path.display()))
            }
        }
    }
}

fn take(passed: &mut ListenFd, number: usize) -> io::Result<Option<ServiceSocket>> {
    if let Ok(Some(unix)) = passed.take_unix_listener(number) {
        unix.set_nonblocking(true)?;
        return Ok(Some(ServiceSocket::Unix(unix)));
    }
    let Some(tcp) = passed.take_tcp_listener(number)? else { return Ok(None) };
    tcp.set_nonblocking(true)?;
    Ok(Some(ServiceSocket::Tcp(tcp)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_found_by_their_address_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = tcp.local_addr().unwrap();
        let other = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let unix = UnixListener::bind(&path).unwrap();
        let mut passed = PassedSockets::from(vec![ServiceSocket::Tcp(tcp), ServiceSocket::Unix(unix)]);
        assert_eq!(passed.addresses(), [address.to_string(), format!("unix:{}", path.display())]);
        assert!(passed.take_tcp(other).is_none() && passed.take_unix(&folder.path().join("other")).is_none());
        assert_eq!(passed.take_tcp(address).unwrap().local_addr().unwrap(), address);
        assert!(passed.take_tcp(address).is_none() && !passed.is_empty());
        assert_eq!(passed.take_unix(&path).unwrap().local_addr().unwrap().as_pathname(), Some(&*path));
        assert!(passed.take_unix(&path).is_none() && passed.is_empty() && passed.into_sockets().is_empty());
    }
}

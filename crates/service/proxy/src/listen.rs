//! The listening sockets.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use oarlock_network::{PassedSockets, ServiceSocket, SocketFile};
use oarlock_service_kit::ListenError;
use tokio::net::{TcpListener, TcpSocket, UnixListener};

use crate::config::{ListenAddress, ListenerSettings, ProxyConfig};
use crate::error::ProxyServiceError;
use crate::stream::SocketStream;

/// The number of connections that wait in the kernel until they are accepted.
const BACKLOG: u32 = 4_096;

/// A bound socket that no thread serves yet.
#[derive(Debug)]
pub(crate) enum UnservedListener {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

/// A bound socket, and the number of its listener in the settings.
#[derive(Debug)]
pub(crate) struct NumberedSocket {
    pub(crate) listener: usize,
    pub(crate) socket: UnservedListener,
}

/// A listening socket of a thread.
#[derive(Debug)]
pub(crate) enum ProxyListener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// The bound sockets of all threads.
#[derive(Debug)]
pub(crate) struct BoundSockets {
    /// The sockets of each thread.
    pub(crate) threads: Vec<Vec<NumberedSocket>>,
    /// The addresses, in the notation and the order of the settings.
    pub(crate) addresses: Vec<String>,
    /// The files of UNIX sockets, which are removed at the end.
    pub(crate) files: Vec<SocketFile>,
}

impl BoundSockets {
    /// Binds the sockets of the settings. It needs a tokio runtime.
    pub(crate) fn bind(config: &ProxyConfig) -> Result<Self, ProxyServiceError> {
        let listeners = config.listeners();
        if !config.listen.share_ports {
            check_ports(listeners.iter().flat_map(|listener| &listener.sockets))?;
        }
        let mut sockets = Self {
            threads: std::iter::repeat_with(Vec::new).take(config.threads()).collect(),
            addresses: Vec::new(),
            files: Vec::new(),
        };
        for (number, listener) in listeners.iter().enumerate() {
            for address in &listener.sockets {
                sockets.bind_address(number, listener, address)?;
            }
        }
        Ok(sockets)
    }

    fn bind_address(
        &mut self,
        number: usize,
        listener: &ListenerSettings,
        address: &ListenAddress,
    ) -> Result<(), ProxyServiceError> {
        let failed = |error| ProxyServiceError::from(ListenError { address: address.to_string(), error });
        match address {
            ListenAddress::Tcp(address) => self.bind_tcp(number, *address).map_err(failed),
            ListenAddress::AnyAddress(port) => self.bind_any(number, *port).map_err(failed),
            ListenAddress::Unix(path) => {
                let (socket, file) = SocketFile::bind(path, listener.unix_mode()?, None)?;
                self.files.push(file);
                self.share(number, UnservedListener::Unix(socket)).map_err(failed)
            }
            ListenAddress::Systemd => self.take_passed(number, failed),
        }
    }

    /// Binds one socket for each thread. The kernel spreads the connections over them.
    fn bind_tcp(&mut self, listener: usize, address: SocketAddr) -> io::Result<()> {
        let mut address = address;
        for sockets in &mut self.threads {
            let socket = new_socket(address)?;
            socket.set_reuseport(true)?;
            socket.bind(address)?;
            let socket = socket.listen(BACKLOG)?.into_std()?;
            // Port 0 is any free port for the first socket, and the same for the others.
            address = socket.local_addr()?;
            sockets.push(NumberedSocket { listener, socket: UnservedListener::Tcp(socket) });
        }
        self.addresses.push(address.to_string());
        Ok(())
    }

    fn bind_any(&mut self, listener: usize, port: u16) -> io::Result<()> {
        match self.bind_tcp(listener, (Ipv6Addr::UNSPECIFIED, port).into()) {
            // A machine without IPv6.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error()) => {
                self.bind_tcp(listener, (Ipv4Addr::UNSPECIFIED, port).into())
            }
            bound => bound,
        }
    }

    /// Takes the sockets that systemd has passed.
    fn take_passed(
        &mut self,
        listener: usize,
        failed: impl Fn(io::Error) -> ProxyServiceError + Copy,
    ) -> Result<(), ProxyServiceError> {
        let passed = PassedSockets::from_env().map_err(failed)?;
        if passed.is_empty() {
            return Err(ProxyServiceError::NoSockets);
        }
        for socket in passed.into_sockets() {
            let socket = match socket {
                ServiceSocket::Tcp(tcp) => UnservedListener::Tcp(tcp),
                ServiceSocket::Unix(unix) => UnservedListener::Unix(unix),
            };
            self.share(listener, socket).map_err(failed)?;
        }
        Ok(())
    }

    /// Lets all threads accept from one socket.
    fn share(&mut self, listener: usize, socket: UnservedListener) -> io::Result<()> {
        self.addresses.push(match &socket {
            UnservedListener::Tcp(tcp) => tcp.local_addr()?.to_string(),
            UnservedListener::Unix(unix) => {
                let address = unix.local_addr()?;
                // A socket is bound under a temporary name and then linked, so its file knows the path.
                let socket_path = self.files.last().map(SocketFile::path).or(address.as_pathname());
                socket_path.map_or_else(|| "unix".to_owned(), |path| format!("unix:{}", path.display()))
            }
        });
        for sockets in &mut self.threads {
            let socket = match &socket {
                UnservedListener::Tcp(tcp) => UnservedListener::Tcp(tcp.try_clone()?),
                UnservedListener::Unix(unix) => UnservedListener::Unix(unix.try_clone()?),
            };
            sockets.push(NumberedSocket { listener, socket });
        }
        Ok(())
    }
}

/// Returns a socket that may be bound while connections of an earlier process linger.
fn new_socket(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    Ok(socket)
}

/// Checks that no other process listens at the addresses. The threads share their ports (SO_REUSEPORT), so the system
/// would let another process of the same user share them too, and give it a part of the connections.
fn check_ports<'a>(addresses: impl Iterator<Item = &'a ListenAddress>) -> Result<(), ProxyServiceError> {
    // All of them before the first is bound: the addresses of one process may overlap, as 0.0.0.0 and [::] do.
    for address in addresses {
        let is_taken = match address {
            ListenAddress::Tcp(address) => is_taken(*address),
            ListenAddress::AnyAddress(port) => {
                is_taken((Ipv6Addr::UNSPECIFIED, *port).into())
                    || is_taken((Ipv4Addr::UNSPECIFIED, *port).into())
            }
            ListenAddress::Unix(_) | ListenAddress::Systemd => false,
        };
        if is_taken {
            return Err(ProxyServiceError::PortTaken { address: address.to_string() });
        }
    }
    Ok(())
}

/// Returns true if a socket that shares its port with nobody cannot be bound. Other faults are found by the binding
/// itself.
fn is_taken(address: SocketAddr) -> bool {
    let bound = new_socket(address).and_then(|socket| socket.bind(address));
    bound.is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

impl UnservedListener {
    /// Registers the socket at the runtime of this thread.
    pub(crate) fn serve(self) -> io::Result<ProxyListener> {
        match self {
            Self::Tcp(tcp) => {
                tcp.set_nonblocking(true)?;
                TcpListener::from_std(tcp).map(ProxyListener::Tcp)
            }
            Self::Unix(unix) => {
                unix.set_nonblocking(true)?;
                UnixListener::from_std(unix).map(ProxyListener::Unix)
            }
        }
    }
}

impl ProxyListener {
    /// Accepts a connection. Nothing is lost if the future is dropped.
    pub(crate) async fn accept(&self) -> io::Result<SocketStream> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                // Small answers leave at once. A failure is a lost connection, which the next step finds.
                let _ = stream.set_nodelay(true);
                Ok(SocketStream::Tcp(stream))
            }
            Self::Unix(listener) => Ok(SocketStream::Unix(listener.accept().await?.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProxySocketSettings;

    fn bind(sockets: &[&str], share_ports: bool) -> Result<BoundSockets, ProxyServiceError> {
        let sockets = Some(sockets.iter().map(|socket| socket.parse().unwrap()).collect());
        let listen =
            ProxySocketSettings { sockets, share_ports, threads: Some(2), ..ProxySocketSettings::default() };
        BoundSockets::bind(&ProxyConfig { listen, ..ProxyConfig::default() })
    }

    #[tokio::test]
    async fn a_port_of_another_process_is_shared_only_if_the_settings_say_so() {
        let first = bind(&["127.0.0.1:0"], false).unwrap();
        let address = first.addresses[0].as_str();
        let any = format!(":{}", address.rsplit(':').next().unwrap());
        for taken in [address, &any] {
            let refused = bind(&["127.0.0.1:0", taken], false).unwrap_err();
            assert!(
                matches!(&refused, ProxyServiceError::PortTaken { address } if address == taken),
                "{refused}"
            );
        }
        let shared = bind(&[address], true).unwrap();
        drop(first);
        assert!(bind(&[&shared.addresses[0]], false).is_err());
        let address = shared.addresses[0].clone();
        drop(shared);
        bind(&[&address], false).unwrap();
    }

    #[tokio::test]
    async fn the_addresses_of_one_process_may_overlap() {
        let free = bind(&["0.0.0.0:0"], false).unwrap();
        let port = free.addresses[0].rsplit(':').next().unwrap().to_owned();
        drop(free);
        bind(&[&format!("0.0.0.0:{port}"), &format!("127.0.0.1:{port}")], false).unwrap();
    }
}

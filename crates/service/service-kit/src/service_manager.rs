//! Messages of a service to systemd: it is ready, or it stops. sd_notify(3).

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// A change of a service's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServiceState {
    /// The service answers requests.
    Ready,
    /// The service finishes its requests and then ends.
    Stopping,
}

/// Notifies the service manager, if the environment variable `NOTIFY_SOCKET` names its socket.
pub(crate) fn notify(state: ServiceState) {
    let sent = std::env::var_os("NOTIFY_SOCKET").map_or(Ok(()), |socket| send(&socket, state));
    if let Err(error) = sent {
        tracing::warn!(%error, "NOTIFY_SOCKET: the service manager did not get this service's state");
    }
}

fn send(socket: &OsStr, state: ServiceState) -> io::Result<()> {
    let message = match state {
        ServiceState::Ready => "READY=1",
        ServiceState::Stopping => "STOPPING=1",
    };
    // A name that begins with @ is an abstract socket without a file. unix(7).
    let address = match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manager_is_notified_at_a_socket_file_and_at_an_abstract_socket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let name = format!("oarlock-test-{}", std::process::id());
        let by_file = UnixDatagram::bind(&path).unwrap();
        let by_name = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        send(path.as_os_str(), ServiceState::Ready).unwrap();
        send(OsStr::new(&format!("@{name}")), ServiceState::Stopping).unwrap();
        let mut buffer = [0; 32];
        let mut received = |socket: &UnixDatagram| {
            let len = socket.recv(&mut buffer).unwrap();
            String::from_utf8(buffer[..len].to_vec()).unwrap()
        };
        assert_eq!((received(&by_file), received(&by_name)), ("READY=1".into(), "STOPPING=1".into()));
        assert!(send(folder.path().join("nobody").as_os_str(), ServiceState::Ready).is_err());
    }
}

//! Listening TCP sockets.

use std::io;
use std::net::SocketAddr;

use oarlock_network::PassedSockets;
use tokio::net::TcpListener;

/// An error of an address at which a service cannot listen.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen at {address}: {error}")]
pub struct ListenError {
    /// The address, or the path of a UNIX socket.
    pub address: String,
    /// The error of the system.
    pub error: io::Error,
}

/// Takes the socket that the service manager has bound to an address, or binds one. Without an address there is none.
/// It needs a tokio runtime.
///
/// # Errors
/// The system does not bind the address.
pub async fn bind_tcp(
    address: Option<SocketAddr>,
    passed: &mut PassedSockets,
) -> Result<Option<TcpListener>, ListenError> {
    let Some(address) = address else { return Ok(None) };
    let bound = passed.bind_tcp(address).await;
    bound.map(Some).map_err(|error| ListenError { address: address.to_string(), error })
}

//! Ports for servers that take no port 0, or cannot report which one they got.

use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::Range;

/// Ports below those that systems give to clients, any of which may be taken at every moment.
const SERVER_PORTS: Range<u16> = 10_000..32_768;
const TRIES: usize = 100;

/// Returns a port of 127.0.0.1 that is free for TCP and UDP, from 10,000 to 32,767.
///
/// # Errors
/// The system's error for the last of a hundred ports, drawn at random, if all are taken.
pub fn free_port() -> io::Result<u16> {
    hold_port().map(|(port, ..)| port)
}

/// Returns ports as [`free_port`] does, all different.
///
/// # Errors
/// As for [`free_port`].
pub fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    // All are held until the last is found.
    let held: Vec<_> = (0..count).map(|_| hold_port()).collect::<io::Result<_>>()?;
    Ok(held.iter().map(|(port, ..)| *port).collect())
}

fn hold_port() -> io::Result<(u16, TcpListener, UdpSocket)> {
    let mut fault = io::Error::from(io::ErrorKind::AddrInUse);
    for _ in 0..TRIES {
        let port = fastrand::u16(SERVER_PORTS);
        let address = (Ipv4Addr::LOCALHOST, port);
        match TcpListener::bind(address).and_then(|tcp| Ok((port, tcp, UdpSocket::bind(address)?))) {
            Ok(held) => return Ok(held),
            Err(error) => fault = error,
        }
    }
    Err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_free_different_and_not_for_clients() {
        let mut ports = free_ports(50).unwrap();
        assert!(ports.iter().all(|port| SERVER_PORTS.contains(port)));
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 50);
    }
}

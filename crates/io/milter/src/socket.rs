//! Addresses of sockets to listen at or to connect to, as Sendmail and Postfix write them.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use tokio::net::lookup_host;

/// The address of a socket.
///
/// | written | meaning |
/// |---|---|
/// | `inet:PORT@HOST`, `inet:HOST:PORT`, `HOST:PORT` | TCP; of a name's addresses an IPv4 address if there is one |
/// | `inet6:PORT@HOST`, `inet6:[HOST]:PORT` | TCP; of a name's addresses an IPv6 address if there is one |
/// | `inet:PORT`, `inet6:PORT` | TCP at every address of this machine, as in `libmilter` |
/// | `unix:PATH`, `local:PATH`, `/PATH` | UNIX socket |
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MilterSocket {
    /// A TCP socket.
    Inet {
        /// A name or an address without brackets. None stands for every address of this machine.
        host: Option<String>,
        /// The port. 0 leaves the choice to the system.
        port: u16,
        /// True to prefer an IPv6 address of a name.
        is_v6: bool,
    },
    /// A UNIX socket.
    Unix(PathBuf),
}

/// An error of parsing a socket address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// The text does not have one of the known forms.
    #[error("{text:?}: expected inet:PORT@HOST, inet6:PORT@HOST, unix:PATH, HOST:PORT or /PATH")]
    Form {
        /// The whole text.
        text: String,
    },
    /// The port is not a number from 0 to 65535.
    #[error("{text:?}: {port:?} is not a port: expected 0 to 65535")]
    Port {
        /// The whole text.
        text: String,
        /// The text found as the port.
        port: String,
    },
    /// The host is neither a name nor an address. An IPv6 address needs brackets if a port follows.
    #[error("{text:?}: {host:?} is neither a host name nor an address")]
    Host {
        /// The whole text.
        text: String,
        /// The text found as the host.
        host: String,
    },
}

impl FromStr for MilterSocket {
    type Err = SocketError;

    fn from_str(text: &str) -> Result<Self, SocketError> {
        let form = || SocketError::Form { text: text.into() };
        let unix = |path: &str| match path {
            "" => Err(form()),
            path => Ok(Self::Unix(path.into())),
        };
        if text.starts_with('/') {
            return unix(text);
        }
        match text.split_once(':').ok_or_else(form)? {
            ("unix" | "local", path) => unix(path),
            ("inet", address) => inet(text, address, false),
            ("inet6", address) => inet(text, address, true),
            _ if text.contains('@') => Err(form()),
            _ => inet(text, text, false),
        }
    }
}

fn inet(text: &str, address: &str, is_v6: bool) -> Result<MilterSocket, SocketError> {
    let (host, port) = match address.split_once('@') {
        Some((port, host)) => (Some(host), port),
        None => match address.rsplit_once(':') {
            Some((host, port)) => (Some(host), port),
            None => (None, address),
        },
    };
    let refused = |host: &str| SocketError::Host { text: text.into(), host: host.into() };
    let host = match host {
        Some(host) => Some(parse_host(host).ok_or_else(|| refused(host))?.to_owned()),
        None => None,
    };
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    // `parse` alone would accept a plus sign.
    let number = port.parse().ok().filter(|_| is_number);
    let port = number.ok_or_else(|| SocketError::Port { text: text.into(), port: port.into() })?;
    Ok(MilterSocket::Inet { host, port, is_v6 })
}

/// Returns a host without its brackets, if it is valid.
fn parse_host(host: &str) -> Option<&str> {
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_literal = inner.is_some() || host.parse::<std::net::Ipv6Addr>().is_ok();
    let host = inner.unwrap_or(host);
    let is_good = match is_literal {
        true => host.parse::<std::net::Ipv6Addr>().is_ok(),
        false => {
            !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic() && !b":[]@/".contains(&byte))
        }
    };
    is_good.then_some(host)
}

impl fmt::Display for MilterSocket {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
            Self::Inet { host, port, is_v6 } => {
                write!(out, "inet{}:{port}", if *is_v6 { "6" } else { "" })?;
                host.as_ref().map_or(Ok(()), |host| write!(out, "@{host}"))
            }
        }
    }
}

impl From<SocketAddr> for MilterSocket {
    fn from(address: SocketAddr) -> Self {
        Self::Inet { host: Some(address.ip().to_string()), port: address.port(), is_v6: address.is_ipv6() }
    }
}

/// Returns the address of a TCP socket.
pub(crate) async fn resolve(host: Option<&str>, port: u16, is_v6: bool) -> io::Result<SocketAddr> {
    let any = if is_v6 { "::" } else { "0.0.0.0" };
    let found: Vec<SocketAddr> = lookup_host((host.unwrap_or(any), port)).await?.collect();
    // A name may have addresses of the other family only.
    let wanted = found.iter().find(|address| address.is_ipv6() == is_v6).or(found.first());
    wanted.copied().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: Option<&str>, port: u16, is_v6: bool) -> MilterSocket {
        MilterSocket::Inet { host: host.map(Into::into), port, is_v6 }
    }

    #[test]
    fn parses_socket_addresses_of_mail_servers() {
        for (text, socket) in [
            ("inet:8891@localhost", tcp(Some("localhost"), 8891, false)),
            ("inet:localhost:8891", tcp(Some("localhost"), 8891, false)),
            ("inet:127.0.0.1:8891", tcp(Some("127.0.0.1"), 8891, false)),
            ("inet:[::1]:8891", tcp(Some("::1"), 8891, false)),
            ("inet6:8891@::1", tcp(Some("::1"), 8891, true)),
            ("inet6:8891@[::1]", tcp(Some("::1"), 8891, true)),
            ("inet:8891", tcp(None, 8891, false)),
            ("inet6:0", tcp(None, 0, true)),
            ("mail.example:65535", tcp(Some("mail.example"), 65535, false)),
            ("[2001:db8::1]:25", tcp(Some("2001:db8::1"), 25, false)),
            ("unix:/run/milter/socket", MilterSocket::Unix("/run/milter/socket".into())),
            ("local:run/socket", MilterSocket::Unix("run/socket".into())),
            ("/run/so:ck@et", MilterSocket::Unix("/run/so:ck@et".into())),
        ] {
            assert_eq!(text.parse(), Ok(socket.clone()), "{text}");
            assert_eq!(socket.to_string().parse(), Ok(socket), "{text}");
        }
    }

    #[test]
    fn reports_the_fault_of_a_socket_address() {
        let error = |text: &str| text.parse::<MilterSocket>().unwrap_err();
        for text in ["", "8891", "unix:", "local:", "8891@localhost", "smtp:8891@localhost"] {
            assert!(matches!(error(text), SocketError::Form { .. }), "{text}");
        }
        for text in [
            "inet:",
            "inet:@localhost",
            "inet:65536@localhost",
            "inet:+1@localhost",
            "localhost:",
            "localhost:smtp",
        ] {
            assert!(matches!(error(text), SocketError::Port { .. }), "{text}");
        }
        for text in ["inet:1@", "inet::1", "inet:1@a b", "inet:1@[::1", "inet:1@[localhost]", "a:b:1", "[]:1"]
        {
            assert!(matches!(error(text), SocketError::Host { .. }), "{text}");
        }
    }
}

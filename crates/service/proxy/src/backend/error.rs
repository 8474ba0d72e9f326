//! Errors of connecting to a backend.

use std::io;

use oarlock_rustls::TlsHandshakeError;
use rustls::Error;

use crate::header::HeaderEncodeError;

/// The reason why an endpoint could not be reached.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndpointError {
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    #[error("no connection within its share of [limits] max_connect_seconds")]
    Timeout,
    #[error("cannot send the PROXY header: {0}")]
    Header(io::Error),
    #[error("cannot make the PROXY header: {0}")]
    Encode(HeaderEncodeError),
    #[error("{0}")]
    Tls(TlsHandshakeError),
    #[error("the session cannot be resumed any more: {0}")]
    Outdated(Error),
}

/// The reason why a connection reached no endpoint of its backend.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackendError {
    #[error("no endpoint can be used: all are draining, or were found down by checks")]
    NoEndpoint,
    #[error("{endpoint}: {error} (the last of {tries} tries)")]
    Failed { endpoint: String, error: EndpointError, tries: u32 },
}

/// The reason why a check failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CheckError {
    #[error("a check failed: {0}")]
    Endpoint(#[from] EndpointError),
    #[error("a check had no result within [backend.check] timeout_seconds")]
    Timeout,
    #[error("a check could not send or read a line: {0}")]
    Io(#[from] io::Error),
    #[error("a check expected a line that begins with {expected:?}, found {found:?}")]
    Line { expected: String, found: String },
}

/// The result of one try to connect, as metrics show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectResult {
    Done,
    /// The system reports an error, such as a refused connection.
    Connect,
    Timeout,
    Header,
    Tls,
}

impl ConnectResult {
    pub(crate) const ALL: [Self; 5] = [Self::Done, Self::Connect, Self::Timeout, Self::Header, Self::Tls];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Connect => "connect",
            Self::Timeout => "timeout",
            Self::Header => "header",
            Self::Tls => "tls",
        }
    }
}

impl EndpointError {
    pub(super) fn result(&self) -> ConnectResult {
        match self {
            Self::Connect(_) => ConnectResult::Connect,
            Self::Timeout | Self::Tls(TlsHandshakeError::Timeout { .. }) => ConnectResult::Timeout,
            Self::Header(_) | Self::Encode(_) => ConnectResult::Header,
            Self::Tls(_) | Self::Outdated(_) => ConnectResult::Tls,
        }
    }

    /// Returns true if the endpoint or its network is to blame, and not this proxy.
    pub(super) fn is_of_endpoint(&self) -> bool {
        match self {
            Self::Connect(error) => !is_local(error),
            Self::Encode(_) => false,
            Self::Timeout | Self::Header(_) | Self::Outdated(_) => true,
            Self::Tls(TlsHandshakeError::Tls(error)) => {
                !matches!(error, Error::General(_) | Error::Other(_) | Error::FailedToGetRandomBytes)
            }
            Self::Tls(error) => {
                matches!(error, TlsHandshakeError::Io(_) | TlsHandshakeError::Timeout { .. })
            }
        }
    }
}

/// Returns true for errors of this machine: too many open files, no memory, no free port.
fn is_local(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    let of_machine = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::ADDRNOTAVAIL];
    errno.is_some_and(|errno| of_machine.contains(&errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_results_is_in_the_order_of_the_counters() {
        for (index, result) in ConnectResult::ALL.into_iter().enumerate() {
            assert_eq!(result as usize, index);
        }
    }

    #[test]
    fn faults_of_this_machine_are_not_those_of_the_endpoint() {
        let local = io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error());
        assert!(!EndpointError::Connect(local).is_of_endpoint());
        assert!(EndpointError::Connect(io::ErrorKind::ConnectionRefused.into()).is_of_endpoint());
        assert!(!EndpointError::Tls(TlsHandshakeError::Busy { max: 1 }).is_of_endpoint());
        assert!(EndpointError::Tls(TlsHandshakeError::Tls(Error::DecryptError)).is_of_endpoint());
    }
}

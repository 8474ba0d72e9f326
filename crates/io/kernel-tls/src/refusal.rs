//! The reasons of the kernel, in words.

use std::fmt;
use std::io;

use rustix::io::Errno;

/// The step that the kernel refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelStep {
    /// TLS is attached to the socket (`TCP_ULP`).
    Ulp,
    /// The keys for sending are set (`TLS_TX`).
    SendKeys,
    /// The keys for receiving are set (`TLS_RX`).
    ReceiveKeys,
    /// Replacing the keys of a connection.
    Rekey,
    /// A record is sent.
    Send,
    /// A record is received.
    Receive,
    /// A file is sent (`sendfile`).
    SendFile,
    /// Bytes are moved between sockets (`splice`).
    Splice,
}

/// An error number of the kernel, with the step that it refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelRefusal {
    /// The step at which the kernel refused.
    pub step: KernelStep,
    /// The error number.
    pub errno: i32,
}

impl KernelRefusal {
    pub(super) fn new(step: KernelStep, error: &io::Error) -> Self {
        // An error without a number cannot come from the kernel; EIO is the closest to that.
        Self { step, errno: error.raw_os_error().unwrap_or(Errno::IO.raw_os_error()) }
    }

    fn advice(&self) -> Option<&'static str> {
        let errno = Errno::from_raw_os_error(self.errno);
        Some(match (self.step, errno) {
            (KernelStep::Ulp, Errno::NOENT) => {
                "this kernel has no TLS, or may not load it: `modprobe tls` loads it (CONFIG_TLS)"
            }
            (KernelStep::Ulp, Errno::NOTCONN) => "the connection is not established",
            (KernelStep::Rekey, Errno::BUSY) => {
                "this kernel takes keys once in a connection: Linux 6.14 and later take new ones"
            }
            (KernelStep::SendKeys | KernelStep::ReceiveKeys, Errno::BUSY) => {
                "the connection has keys already"
            }
            (KernelStep::SendKeys | KernelStep::ReceiveKeys, Errno::INVAL) => {
                "this kernel does not know the version or the cipher"
            }
            (KernelStep::SendKeys | KernelStep::ReceiveKeys, Errno::NOENT) => {
                "this kernel lacks the module of the cipher"
            }
            (_, Errno::NOPROTOOPT) => "this kernel has no TLS for this direction",
            (_, Errno::BADMSG) => "a record was forged or damaged: close the connection",
            (KernelStep::Receive, Errno::KEYEXPIRED) => "the peer changed its keys: set its new keys first",
            _ => return None,
        })
    }
}

/// Returns the symbol of an error number that kernels give here.
fn symbol(errno: i32) -> Option<&'static str> {
    Some(match Errno::from_raw_os_error(errno) {
        Errno::NOENT => "ENOENT",
        Errno::BUSY => "EBUSY",
        Errno::INVAL => "EINVAL",
        Errno::NOTCONN => "ENOTCONN",
        Errno::EXIST => "EEXIST",
        Errno::NOPROTOOPT => "ENOPROTOOPT",
        Errno::OPNOTSUPP => "EOPNOTSUPP",
        Errno::BADMSG => "EBADMSG",
        Errno::KEYEXPIRED => "EKEYEXPIRED",
        Errno::PERM => "EPERM",
        Errno::IO => "EIO",
        Errno::MSGSIZE => "EMSGSIZE",
        Errno::AGAIN => "EAGAIN",
        _ => return None,
    })
}

impl fmt::Display for KernelRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match symbol(self.errno) {
            Some(symbol) => f.write_str(symbol)?,
            None => write!(f, "errno {}", self.errno)?,
        }
        match self.advice() {
            Some(advice) => write!(f, ": {advice}"),
            None => write!(f, ": {}", Errno::from_raw_os_error(self.errno)),
        }
    }
}

/// An error of a connection whose records the kernel makes.
#[derive(Debug, thiserror::Error)]
pub enum KernelTlsError {
    /// The kernel refused a step.
    #[error("{0}")]
    Refused(KernelRefusal),
    /// New keys cannot be set on this kernel. Nothing was sent.
    #[error("no KeyUpdate was sent: {0}")]
    NoRekey(KernelRefusal),
    /// The socket failed.
    #[error("the socket: {0}")]
    Socket(#[from] io::Error),
    /// The kernel gave no type for a record.
    #[error("the kernel gave no record type: it does not receive the records of this socket")]
    NoRecordType,
    /// The kernel took only a part of a control message.
    #[error("the kernel took {taken} of {len} bytes of a record: close the connection")]
    CutRecord {
        /// The bytes that it took.
        taken: usize,
        /// The length of the record's content.
        len: usize,
    },
}

impl KernelTlsError {
    /// Sorts an error of a system call: errors of the kernel's TLS have words of their own, others are the socket's.
    pub(super) fn in_step(step: KernelStep, error: io::Error) -> Self {
        let refusal = KernelRefusal::new(step, &error);
        if error.raw_os_error().is_some() && refusal.advice().is_some() {
            Self::Refused(refusal)
        } else {
            Self::Socket(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_words() {
        let cases = [
            (KernelStep::Ulp, Errno::NOENT, "ENOENT: this kernel has no TLS"),
            (KernelStep::Rekey, Errno::BUSY, "EBUSY: this kernel takes keys once"),
            (KernelStep::SendKeys, Errno::INVAL, "EINVAL: this kernel does not know the version"),
            (KernelStep::Receive, Errno::BADMSG, "EBADMSG: a record was forged"),
            (KernelStep::Send, Errno::PIPE, "errno 32: "),
        ];
        for (step, errno, text) in cases {
            let refusal = KernelRefusal { step, errno: errno.raw_os_error() };
            assert!(refusal.to_string().starts_with(text), "{refusal}");
        }
    }

    #[test]
    fn an_error_of_the_socket_stays_one() {
        let reset = io::Error::from_raw_os_error(Errno::CONNRESET.raw_os_error());
        let error = KernelTlsError::in_step(KernelStep::Receive, reset);
        assert!(
            matches!(&error, KernelTlsError::Socket(error) if error.kind() == io::ErrorKind::ConnectionReset)
        );
        let forged = io::Error::from_raw_os_error(Errno::BADMSG.raw_os_error());
        let error = KernelTlsError::in_step(KernelStep::Receive, forged);
        assert!(matches!(error, KernelTlsError::Refused(_)));
    }
}

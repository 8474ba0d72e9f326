//! Bytes that go from a file or a socket to a socket without entering user space.

use std::fs::File;
use std::io;
use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::sendfile;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, splice};

use super::control::{ReceivedRecord, TlsRecordKind, receive_record, retry};
use super::refusal::{KernelStep, KernelTlsError};

/// The most bytes of one `sendfile`, which Linux cuts off by itself.
const MAX_SEND: usize = 0x7fff_f000;
/// The most content of a record (RFC 8446 5.1).
const MAX_CONTENT: usize = 1 << 14;

/// Sends up to `max` bytes of a file from `offset` on, in one system call, and moves `offset` forward. Returns the
/// number of bytes sent, which is 0 at the end of the file.
///
/// # Errors
/// The file or the socket failed; `WouldBlock` on a non-blocking socket that is full.
pub fn send_file(stream: &TcpStream, file: &File, offset: &mut u64, max: usize) -> io::Result<usize> {
    retry(|| Ok(sendfile(stream, file, Some(offset), max.min(MAX_SEND))?))
}

/// Sends `len` bytes of a file from `offset` on. Returns the number of bytes sent, which is smaller if the file ends
/// early. The socket has to be a blocking one.
///
/// # Errors
/// The file or the socket failed.
pub fn send_whole_file(stream: &TcpStream, file: &File, offset: u64, len: u64) -> io::Result<u64> {
    let (mut at, end) = (offset, offset.saturating_add(len));
    while at < end {
        let max = usize::try_from(end - at).unwrap_or(usize::MAX);
        if send_file(stream, file, &mut at, max)? == 0 {
            break;
        }
    }
    Ok(at - offset)
}

/// The result of one step of [`SplicePipe::splice`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpliceResult {
    /// Bytes were moved.
    Bytes(usize),
    /// A record of another type than application data has arrived, for example an alert. It was taken out.
    Record {
        /// The type.
        kind: TlsRecordKind,
        /// The bytes of the record, without its header.
        content: Vec<u8>,
    },
    /// The stream has ended.
    End,
}

/// A pipe through which bytes are moved between two sockets.
#[derive(Debug)]
pub struct SplicePipe {
    out: OwnedFd,
    into: OwnedFd,
    /// The bytes in the pipe, which `splice` takes to the other socket first.
    held: usize,
}

impl SplicePipe {
    /// Makes a pipe.
    ///
    /// # Errors
    /// The process has too many open files.
    pub fn new() -> io::Result<Self> {
        let (out, into) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self { out, into, held: 0 })
    }

    /// Moves up to `max` bytes from a socket to another. Each of them may be plain or have the kernel's TLS.
    ///
    /// # Errors
    /// A socket failed. After `WouldBlock` of a non-blocking socket, the next call continues: bytes in the pipe are
    /// kept.
    pub fn splice(
        &mut self,
        from: &TcpStream,
        to: &TcpStream,
        max: usize,
    ) -> Result<SpliceResult, KernelTlsError> {
        if self.held == 0 {
            match self.fill_with(SpliceFlags::MOVE, from, max) {
                Ok(0) => return Ok(SpliceResult::End),
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                    return take_record(from);
                }
                Err(error) => return Err(KernelTlsError::in_step(KernelStep::Splice, error)),
            }
        }
        let all = self.held;
        while self.held > 0 {
            self.drain(to).map_err(|error| KernelTlsError::in_step(KernelStep::Splice, error))?;
        }
        Ok(SpliceResult::Bytes(all))
    }

    /// Returns the number of bytes in the pipe.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held
    }

    /// Moves up to `max` bytes from a socket into the pipe: the first half of [`SplicePipe::splice`], for sockets that
    /// an event loop waits for. Returns the number of bytes, 0 at the end of the stream.
    ///
    /// # Errors
    /// `WouldBlock` if nothing has arrived; the socket failed, or has a record of the kernel's TLS that is not
    /// application data (EINVAL).
    pub fn fill(&mut self, from: impl AsFd, max: usize) -> io::Result<usize> {
        // A socket that receives by the kernel's TLS waits without this flag, even if it is non-blocking.
        self.fill_with(SpliceFlags::MOVE | SpliceFlags::NONBLOCK, from, max)
    }

    fn fill_with(&mut self, flags: SpliceFlags, from: impl AsFd, max: usize) -> io::Result<usize> {
        let moved = retry(|| Ok(splice(&from, None, &self.into, None, max, flags)?))?;
        self.held += moved;
        Ok(moved)
    }

    /// Moves bytes of the pipe into a socket: the second half of [`SplicePipe::splice`]. Returns their number.
    ///
    /// # Errors
    /// The socket failed. The bytes stay in the pipe.
    pub fn drain(&mut self, to: impl AsFd) -> io::Result<usize> {
        let moved = retry(|| Ok(splice(&self.out, None, &to, None, self.held, SpliceFlags::MOVE)?))?;
        self.held -= moved;
        Ok(moved)
    }
}

/// Receives the record that `splice` does not take: the kernel gives EINVAL for all but application data.
fn take_record(from: &TcpStream) -> Result<SpliceResult, KernelTlsError> {
    let mut content = vec![0; MAX_CONTENT];
    match receive_record(from, &mut content)? {
        Some(ReceivedRecord { kind, len }) => {
            content.truncate(len);
            Ok(SpliceResult::Record { kind, content })
        }
        None => Ok(SpliceResult::End),
    }
}

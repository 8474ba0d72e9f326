//! A connected socket that does not block.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use oarlock_shared_memory::receive_with_file;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_peercred};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, send,
    socket_with,
};

use super::{PoolConfig, PoolError};

/// A connected socket. The last copy closes it and does not shut it down: a fork that drops its copy must not end the
/// parent's connection.
#[derive(Clone, Debug)]
pub(super) struct PoolSocket(Arc<OwnedFd>);

impl PoolSocket {
    /// Connects, and checks the server's user before anything is sent.
    pub(super) fn connect(config: &PoolConfig, until: Instant) -> Result<Self, PoolError> {
        let failed = |errno: Errno| PoolError::Connect { path: config.path.clone(), error: errno.into() };
        let address = SocketAddrUnix::new(&*config.path).map_err(failed)?;
        // CLOEXEC keeps the connection out of programs that the host program starts.
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
        let socket = socket.map_err(failed)?;
        loop {
            // A non-blocking UNIX socket would fail at a full backlog and not wait. So the socket blocks until it is
            // connected.
            let time_left = time_left(until).ok_or_else(|| config.impatient())?;
            set_socket_timeout(&socket, Timeout::Send, Some(time_left)).map_err(failed)?;
            match connect(&socket, &address) {
                Ok(()) => break,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(config.impatient()),
                Err(errno) => return Err(failed(errno)),
            }
        }
        let found = socket_peercred(&socket).map_err(failed)?.uid.as_raw();
        config.users.check(found).map_err(|expected| PoolError::WrongOwner {
            path: config.path.clone(),
            found,
            expected,
        })?;
        ioctl_fionbio(&socket, true).map_err(failed)?;
        Ok(Self(Arc::new(socket)))
    }

    /// Writes all bytes, and waits for space if the server does not read.
    pub(super) fn send_all(&self, mut bytes: &[u8], until: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            // Without NOSIGNAL a closed peer would kill a host program that does not ignore SIGPIPE.
            match send(&self.0, bytes, SendFlags::NOSIGNAL) {
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if self.wait(PollFlags::OUT, until)? => {}
                Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    /// Reads bytes. Returns their number, `None` if there are none yet, or zero if the server has closed the
    /// connection.
    pub(super) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match recv(&self.0, &mut *buffer, RecvFlags::empty()) {
                Ok((read, _)) => return Ok(Some(read)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Reads bytes, and a file if one comes with them.
    pub(super) fn receive_with_file(
        &self,
        buffer: &mut [u8],
        file: &mut Option<OwnedFd>,
    ) -> io::Result<Option<usize>> {
        match receive_with_file(&self.0, buffer) {
            Ok((read, found)) => {
                *file = file.take().or(found);
                Ok(Some(read))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits until there are bytes to read. Returns false if the time is over.
    pub(super) fn wait_for_answer(&self, until: Instant) -> io::Result<bool> {
        self.wait(PollFlags::IN, until)
    }

    /// Waits for an event. Returns false if the time is over.
    fn wait(&self, what: PollFlags, until: Instant) -> io::Result<bool> {
        loop {
            let Some(time_left) = time_left(until) else { return Ok(false) };
            let time =
                Timespec { tv_sec: time_left.as_secs() as i64, tv_nsec: time_left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.0, what)], Some(&time)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(true),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

impl AsFd for PoolSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Returns the time that is left, or `None` if it is over.
fn time_left(until: Instant) -> Option<Duration> {
    // The system reads a time of zero as no limit, and counts in microseconds.
    Some(until.saturating_duration_since(Instant::now())).filter(|time_left| time_left.as_micros() > 0)
}

//! A connected socket that blocks nobody.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_peercred};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, send,
    socket_with,
};

use super::{PoolConfig, PoolError};

/// Closed, not shut down, when the last one is dropped: a fork's copy ends nothing for the process that it came from.
#[derive(Clone, Debug)]
pub(super) struct PoolSocket(Arc<OwnedFd>);

impl PoolSocket {
    /// Connects, and looks at who listens there before anything is sent.
    pub(super) fn connect(config: &PoolConfig, until: Instant) -> Result<Self, PoolError> {
        let failed = |errno: Errno| PoolError::Connect { path: config.path.clone(), error: errno.into() };
        let address = SocketAddrUnix::new(&*config.path).map_err(failed)?;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None);
        let socket = socket.map_err(failed)?;
        loop {
            // A UNIX socket that does not block would not wait for a place in a full backlog.
            let left = left(until).ok_or_else(|| config.impatient())?;
            set_socket_timeout(&socket, Timeout::Send, Some(left)).map_err(failed)?;
            match connect(&socket, &address) {
                Ok(()) => break,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(config.impatient()),
                Err(errno) => return Err(failed(errno)),
            }
        }
        let found = socket_peercred(&socket).map_err(failed)?.uid.as_raw();
        if !config.server_uids.contains(&found) {
            let expected = config.server_uids.clone();
            return Err(PoolError::WrongOwner { path: config.path.clone(), found, expected });
        }
        ioctl_fionbio(&socket, true).map_err(failed)?;
        Ok(Self(Arc::new(socket)))
    }

    /// Writes all of it, waiting for room where the server does not read.
    pub(super) fn send_all(&self, mut bytes: &[u8], until: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
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

    /// How much was read; None where nothing is there yet, zero where the server has left.
    pub(super) fn receive(&self, room: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match recv(&self.0, &mut *room, RecvFlags::empty()) {
                Ok((read, _)) => return Ok(Some(read)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// True where nothing is there to read: a server that has left, or says so, is not asked again.
    pub(super) fn is_quiet(&self) -> bool {
        recv(&self.0, &mut [0; 1], RecvFlags::PEEK).err() == Some(Errno::AGAIN)
    }

    /// Waits until there is something to read.
    pub(super) fn wait_for_answer(&self, until: Instant) -> io::Result<bool> {
        self.wait(PollFlags::IN, until)
    }

    /// False where the time is over.
    fn wait(&self, what: PollFlags, until: Instant) -> io::Result<bool> {
        loop {
            let Some(left) = left(until) else { return Ok(false) };
            let time = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
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

/// None where the time is over.
fn left(until: Instant) -> Option<Duration> {
    // The system reads a time of zero as no limit, and counts in microseconds.
    Some(until.saturating_duration_since(Instant::now())).filter(|left| left.as_micros() > 0)
}

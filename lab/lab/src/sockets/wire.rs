//! The system calls of every way. They go through one trait, so that they are counted in one place.

use std::fs::File;
use std::io::{self, IoSlice};
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use oarlock_kernel_tls::send_file;
use rustix::net::{SendFlags, send};
use serde::Serialize;

/// The calls of one kind, and the bytes that they copied between user space and kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct CallCount {
    pub(super) calls: u64,
    pub(super) bytes: u64,
}

impl CallCount {
    fn add(&mut self, bytes: usize) {
        self.calls += 1;
        self.bytes += bytes as u64;
    }
}

/// The calls of a way, under the names that `strace` gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct WireCalls {
    pub(super) read: CallCount,
    pub(super) sendto: CallCount,
    pub(super) sendmsg: CallCount,
    /// Its bytes stay in the kernel, so none are counted.
    pub(super) sendfile: CallCount,
}

impl WireCalls {
    fn all(&self) -> [CallCount; 4] {
        [self.read, self.sendto, self.sendmsg, self.sendfile]
    }

    pub(super) fn calls(&self) -> u64 {
        self.all().iter().map(|half| half.calls).sum()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.all().iter().map(|half| half.bytes).sum()
    }
}

/// The system calls that a sender may make.
pub(super) trait Wire {
    /// Reads what is there, up to the length of the buffer.
    fn read(&mut self, from: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize>;

    /// Sends all bytes. With `continues` the record continues with the next call.
    fn send(&mut self, to: BorrowedFd<'_>, bytes: &[u8], continues: bool) -> io::Result<()>;

    /// Sends all parts in one message with control messages, whose contents have `control_bytes` bytes.
    fn send_parts(
        &mut self,
        to: BorrowedFd<'_>,
        parts: &[IoSlice<'_>],
        control: &[ControlMessage<'_>],
        control_bytes: usize,
        continues: bool,
    ) -> io::Result<()>;

    /// Sends up to `max` bytes of a file.
    fn send_file(&mut self, to: &TcpStream, file: &File, offset: &mut u64, max: usize) -> io::Result<usize>;

    /// Returns the calls so far.
    fn calls(&self) -> WireCalls;
}

/// The wire that makes the calls.
#[derive(Debug, Default)]
pub(super) struct CountingWire(WireCalls);

impl Wire for CountingWire {
    fn read(&mut self, from: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        let read = rustix::io::read(from, buffer)?;
        self.0.read.add(read);
        Ok(read)
    }

    fn send(&mut self, to: BorrowedFd<'_>, mut bytes: &[u8], continues: bool) -> io::Result<()> {
        let flags = if continues { SendFlags::NOSIGNAL | SendFlags::MORE } else { SendFlags::NOSIGNAL };
        while !bytes.is_empty() {
            let sent = send(to, bytes, flags)?;
            self.0.sendto.add(sent);
            bytes = &bytes[sent..];
        }
        Ok(())
    }

    fn send_parts(
        &mut self,
        to: BorrowedFd<'_>,
        parts: &[IoSlice<'_>],
        control: &[ControlMessage<'_>],
        control_bytes: usize,
        continues: bool,
    ) -> io::Result<()> {
        // nix has no name for this flag.
        let more = MsgFlags::from_bits_retain(SendFlags::MORE.bits() as i32);
        let flags = if continues { more } else { MsgFlags::empty() };
        let len: usize = parts.iter().map(|part| part.len()).sum();
        let sent = sendmsg::<()>(to.as_fd().as_raw_fd(), parts, control, flags, None)?;
        self.0.sendmsg.add(sent + control_bytes);
        if sent < len {
            return Err(io::Error::other(format!("the device took {sent} of {len} bytes of a record")));
        }
        Ok(())
    }

    fn send_file(&mut self, to: &TcpStream, file: &File, offset: &mut u64, max: usize) -> io::Result<usize> {
        let sent = send_file(to, file, offset, max)?;
        self.0.sendfile.add(0);
        Ok(sent)
    }

    fn calls(&self) -> WireCalls {
        self.0
    }
}

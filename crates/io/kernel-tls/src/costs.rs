//! The CPU time of a call and of a byte, measured on a connection to this machine itself.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::thread;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::time::{ClockId, clock_gettime};

use super::transfer::send_whole_file;

/// The content of a short and of a long record, and their numbers.
const SHORT: (usize, usize) = (64, 1500);
const LONG: (usize, usize) = (16 << 10, 300);
/// The bytes of a short and of a long `sendfile`, and their numbers.
const SHORT_FILE: (usize, usize) = (4 << 10, 300);
const LONG_FILE: (usize, usize) = (1 << 20, 8);

/// The CPU time of a way to send: `call_ns + byte_ns * bytes` for each call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransferCosts {
    /// Nanoseconds for each call.
    pub call_ns: f64,
    /// Nanoseconds for each byte.
    pub byte_ns: f64,
}

impl TransferCosts {
    /// Returns the nanoseconds of one call with `bytes` bytes.
    #[must_use]
    pub fn nanoseconds(&self, bytes: usize) -> f64 {
        self.call_ns + self.byte_ns * bytes as f64
    }

    /// Measures `write` on a connection whose other end is read and thrown away.
    pub(super) fn of_write(pair: (TcpStream, TcpStream)) -> io::Result<Self> {
        let content = vec![0x5a; LONG.0];
        Self::measure(pair, SHORT, LONG, |stream, bytes| (&mut &*stream).write_all(&content[..bytes]))
    }

    /// Measures `sendfile` from a file in memory.
    pub(super) fn of_send_file(pair: (TcpStream, TcpStream)) -> io::Result<Self> {
        let mut file = memory_file()?;
        file.write_all(&vec![0x5a; LONG_FILE.0])?;
        Self::measure(pair, SHORT_FILE, LONG_FILE, |stream, bytes| {
            send_whole_file(stream, &file, 0, bytes as u64).map(drop)
        })
    }

    fn measure(
        (stream, peer): (TcpStream, TcpStream),
        short: (usize, usize),
        long: (usize, usize),
        send: impl Fn(&TcpStream, usize) -> io::Result<()>,
    ) -> io::Result<Self> {
        let reader = thread::Builder::new().name("probe".into()).spawn(move || drain(&peer))?;
        let mut per_call = [0.0; 2];
        for ((bytes, calls), cost) in [short, long].into_iter().zip(&mut per_call) {
            let began = thread_ns();
            for _ in 0..calls {
                send(&stream, bytes)?;
            }
            *cost = (thread_ns() - began) / calls as f64;
        }
        stream.shutdown(Shutdown::Write)?;
        // A reader that panicked has nothing to say about costs.
        let _ = reader.join();
        let byte_ns = ((per_call[1] - per_call[0]) / (long.0 - short.0) as f64).max(0.0);
        Ok(Self { call_ns: (per_call[0] - byte_ns * short.0 as f64).max(0.0), byte_ns })
    }
}

/// Makes a file that exists in memory only.
pub(super) fn memory_file() -> io::Result<File> {
    let file: OwnedFd = memfd_create("oarlock", MemfdFlags::CLOEXEC)?;
    Ok(file.into())
}

/// Reads until the end or an error.
fn drain(mut peer: &TcpStream) {
    let mut buffer = vec![0; 256 << 10];
    while matches!(peer.read(&mut buffer), Ok(read) if read > 0) {}
}

/// Returns the CPU time of this thread.
fn thread_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

//! The connections, and the loop that sends a file over them.

use std::fs::File;
use std::io::{self, Seek};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use cpu_time::ThreadTime;
use oarlock_kernel_tls::connected_pair;
use oarlock_measure::sockets::MAX_CONTENT;
use rustix::net::{RecvFlags, recv};

use super::args::SocketFrames;
use super::wire::{CountingWire, Wire, WireCalls};

/// The longest call of `sendfile`. Longer ones gain nothing, and delay other connections.
const MAX_SEND_FILE: u64 = 4 << 20;
/// The memory that a connection's reader needs: it throws everything away.
const READER_STACK: usize = 64 << 10;

/// A piece of a record that was read from the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordPiece<'a> {
    /// The record's content up to and with this piece.
    pub(super) record: &'a [u8],
    /// The offset in `record` where this piece begins.
    pub(super) begins: usize,
    /// The length of the whole record's content.
    pub(super) len: usize,
}

impl RecordPiece<'_> {
    /// True if this piece is the record's last.
    pub(super) fn ends(&self) -> bool {
        self.record.len() == self.len
    }
}

/// A way to send records that were read into user space.
pub(super) trait RecordSender {
    /// Takes a piece for a connection.
    fn add(&mut self, wire: &mut dyn Wire, stream: &SendingStream, piece: RecordPiece<'_>) -> io::Result<()>;

    /// Sends the records of a call, whose contents together are `contents`.
    fn finish_call(&mut self, wire: &mut dyn Wire, stream: &SendingStream, contents: &[u8])
    -> io::Result<()>;

    /// Returns the bytes that the way copies within user space for each byte of the file.
    fn copied_bytes_per_byte(&self) -> f64;
}

/// The sending end of a connection.
#[derive(Debug)]
pub(super) struct SendingStream {
    pub(super) index: usize,
    pub(super) socket: TcpStream,
}

/// The sizes of a transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransferSizes {
    pub(super) size: usize,
    pub(super) frames: SocketFrames,
    pub(super) records_per_call: usize,
}

impl TransferSizes {
    /// Returns the bytes of the file that a call sends.
    pub(super) fn bytes_per_call(&self) -> usize {
        match self.frames {
            SocketFrames::Whole => self.size * self.records_per_call,
            SocketFrames::Piecemeal => self.size * (MAX_CONTENT / self.size),
        }
    }
}

/// The result of one turn of a way.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransferResult {
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
    pub(super) calls: WireCalls,
}

/// Connections of this machine to itself. All that arrives is counted and thrown away.
#[derive(Debug)]
pub(super) struct Connections {
    pub(super) streams: Vec<SendingStream>,
    readers: Vec<JoinHandle<io::Result<Arrived>>>,
}

/// The bytes that arrived at a connection's other end.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrived {
    pub(super) bytes: u64,
    /// The bytes themselves, if they are kept.
    pub(super) kept: Vec<u8>,
}

impl Connections {
    /// Opens connections. With `keeps` the bytes are kept, else they are not even copied.
    pub(super) fn open(count: usize, keeps: bool) -> io::Result<Self> {
        let (mut streams, mut readers) = (Vec::new(), Vec::new());
        for index in 0..count {
            let (socket, peer) = connected_pair()?;
            socket.set_nodelay(true)?;
            streams.push(SendingStream { index, socket });
            let builder = thread::Builder::new().name("reader".into()).stack_size(READER_STACK);
            readers.push(builder.spawn(move || read_to_end(&peer, keeps))?);
        }
        Ok(Self { streams, readers })
    }

    /// Closes the connections, and returns what arrived at each.
    pub(super) fn finish(self) -> io::Result<Vec<Arrived>> {
        for stream in &self.streams {
            stream.socket.shutdown(Shutdown::Write)?;
        }
        let arrived = self.readers.into_iter().map(|reader| {
            reader.join().unwrap_or_else(|_| Err(io::Error::other("a reader of the connections panicked")))
        });
        arrived.collect()
    }
}

/// Receives to the end. `recv` and not `read`: so the system calls of the sender have names of their own.
fn read_to_end(peer: &TcpStream, keeps: bool) -> io::Result<Arrived> {
    let flags = if keeps { RecvFlags::empty() } else { RecvFlags::TRUNC };
    let mut buffer = vec![0; if keeps { 1 << 14 } else { 1 << 20 }];
    let mut arrived = Arrived::default();
    loop {
        match recv(peer, &mut buffer, flags) {
            Ok((_, 0)) => return Ok(arrived),
            Ok((_, len)) => {
                arrived.bytes += len as u64;
                if keeps {
                    arrived.kept.extend_from_slice(&buffer[..len]);
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Sends a file of `bytes` bytes in records, call by call to one connection after the other.
pub(super) fn send_records(
    file: &mut File,
    bytes: u64,
    connections: Connections,
    sizes: TransferSizes,
    sender: &mut dyn RecordSender,
) -> io::Result<(TransferResult, Vec<Arrived>)> {
    file.rewind()?;
    let mut buffer = vec![0; sizes.bytes_per_call()];
    timed(connections, |wire, streams| {
        let (mut left, mut streams) = (bytes, streams.iter().cycle());
        while let Some(stream) = streams.next().filter(|_| left > 0) {
            let contents =
                &mut buffer[..sizes.bytes_per_call().min(usize::try_from(left).unwrap_or(usize::MAX))];
            match sizes.frames {
                SocketFrames::Whole => {
                    fill(wire, file, contents)?;
                    for record in contents.chunks(sizes.size) {
                        let piece = RecordPiece { record, begins: 0, len: record.len() };
                        sender.add(wire, stream, piece)?;
                    }
                }
                SocketFrames::Piecemeal => {
                    let len = contents.len();
                    for begins in (0..len).step_by(sizes.size) {
                        let end = (begins + sizes.size).min(len);
                        fill(wire, file, &mut contents[begins..end])?;
                        sender.add(wire, stream, RecordPiece { record: &contents[..end], begins, len })?;
                    }
                }
            }
            sender.finish_call(wire, stream, contents)?;
            left -= contents.len() as u64;
        }
        Ok(())
    })
}

/// Fills a buffer from a file, which gives all in one call.
fn fill(wire: &mut dyn Wire, file: &File, mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        match wire.read(file.as_fd(), buffer)? {
            0 => return Err(io::Error::other("the file became shorter")),
            read => buffer = &mut buffer[read..],
        }
    }
    Ok(())
}

/// Sends a file without reading it, an equal part over each connection.
pub(super) fn send_by_kernel(
    file: &File,
    bytes: u64,
    connections: Connections,
) -> io::Result<(TransferResult, Vec<Arrived>)> {
    timed(connections, |wire, streams| {
        let share = bytes.div_ceil(streams.len() as u64);
        let mut offsets: Vec<u64> =
            (0..streams.len() as u64).map(|index| (index * share).min(bytes)).collect();
        let ends: Vec<u64> = offsets.iter().map(|offset| (offset + share).min(bytes)).collect();
        while offsets != ends {
            for ((stream, offset), end) in streams.iter().zip(&mut offsets).zip(&ends) {
                let max = (*end - *offset).min(MAX_SEND_FILE) as usize;
                if max > 0 && wire.send_file(&stream.socket, file, offset, max)? == 0 {
                    return Err(io::Error::other("the file became shorter"));
                }
            }
        }
        Ok(())
    })
}

/// Runs a sender, and measures it up to the arrival of the last byte.
fn timed(
    connections: Connections,
    send: impl FnOnce(&mut dyn Wire, &[SendingStream]) -> io::Result<()>,
) -> io::Result<(TransferResult, Vec<Arrived>)> {
    let mut wire = CountingWire::default();
    let (began, cpu) = (Instant::now(), ThreadTime::now());
    send(&mut wire, &connections.streams)?;
    let cpu_seconds = cpu.elapsed().as_secs_f64();
    let all = connections.finish()?;
    let seconds = began.elapsed().as_secs_f64();
    Ok((TransferResult { seconds, cpu_seconds, calls: wire.calls() }, all))
}

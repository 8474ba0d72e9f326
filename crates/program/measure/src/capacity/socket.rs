//! Live dnstap: a UNIX socket that resolvers write Frame Streams into.

use std::cell::RefCell;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use oarlock_capacity::capture::dnstap::{
    ControlType, DnstapFrame, FrameDecoder, control_frame, decode_frame,
};
use oarlock_capacity::capture::{CaptureError, CaptureFormat, SkipCounts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::LocalSet;

use super::CapacityError;
use super::inputs::{ObservedTraffic, TrafficSource};

/// The number of bytes that are read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The counts of all connections.
#[derive(Default)]
struct SocketCounts {
    observed: ObservedTraffic,
    events: u64,
    skipped: SkipCounts,
    fault: Option<CaptureError>,
}

/// Listens until the time is up or `stop` is ready, and counts the messages.
pub(super) fn listen<F: Future<Output = ()>>(
    path: &Path,
    listen_for: Option<Duration>,
    stop: impl FnOnce() -> F,
    observed: &mut ObservedTraffic,
) -> Result<(), CapacityError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(CapacityError::Runtime)?;
    // Local tasks may borrow nothing, so the counts move into the `Rc` and back.
    let counting = SocketCounts { observed: std::mem::take(observed), ..SocketCounts::default() };
    let shared = Rc::new(RefCell::new(counting));
    let listened = LocalSet::new().block_on(&runtime, serve(path, listen_for, stop, &shared));
    let SocketCounts { observed: counted, events, skipped, fault } = shared.take();
    *observed = counted;
    observed.traffic.end_input();
    let format = Some(CaptureFormat::Dnstap);
    observed.inputs.push(TrafficSource { path: path.to_owned(), format, events, skipped, fault });
    listened.map_err(|error| CapacityError::Listen { path: path.to_owned(), error })
}

async fn serve<F: Future<Output = ()>>(
    path: &Path,
    listen_for: Option<Duration>,
    stop: impl FnOnce() -> F,
    shared: &Rc<RefCell<SocketCounts>>,
) -> io::Result<()> {
    let listener = bind(path)?;
    eprintln!("oarlock: listening for dnstap at {}", path.display());
    let ended = tokio::select! {
        () = stop() => Ok(()),
        () = pause(listen_for) => Ok(()),
        error = accept(&listener, shared) => Err(error),
    };
    // If the socket stays, the next process replaces it.
    let _ = std::fs::remove_file(path);
    ended
}

/// Binds the socket. The socket of a dead process is replaced, that of a living one is not.
fn bind(path: &Path) -> io::Result<UnixListener> {
    // A file of another kind is never removed. Then `UnixListener::bind` fails.
    if path.symlink_metadata().is_ok_and(|about| about.file_type().is_socket()) {
        if std::os::unix::net::UnixStream::connect(path).is_ok() {
            return Err(io::Error::new(io::ErrorKind::AddrInUse, "another process answers there"));
        }
        std::fs::remove_file(path)?;
    }
    UnixListener::bind(path)
}

async fn pause(listen_for: Option<Duration>) {
    match listen_for {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// Accepts connections. Returns only if no further connection can be accepted.
async fn accept(listener: &UnixListener, shared: &Rc<RefCell<SocketCounts>>) -> io::Error {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = Rc::clone(shared);
                tokio::task::spawn_local(async move {
                    if let Err(fault) = take(stream, &shared).await {
                        // Only this connection ends. The report has the first fault of all.
                        shared.borrow_mut().fault.get_or_insert(fault);
                    }
                });
            }
            // The writer has left before it was accepted.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => return error,
        }
    }
}

/// Reads one connection. The writer may begin with a handshake or not.
async fn take(mut stream: UnixStream, shared: &RefCell<SocketCounts>) -> Result<(), CaptureError> {
    let (mut frames, mut buffer) = (FrameDecoder::default(), vec![0; CHUNK_BYTES]);
    loop {
        let len = stream.read(&mut buffer).await?;
        if len == 0 {
            let cut = CaptureError::Truncated { what: "a frame of a connection", at_byte: frames.at_byte() };
            return if frames.is_empty() { Ok(()) } else { Err(cut) };
        }
        frames.push(&buffer[..len]);
        let mut answers = Vec::new();
        while let Some(frame) = frames.next_frame()? {
            match frame {
                DnstapFrame::Data(data) => shared.borrow_mut().count(data),
                DnstapFrame::Control(ControlType::Ready) => answers.push(ControlType::Accept),
                DnstapFrame::Control(ControlType::Stop) => answers.push(ControlType::Finish),
                DnstapFrame::Control(_) => {}
            }
        }
        for answer in answers {
            // A writer without a handshake does not read answers.
            let _ = stream.write_all(&control_frame(answer)).await;
        }
    }
}

impl SocketCounts {
    fn count(&mut self, data: &[u8]) {
        let Self { observed, events, skipped, .. } = self;
        decode_frame(data, skipped, &mut |event| {
            *events += 1;
            observed.event(event);
        });
    }
}

//! The second sink: each line as a message to syslog or journald, through the UNIX datagram socket of both.
//!
//! A thread of its own sends. If the daemon takes messages too slowly or is unavailable, lines wait in a queue of
//! bounded size, and lines beyond it are dropped and counted. Neither requests nor the file wait for it.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum bytes of lines that wait for the daemon.
pub(super) const MAX_WAITING_BYTES: usize = 4 << 20;

/// The facility `authpriv` (10) and the severity `info` (6). RFC 3164 4.1.1
const PRIORITY: u8 = 10 * 8 + 6;

/// The time limit of one message, after which the daemon counts as stalled.
const SEND_LIMIT: Duration = Duration::from_secs(1);

/// The time between attempts while the daemon is unavailable.
const RETRY: Duration = Duration::from_millis(500);

/// The queue of lines for the daemon.
#[derive(Debug)]
pub(super) struct SyslogSink {
    socket: PathBuf,
    state: Mutex<SyslogState>,
    changed: Condvar,
    lost: AtomicU64,
}

#[derive(Debug, Default)]
struct SyslogState {
    blocks: VecDeque<Vec<u8>>,
    /// The bytes that wait, except those of the block that is being sent.
    bytes: usize,
    is_closed: bool,
    has_ended: bool,
}

impl SyslogSink {
    /// Starts a sink. The socket need not exist yet.
    pub(super) fn start(socket: &Path) -> io::Result<Arc<Self>> {
        let sink = Arc::new(Self {
            socket: socket.to_owned(),
            state: Mutex::default(),
            changed: Condvar::new(),
            lost: AtomicU64::new(0),
        });
        // Not connected: each message names the socket, so a daemon that was started again is found at once.
        let datagrams = UnixDatagram::unbound()?;
        datagrams.set_write_timeout(Some(SEND_LIMIT))?;
        let thread = SyslogThread { sink: Arc::clone(&sink), datagrams, is_failing: false };
        std::thread::Builder::new().name("audit-syslog".into()).spawn(move || thread.run())?;
        Ok(sink)
    }

    fn state(&self) -> MutexGuard<'_, SyslogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts complete lines, or counts them as lost.
    pub(super) fn put(&self, lines: &[u8]) {
        let mut state = self.state();
        if state.is_closed || state.bytes + lines.len() > MAX_WAITING_BYTES {
            drop(state);
            return self.lose(lines);
        }
        state.bytes += lines.len();
        state.blocks.push_back(lines.to_vec());
        // All, because `close` waits for the same condition as the thread.
        self.changed.notify_all();
    }

    fn lose(&self, lines: &[u8]) {
        self.lost.fetch_add(split(lines).count() as u64, Ordering::Relaxed);
    }

    /// Returns the number of lines that were never sent.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Sends the lines that wait, and ends. The wait is bounded by the limit of one message.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        self.changed.notify_all();
        let waited = self.changed.wait_timeout_while(state, 2 * SEND_LIMIT, |state| !state.has_ended);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

fn split(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// The state of the thread that sends.
struct SyslogThread {
    sink: Arc<SyslogSink>,
    datagrams: UnixDatagram,
    is_failing: bool,
}

impl SyslogThread {
    fn run(mut self) {
        let head = format!("<{PRIORITY}>oarlock-audit[{}]: ", std::process::id());
        while let Some(block) = self.next() {
            let mut lines = split(&block);
            while let Some(line) = lines.next() {
                if !self.send(&[head.as_bytes(), line].concat()) {
                    self.sink.lost.fetch_add(1 + lines.count() as u64, Ordering::Relaxed);
                    break;
                }
            }
        }
        self.sink.state().has_ended = true;
        self.sink.changed.notify_all();
    }

    fn next(&self) -> Option<Vec<u8>> {
        let idle = |state: &mut SyslogState| state.blocks.is_empty() && !state.is_closed;
        let waited = self.sink.changed.wait_while(self.sink.state(), idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let block = state.blocks.pop_front()?;
        state.bytes -= block.len();
        Some(block)
    }

    /// Sends one message, and waits while the daemon is unavailable. Returns false if the server stops before it is
    /// sent.
    fn send(&mut self, message: &[u8]) -> bool {
        loop {
            match self.datagrams.send_to(message, &self.sink.socket) {
                Ok(_) => {
                    if std::mem::take(&mut self.is_failing) {
                        tracing::info!(socket = %self.sink.socket.display(), "syslog takes audit entries again");
                    }
                    return true;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.raw_os_error() == Some(rustix::io::Errno::MSGSIZE.raw_os_error()) => {
                    // It would never be accepted, and the lines after it wait.
                    self.sink.lost.fetch_add(1, Ordering::Relaxed);
                    return true;
                }
                Err(error) => {
                    if !std::mem::replace(&mut self.is_failing, true) {
                        let socket = self.sink.socket.display();
                        tracing::error!(%socket, %error, "syslog does not take audit entries: the file still gets them");
                    }
                    if self.wait_for_retry() {
                        return false;
                    }
                }
            }
        }
    }

    /// Waits before the next attempt. Returns true if the server stops.
    fn wait_for_retry(&self) -> bool {
        let waited = self.sink.changed.wait_timeout_while(self.sink.state(), RETRY, |state| !state.is_closed);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(daemon: &UnixDatagram) -> String {
        let mut message = vec![0; 1 << 16];
        let len = daemon.recv(&mut message).unwrap();
        String::from_utf8(message[..len].to_vec()).unwrap()
    }

    #[test]
    fn sends_each_line_as_a_message_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let daemon = UnixDatagram::bind(&path).unwrap();
        let sink = SyslogSink::start(&path).unwrap();
        sink.put(b"\n{\"a\":1}\n{\"a\":2}\n");
        let head = format!("<86>oarlock-audit[{}]: ", std::process::id());
        assert_eq!(receive(&daemon), format!("{head}{{\"a\":1}}"));
        assert_eq!(receive(&daemon), format!("{head}{{\"a\":2}}"));
        sink.close();
        assert_eq!(sink.lost(), 0);
        sink.put(b"{}\n");
        assert_eq!(sink.lost(), 1, "a closed sink takes no line");
    }

    #[test]
    fn keeps_lines_for_a_daemon_that_starts_later_and_counts_those_beyond_its_memory() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let sink = SyslogSink::start(&path).unwrap();
        let line = format!("{{\"a\":\"{}\"}}\n", "x".repeat(1000));
        let block = line.repeat(1000);
        let mut put = 0;
        while sink.lost() == 0 {
            sink.put(block.as_bytes());
            put += 1000;
            assert!(put < 20_000, "the memory is not bounded");
        }
        assert_eq!(sink.lost(), 1000);
        let daemon = UnixDatagram::bind(&path).unwrap();
        for _ in 0..put - 1000 {
            assert!(receive(&daemon).ends_with("xxx\"}"));
        }
        sink.close();
        assert_eq!(sink.lost(), 1000);
    }

    #[test]
    fn ends_although_the_daemon_never_reads() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let _daemon = UnixDatagram::bind(&path).unwrap();
        let sink = SyslogSink::start(&path).unwrap();
        sink.put("{\"a\":1}\n".repeat(100_000).as_bytes());
        sink.close();
        let sent = 100_000 - sink.lost();
        assert!((1..100_000).contains(&sent), "{sent}");
    }
}

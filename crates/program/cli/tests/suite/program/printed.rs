//! Lines that a running process prints. Each wait has a deadline, and its error shows what was printed.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;

/// The time to wait for a line. It only ends a test that would wait forever, so it is long enough for a slow machine.
const DEADLINE: Duration = Duration::from_secs(120);

/// The lines of a stream, read by a thread.
pub(crate) struct PrintedLines {
    lines: Receiver<String>,
    printed: String,
}

impl PrintedLines {
    pub(crate) fn from_stream(stream: impl Read + Send + 'static) -> Self {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                // Read on if nobody waits any more: a full pipe would stop the process.
                let _ = sender.send(line);
            }
        });
        Self { lines, printed: String::new() }
    }

    /// Returns the next line without its end; None at the end of the stream.
    #[track_caller]
    pub(crate) fn next_or_end(&mut self) -> Option<String> {
        match self.lines.recv_timeout(DEADLINE) {
            Ok(line) => {
                self.printed += &format!("{line}\n");
                Some(line)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line in {DEADLINE:?} after:\n{}", self.printed),
        }
    }

    /// Returns the next line that contains these words.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, words: &str) -> String {
        loop {
            match self.next_or_end() {
                Some(line) if line.contains(words) => return line,
                Some(_) => {}
                None => panic!("the process printed no line with {words:?}, but:\n{}", self.printed),
            }
        }
    }

    /// Waits for the end of the stream, and returns everything that was printed.
    #[track_caller]
    pub(crate) fn all(mut self) -> String {
        while self.next_or_end().is_some() {}
        self.printed
    }
}

/// Returns the first line on stdout, in which a service says in JSON where it listens.
#[track_caller]
pub(crate) fn announcement(child: &mut Child) -> Value {
    let line = PrintedLines::from_stream(child.stdout.take().unwrap()).next_or_end().unwrap_or_default();
    serde_json::from_str(&line).unwrap_or_else(|_| {
        let _ = child.kill();
        let log = child.stderr.take().map(|stderr| PrintedLines::from_stream(stderr).all());
        panic!("expected JSON on stdout, found {line:?}; stderr: {}", log.unwrap_or_default())
    })
}

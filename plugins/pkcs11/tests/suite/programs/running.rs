//! Servers that run until a test ends.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// The time after which a test fails. Nothing takes this long unless it hangs.
pub const HANGS: Duration = Duration::from_secs(30);

/// A server in a process of its own, which ends when this value is dropped.
pub struct RunningServer {
    child: Child,
    lines: Receiver<String>,
    log: String,
}

impl RunningServer {
    pub fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (send, lines) = channel();
        let outputs: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for output in outputs {
            let send = send.clone();
            thread::spawn(move || {
                // A receiver that is gone ends the thread.
                BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
            });
        }
        Self { child, lines, log: String::new() }
    }

    /// Waits until the server has printed a text.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        while !self.log.contains(text) {
            match self.lines.recv_timeout(HANGS) {
                Ok(line) => self.log.extend([&line, "\n"]),
                Err(error) => panic!("{text:?} is not printed ({error}): {}", self.log),
            }
        }
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // nginx and sshd end their children only at a signal that they can handle.
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

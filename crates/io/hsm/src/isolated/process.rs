//! The process of a device, and the thread that reads its lines and starts it again.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tracing::warn;

use super::{IsolatedDevice, SOCKET, ToDevice};
use crate::{HsmError, HsmSettings};

/// The name of the program that has the command.
const PROGRAM: &str = "oarlock";

/// The hidden command.
const COMMAND: &str = "hsm-process";

/// The minimum and the maximum time before a process is started again. It doubles while processes end early.
const MIN_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The time after which a process has not ended early.
const LIVED: Duration = Duration::from_secs(60);

/// A running process.
pub(super) struct DeviceProcess {
    child: Child,
    /// `None` once the process has to end.
    stdin: Option<ChildStdin>,
}

impl DeviceProcess {
    fn start(device: &IsolatedDevice) -> Result<(Self, ChildStdout), HsmError> {
        let failed = |error: std::io::Error| HsmError::NoProcess {
            reason: format!("{}: {error}", device.program.display()),
        };
        // What the module prints belongs to nobody's output.
        let stderr = std::io::stderr().as_fd().try_clone_to_owned().map_err(failed)?;
        let mut child = Command::new(&device.program)
            .arg(COMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            // The sockets that a service manager has passed are not the child's.
            .env_remove("LISTEN_FDS")
            .env_remove("LISTEN_PID")
            .env_remove("NOTIFY_SOCKET")
            .spawn()
            .map_err(failed)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let mut process = Self { child, stdin };
        process.tell(&ToDevice::Open {
            settings: HsmSettings { isolate: false, ..device.settings.clone() },
            socket: device.directory.join(SOCKET),
            keys: device.lock().keys.clone(),
        });
        // unreachable because stdout was asked for
        let stdout = stdout.ok_or_else(|| HsmError::NoProcess { reason: "no stdout".to_owned() })?;
        Ok((process, stdout))
    }

    /// Sends a line. If the process has ended, the reader of its lines learns it.
    pub(super) fn tell(&mut self, line: &ToDevice) {
        let Some(stdin) = &mut self.stdin else { return };
        let Ok(mut text) = serde_json::to_vec(line) else { return };
        text.push(b'\n');
        // The pipe takes 64 KiB, and the process reads at once.
        let _ = stdin.write_all(&text);
    }

    /// Makes the process end.
    pub(super) fn close(&mut self) {
        self.stdin = None;
    }

    pub(super) fn kill(&mut self) {
        // An error means that it has ended.
        let _ = self.child.kill();
    }
}

impl IsolatedDevice {
    /// Starts the process, reads its lines, and starts it again when it ends, until the device is closed.
    pub(super) fn supervise(self: Arc<Self>) {
        let mut pause = MIN_PAUSE;
        while !self.lock().is_closed {
            let began = Instant::now();
            let fault = match DeviceProcess::start(&self) {
                Err(error) => error,
                Ok((process, stdout)) => self.run(process, stdout),
            };
            self.fail(fault);
            pause = if began.elapsed() > LIVED { MIN_PAUSE } else { (2 * pause).min(MAX_PAUSE) };
            let state = self.lock();
            drop(
                self.changed
                    .wait_timeout_while(state, pause, |state| !state.is_closed)
                    .unwrap_or_else(PoisonError::into_inner),
            );
        }
        self.lock().has_ended = true;
        self.changed.notify_all();
    }

    /// Reads the lines of a process until it ends. Returns how it ended.
    fn run(self: &Arc<Self>, mut process: DeviceProcess, stdout: ChildStdout) -> HsmError {
        {
            let mut state = self.lock();
            state.questions.keys().for_each(|uri| process.tell(&ToDevice::Key { uri: uri.clone() }));
            if state.is_closed {
                process.close();
            }
            state.process = Some(process);
        }
        for line in BufReader::new(stdout).lines() {
            let line = line.ok().and_then(|line| serde_json::from_str(&line).ok());
            // Something else has written there, or it is another program.
            let Some(line) = line else { break };
            if !self.take(line) {
                break;
            }
        }
        let process = self.lock().process.take();
        let Some(mut process) = process else { return HsmError::Closed };
        process.kill();
        let how = process.child.wait().map_or_else(|error| error.to_string(), describe);
        let failure = self.lock().fault.take();
        failure.unwrap_or(HsmError::ProcessEnded { how })
    }

    /// Notes that there is no process, and fails the questions.
    fn fail(&self, fault: HsmError) {
        if !self.lock().is_closed {
            warn!(device = self.name, reason = %fault, "the process of the device is started again");
        }
        let (waiting, early): (Vec<_>, Vec<_>) = {
            let mut state = self.lock();
            state.is_ready = false;
            state.past = std::mem::take(&mut state.report).with_past(&state.past);
            state.past.restarts += 1;
            state.fault = Some(fault.clone());
            let waiting = state.questions.drain().flat_map(|(_, waiting)| waiting).collect();
            (waiting, std::mem::take(&mut state.early))
        };
        early.iter().for_each(|(jobs, done)| self.fail_all(&fault, jobs.len(), done));
        waiting.into_iter().for_each(|answer| answer(Err(fault.clone())));
    }
}

fn describe(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("signal {signal}"),
        None => status.to_string(),
    }
}

/// Returns the program of the process.
pub(super) fn program_of(settings: &HsmSettings) -> Result<PathBuf, HsmError> {
    if let Some(program) = &settings.program {
        return Ok(program.clone());
    }
    let failed = |reason: String| HsmError::NoProcess { reason };
    // The kernel's link, so that an update of the file under a running service does not matter.
    let this = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    match this.file_stem() {
        Some(name) if name == PROGRAM => Ok(this),
        _ => Err(failed(format!(
            "this program is {}: set `program` to the path of `{PROGRAM}`, or `isolate = false`",
            this.display()
        ))),
    }
}

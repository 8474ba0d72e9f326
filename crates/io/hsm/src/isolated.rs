//! A device whose module runs in a process of its own: a private cryptoserver.
//!
//! The process is `oarlock hsm-process`. It gets its settings and questions in lines of JSON on its stdin, and gives
//! answers and its state in lines on its stdout ([`ToDevice`], [`FromDevice`]). Jobs go over its UNIX socket by the
//! protocol of every cryptoserver, with a ring of shared memory. When its stdin ends, it ends.

mod process;
mod records;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oarlock::engine_api::{Completion, CompletionSink, Holder, OwnedJobs};
use oarlock::{Accelerator, JobError, KeyHome};
use oarlock_wire::{AnswerCheck, Endpoint, RemoteConfig, RemoteHolder, ServerUsers};
use serde::{Deserialize, Serialize};
use tracing::{info, warn};

use self::process::{DeviceProcess, program_of};
use crate::report::{HsmReport, HsmState};
use crate::{HsmError, HsmKey, HsmKeyDescription, HsmSettings, Pkcs11Uri};

/// A line to the process of a device.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToDevice {
    /// The first line: what it serves, and where.
    Open {
        /// The settings of the device.
        settings: HsmSettings,
        /// The path of the socket, which does not exist yet, in a directory that is the process's to remove.
        socket: PathBuf,
        /// The URIs of keys that it serves from the start.
        keys: BTreeSet<String>,
    },
    /// Asks for a key, which the process serves from then on by its URI if the device has it.
    Key {
        /// The URI of the key.
        uri: String,
    },
}

/// A line from the process of a device.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromDevice {
    /// It serves.
    Ready,
    /// It cannot serve, and ends.
    Failed {
        /// The reason, for people.
        reason: String,
    },
    /// The state and the statistics, a few times a second if they have changed.
    Report(HsmReport),
    /// The answer to [`ToDevice::Key`].
    Key {
        /// The URI of the question.
        uri: String,
        /// The description, or the reason why there is none.
        answer: Result<HsmKeyDescription, DeviceFault>,
    },
}

/// An error in the process of a device.
#[derive(Debug, Serialize, Deserialize)]
pub struct DeviceFault {
    reason: String,
    is_refusal: bool,
}

impl From<&HsmError> for DeviceFault {
    fn from(error: &HsmError) -> Self {
        Self { reason: error.to_string(), is_refusal: error.is_refusal() }
    }
}

impl From<DeviceFault> for HsmError {
    fn from(DeviceFault { reason, is_refusal }: DeviceFault) -> Self {
        Self::Device { reason, is_refusal }
    }
}

type KeyAnswer = Box<dyn FnOnce(Result<HsmKey, HsmError>) + Send>;

/// A device in a process of its own. The process ends with the last handle, or with this process.
pub(crate) struct IsolatedHsm(Arc<IsolatedDevice>);

/// The part of a device that its handles and its thread share.
struct IsolatedDevice {
    name: String,
    settings: HsmSettings,
    program: PathBuf,
    /// The directory of the socket, which no other user can enter.
    directory: PathBuf,
    remote: RemoteHolder,
    state: Mutex<IsolatedState>,
    /// Wakes the thread and who waits for its end.
    changed: Condvar,
}

#[derive(Default)]
struct IsolatedState {
    /// The process, while there is one.
    process: Option<DeviceProcess>,
    /// True if the process serves.
    is_ready: bool,
    /// The reason why it does not, once an attempt has failed.
    fault: Option<HsmError>,
    /// The report of the process.
    report: HsmReport,
    /// The counts of the processes that have ended.
    past: HsmReport,
    /// The URIs of the keys that the device has described. A new process serves them from the start.
    keys: BTreeSet<String>,
    /// The batches that came before the first process served.
    early: Vec<(OwnedJobs, Completion)>,
    /// The questions for keys by URI.
    questions: HashMap<String, Vec<KeyAnswer>>,
    is_closed: bool,
    /// True once the thread has left.
    has_ended: bool,
}

/// The time beyond the patience of the device after which a job is given up: the process answers before.
const EXTRA_PATIENCE: Duration = Duration::from_secs(1);

/// The maximum time for which a device that is closed waits for its process.
const MAX_CLOSE_WAIT: Duration = Duration::from_secs(3);

/// The maximum length of a URI: that of a key's name at a cryptoserver.
const MAX_NAME_LEN: usize = 256;

impl IsolatedHsm {
    pub(crate) fn open(name: &str, settings: HsmSettings, checker: &Accelerator) -> Result<Self, HsmError> {
        let program = program_of(&settings)?;
        let directory = private_directory()?;
        let no_process = |reason: &dyn ToString| HsmError::NoProcess { reason: reason.to_string() };
        let users = ServerUsers::only(rustix::process::geteuid().as_raw());
        let endpoint = Endpoint::Unix { path: directory.join(SOCKET), users };
        let config = RemoteConfig {
            patience: settings.patience() + EXTRA_PATIENCE,
            // The process verifies every signature. But its memory is the module's too, and a faulty RSA signature
            // reveals the key.
            check: AnswerCheck::Rsa,
            ..RemoteConfig::new(name, vec![endpoint])
        };
        let remote = RemoteHolder::new(config, checker.clone()).map_err(|error| no_process(&error))?;
        let device = Arc::new(IsolatedDevice {
            name: name.to_owned(),
            settings,
            program,
            directory,
            remote,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let watched = Arc::clone(&device);
        std::thread::Builder::new()
            .name(format!("hsm-{name}"))
            .spawn(move || watched.supervise())
            .map_err(|error| HsmError::NoThread { reason: error.to_string() })?;
        Ok(Self(device))
    }

    pub(crate) fn look_up(&self, uri: &Pkcs11Uri, answer: KeyAnswer) {
        self.0.look_up(uri, answer);
    }

    pub(crate) fn start(&self, jobs: OwnedJobs, done: Completion) {
        let mut state = self.0.lock();
        let fault = match state.refusal() {
            None if state.is_ready => None,
            // The first process starts: it takes less time than the patience of most callers.
            None if state.early.len() < MAX_EARLY => return state.early.push((jobs, done)),
            None => Some(HsmError::Quarantined { reason: STARTING.to_owned() }),
            fault => fault,
        };
        drop(state);
        match fault {
            Some(fault) => self.0.fail_all(&fault, jobs.len(), &done),
            None => self.0.start_known(&jobs, &done),
        }
    }

    pub(crate) fn is_available(&self) -> bool {
        let state = self.0.lock();
        state.is_ready && !matches!(state.report.state, HsmState::Quarantined { .. })
    }

    pub(crate) fn report(&self) -> HsmReport {
        let state = self.0.lock();
        let now = match &state.fault {
            Some(fault) => HsmState::Quarantined { reason: fault.to_string() },
            None if state.is_ready => state.report.state.clone(),
            None => HsmState::Connecting,
        };
        HsmReport { state: now, ..state.report.clone() }.with_past(&state.past)
    }
}

/// The maximum number of batches that wait for the first process.
const MAX_EARLY: usize = 4096;

/// The reason why a job fails before the process serves.
const STARTING: &str = "its process starts";

/// The name of the socket in its directory.
const SOCKET: &str = "socket";

impl IsolatedState {
    /// Returns the reason why the device takes no question now.
    fn refusal(&self) -> Option<HsmError> {
        match (self.is_closed, &self.fault) {
            (true, _) => Some(HsmError::Closed),
            (false, fault) => fault.clone(),
        }
    }
}

/// Some jobs of a batch, by their indices in it.
struct SomeJobs {
    /// The name of the device.
    name: String,
    indices: Vec<usize>,
    done: Completion,
}

impl CompletionSink for SomeJobs {
    fn done(&self, index: usize, result: Result<Vec<u8>, JobError>) {
        let result = result.map_err(|error| device_error(&self.name, error));
        // False means that the caller has given up.
        let _ = self.done.complete(self.indices[index], result);
    }

    /// The batch reports it, when its last handle is dropped.
    fn dropped(&self, _: usize) {}
}

/// Returns an error of the private server of a device as one of the device: the server is nothing that a user knows.
fn device_error(device: &str, error: JobError) -> JobError {
    let strip = |reason: String, verb: &str| {
        let inner = format!("holder {device} {verb}: ");
        reason.strip_prefix(&inner).map_or_else(|| reason.clone(), str::to_owned)
    };
    let holder = device.to_owned();
    match error {
        JobError::HolderFailed { reason, .. } => {
            JobError::HolderFailed { holder, reason: strip(reason, "failed") }
        }
        JobError::HolderRefused { reason, .. } => {
            JobError::HolderRefused { holder, reason: strip(reason, "refused") }
        }
        error => error,
    }
}

impl IsolatedDevice {
    fn look_up(&self, uri: &Pkcs11Uri, answer: KeyAnswer) {
        let name = uri.key_name().to_string();
        if name.len() > MAX_NAME_LEN {
            return answer(Err(HsmError::KeyName { found: uri.to_string() }));
        }
        let mut state = self.lock();
        if let Some(fault) = state.refusal() {
            drop(state);
            return answer(Err(fault));
        }
        let waiting = state.questions.entry(name.clone()).or_default();
        waiting.push(answer);
        let is_first = waiting.len() == 1;
        if let Some(process) = state.process.as_mut().filter(|_| is_first) {
            // If the process has ended, its end fails the question.
            process.tell(&ToDevice::Key { uri: name });
        }
    }

    /// Starts jobs at a process that serves, and asks it before for the keys that it has not described: another device
    /// may have described them.
    fn start_known(self: &Arc<Self>, jobs: &OwnedJobs, done: &Completion) {
        let mut unknown: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        let mut known = Vec::with_capacity(jobs.len());
        {
            let state = self.lock();
            for (index, job) in jobs.iter().enumerate() {
                match job.key.home() {
                    KeyHome::Held { reference, .. } if !state.keys.contains(&**reference) => {
                        unknown.entry(Arc::clone(reference)).or_default().push(index);
                    }
                    _ => known.push(index),
                }
            }
        }
        if !known.is_empty() {
            self.start_some(jobs, known, done);
        }
        for (name, indices) in unknown {
            let (device, jobs, done) = (Arc::clone(self), jobs.clone(), done.clone());
            let answer = move |found: Result<HsmKey, HsmError>| match found {
                Ok(_) => device.start_some(&jobs, indices, &done),
                Err(fault) => {
                    let count = indices.len();
                    let name = device.name.clone();
                    let some = Completion::new(count, Box::new(SomeJobs { name, indices, done }));
                    device.fail_all(&fault, count, &some);
                }
            };
            match name.parse::<Pkcs11Uri>() {
                Ok(uri) => self.look_up(&uri, Box::new(answer)),
                // unreachable because references are written by this crate
                Err(_) => answer(Err(HsmError::KeyName { found: name.to_string() })),
            }
        }
    }

    fn start_some(&self, jobs: &OwnedJobs, indices: Vec<usize>, done: &Completion) {
        let some = match indices.len() == jobs.len() {
            true => jobs.clone(),
            false => OwnedJobs::new(indices.iter().map(|index| jobs[*index].clone()).collect()),
        };
        let sink = SomeJobs { name: self.name.clone(), indices, done: done.clone() };
        self.remote.start(some.clone(), Completion::new(some.len(), Box::new(sink)));
    }

    fn fail_all(&self, fault: &HsmError, jobs: usize, done: &Completion) {
        for index in 0..jobs {
            // False means that the caller has given up.
            let _ = done.complete(index, Err(fault.clone().into_job_error(&self.name)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, IsolatedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a line of the process. Returns false if the process has to be ended.
    fn take(self: &Arc<Self>, line: FromDevice) -> bool {
        match line {
            FromDevice::Ready => {
                let early = {
                    let mut state = self.lock();
                    (state.is_ready, state.fault) = (true, None);
                    std::mem::take(&mut state.early)
                };
                early.iter().for_each(|(jobs, done)| self.start_known(jobs, done));
                true
            }
            FromDevice::Failed { reason } => {
                self.lock().fault = Some(HsmError::Device { reason, is_refusal: false });
                false
            }
            FromDevice::Report(report) => {
                // Only a new process frees threads that hang in the module.
                let is_stuck = report.hanging > 2 * self.settings.sessions;
                let before = std::mem::replace(&mut self.lock().report, report.clone());
                if before.state != report.state {
                    match report.state {
                        HsmState::Connecting => {}
                        HsmState::Ready => info!(device = self.name, "connected to the device"),
                        HsmState::Quarantined { reason } => {
                            warn!(device = self.name, reason, "the device is in quarantine");
                        }
                    }
                }
                !is_stuck
            }
            FromDevice::Key { uri, answer } => {
                let key = answer.map_err(HsmError::from).and_then(|about| about.into_key(&uri));
                let mut state = self.lock();
                let waiting = state.questions.remove(&uri).unwrap_or_default();
                if key.is_ok() {
                    state.keys.insert(uri);
                }
                drop(state);
                waiting.into_iter().for_each(|answer| answer(key.clone()));
                true
            }
        }
    }
}

impl Drop for IsolatedHsm {
    fn drop(&mut self) {
        self.close();
    }
}

impl IsolatedHsm {
    /// Ends the process, and waits for its end for three seconds at most. A second call does nothing.
    pub(crate) fn close(&self) {
        let mut state = self.0.lock();
        if std::mem::replace(&mut state.is_closed, true) {
            return;
        }
        // Its stdin ends with this.
        if let Some(process) = &mut state.process {
            process.close();
        }
        self.0.changed.notify_all();
        let is_running = |state: &mut IsolatedState| !state.has_ended;
        let waited = self.0.changed.wait_timeout_while(state, MAX_CLOSE_WAIT, is_running);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if let Some(process) = &mut state.process {
            process.kill();
        }
        drop(state);
        // It is gone if the process has ended by itself.
        let _ = fs::remove_dir_all(&self.0.directory);
    }
}

/// Makes a directory for a socket, which only this user can enter.
fn private_directory() -> Result<PathBuf, HsmError> {
    let base = std::env::temp_dir();
    let mut last = None;
    for _ in 0..16 {
        let mut number = [0; 8];
        if aws_lc_rs::rand::fill(&mut number).is_err() {
            continue;
        }
        let path = base.join(format!("oarlock-hsm-{:016x}", u64::from_le_bytes(number)));
        // Not recursive, so that a directory that somebody else has made is an error.
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) => last = Some(error),
        }
    }
    let reason = last.map_or_else(|| "no random bytes".to_owned(), |error| error.to_string());
    Err(HsmError::NoProcess { reason: format!("{}: {reason}", base.display()) })
}

//! Results that are computed twice, and devices that give wrong ones. The cryptoserver paper has clients verify the
//! results of one server with those of another; here a service does so with devices.
//!
//! A signature is verified, and a decryption by raw RSA is encrypted again. The result of an agreement or of a
//! decapsulation proves nothing by itself: a share of them is computed once more, by the same key in this process or in
//! another device. A device that differs gets a job whose answer is known. If it fails that too, it gets no more jobs
//! until it has passed such a test.

use std::sync::{Arc, Mutex, PoisonError};

use oarlock::engine_api::{Completion, CompletionSink, OwnedJob, OwnedJobs};
use oarlock::keys::{export, generate, import};
use oarlock::{Accelerator, Job, JobError, KeyHome, Scheme};
use subtle::ConstantTimeEq;
use tracing::error;
use zeroize::Zeroizing;

use super::SetDevices;
use crate::settings::HSM_HOLDER;

/// A job that is computed twice.
pub(super) struct CheckedJob {
    pub(super) set: Arc<SetDevices>,
    pub(super) job: OwnedJob,
    /// The index in the batch of the caller.
    pub(super) at: usize,
    pub(super) done: Completion,
}

/// A result and the device that gave it.
struct DeviceResult {
    device: usize,
    result: Zeroizing<Vec<u8>>,
}

/// A job whose answer is known.
pub(super) struct KnownAnswer {
    job: OwnedJob,
    answer: Zeroizing<Vec<u8>>,
}

/// True for a scheme whose result is the same every time, and which the public half cannot verify.
pub(super) fn is_comparable(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::Ecdh { .. } | Scheme::X25519 | Scheme::MlKemDecaps { .. })
}

impl CheckedJob {
    /// Compares a result before it is released.
    pub(super) fn compare(self, device: usize, result: Vec<u8>) {
        let result = Zeroizing::new(result);
        if let Some(twin) = self.set.twin(&self.job.key) {
            let asked = self.job.as_job();
            let again = Job::with_scheme(asked.scheme, &twin, asked.input, asked.second);
            let again = self.set.checker.run_all(&[again]).get(0).map(|again| Zeroizing::new(again.to_vec()));
            return match again {
                Ok(again) if is_equal(&again, &result) => self.release(&result),
                Ok(again) => {
                    self.set.differs(device);
                    self.set.distrust(device, &self.job);
                    self.release(&again);
                }
                // The key in this process cannot tell.
                Err(_) => self.release(&result),
            };
        }
        let Some(other) = reference(&self.job).and_then(|name| self.set.next(name, &[device])) else {
            return self.release(&result);
        };
        let job = self.job.clone();
        let (first, set) = (DeviceResult { device, result }, Arc::clone(&self.set));
        let sink = ComparisonSink { second: other, state: Mutex::new(Some((self, first))) };
        set.start_one(other, job, Box::new(sink));
    }

    fn release(&self, result: &[u8]) {
        // False means that the caller has given up.
        let _ = self.done.complete(self.at, Ok(result.to_vec()));
    }

    fn fail(&self, reason: &str) {
        let (holder, reason) = (HSM_HOLDER.to_owned(), reason.to_owned());
        let _ = self.done.complete(self.at, Err(JobError::HolderFailed { holder, reason }));
    }

    /// Finds which of two devices is wrong, by a job with a known answer for each.
    fn arbitrate(self, results: [DeviceResult; 2]) {
        results.iter().for_each(|result| self.set.differs(result.device));
        let devices = [results[0].device, results[1].device];
        let (set, job) = (Arc::clone(&self.set), self.job.clone());
        let case = Arc::new(Arbitration { job: self, results, verdicts: Mutex::default() });
        for (index, device) in devices.into_iter().enumerate() {
            let case = Arc::clone(&case);
            set.test(device, &job, move |is_right| case.take(index, is_right));
        }
    }
}

/// Waits for the result of the second device.
struct ComparisonSink {
    second: usize,
    state: Mutex<Option<(CheckedJob, DeviceResult)>>,
}

impl CompletionSink for ComparisonSink {
    fn done(&self, _: usize, result: Result<Vec<u8>, JobError>) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((job, first)) = state else { return };
        job.set.end_one(self.second);
        match result {
            Ok(result) if is_equal(&result, &first.result) => job.release(&first.result),
            Ok(result) => {
                let second = DeviceResult { device: self.second, result: Zeroizing::new(result) };
                job.arbitrate([first, second]);
            }
            // The other device is unavailable or has no such key, and cannot tell.
            Err(_) => job.release(&first.result),
        }
    }

    fn dropped(&self, index: usize) {
        let reason = "the device was closed".to_owned();
        self.done(index, Err(JobError::HolderFailed { holder: String::new(), reason }));
    }
}

/// Two devices with different results.
struct Arbitration {
    job: CheckedJob,
    results: [DeviceResult; 2],
    /// For each device whether it gave a known answer.
    verdicts: Mutex<[Option<bool>; 2]>,
}

impl Arbitration {
    fn take(&self, index: usize, is_right: bool) {
        let verdicts = {
            let mut verdicts = self.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
            verdicts[index] = Some(is_right);
            *verdicts
        };
        let [Some(first), Some(second)] = verdicts else { return };
        let set = &self.job.set;
        match (first, second) {
            (true, false) => {
                set.distrust(self.results[1].device, &self.job.job);
                self.job.release(&self.results[0].result);
            }
            (false, true) => {
                set.distrust(self.results[0].device, &self.job.job);
                self.job.release(&self.results[1].result);
            }
            // Both know the answer to the test, or none: nothing tells which result is right.
            _ => {
                self.results.iter().for_each(|result| set.distrust(result.device, &self.job.job));
                self.job.fail("two devices gave different results");
            }
        }
    }
}

impl KnownAnswer {
    /// Makes a job of the scheme and under the key of `like`, with the answer by the public half alone.
    pub(super) fn like(like: &OwnedJob, checker: &Accelerator) -> Result<Self, JobError> {
        let unknown = |_| JobError::Malformed { what: "the key has no public half" };
        let public = import::spki_der(&export::spki_der(&like.key).map_err(unknown)?).map_err(unknown)?;
        let run = |job: Job<'_>| checker.run_all(&[job]).get(0).map(<[u8]>::to_vec);
        let (input, answer) = match like.scheme {
            Scheme::MlKemDecaps { .. } => {
                let mut ciphertext = run(Job::encapsulate(&public))?;
                let answer = ciphertext.split_off(ciphertext.len().saturating_sub(SHARED_SECRET_LEN));
                (ciphertext, answer)
            }
            Scheme::Ecdh { curve } => {
                let ephemeral = generate::ec(curve).map_err(unknown)?;
                let (_, peer) = public.ec_public().ok_or(JobError::Malformed { what: "no public point" })?;
                let (_, point) =
                    ephemeral.ec_public().ok_or(JobError::Malformed { what: "no public point" })?;
                (point.to_vec(), run(Job::agree(&ephemeral, peer))?)
            }
            _ => {
                let ephemeral = generate::x25519().map_err(unknown)?;
                let peer = public.x25519_public().ok_or(JobError::Malformed { what: "no public point" })?;
                let point =
                    ephemeral.x25519_public().ok_or(JobError::Malformed { what: "no public point" })?;
                (point.to_vec(), run(Job::agree(&ephemeral, peer))?)
            }
        };
        let job = Job::with_scheme(like.scheme, &like.key, oarlock::Input::Message(&input), &[]);
        Ok(Self { job: job.into(), answer: Zeroizing::new(answer) })
    }
}

/// Bytes of the shared secret of ML-KEM. FIPS 203 section 8.
const SHARED_SECRET_LEN: usize = 32;

impl SetDevices {
    /// Gives a device a job with a known answer. `verdict` gets false for a wrong answer or none. A job that cannot be
    /// made proves nothing.
    pub(super) fn test(
        self: &Arc<Self>,
        device: usize,
        like: &OwnedJob,
        verdict: impl FnOnce(bool) + Send + 'static,
    ) {
        let Ok(known) = KnownAnswer::like(like, &self.checker) else { return verdict(true) };
        let sink = TestSink {
            set: Arc::clone(self),
            device,
            state: Mutex::new(Some((known.answer, Box::new(verdict)))),
        };
        self.start_one(device, known.job, Box::new(sink));
    }

    /// Notes that a result of a device differs from that of another computer of its key.
    fn differs(&self, device: usize) {
        let device = &self.devices[device];
        device.note_difference();
        error!(device = device.name, "a result differs from that of another computer of the same key");
    }

    /// Gives a device no more jobs until it has passed a test like `job`.
    fn distrust(&self, device: usize, job: &OwnedJob) {
        let device = &self.devices[device];
        device.distrust(job.clone());
        error!(
            device = device.name,
            "the device gives wrong results: it gets no jobs until it has passed a test"
        );
    }

    /// Starts one job beside those of callers.
    fn start_one(&self, device: usize, job: OwnedJob, sink: Box<dyn CompletionSink>) {
        let device = &self.devices[device];
        device.reserve();
        device.start(OwnedJobs::new(vec![job]), Completion::new(1, sink));
    }

    fn end_one(&self, device: usize) {
        self.devices[device].unanswered();
    }
}

type Verdict = Box<dyn FnOnce(bool) + Send>;

/// Waits for the answer to a test.
struct TestSink {
    set: Arc<SetDevices>,
    device: usize,
    state: Mutex<Option<(Zeroizing<Vec<u8>>, Verdict)>>,
}

impl CompletionSink for TestSink {
    fn done(&self, _: usize, result: Result<Vec<u8>, JobError>) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((answer, verdict)) = state else { return };
        self.set.end_one(self.device);
        verdict(result.is_ok_and(|result| is_equal(&result, &answer)));
    }

    fn dropped(&self, index: usize) {
        let reason = "the device was closed".to_owned();
        self.done(index, Err(JobError::HolderFailed { holder: String::new(), reason }));
    }
}

fn is_equal(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

pub(super) fn reference(job: &OwnedJob) -> Option<&Arc<str>> {
    match job.key.home() {
        KeyHome::Held { reference, .. } => Some(reference),
        KeyHome::Local => None,
    }
}

//! A device of a set: in this process or in one of its own, with its measured time.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oarlock::Accelerator;
use oarlock::engine_api::{Completion, Holder, OwnedJob, OwnedJobs};
use serde::Serialize;

use crate::isolated::IsolatedHsm;
use crate::record::{HeldRecord, HeldResult, RecordFault, copied_at_once};
use crate::report::HsmReport;
use crate::settings::HSM_HOLDER;
use crate::{Hsm, HsmError, HsmKey, HsmSettings, Pkcs11Uri};

/// A device of a set.
pub(super) struct SetDevice {
    pub(super) name: String,
    pub(super) settings: HsmSettings,
    runs: DeviceRuns,
    /// The number of jobs without an answer.
    waiting: AtomicU64,
    /// The measured time of a job in nanoseconds; 0 for none.
    job_ns: AtomicU64,
    /// The number of results that may be computed again.
    comparable: AtomicU64,
    /// The number of results that another computer of the key did not confirm.
    differences: AtomicU64,
    distrust: Mutex<Option<Distrust>>,
    /// The keys that it has refused, and when. Other devices are asked first for a while.
    refused: Mutex<HashMap<Arc<str>, Instant>>,
}

/// The process in which the module runs.
enum DeviceRuns {
    Here(Hsm),
    Isolated(IsolatedHsm),
}

/// The suspicion against a device that has given a wrong result.
struct Distrust {
    /// The job that it computed wrongly. A test is like it.
    like: OwnedJob,
    /// The time of the next test; `None` while one runs.
    test_at: Option<Instant>,
    /// The time between two tests. It doubles.
    pause: Duration,
}

/// The minimum and the maximum time before a device that gave a wrong result is tested.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(300);

/// The state and the statistics of a device of a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DeviceReport {
    /// The name: that of the settings, or the label or the slot of the token.
    pub name: String,
    /// The path of the module.
    pub module: PathBuf,
    /// True if the module runs in a process of its own.
    pub is_isolated: bool,
    /// The number of jobs without an answer.
    pub waiting: u64,
    /// The measured time of a job in nanoseconds, beside the jobs that were computed with it; `None` before the first.
    pub job_ns: Option<u64>,
    /// The number of results that another computer of the same key did not confirm.
    pub differences: u64,
    /// True if it gets no jobs because of that, until it has passed a test.
    pub is_distrusted: bool,
    /// The state and the statistics of its sessions.
    #[serde(flatten)]
    pub sessions: HsmReport,
}

/// The time for which a device that refused a key is asked last for it.
const REFUSAL_LASTS: Duration = Duration::from_secs(10);

/// The maximum number of refused keys that a device remembers.
const MAX_REFUSED: usize = 1024;

/// The maximum number of records at once before there is a measurement.
const FIRST_RECORDS: u128 = 64;

/// The share of a new measurement in the time of a job: one eighth.
const SMOOTHING: u64 = 8;

impl SetDevice {
    pub(super) fn open(settings: HsmSettings, checker: &Accelerator) -> Result<Self, HsmError> {
        let name = settings.device_name();
        let runs = match settings.isolate {
            true => DeviceRuns::Isolated(IsolatedHsm::open(&name, settings.clone(), checker)?),
            false => DeviceRuns::Here(Hsm::open(&name, settings.clone(), checker.clone())?),
        };
        Ok(Self {
            name,
            settings,
            runs,
            waiting: AtomicU64::new(0),
            job_ns: AtomicU64::new(0),
            comparable: AtomicU64::new(0),
            differences: AtomicU64::new(0),
            distrust: Mutex::default(),
            refused: Mutex::default(),
        })
    }

    pub(super) fn look_up(
        &self,
        uri: &Pkcs11Uri,
        answer: impl FnOnce(Result<HsmKey, HsmError>) + Send + 'static,
    ) {
        match &self.runs {
            DeviceRuns::Here(hsm) => hsm.look_up(uri, HSM_HOLDER, answer),
            DeviceRuns::Isolated(isolated) => isolated.look_up(uri, Box::new(answer)),
        }
    }

    /// Counts a job that will be started. Returns the number of jobs before it.
    pub(super) fn reserve(&self) -> u64 {
        self.waiting.fetch_add(1, Ordering::Relaxed)
    }

    /// Starts jobs that have been counted.
    pub(super) fn start(&self, jobs: OwnedJobs, done: Completion) {
        match &self.runs {
            DeviceRuns::Here(hsm) => hsm.start(jobs, done),
            DeviceRuns::Isolated(isolated) => isolated.start(jobs, done),
        }
    }

    /// Makes sure that the device knows a key, before records under it.
    pub(super) fn prepare_key(&self, reference: &str) -> Result<(), HsmError> {
        match &self.runs {
            DeviceRuns::Here(_) => Ok(()),
            DeviceRuns::Isolated(isolated) => isolated.prepare_key(reference),
        }
    }

    /// Computes records and waits for them. The results are in the order of the records.
    pub(super) fn run_records(&self, records: &[&HeldRecord<'_>]) -> Vec<Result<HeldResult, RecordFault>> {
        let mut results = Vec::with_capacity(records.len());
        while results.len() < records.len() {
            let rest = &records[results.len()..];
            let part = &rest[..copied_at_once(rest).min(self.records_at_once())];
            let (count, since) = (part.len() as u64, Instant::now());
            let ahead = self.waiting.fetch_add(count, Ordering::Relaxed);
            results.extend(match &self.runs {
                DeviceRuns::Here(hsm) => hsm.run_records(part),
                DeviceRuns::Isolated(isolated) => isolated.run_records(part),
            });
            self.waiting.fetch_sub(count, Ordering::Relaxed);
            self.measure(since, ahead + count);
        }
        results
    }

    /// Returns the number of records that take half of the patience: the process of a device answers all at once.
    fn records_at_once(&self) -> usize {
        let half_ns = self.settings.patience().as_nanos() / 2;
        let records = self.job_ns().map_or(FIRST_RECORDS, |job_ns| half_ns / u128::from(job_ns));
        usize::try_from(records).unwrap_or(usize::MAX).max(1)
    }

    /// Notes the answer to a job that was started at a time, with `ahead` jobs before it. A bad input is one, too.
    pub(super) fn answered(&self, since: Instant, ahead: u64) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.measure(since, ahead + 1);
    }

    /// Notes that the last of some jobs was finished.
    fn measure(&self, since: Instant, jobs: u64) {
        // The time to finish divided by the jobs that had to be finished: what one more job costs.
        let elapsed = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let new = (elapsed / jobs).max(1);
        // A measurement that another thread overwrites is one of many.
        let old = self.job_ns.load(Ordering::Relaxed);
        let next = if old == 0 { new } else { old - old / SMOOTHING + new / SMOOTHING };
        self.job_ns.store(next.max(1), Ordering::Relaxed);
    }

    /// Notes a job that the device has refused or failed, without a measurement.
    pub(super) fn unanswered(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns the number of jobs without an answer.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns the measured time of a job.
    pub(super) fn job_ns(&self) -> Option<u64> {
        Some(self.job_ns.load(Ordering::Relaxed)).filter(|ns| *ns > 0)
    }

    /// Returns the rank for one more job: last if it is not available or has refused the key, else by the time at which
    /// it will have finished it. `usual` is the time of a device that has not been measured.
    pub(super) fn rank(&self, reference: &str, usual: u64) -> (bool, u128) {
        let is_last = !self.is_available() || self.has_refused(reference);
        let job_ns = u128::from(self.job_ns().unwrap_or(usual));
        (is_last, (u128::from(self.waiting()) + 1) * job_ns)
    }

    /// Forgets a part of the measured time, because another device was chosen: a device that was slow once is asked
    /// again some time.
    pub(super) fn passed_over(&self) {
        let old = self.job_ns.load(Ordering::Relaxed);
        self.job_ns.store(old - old / 64, Ordering::Relaxed);
    }

    /// Counts a result that may be computed again. Returns true for the share of the settings, evenly spread.
    pub(super) fn is_sampled(&self) -> bool {
        let number = self.comparable.fetch_add(1, Ordering::Relaxed) as f64;
        let share = self.settings.cross_check;
        ((number + 1.0) * share).floor() > (number * share).floor()
    }

    pub(super) fn note_difference(&self) {
        self.differences.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a result was wrong. `like` is its job.
    pub(super) fn distrust(&self, like: OwnedJob) {
        let mut distrust = self.lock_distrust();
        let pause = distrust.as_ref().map_or(MIN_PAUSE, |distrust| distrust.pause);
        *distrust = Some(Distrust { like, test_at: Some(Instant::now() + pause), pause });
    }

    pub(super) fn is_trusted(&self) -> bool {
        self.lock_distrust().is_none()
    }

    /// Returns the job that the device has to be tested with now. The caller tests it and calls [`tested`](Self::tested).
    pub(super) fn due_test(&self) -> Option<OwnedJob> {
        let mut distrust = self.lock_distrust();
        let distrust = distrust.as_mut()?;
        distrust.test_at.filter(|at| *at <= Instant::now())?;
        distrust.test_at = None;
        Some(distrust.like.clone())
    }

    pub(super) fn tested(&self, is_right: bool) {
        let mut distrust = self.lock_distrust();
        match distrust.as_mut() {
            Some(distrust) if !is_right => {
                distrust.pause = (2 * distrust.pause).min(MAX_PAUSE);
                distrust.test_at = Some(Instant::now() + distrust.pause);
            }
            _ => *distrust = None,
        }
    }

    fn lock_distrust(&self) -> MutexGuard<'_, Option<Distrust>> {
        self.distrust.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn refuse(&self, reference: &Arc<str>) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() >= MAX_REFUSED {
            refused.clear();
        }
        refused.insert(Arc::clone(reference), Instant::now());
    }

    fn has_refused(&self, reference: &str) -> bool {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.get(reference).is_some_and(|since| since.elapsed() < REFUSAL_LASTS)
    }

    pub(super) fn close(&self) {
        match &self.runs {
            DeviceRuns::Here(hsm) => hsm.close(),
            DeviceRuns::Isolated(isolated) => isolated.close(),
        }
    }

    fn is_available(&self) -> bool {
        match &self.runs {
            DeviceRuns::Here(hsm) => hsm.is_available(),
            DeviceRuns::Isolated(isolated) => isolated.is_available(),
        }
    }

    pub(super) fn report(&self) -> DeviceReport {
        let sessions = match &self.runs {
            DeviceRuns::Here(hsm) => hsm.report(),
            DeviceRuns::Isolated(isolated) => isolated.report(),
        };
        DeviceReport {
            name: self.name.clone(),
            module: self.settings.module.clone(),
            is_isolated: self.settings.isolate,
            waiting: self.waiting(),
            job_ns: self.job_ns(),
            differences: self.differences.load(Ordering::Relaxed),
            is_distrusted: !self.is_trusted(),
            sessions,
        }
    }
}

//! The way of jobs and questions through the devices of a set.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use oarlock::JobError;
use oarlock::engine_api::{Completion, CompletionSink, OwnedJob, OwnedJobs};

use super::SetDevices;
use super::cross_check::{CheckedJob, is_comparable, reference};
use crate::settings::HSM_HOLDER;
use crate::{HsmError, HsmKey, Pkcs11Uri};

type KeyAnswer = Box<dyn FnOnce(Result<HsmKey, HsmError>) + Send>;

/// Jobs that one device computes, and what becomes of them if it fails.
pub(super) struct RoutedJobs {
    set: Arc<SetDevices>,
    device: usize,
    jobs: OwnedJobs,
    rows: Vec<JobRow>,
    done: Completion,
    /// The devices that have failed before, the same for all jobs.
    asked: Vec<usize>,
    /// The error of the one of them that counts most.
    fault: Option<JobError>,
    since: Instant,
}

/// A job in its batch.
#[derive(Clone, Copy)]
struct JobRow {
    /// Its index in the batch of the caller.
    at: usize,
    /// The number of jobs that the device had before it.
    ahead: u64,
}

impl RoutedJobs {
    /// Starts jobs, each at the device that will finish it first.
    pub(super) fn start_all(set: &Arc<SetDevices>, jobs: &OwnedJobs, done: &Completion) {
        let jobs = jobs.iter().cloned().enumerate().collect();
        Self::start(set, jobs, done, &[], None);
    }

    /// Starts jobs at devices that have not been asked. `fault` is the error of a job for which there is none.
    fn start(
        set: &Arc<SetDevices>,
        jobs: Vec<(usize, OwnedJob)>,
        done: &Completion,
        asked: &[usize],
        fault: Option<&JobError>,
    ) {
        let mut by_device: BTreeMap<usize, (Vec<OwnedJob>, Vec<JobRow>)> = BTreeMap::new();
        for (at, job) in jobs {
            let ranked = reference(&job).map(|name| set.ranked(name, asked)).unwrap_or_default();
            let Some((&best, others)) = ranked.split_first() else {
                // False means that the caller has given up.
                let _ = done.complete(at, Err(fault.cloned().unwrap_or_else(|| no_device(&job))));
                continue;
            };
            others.iter().for_each(|other| set.devices[*other].passed_over());
            let (jobs, rows) = by_device.entry(best).or_default();
            jobs.push(job);
            rows.push(JobRow { at, ahead: set.devices[best].reserve() });
        }
        for (device, (jobs, rows)) in by_device {
            let (jobs, asked, since) = (OwnedJobs::new(jobs), asked.to_vec(), Instant::now());
            let routed = Self {
                set: Arc::clone(set),
                device,
                jobs: jobs.clone(),
                rows,
                done: done.clone(),
                asked,
                fault: fault.cloned(),
                since,
            };
            let completion = Completion::new(jobs.len(), Box::new(routed));
            set.devices[device].start(jobs, completion);
        }
    }

    /// Gives a job to another device, or answers it with the error of this one.
    fn give_on(&self, index: usize, error: &JobError) {
        let asked: Vec<usize> = self.asked.iter().copied().chain([self.device]).collect();
        // A device that refuses has no such key, and one that failed may have it: the failure is the answer.
        let fault = match (&self.fault, error) {
            (Some(earlier), JobError::HolderRefused { .. }) => earlier,
            _ => error,
        };
        let job = (self.rows[index].at, self.jobs[index].clone());
        Self::start(&self.set, vec![job], &self.done, &asked, Some(fault));
    }
}

impl CompletionSink for RoutedJobs {
    fn done(&self, index: usize, result: Result<Vec<u8>, JobError>) {
        let device = &self.set.devices[self.device];
        match result {
            Err(error) if is_of_device(&error) => {
                device.unanswered();
                if let (JobError::HolderRefused { .. }, Some(name)) = (&error, reference(&self.jobs[index])) {
                    device.refuse(name);
                }
                self.give_on(index, &error);
            }
            result => {
                let JobRow { at, ahead } = self.rows[index];
                device.answered(self.since, ahead);
                match result {
                    Ok(result) if is_comparable(self.jobs[index].scheme) && device.is_sampled() => {
                        let (set, job) = (Arc::clone(&self.set), self.jobs[index].clone());
                        CheckedJob { set, job, at, done: self.done.clone() }.compare(self.device, result);
                    }
                    // False means that the caller has given up.
                    result => drop(self.done.complete(at, result)),
                }
            }
        }
    }

    fn dropped(&self, index: usize) {
        let reason = "the device was closed".to_owned();
        let holder = self.set.devices[self.device].name.clone();
        self.done(index, Err(JobError::HolderFailed { holder, reason }));
    }
}

/// True for an error that another device with the key may not have.
pub(super) fn is_of_device(error: &JobError) -> bool {
    matches!(
        error,
        JobError::HolderFailed { .. } | JobError::HolderRefused { .. } | JobError::Overloaded { .. }
    )
}

fn no_device(job: &OwnedJob) -> JobError {
    no_device_of(reference(job).map_or("", |name| name))
}

/// Returns the error of a key without a device.
pub(super) fn no_device_of(reference: &str) -> JobError {
    let wanted = reference.to_owned();
    let reason = HsmError::NoDevice { wanted }.to_string();
    JobError::HolderRefused { holder: HSM_HOLDER.to_owned(), reason }
}

/// Asks the devices of a key one after the other until one describes it.
pub(super) fn look_up(set: Arc<SetDevices>, uri: Pkcs11Uri, answer: KeyAnswer) {
    let devices = set.ranked(&uri.key_name().to_string(), &[]);
    let none = HsmError::NoDevice { wanted: uri.to_string() };
    ask(set, uri, devices, none, answer);
}

/// Asks the next device. If none has the key, the error is that of one that is not available, which may have it.
fn ask(set: Arc<SetDevices>, uri: Pkcs11Uri, mut devices: Vec<usize>, error: HsmError, answer: KeyAnswer) {
    if devices.is_empty() {
        return answer(Err(error));
    }
    let device = devices.remove(0);
    let (others, next) = (Arc::clone(&set), uri.clone());
    set.devices[device].look_up(&uri, move |found| match found {
        Ok(key) => answer(Ok(key)),
        Err(new) if new.is_refusal() && !error.is_refusal() => ask(others, next, devices, error, answer),
        Err(new) => ask(others, next, devices, new, answer),
    });
}

//! Jobs under threshold keys: partial signatures of several servers, combined here.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use oarlock::engine_api::{Completion, HeldJob, OwnedJobs};
use oarlock::keys::threshold::ThresholdKey;
use oarlock::threshold::{PartialSignature, SigningRequest, ThresholdError, combine_optimistic, verify};
use oarlock::{Input, JobError, Scheme};

use super::RemoteInner;
use super::server::{RemoteJob, reference};

/// Jobs of one threshold key, until each has its signature.
pub(super) struct ThresholdBatch<'i> {
    inner: &'i RemoteInner,
    key: &'i ThresholdKey,
    jobs: OwnedJobs,
    done: Completion,
    rows: Vec<ThresholdRow>,
}

struct ThresholdRow {
    /// Its place among the jobs.
    at: usize,
    /// Of PSS, the same for every server.
    salt: Vec<u8>,
    /// By the place of the server that made it. Several may be of one share: which of them is right, its proof shows.
    partials: BTreeMap<usize, PartialSignature>,
    failure: Option<String>,
    is_done: bool,
}

impl ThresholdRow {
    /// One partial signature of each share.
    fn distinct(&self) -> Vec<PartialSignature> {
        let by_share: BTreeMap<u8, &PartialSignature> =
            self.partials.values().rev().map(|partial| (partial.index(), partial)).collect();
        by_share.into_values().cloned().collect()
    }
}

impl<'i> ThresholdBatch<'i> {
    pub(super) fn new(
        inner: &'i RemoteInner,
        key: &'i ThresholdKey,
        jobs: OwnedJobs,
        places: &[usize],
        done: Completion,
    ) -> Self {
        let row = |at: &usize| {
            let salt = salt(jobs[*at].scheme);
            let failure = salt.as_ref().err().cloned();
            let salt = salt.unwrap_or_default();
            ThresholdRow { at: *at, salt, partials: BTreeMap::new(), failure, is_done: false }
        };
        let rows = places.iter().map(row).collect();
        Self { inner, key, jobs, done, rows }
    }

    /// Asks as many servers as must sign together, and others for those that fail.
    pub(super) async fn run(mut self) {
        let mut asked = Vec::new();
        while let Some(missing) = self.missing() {
            let mut places = self.inner.by_turn(&asked, self.rows.len());
            if places.is_empty() {
                break;
            }
            places.truncate(missing);
            asked.extend_from_slice(&places);
            self.ask(&places).await;
            self.combine();
        }
        self.give_up();
    }

    /// How many more partial signatures some job needs.
    fn missing(&self) -> Option<usize> {
        let needed = usize::from(self.key.threshold());
        let open = self.rows.iter().filter(|row| !row.is_done);
        open.map(|row| needed.saturating_sub(row.distinct().len()).max(1)).max()
    }

    async fn ask(&mut self, places: &[usize]) {
        let open: Vec<usize> = (0..self.rows.len()).filter(|at| !self.rows[*at].is_done).collect();
        let jobs: Vec<RemoteJob<'_>> =
            open.iter().map(|at| &self.rows[*at]).map(|row| (&self.jobs[row.at], &*row.salt)).collect();
        let patience = self.inner.config.patience;
        let answered =
            join_all(places.iter().map(|place| self.inner.servers[*place].ask(&jobs, patience))).await;
        for (place, answers) in places.iter().zip(answered) {
            let server = &self.inner.servers[*place];
            match answers {
                Err(error) => {
                    let reason = format!("{}: {error}", server.place());
                    open.iter().for_each(|at| self.rows[*at].failure = Some(reason.clone()));
                }
                Ok(answers) => {
                    for (at, answer) in open.iter().zip(answers) {
                        self.take(*at, *place, answer);
                    }
                }
            }
        }
    }

    /// Takes a partial signature. Which share made it is what the server has said when the key was opened. Servers that say the same
    /// are all heard: else one that names another's share and answers first would shut the other out.
    fn take(&mut self, at: usize, place: usize, answer: Result<Vec<u8>, JobError>) {
        let server = &self.inner.servers[place];
        let row = &mut self.rows[at];
        let index = reference(&self.jobs[row.at]).map_or(0, |name| server.share(name));
        let partial = answer.map_err(|error| error.to_string()).and_then(|bytes| {
            PartialSignature::from_bytes(self.key, index, &bytes).map_err(|error| error.to_string())
        });
        match partial {
            Err(reason) => row.failure = Some(format!("{}: {reason}", server.place())),
            Ok(own) => {
                if row.partials.values().any(|partial| partial.index() == own.index()) {
                    row.failure = Some(format!("{}: another server has share {index} too", server.place()));
                }
                row.partials.insert(place, own);
            }
        }
    }

    /// Makes signatures where there are enough partial ones. A server whose proof does not hold is not asked for a while.
    fn combine(&mut self) {
        let needed = usize::from(self.key.threshold());
        for at in 0..self.rows.len() {
            if self.rows[at].is_done {
                continue;
            }
            self.settle_rivals(at);
            let row = &self.rows[at];
            let partials = row.distinct();
            if partials.len() < needed {
                continue;
            }
            let request = request(&self.jobs[row.at], &row.salt);
            match combine_optimistic(&self.inner.checker, self.key, &request, &partials) {
                Ok(combined) => {
                    self.blame(at, &combined.culprits);
                    let row = &mut self.rows[at];
                    row.is_done = true;
                    // False where the dispatcher has given the job up meanwhile.
                    let _ = self.done.complete(row.at, Ok(combined.signature));
                }
                Err(ThresholdError::BadPartials { indices }) => self.blame(at, &indices),
                Err(error) => {
                    let row = &mut self.rows[at];
                    row.is_done = true;
                    let _ = self.done.complete(row.at, Err(failed(&self.inner.config.name, &error)));
                }
            }
        }
    }

    /// Looks at the proofs of partial signatures that claim the same share, and drops those that are wrong.
    fn settle_rivals(&mut self, at: usize) {
        let row = &self.rows[at];
        let request = request(&self.jobs[row.at], &row.salt);
        let is_rival = |own: &PartialSignature| {
            row.partials.values().filter(|other| other.index() == own.index()).count() > 1
        };
        let is_wrong = |own: &PartialSignature| {
            let proof = verify(&self.inner.checker, self.key, &request, std::slice::from_ref(own));
            matches!(proof, Err(ThresholdError::BadPartials { .. }))
        };
        let wrong: Vec<usize> = row
            .partials
            .iter()
            .filter(|(_, own)| is_rival(own) && is_wrong(own))
            .map(|(place, _)| *place)
            .collect();
        for place in wrong {
            self.rows[at].partials.remove(&place);
            self.distrust(at, place);
        }
    }

    fn blame(&mut self, at: usize, indices: &[u8]) {
        let row = &mut self.rows[at];
        let bad = row.partials.extract_if(.., |_, partial| indices.contains(&partial.index()));
        let places: Vec<usize> = bad.map(|(place, _)| place).collect();
        places.into_iter().for_each(|place| self.distrust(at, place));
    }

    fn distrust(&mut self, at: usize, place: usize) {
        let server = &self.inner.servers[place];
        server.distrust();
        self.rows[at].failure = Some(format!("{}: its partial signature is wrong", server.place()));
    }

    fn give_up(mut self) {
        for row in self.rows.iter_mut().filter(|row| !row.is_done) {
            let needed = self.key.threshold();
            let last =
                row.failure.take().map_or(String::new(), |last| format!("; the last that failed: {last}"));
            let reason = format!("{needed} servers must sign together, {} did{last}", row.distinct().len());
            let holder = self.inner.config.name.clone();
            let _ = self.done.complete(row.at, Err(JobError::HolderFailed { holder, reason }));
        }
    }
}

fn failed(holder: &str, error: &ThresholdError) -> JobError {
    match error {
        ThresholdError::Job(error) => error.clone(),
        other => JobError::HolderRefused { holder: holder.to_owned(), reason: other.to_string() },
    }
}

fn request<'j>(job: &'j HeldJob, salt: &'j [u8]) -> SigningRequest<'j> {
    let input = match job.scheme.message_digest() {
        Some(_) => Input::Digest(&job.input),
        None => Input::Message(&job.input),
    };
    SigningRequest::new(job.scheme, input).with_salt(salt)
}

/// Random bytes where the scheme has a salt.
fn salt(scheme: Scheme) -> Result<Vec<u8>, String> {
    let Scheme::RsaPssSign { salt_len: len @ 1.., .. } = scheme else { return Ok(Vec::new()) };
    let drawn = oarlock::keys::generate::secret(len.into()).map_err(|error| error.to_string())?;
    Ok(drawn.secret().map(|salt| salt.expose().to_vec()).unwrap_or_default())
}

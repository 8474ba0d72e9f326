//! Jobs under threshold keys: partial signatures of several servers are combined here.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use oarlock::engine_api::{Completion, OwnedJobs};
use oarlock::keys::threshold::ThresholdKey;
use oarlock::threshold::{PartialSignature, SigningRequest, ThresholdError, combine_optimistic, verify};
use oarlock::{Job, JobError, Scheme};

use super::RemoteInner;
use super::names::ServerSet;
use super::server::key_reference;

/// Jobs of one threshold key, until each has its signature.
pub(super) struct ThresholdBatch<'i> {
    inner: &'i RemoteInner,
    servers: ServerSet,
    key: &'i ThresholdKey,
    jobs: OwnedJobs,
    done: Completion,
    rows: Vec<ThresholdRow>,
}

struct ThresholdRow {
    /// The index of the job.
    at: usize,
    /// The salt of PSS, the same for every server.
    salt: Vec<u8>,
    /// The partial signatures, by the index of their server. Several servers may claim one share: the proofs show which
    /// partial signature is correct.
    partials: BTreeMap<usize, PartialSignature>,
    failure: Option<String>,
    is_done: bool,
}

impl ThresholdRow {
    /// Returns one partial signature of each share.
    fn distinct(&self) -> Vec<PartialSignature> {
        // Reversed, so that of several partial signatures of one share the first server's wins.
        let by_share: BTreeMap<u8, &PartialSignature> =
            self.partials.values().rev().map(|partial| (partial.index(), partial)).collect();
        by_share.into_values().cloned().collect()
    }
}

impl<'i> ThresholdBatch<'i> {
    pub(super) fn new(
        inner: &'i RemoteInner,
        servers: ServerSet,
        key: &'i ThresholdKey,
        jobs: OwnedJobs,
        indices: &[usize],
        done: Completion,
    ) -> Self {
        let row = |at: &usize| {
            let salt = salt(jobs[*at].scheme);
            let failure = salt.as_ref().err().cloned();
            let salt = salt.unwrap_or_default();
            ThresholdRow { at: *at, salt, partials: BTreeMap::new(), failure, is_done: false }
        };
        let rows = indices.iter().map(row).collect();
        Self { inner, servers, key, jobs, done, rows }
    }

    /// Asks the number of servers that must sign together, and other servers for those that fail.
    pub(super) async fn run(mut self) {
        let mut asked = Vec::new();
        while let Some(missing_partials) = self.missing_partials() {
            let mut chosen = self.inner.ranked(&self.servers, &asked, self.rows.len());
            if chosen.is_empty() {
                break;
            }
            chosen.truncate(missing_partials);
            asked.extend_from_slice(&chosen);
            self.ask(&chosen).await;
            self.combine();
        }
        self.give_up();
    }

    /// Returns the number of partial signatures that some job still needs, or `None` if every job is done.
    fn missing_partials(&self) -> Option<usize> {
        let needed = usize::from(self.key.threshold());
        let open = self.rows.iter().filter(|row| !row.is_done);
        open.map(|row| needed.saturating_sub(row.distinct().len()).max(1)).max()
    }

    async fn ask(&mut self, chosen: &[usize]) {
        let open: Vec<usize> = (0..self.rows.len()).filter(|at| !self.rows[*at].is_done).collect();
        let jobs: Vec<Job<'_>> = open.iter().map(|at| self.job(&self.rows[*at])).collect();
        let patience = self.inner.config.patience;
        let answered =
            join_all(chosen.iter().map(|server_index| self.servers[*server_index].ask(&jobs, patience)))
                .await;
        for (server_index, answers) in chosen.iter().zip(answered) {
            let server = &self.servers[*server_index];
            match answers {
                Err(error) => {
                    let reason = format!("{}: {error}", server.address());
                    open.iter().for_each(|at| self.rows[*at].failure = Some(reason.clone()));
                }
                Ok(answers) => {
                    for (at, answer) in open.iter().zip(answers) {
                        self.record_partial(*at, *server_index, answer);
                    }
                }
            }
        }
    }

    /// Records a partial signature. Its share is the one that the server reported when the key was opened. If several
    /// servers report one share, all of them are recorded. Otherwise a server that claims another server's share could
    /// keep the other one out by answering first.
    fn record_partial(&mut self, at: usize, server_index: usize, answer: Result<Vec<u8>, JobError>) {
        let server = &self.servers[server_index];
        let row = &mut self.rows[at];
        let index = key_reference(&self.jobs[row.at].key).map_or(0, |name| server.share(name));
        let partial = answer.map_err(|error| error.to_string()).and_then(|bytes| {
            PartialSignature::from_bytes(self.key, index, &bytes).map_err(|error| error.to_string())
        });
        match partial {
            Err(reason) => row.failure = Some(format!("{}: {reason}", server.address())),
            Ok(signature) => {
                if row.partials.values().any(|partial| partial.index() == signature.index()) {
                    row.failure = Some(format!("{}: another server has share {index} too", server.address()));
                }
                row.partials.insert(server_index, signature);
            }
        }
    }

    /// Returns the job of a row as it is sent: the salt, which all shares sign, is its second input.
    fn job<'r>(&'r self, row: &'r ThresholdRow) -> Job<'r> {
        let mut job = self.jobs[row.at].as_job();
        job.second = &row.salt;
        job
    }

    fn request<'r>(&'r self, row: &'r ThresholdRow) -> SigningRequest<'r> {
        let job = self.job(row);
        SigningRequest::new(job.scheme, job.input).with_salt(job.second)
    }

    /// Combines partial signatures if there are enough of them. A server with an invalid proof is not asked for a
    /// while.
    fn combine(&mut self) {
        let needed = usize::from(self.key.threshold());
        for at in 0..self.rows.len() {
            if self.rows[at].is_done {
                continue;
            }
            self.check_rivals(at);
            let row = &self.rows[at];
            let partials = row.distinct();
            if partials.len() < needed {
                continue;
            }
            let request = self.request(row);
            // Optimistic: the signature is verified once, and the proofs only if that fails.
            match combine_optimistic(&self.inner.checker, self.key, &request, &partials) {
                Ok(combined) => {
                    self.blame_servers(at, &combined.culprits);
                    let row = &mut self.rows[at];
                    row.is_done = true;
                    // False means that the dispatcher has cancelled the job meanwhile.
                    let _ = self.done.complete(row.at, Ok(combined.signature));
                }
                // The loop in `run` asks further servers to replace them.
                Err(ThresholdError::BadPartials { indices }) => self.blame_servers(at, &indices),
                Err(error) => {
                    let row = &mut self.rows[at];
                    row.is_done = true;
                    let _ = self.done.complete(row.at, Err(failure(&self.inner.config.name, &error)));
                }
            }
        }
    }

    /// Checks the proofs of partial signatures that claim the same share, and removes the wrong ones.
    fn check_rivals(&mut self, at: usize) {
        let row = &self.rows[at];
        let request = self.request(row);
        let is_rival = |partial: &PartialSignature| {
            row.partials.values().filter(|other| other.index() == partial.index()).count() > 1
        };
        let is_wrong = |partial: &PartialSignature| {
            let proof = verify(&self.inner.checker, self.key, &request, std::slice::from_ref(partial));
            matches!(proof, Err(ThresholdError::BadPartials { .. }))
        };
        let wrong: Vec<usize> = row
            .partials
            .iter()
            .filter(|(_, partial)| is_rival(partial) && is_wrong(partial))
            .map(|(server_index, _)| *server_index)
            .collect();
        for server_index in wrong {
            self.rows[at].partials.remove(&server_index);
            self.distrust(at, server_index);
        }
    }

    fn blame_servers(&mut self, at: usize, indices: &[u8]) {
        let row = &mut self.rows[at];
        let mut bad_servers = Vec::new();
        row.partials.retain(|server_index, partial| {
            let is_bad = indices.contains(&partial.index());
            bad_servers.extend(is_bad.then_some(*server_index));
            !is_bad
        });
        bad_servers.into_iter().for_each(|server_index| self.distrust(at, server_index));
    }

    fn distrust(&mut self, at: usize, server_index: usize) {
        let server = &self.servers[server_index];
        server.distrust();
        self.rows[at].failure = Some(format!("{}: its partial signature is wrong", server.address()));
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

fn failure(holder: &str, error: &ThresholdError) -> JobError {
    match error {
        ThresholdError::Job(error) => error.clone(),
        other => JobError::HolderRefused { holder: holder.to_owned(), reason: other.to_string() },
    }
}

/// Returns random bytes if the scheme has a salt.
fn salt(scheme: Scheme) -> Result<Vec<u8>, String> {
    let Scheme::RsaPssSign { salt_len: len @ 1.., .. } = scheme else { return Ok(Vec::new()) };
    let drawn = oarlock::keys::generate::secret(len.into()).map_err(|error| error.to_string())?;
    Ok(drawn.secret().map(|salt| salt.expose().to_vec()).unwrap_or_default())
}

//! Runs engines and checks their results before any of them is released.
//!
//! An RSA private result is confirmed by the public operation, because one faulty CRT half reveals the key (Boneh,
//! DeMillo, Lipton, EUROCRYPT 1997). A share of all results is recomputed on a different engine. If two engines
//! differ, the referee computes again: its result is released and the loser is quarantined. Only an engine whose
//! result differs from the referee's can lose, so no crafted input can bring an honest engine into quarantine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use oarlock_core::{EngineFault, Jobs, Operation, Outcomes, SecondInput, Shape, Status};

use crate::metrics::count;
use crate::state::{DispatchState, REFEREE};

/// The number of operations on the referee before an engine is blamed for the result of an RSA key that may be bad.
/// An honest engine is blamed with a probability of 2^-32.
const KEY_TRIALS: usize = 32;

/// The engine that runs now. The watchdog reads it to quarantine the right engine after a hang.
type RunningEngine = AtomicUsize;

impl DispatchState {
    /// Runs `jobs` on an engine and checks the results. Returns the outcomes and the engine's own time in
    /// nanoseconds.
    pub(crate) fn compute(
        &self,
        engine: usize,
        jobs: &Jobs<'_>,
        running_engine: &RunningEngine,
    ) -> Result<(Outcomes, f64), EngineFault> {
        let mut outcomes = Outcomes::default();
        let took_ns = self.compute_into(engine, jobs, running_engine, &mut outcomes)?;
        Ok((outcomes, took_ns))
    }

    /// Does the same into outcomes whose memory is reused.
    pub(crate) fn compute_into(
        &self,
        engine: usize,
        jobs: &Jobs<'_>,
        running_engine: &RunningEngine,
        outcomes: &mut Outcomes,
    ) -> Result<f64, EngineFault> {
        let start = Instant::now();
        self.run_engine_into(engine, jobs, running_engine, outcomes)?;
        let took_ns = start.elapsed().as_nanos() as f64;
        count(&self.metrics.batches, 1);
        count(&self.metrics.batched_ops, jobs.len());
        self.recorders.record_run(engine, jobs.shape(), jobs.len(), took_ns);
        match jobs {
            Jobs::Operations(shape, operations) => {
                let batch =
                    CheckedBatch { dispatch: self, engine, shape: *shape, operations, running_engine };
                batch.confirm_rsa(outcomes);
                batch.cross_check(outcomes);
            }
            Jobs::Records(shape, _) => {
                self.cross_check_records(engine, *shape, jobs, outcomes, running_engine);
            }
        }
        Ok(took_ns)
    }

    fn run_engine(
        &self,
        engine: usize,
        jobs: &Jobs<'_>,
        running_engine: &RunningEngine,
    ) -> Result<Outcomes, EngineFault> {
        let mut outcomes = Outcomes::default();
        self.run_engine_into(engine, jobs, running_engine, &mut outcomes)?;
        Ok(outcomes)
    }

    /// Runs an engine. A panic, a missing status or a wrong number of outcomes counts as its fault.
    fn run_engine_into(
        &self,
        engine: usize,
        jobs: &Jobs<'_>,
        running_engine: &RunningEngine,
        outcomes: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        running_engine.store(engine, Ordering::Release);
        let unit = self.engine(engine);
        outcomes.reset(jobs);
        let failed = |reason: &str| EngineFault::Failed { engine: unit.name(), reason: reason.to_owned() };
        let fault = match catch_unwind(AssertUnwindSafe(|| unit.run(jobs, outcomes))) {
            Ok(Ok(())) if outcomes.len() == jobs.len() && outcomes.is_complete() => return Ok(()),
            Ok(Ok(())) => failed("left jobs of the batch undone"),
            Ok(Err(fault)) => fault,
            Err(_) => failed("panicked"),
        };
        count(&self.metrics.faults, 1);
        Err(fault)
    }

    /// Returns an engine other than `not` that can compute a shape, the referee if possible. Far engines are excluded
    /// because the check may run on a caller's thread.
    fn second_engine(&self, shape: Shape, not: usize) -> Option<usize> {
        if not != REFEREE && self.engine(REFEREE).offers(shape).is_some() {
            return Some(REFEREE);
        }
        // With two operations the other engines are probed too, not only the referee.
        let (state, queue) = self.lock_for(shape, 2);
        queue?;
        let choices = state.scheduler.choices(shape);
        let mut near = choices.iter().filter(|choice| !choice.is_far && !choice.is_quarantined);
        near.find(|choice| choice.engine != not).map(|choice| choice.engine)
    }

    /// Returns the fastest near engine for so many operations of a shape.
    fn cheapest_engine(&self, shape: Shape, ops: usize) -> usize {
        let (state, queue) = self.lock_for(shape, ops);
        let Some(queue) = queue else { return REFEREE };
        state.scheduler.bulk_plan(queue, ops, 0).map_or(REFEREE, |(choice, _)| choice.engine)
    }

    /// Recomputes a sampled batch of records as a whole on a different engine.
    fn cross_check_records(
        &self,
        engine: usize,
        shape: Shape,
        jobs: &Jobs<'_>,
        outcomes: &mut Outcomes,
        running_engine: &RunningEngine,
    ) {
        if !self.is_sampled(self.config().cross_check) {
            return;
        }
        let Some(other) = self.second_engine(shape, engine) else {
            return count(&self.metrics.cross_unchecked, jobs.len());
        };
        let theirs = match self.run_engine(other, jobs, running_engine) {
            Ok(theirs) => theirs,
            Err(fault) => return self.quarantine(other, None, &fault.to_string()),
        };
        count(&self.metrics.cross_checked, jobs.len());
        if outcomes.agrees_with(&theirs) {
            return;
        }
        count(&self.metrics.disputes, 1);
        let Ok(votes) = self.run_engine(REFEREE, jobs, running_engine) else { return };
        if votes.agrees_with(outcomes) {
            return self.note_lost_dispute(other, shape);
        }
        *outcomes = votes;
        self.note_lost_dispute(engine, shape);
    }

    /// Notes that an engine has lost a dispute, and quarantines it for the shape.
    fn note_lost_dispute(&self, engine: usize, shape: Shape) {
        if engine == REFEREE {
            return count(&self.metrics.referee_wavered, 1);
        }
        self.quarantine(engine, Some(shape), "its result differs from the referee's");
    }
}

/// A batch of operations that an engine has computed.
struct CheckedBatch<'a> {
    dispatch: &'a DispatchState,
    engine: usize,
    shape: Shape,
    operations: &'a [Operation<'a>],
    running_engine: &'a RunningEngine,
}

impl CheckedBatch<'_> {
    /// Confirms RSA private results by the public operation, unless the engine has done so.
    fn confirm_rsa(&self, outcomes: &mut Outcomes) {
        let is_confirmed = self.dispatch.engine(self.engine).confirms(self.shape);
        if is_confirmed || !matches!(self.shape, Shape::RsaPrivate { .. }) {
            return;
        }
        let done: Vec<usize> = positions(outcomes, |status| status == Status::Done);
        let suspects = self.unconfirmed(&done, outcomes);
        count(&self.dispatch.metrics.confirmed, done.len() - suspects.len());
        if !suspects.is_empty() {
            self.resolve_unconfirmed(&suspects, outcomes);
        }
    }

    /// Returns the indices whose result the public operation does not turn back into the input, each with the
    /// confirming engine.
    fn unconfirmed(&self, indices: &[usize], outcomes: &Outcomes) -> Vec<(usize, usize)> {
        let shape_of = |index: &usize| self.operations[*index].key.rsa_public_shape();
        let mut shapes: Vec<Shape> = indices.iter().filter_map(shape_of).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let mut suspects = Vec::new();
        for shape in shapes {
            let own: Vec<usize> =
                indices.iter().copied().filter(|index| shape_of(index) == Some(shape)).collect();
            let confirmer = self.dispatch.cheapest_engine(shape, own.len());
            let wrong = match self.public_differs(confirmer, shape, &own, outcomes) {
                Ok(wrong) => wrong,
                Err(fault) => {
                    self.dispatch.quarantine(confirmer, None, &fault.to_string());
                    self.public_differs(REFEREE, shape, &own, outcomes).unwrap_or(own)
                }
            };
            suspects.extend(wrong.into_iter().map(|index| (index, confirmer)));
        }
        suspects
    }

    /// Runs the public operation over results. Returns the indices whose input it does not give back.
    fn public_differs(
        &self,
        engine: usize,
        shape: Shape,
        indices: &[usize],
        outcomes: &Outcomes,
    ) -> Result<Vec<usize>, EngineFault> {
        let operations: Vec<Operation<'_>> = indices
            .iter()
            .map(|index| Operation {
                key: self.operations[*index].key,
                input: outcomes.result(*index),
                extra: SecondInput::None,
            })
            .collect();
        let publics =
            self.dispatch.run_engine(engine, &Jobs::Operations(shape, &operations), self.running_engine)?;
        let is_wrong = |at: &usize| {
            publics.statuses()[*at] != Status::Done
                || publics.result(*at) != self.operations[indices[*at]].input
        };
        Ok((0..indices.len()).filter(is_wrong).map(|at| indices[at]).collect())
    }

    /// Recomputes unconfirmed results on the referee to find the cause: the signing engine, the confirming engine, or
    /// the key. The numbers of a key may contradict each other, and then no engine is at fault.
    fn resolve_unconfirmed(&self, suspects: &[(usize, usize)], outcomes: &mut Outcomes) {
        let indices: Vec<usize> = suspects.iter().map(|(index, _)| *index).collect();
        let votes = self.referee_rsa(&indices);
        let (mut bad_keys, mut has_lost) = (0, false);
        for (at, (index, confirmer)) in suspects.iter().copied().enumerate() {
            let is_bad_key = match votes.as_ref().map(|votes| (votes, votes.statuses()[at])) {
                Some((votes, Status::Done)) if is_same(outcomes, index, votes, at) => {
                    let shape = self.operations[index].key.rsa_public_shape().unwrap_or(self.shape);
                    self.dispatch.note_lost_dispute(confirmer, shape);
                    false
                }
                Some((votes, Status::Done)) => {
                    outcomes.copy_result(index, votes, at);
                    // One loss is enough: the trials of the key take long.
                    let is_bad_key = !has_lost && self.is_bad_key(index);
                    has_lost |= !is_bad_key;
                    is_bad_key
                }
                Some((_, Status::BadKey)) => {
                    self.withhold(index, Status::BadKey, outcomes);
                    true
                }
                _ => {
                    self.withhold(index, Status::Pending, outcomes);
                    false
                }
            };
            bad_keys += usize::from(is_bad_key);
        }
        if has_lost {
            self.dispatch.note_lost_dispute(self.engine, self.shape);
        }
        count(&self.dispatch.metrics.bad_keys, bad_keys);
        count(&self.dispatch.metrics.unconfirmed, suspects.len() - bad_keys);
        count(&self.dispatch.metrics.disputes, suspects.len() - bad_keys);
    }

    /// Returns true if the referee finds that the numbers of an operation's RSA key contradict each other.
    ///
    /// One answer is not enough. Under p = r(2r - 1), with r and 2r - 1 prime, half of all inputs come back from the
    /// public operation. Since the referee blinds them, chance decides. An input at which an honest engine fails
    /// comes back from the referee every second time at most, so an engine is blamed only after [`KEY_TRIALS`].
    fn is_bad_key(&self, index: usize) -> bool {
        let is_refused = || {
            let vote = self.recompute(REFEREE, &[index]);
            vote.is_some_and(|vote| vote.statuses()[0] == Status::BadKey)
        };
        matches!(self.shape, Shape::RsaPrivate { .. }) && (0..KEY_TRIALS).any(|_| is_refused())
    }

    /// Returns the referee's own results, confirmed by its public operation unless the engine confirms them itself.
    fn referee_rsa(&self, indices: &[usize]) -> Option<Outcomes> {
        let mut votes = self.recompute(REFEREE, indices)?;
        if self.dispatch.engine(REFEREE).confirms(self.shape) {
            return Some(votes);
        }
        for (at, index) in indices.iter().enumerate() {
            if votes.statuses()[at] != Status::Done {
                continue;
            }
            let operation = self.operations[*index];
            let check = [Operation { input: votes.result(at), ..operation }];
            let shape = operation.key.rsa_public_shape()?;
            let public = self
                .dispatch
                .run_engine(REFEREE, &Jobs::Operations(shape, &check), self.running_engine)
                .ok()?;
            if public.statuses()[0] != Status::Done || public.result(0) != operation.input {
                votes.set(at, Status::Pending);
            }
        }
        Some(votes)
    }

    /// Erases an unconfirmed result and sets the status of its job.
    fn withhold(&self, index: usize, status: Status, outcomes: &mut Outcomes) {
        outcomes.set(index, status);
        zeroize::Zeroize::zeroize(outcomes.result_mut(index));
    }

    /// Recomputes a sample of the results on a different engine.
    fn cross_check(&self, outcomes: &mut Outcomes) {
        let share = self.dispatch.config().cross_check;
        if share <= 0.0 {
            return;
        }
        let is_answered = |index: &usize| outcomes.statuses()[*index] != Status::Pending;
        let sample: Vec<usize> = self.dispatch.sample(share, outcomes.len()).filter(is_answered).collect();
        if sample.is_empty() {
            return;
        }
        match self.shape {
            Shape::EcdsaSign { curve } => {
                let is_done = |index: &usize| outcomes.statuses()[*index] == Status::Done;
                let (signed, refused) = sample.into_iter().partition::<Vec<_>, _>(is_done);
                self.cross_verify(&signed, Shape::EcdsaVerify { curve }, outcomes);
                self.check_refusals(&refused, outcomes);
            }
            _ => self.cross_compare(&sample, outcomes),
        }
    }

    /// Compares results that must be equal on every engine.
    fn cross_compare(&self, sample: &[usize], outcomes: &mut Outcomes) {
        let Some(other) = self.other_for(self.shape, sample.len()) else { return };
        let Some(theirs) = self.recompute(other, sample) else { return };
        count(&self.dispatch.metrics.cross_checked, sample.len());
        // These results are not confirmed, so under a bad key they may differ on honest engines.
        let differs =
            |at: &usize| !is_same(outcomes, sample[*at], &theirs, *at) && !self.is_bad_key(sample[*at]);
        let disputed: Vec<usize> = (0..sample.len()).filter(differs).collect();
        if disputed.is_empty() {
            return;
        }
        count(&self.dispatch.metrics.disputes, disputed.len());
        let indices: Vec<usize> = disputed.iter().map(|at| sample[*at]).collect();
        let Some(votes) = self.recompute(REFEREE, &indices) else { return };
        for (vote, (at, index)) in disputed.into_iter().zip(indices).enumerate() {
            if !is_same(&theirs, at, &votes, vote) {
                self.dispatch.note_lost_dispute(other, self.shape);
            }
            if !is_same(outcomes, index, &votes, vote) {
                self.dispatch.note_lost_dispute(self.engine, self.shape);
                outcomes.copy_result(index, &votes, vote);
            }
        }
    }

    /// Verifies ECDSA signatures on another engine. They cannot be compared, because each has a fresh nonce.
    fn cross_verify(&self, signed: &[usize], verify: Shape, outcomes: &mut Outcomes) {
        let Some(other) = self.other_for(verify, signed.len()) else { return };
        let Some(wrong) = self.rejected(other, verify, signed, outcomes) else { return };
        count(&self.dispatch.metrics.cross_checked, signed.len());
        if wrong.is_empty() {
            return;
        }
        count(&self.dispatch.metrics.disputes, wrong.len());
        let Some(truly_wrong) = self.rejected(REFEREE, verify, &wrong, outcomes) else { return };
        if truly_wrong.len() < wrong.len() {
            self.dispatch.note_lost_dispute(other, verify);
        }
        if !truly_wrong.is_empty() {
            self.dispatch.note_lost_dispute(self.engine, self.shape);
            self.replace(&truly_wrong, outcomes);
        }
    }

    /// Recomputes refusals on the referee. An engine that refuses what the referee signs loses the dispute.
    fn check_refusals(&self, refused: &[usize], outcomes: &mut Outcomes) {
        if refused.is_empty() || self.engine == REFEREE {
            return;
        }
        count(&self.dispatch.metrics.cross_checked, refused.len());
        let Some(votes) = self.recompute(REFEREE, refused) else { return };
        for (at, index) in refused.iter().enumerate() {
            if votes.statuses()[at] != outcomes.statuses()[*index] {
                count(&self.dispatch.metrics.disputes, 1);
                self.dispatch.note_lost_dispute(self.engine, self.shape);
                outcomes.copy_result(*index, &votes, at);
            }
        }
    }

    /// Returns the indices whose signature an engine rejects.
    fn rejected(
        &self,
        engine: usize,
        verify: Shape,
        indices: &[usize],
        outcomes: &Outcomes,
    ) -> Option<Vec<usize>> {
        let operations: Vec<Operation<'_>> = indices
            .iter()
            .map(|index| Operation {
                extra: SecondInput::Signature(outcomes.result(*index)),
                ..self.operations[*index]
            })
            .collect();
        let answers = self.run_or_quarantine(engine, &Jobs::Operations(verify, &operations))?;
        let is_wrong = |at: &usize| answers.statuses()[*at] != Status::Done;
        Some((0..indices.len()).filter(is_wrong).map(|at| indices[at]).collect())
    }

    /// Replaces results by the referee's.
    fn replace(&self, indices: &[usize], outcomes: &mut Outcomes) {
        let votes = self.recompute(REFEREE, indices);
        for (at, index) in indices.iter().enumerate() {
            match &votes {
                Some(votes) => outcomes.copy_result(*index, votes, at),
                None => self.withhold(*index, Status::Pending, outcomes),
            }
        }
    }

    fn other_for(&self, shape: Shape, ops: usize) -> Option<usize> {
        if ops == 0 {
            return None;
        }
        let other = self.dispatch.second_engine(shape, self.engine);
        if other.is_none() {
            count(&self.dispatch.metrics.cross_unchecked, ops);
        }
        other
    }

    /// Runs some of the batch's operations again on an engine.
    fn recompute(&self, engine: usize, indices: &[usize]) -> Option<Outcomes> {
        let operations: Vec<Operation<'_>> = indices.iter().map(|index| self.operations[*index]).collect();
        self.run_or_quarantine(engine, &Jobs::Operations(self.shape, &operations))
    }

    fn run_or_quarantine(&self, engine: usize, jobs: &Jobs<'_>) -> Option<Outcomes> {
        let result = self.dispatch.run_engine(engine, jobs, self.running_engine);
        result.inspect_err(|fault| self.dispatch.quarantine(engine, None, &fault.to_string())).ok()
    }
}

fn positions(outcomes: &Outcomes, is_meant: impl Fn(Status) -> bool) -> Vec<usize> {
    let statuses = outcomes.statuses().iter().enumerate();
    statuses.filter(|(_, status)| is_meant(**status)).map(|(index, _)| index).collect()
}

/// Compares two results. No constant time is needed: results differ only if an engine is faulty.
fn is_same(ours: &Outcomes, our_index: usize, theirs: &Outcomes, their_index: usize) -> bool {
    ours.statuses()[our_index] == theirs.statuses()[their_index]
        && ours.result(our_index) == theirs.result(their_index)
}

//! The confirmation of RSA private results.

use oarlock_core::{EngineFault, Jobs, Operation, Outcomes, SecondInput, Shape, Status};

use super::{CheckedBatch, is_same, positions};
use crate::blueprint::REFEREE;
use crate::metrics::count;

/// The number of operations on the referee before an engine is blamed for the result of an RSA key that may be bad.
/// An honest engine is blamed with a probability of 2^-32.
const KEY_TRIALS: usize = 32;

impl CheckedBatch<'_> {
    /// Confirms RSA private results by the public operation, unless the engine has done so.
    pub(super) fn confirm_rsa(&self, outcomes: &mut Outcomes) {
        let is_confirmed = self.dispatch().engine(self.engine).confirms(self.shape);
        if is_confirmed || !matches!(self.shape, Shape::RsaPrivate { .. }) {
            return;
        }
        let done: Vec<usize> = positions(outcomes, |status| status == Status::Done);
        // Other statuses are refusals, so there is nothing to confirm.
        let suspects = self.unconfirmed(&done, outcomes);
        count(&self.dispatch().metrics.confirmed, done.len() - suspects.len());
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
        // Keys of one length may have different public exponents, and a batch has one shape.
        for shape in shapes {
            let of_shape: Vec<usize> =
                indices.iter().copied().filter(|index| shape_of(index) == Some(shape)).collect();
            let confirmer = self.run.cheapest_engine(shape, of_shape.len());
            let wrong = match self.public_differs(confirmer, shape, &of_shape, outcomes) {
                Ok(wrong) => wrong,
                Err(fault) => {
                    self.dispatch().quarantine(confirmer, None, &fault.to_string());
                    // If the referee fails too, every result counts as wrong: none of them leaves unconfirmed.
                    self.public_differs(REFEREE, shape, &of_shape, outcomes).unwrap_or(of_shape)
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
        let check = |index: &usize| {
            Operation::new(shape, self.operations[*index].key, outcomes.result(*index), SecondInput::None)
        };
        let operations: Vec<Operation<'_>> =
            indices.iter().map(check).collect::<Result<_, _>>().map_err(|error| EngineFault::Failed {
                engine: self.dispatch().engine(engine).name(),
                reason: error.to_string(),
            })?;
        let publics = self.run.run_engine(engine, &Jobs::Operations(shape, &operations))?;
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
                // The signature was right, so the engine that confirms was wrong.
                Some((votes, Status::Done)) if is_same(outcomes, index, votes, at) => {
                    let shape = self.operations[index].key.rsa_public_shape().unwrap_or(self.shape);
                    self.run.note_lost_dispute(confirmer, shape);
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
            self.run.note_lost_dispute(self.engine, self.shape);
        }
        count(&self.dispatch().metrics.bad_keys, bad_keys);
        count(&self.dispatch().metrics.unconfirmed, suspects.len() - bad_keys);
        count(&self.dispatch().metrics.disputes, suspects.len() - bad_keys);
    }

    /// Returns true if the referee finds that the numbers of an operation's RSA key contradict each other.
    ///
    /// One answer is not enough. Under p = r(2r - 1), with r and 2r - 1 prime, half of all inputs come back from the
    /// public operation. Since the referee blinds them, chance decides. An input at which an honest engine fails
    /// comes back from the referee every second time at most, so an engine is blamed only after [`KEY_TRIALS`].
    pub(super) fn is_bad_key(&self, index: usize) -> bool {
        let is_refused = || {
            let vote = self.recompute(REFEREE, &[index]);
            vote.is_some_and(|vote| vote.statuses()[0] == Status::BadKey)
        };
        matches!(self.shape, Shape::RsaPrivate { .. }) && (0..KEY_TRIALS).any(|_| is_refused())
    }

    /// Returns the referee's own results, confirmed by its public operation unless the engine confirms them itself.
    fn referee_rsa(&self, indices: &[usize]) -> Option<Outcomes> {
        let mut votes = self.recompute(REFEREE, indices)?;
        if self.dispatch().engine(REFEREE).confirms(self.shape) {
            return Some(votes);
        }
        for (at, index) in indices.iter().enumerate() {
            // A refusal of the referee is its vote, and needs no confirmation.
            if votes.statuses()[at] != Status::Done {
                continue;
            }
            let operation = self.operations[*index];
            let shape = operation.key.rsa_public_shape()?;
            let check = [Operation::new(shape, operation.key, votes.result(at), SecondInput::None).ok()?];
            let public = self.run.run_engine(REFEREE, &Jobs::Operations(shape, &check)).ok()?;
            if public.statuses()[0] != Status::Done || public.result(0) != operation.input {
                votes.set(at, Status::Pending);
            }
        }
        Some(votes)
    }
}

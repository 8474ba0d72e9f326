//! Cross-checks: a sample of the results is recomputed on a different engine.

use oarlock_core::{Jobs, Operation, Outcomes, SecondInput, Shape, Status};

use super::{CheckedBatch, CheckedRun, is_same};
use crate::blueprint::REFEREE;
use crate::metrics::count;

impl CheckedRun<'_> {
    /// Recomputes a sampled batch of records as a whole on a different engine.
    pub(super) fn cross_check_records(&self, engine: usize, jobs: &Jobs<'_>, outcomes: &mut Outcomes) {
        let dispatch = self.dispatch;
        if !dispatch.sampler.is_sampled(dispatch.config().cross_check) {
            return;
        }
        let shape = jobs.shape();
        let Some(other) = self.second_engine(shape, engine) else {
            return count(&dispatch.metrics.cross_unchecked, jobs.len());
        };
        let theirs = match self.run_engine(other, jobs) {
            Ok(theirs) => theirs,
            Err(fault) => return dispatch.quarantine(other, None, &fault.to_string()),
        };
        count(&dispatch.metrics.cross_checked, jobs.len());
        if outcomes.agrees_with(&theirs) {
            return;
        }
        count(&dispatch.metrics.disputes, 1);
        let Ok(votes) = self.run_engine(REFEREE, jobs) else { return };
        if votes.agrees_with(outcomes) {
            return self.note_lost_dispute(other, shape);
        }
        // Records of one batch may depend on each other through slots, so the referee's batch replaces all of them.
        *outcomes = votes;
        self.note_lost_dispute(engine, shape);
    }
}

impl CheckedBatch<'_> {
    /// Recomputes a sample of the results on a different engine.
    pub(super) fn cross_check(&self, outcomes: &mut Outcomes) {
        let share = self.dispatch().config().cross_check;
        if share <= 0.0 {
            return;
        }
        // A cancelled job would be cancelled on the other engine too, and might have been done before.
        let is_answered =
            |index: &usize| !matches!(outcomes.statuses()[*index], Status::Pending | Status::Cancelled);
        let sample: Vec<usize> =
            self.dispatch().sampler.sample(share, outcomes.len()).filter(is_answered).collect();
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
        count(&self.dispatch().metrics.cross_checked, sample.len());
        // These results are not confirmed, so under a bad key they may differ on honest engines.
        let differs =
            |at: &usize| !is_same(outcomes, sample[*at], &theirs, *at) && !self.is_bad_key(sample[*at]);
        let disputed: Vec<usize> = (0..sample.len()).filter(differs).collect();
        if disputed.is_empty() {
            return;
        }
        count(&self.dispatch().metrics.disputes, disputed.len());
        let indices: Vec<usize> = disputed.iter().map(|at| sample[*at]).collect();
        let Some(votes) = self.recompute(REFEREE, &indices) else { return };
        for (vote, (at, index)) in disputed.into_iter().zip(indices).enumerate() {
            // Both may have lost: the referee's vote is a third computation, and each is compared with it.
            if !is_same(&theirs, at, &votes, vote) {
                self.run.note_lost_dispute(other, self.shape);
            }
            if !is_same(outcomes, index, &votes, vote) {
                self.run.note_lost_dispute(self.engine, self.shape);
                outcomes.copy_result(index, &votes, vote);
            }
        }
    }

    /// Verifies ECDSA signatures on another engine. They cannot be compared, because each has a fresh nonce.
    fn cross_verify(&self, signed: &[usize], verify: Shape, outcomes: &mut Outcomes) {
        let Some(other) = self.other_for(verify, signed.len()) else { return };
        let Some(wrong) = self.rejected(other, verify, signed, outcomes) else { return };
        count(&self.dispatch().metrics.cross_checked, signed.len());
        if wrong.is_empty() {
            return;
        }
        count(&self.dispatch().metrics.disputes, wrong.len());
        let Some(truly_wrong) = self.rejected(REFEREE, verify, &wrong, outcomes) else { return };
        // The other engine rejected a signature that the referee accepts.
        if truly_wrong.len() < wrong.len() {
            self.run.note_lost_dispute(other, verify);
        }
        if !truly_wrong.is_empty() {
            self.run.note_lost_dispute(self.engine, self.shape);
            self.replace(&truly_wrong, outcomes);
        }
    }

    /// Recomputes refusals on the referee. An engine that refuses what the referee signs loses the dispute.
    fn check_refusals(&self, refused: &[usize], outcomes: &mut Outcomes) {
        // No engine decides over the referee.
        if refused.is_empty() || self.engine == REFEREE {
            return;
        }
        count(&self.dispatch().metrics.cross_checked, refused.len());
        let Some(votes) = self.recompute(REFEREE, refused) else { return };
        for (at, index) in refused.iter().enumerate() {
            if votes.statuses()[at] != outcomes.statuses()[*index] {
                count(&self.dispatch().metrics.disputes, 1);
                self.run.note_lost_dispute(self.engine, self.shape);
                outcomes.copy_result(*index, &votes, at);
            }
        }
    }

    /// Returns the indices whose signature an engine rejects.
    pub(super) fn rejected(
        &self,
        engine: usize,
        verify: Shape,
        indices: &[usize],
        outcomes: &Outcomes,
    ) -> Option<Vec<usize>> {
        let check = |index: &usize| {
            let (signed, signature) = (self.operations[*index], outcomes.result(*index));
            Operation::new(verify, signed.key, signed.input, SecondInput::Signature(signature)).ok()
        };
        let operations: Vec<Operation<'_>> = indices.iter().map(check).collect::<Option<_>>()?;
        let answers = self.run_or_quarantine(engine, &Jobs::Operations(verify, &operations))?;
        let is_wrong = |at: &usize| answers.statuses()[*at] != Status::Done;
        Some((0..indices.len()).filter(is_wrong).map(|at| indices[at]).collect())
    }

    /// Replaces results by the referee's.
    pub(super) fn replace(&self, indices: &[usize], outcomes: &mut Outcomes) {
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
        let other = self.run.second_engine(shape, self.engine);
        if other.is_none() {
            count(&self.dispatch().metrics.cross_unchecked, ops);
        }
        other
    }
}

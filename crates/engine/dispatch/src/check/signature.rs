//! The confirmation of ML-DSA and SLH-DSA signatures.

use oarlock_core::{Outcomes, Shape, Status};

use super::{CheckedBatch, is_same, positions};
use crate::blueprint::REFEREE;
use crate::config::ConfirmRule;
use crate::metrics::count;

impl CheckedBatch<'_> {
    /// Confirms ML-DSA and SLH-DSA signatures before their release, unless the engine has done so.
    pub(super) fn confirm_signatures(&self, outcomes: &mut Outcomes) {
        if self.dispatch().engine(self.engine).confirms(self.shape) {
            return;
        }
        match self.shape {
            // Two signatures of one mask, of which a fault made one, reveal the key.
            Shape::MlDsaSign { set } => self.verify_signatures(Shape::MlDsaVerify { set }, outcomes),
            // Two signatures by one one-time key of different roots, of which a fault made one, let others sign.
            Shape::SlhDsaSign { set } => {
                self.verify_signatures(Shape::SlhDsaVerify { set }, outcomes);
                if self.dispatch().config().confirm == ConfirmRule::Twice {
                    self.compute_again(outcomes);
                }
            }
            _ => {}
        }
    }

    /// Computes signatures again, on another engine if there is one, and withholds those that differ twice.
    fn compute_again(&self, outcomes: &mut Outcomes) {
        let done = positions(outcomes, |status| status == Status::Done);
        if done.is_empty() {
            return;
        }
        let other = self.run.second_engine(self.shape, self.engine).unwrap_or(self.engine);
        let again = self.recompute(other, &done);
        for (at, index) in done.into_iter().enumerate() {
            match &again {
                Some(again) if is_same(outcomes, index, again, at) => {
                    count(&self.dispatch().metrics.recomputed, 1);
                }
                Some(again) if again.statuses()[at] == Status::Done => {
                    count(&self.dispatch().metrics.disputes, 1);
                    self.settle(index, other, again.result(at), outcomes);
                }
                // The caller has cancelled the job, or the engine failed. The result has no second computation.
                Some(again) => self.withhold(index, again.statuses()[at], outcomes),
                None => self.withhold(index, Status::Pending, outcomes),
            }
        }
    }

    /// Releases the signature that a third computation repeats, if there is one.
    fn settle(&self, index: usize, other: usize, theirs: &[u8], outcomes: &mut Outcomes) {
        match self.recompute(REFEREE, &[index]) {
            Some(votes) if is_same(outcomes, index, &votes, 0) => {
                self.run.note_lost_dispute(other, self.shape);
            }
            Some(votes) if votes.result(0) == theirs => {
                self.run.note_lost_dispute(self.engine, self.shape);
                outcomes.copy_result(index, &votes, 0);
            }
            _ => {
                count(&self.dispatch().metrics.unconfirmed, 1);
                self.withhold(index, Status::Pending, outcomes);
            }
        }
    }

    fn verify_signatures(&self, verify: Shape, outcomes: &mut Outcomes) {
        let done = positions(outcomes, |status| status == Status::Done);
        if done.is_empty() {
            return;
        }
        let confirmer = self.run.cheapest_engine(verify, done.len());
        // An engine that fails has confirmed nothing.
        let wrong = self.rejected(confirmer, verify, &done, outcomes).unwrap_or_else(|| done.clone());
        count(&self.dispatch().metrics.confirmed, done.len() - wrong.len());
        if wrong.is_empty() {
            return;
        }
        count(&self.dispatch().metrics.disputes, wrong.len());
        // If the referee fails too, no signature leaves.
        let truly_wrong = self.rejected(REFEREE, verify, &wrong, outcomes).unwrap_or_else(|| wrong.clone());
        if truly_wrong.len() < wrong.len() {
            self.run.note_lost_dispute(confirmer, verify);
        }
        if !truly_wrong.is_empty() {
            self.replace_unconfirmed(verify, &truly_wrong, outcomes);
        }
    }

    /// Replaces signatures that do not verify by the referee's, which must verify. If they do not, the parts of the key
    /// do not belong together, and no engine is at fault.
    fn replace_unconfirmed(&self, verify: Shape, wrong: &[usize], outcomes: &mut Outcomes) {
        self.replace(wrong, outcomes);
        let is_done = |index: &usize| outcomes.statuses()[*index] == Status::Done;
        let replaced: Vec<usize> = wrong.iter().copied().filter(is_done).collect();
        let bad_keys = self.rejected(REFEREE, verify, &replaced, outcomes).unwrap_or(replaced);
        for index in &bad_keys {
            self.withhold(*index, Status::BadKey, outcomes);
        }
        if bad_keys.len() < wrong.len() {
            self.run.note_lost_dispute(self.engine, self.shape);
        }
        count(&self.dispatch().metrics.bad_keys, bad_keys.len());
        count(&self.dispatch().metrics.unconfirmed, wrong.len() - bad_keys.len());
    }
}

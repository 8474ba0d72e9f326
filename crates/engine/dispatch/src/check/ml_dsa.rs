//! The confirmation of ML-DSA signatures.

use oarlock_core::{Outcomes, Shape, Status};

use super::{CheckedBatch, positions};
use crate::blueprint::REFEREE;
use crate::metrics::count;

impl CheckedBatch<'_> {
    /// Verifies ML-DSA signatures before their release, unless the engine has done so. Two signatures of one mask, of
    /// which a fault made one, reveal the key.
    pub(super) fn confirm_ml_dsa(&self, outcomes: &mut Outcomes) {
        let Shape::MlDsaSign { set } = self.shape else { return };
        if self.dispatch().engine(self.engine).confirms(self.shape) {
            return;
        }
        let verify = Shape::MlDsaVerify { set };
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

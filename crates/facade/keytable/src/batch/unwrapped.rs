//! The checks of an unwrapped key before its use: its length, its type, its check value and its weakness.

use std::borrow::Cow;

use oarlock::Accelerator;
use oarlock_core::{
    BatchTask, BlockCipher, Column, InputSource, KeySource, KeyType, KeyWrap, OutcomeWriter, Outcomes,
    OutputSink, Records, SecretSlots, Span, Status,
};
use subtle::ConstantTimeEq;

use super::gather::GroupColumns;
use super::judge::CHECK_VALUE_LEN;
use crate::table::{KeyWeakness, WeakKeyRule, weakness};

/// Keys of one type that came out of one kind of wrap.
pub(super) struct UnwrappedKeys<'a> {
    pub(super) accelerator: &'a Accelerator,
    pub(super) wrap: KeyWrap,
    pub(super) key_type: KeyType,
}

impl UnwrappedKeys<'_> {
    /// Checks the keys that a group has unwrapped.
    ///
    /// A key that does not pass is wiped, and its record has the reason as its status. Returns the warnings, pairs of
    /// a record and a weakness.
    pub(super) fn check<'w>(
        &self,
        group: &GroupColumns,
        data: &[u8],
        part: &mut OutcomeWriter<'_>,
        wrapped: impl Fn(u32) -> Option<&'w [u8]>,
        weak_keys: impl Fn(u32) -> WeakKeyRule,
    ) -> Vec<(u32, KeyWeakness)> {
        for (local, index) in group.members.iter().enumerate() {
            if let Some(slot) = done_slot(group, part, local) {
                let finished = self.finish(slot, part.slots, wrapped(*index));
                settle(part, local, slot, finished);
            }
        }
        // A check value needs the finished key, and a weakness is reported only for a key whose check value
        // fits.
        self.compare_check_values(group, data, part);
        let mut warnings = Vec::new();
        for (local, index) in group.members.iter().enumerate() {
            if let Some(slot) = done_slot(group, part, local) {
                match self.judge_weakness(part.slots.get(slot).unwrap_or_default(), weak_keys(*index)) {
                    Ok(warning) => warnings.extend(warning.map(|weakness| (*index, weakness))),
                    Err(status) => settle(part, local, slot, Err(status)),
                }
            }
        }
        warnings
    }

    /// Turns the engine's result into the key. The engine computes CBC, which adds the previous block to each; ECB
    /// has no such sum, so it is removed.
    fn finish(&self, slot: u32, slots: &mut SecretSlots, wrapped: Option<&[u8]>) -> Result<(), Status> {
        let len = slots.get(slot).map_or(0, <[u8]>::len);
        if !self.key_type.takes_len(len) {
            return Err(Status::BadLength);
        }
        if let KeyWrap::LegacyEcb(alg) = self.wrap {
            let wrapped = wrapped.ok_or(Status::DependencyFailed)?;
            let key = slots.fill(slot, len).ok_or(Status::Malformed)?;
            let later = key.iter_mut().skip(alg.block_len());
            later.zip(wrapped).for_each(|(byte, before)| *byte ^= before);
        }
        Ok(())
    }

    fn compare_check_values(&self, group: &GroupColumns, data: &[u8], part: &mut OutcomeWriter<'_>) {
        let Some(alg) = self.key_type.cipher() else { return };
        let (mut locals, mut keys) = (Vec::new(), Vec::new());
        for local in 0..group.members.len() {
            if let Some(slot) = done_slot(group, part, local).filter(|_| group.check_values[local].len > 0) {
                locals.push((local, slot));
                keys.push(KeySource::Slot(slot));
            }
        }
        if locals.is_empty() {
            return;
        }
        let made = self.encrypt_zeros(alg, keys, part.slots);
        for (at, (local, slot)) in locals.into_iter().enumerate() {
            let expected = group.check_values[local].slice(data).unwrap_or_default();
            let compared = made.as_ref().map_or(Err(Status::EngineFailed), |made| {
                let found = &made.bytes()[at * alg.block_len()..][..CHECK_VALUE_LEN];
                // In constant time, so that nobody finds the check value of an unknown key byte by byte.
                let is_same = made.statuses()[at] == Status::Done && bool::from(found.ct_eq(expected));
                if is_same { Ok(()) } else { Err(Status::BadCheckValue) }
            });
            settle(part, local, slot, compared);
        }
    }

    /// A block of zeros under each key.
    fn encrypt_zeros(&self, alg: BlockCipher, keys: Vec<KeySource>, slots: &SecretSlots) -> Option<Outcomes> {
        let block = Span::new(0, alg.block_len())?;
        let outputs = (0..keys.len())
            .map(|at| Span::new(at * alg.block_len(), alg.block_len()).map(OutputSink::Output));
        let records = Records {
            len: keys.len(),
            data: Cow::Borrowed(&[0; 16]),
            output_len: keys.len() * alg.block_len(),
            slots: Cow::Borrowed(slots),
            iv: Column::One(block),
            input: Column::One(InputSource::Data(block)),
            output: Column::Each(outputs.collect::<Option<_>>()?),
            key: Column::Each(keys.into()),
            ..Records::default()
        };
        self.accelerator.records().run(BatchTask::encrypt(alg).shape(), &records).ok()
    }

    /// Judges the weakness of a key.
    ///
    /// A legacy wrap of one half twice would make single DES of a triple-DES key, so no policy accepts that.
    fn judge_weakness(&self, key: &[u8], rule: WeakKeyRule) -> Result<Option<KeyWeakness>, Status> {
        let found = weakness(self.key_type, key);
        let is_legacy = matches!(self.wrap, KeyWrap::LegacyEcb(_) | KeyWrap::LegacyCbc(_));
        if is_legacy && found == Some(KeyWeakness::EqualParts) {
            return Err(Status::WeakKey);
        }
        rule.judge(found).map_err(|_| Status::WeakKey)
    }
}

/// The group's own slot of a record that is done.
fn done_slot(group: &GroupColumns, part: &OutcomeWriter<'_>, local: usize) -> Option<u32> {
    match group.output[local] {
        OutputSink::Slot(slot) if part.statuses[local] == Status::Done => Some(slot),
        _ => None,
    }
}

fn settle(part: &mut OutcomeWriter<'_>, local: usize, slot: u32, passed: Result<(), Status>) {
    if let Err(status) = passed {
        part.slots.clear(slot);
        part.statuses[local] = status;
    }
}

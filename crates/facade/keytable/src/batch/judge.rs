//! The check of each record, in the order of the batch: its slots, keys, IVs and places.

use std::sync::Arc;

use oarlock_core::{
    Batch, BatchTask, InputSource, IvSource, KeySource, KeyType, KeyWrap, OutputSink, Records, Span, Status,
};

use super::domain::is_large_enough;
use super::slots::{SlotClaim, SlotClaims, SlotContent, SlotKey};
use super::wave_plan::BatchRow;
use crate::table::{IvUse, KeyOperation, KeyPolicy, RightSet, TableSnapshot};

/// The length of a check value, in bytes.
pub(super) const CHECK_VALUE_LEN: usize = 3;

/// The largest growth of a result over its input: the state of SHA-3 after a part of nothing has 200 bytes.
pub(super) const MAX_GROWTH: u32 = 200;

/// Longest tag. NIST SP 800-38D 5.2.1.2.
pub(super) const MAX_TAG: u32 = 16;

/// Judges records in the order of the batch.
pub(super) struct RecordJudge<'a, 'b> {
    batch: &'b Batch<'b>,
    snapshot: &'a TableSnapshot,
    pub(super) claims: SlotClaims<'a>,
    /// True if any key's uses are counted.
    pub(super) is_counted: bool,
}

/// The rights of a record's key, and what its policy says beyond them.
struct KeyGrant<'a> {
    rights: RightSet,
    /// None for a key that the caller brings along.
    policy: Option<&'a Arc<KeyPolicy>>,
    /// The table's key, itself or what it came out of.
    root: Option<u32>,
    /// True if the caller knows the key, or could have chosen it.
    is_known: bool,
}

/// Data that everyone may read.
const OPEN: SlotContent<'static> = SlotContent::Data { is_open: true, may_translate: false };

impl<'a, 'b> RecordJudge<'a, 'b> {
    pub(super) fn new(batch: &'b Batch<'b>, snapshot: &'a TableSnapshot) -> Self {
        Self { batch, snapshot, claims: SlotClaims::new(batch.slots.len()), is_counted: false }
    }

    /// Returns the wave of a record, and whether it may run.
    ///
    /// The record takes the slots that it names in any case. If it may not run, a later record that reads them
    /// depends on a failure.
    pub(super) fn judge(&mut self, row: &BatchRow) -> (u32, Result<(), Status>) {
        let wave = self.wave(row);
        // The slots are claimed below even if the check fails. Otherwise a later record could take the slot,
        // and records that meant the first one would read the wrong secret.
        let judged = wave.and_then(|_| self.check(row));
        let written =
            [output_slot(row.output), generated_slot(row.iv_from), generated_slot(row.second_iv_from)];
        let are_free = self.are_free(written);
        let holds = judged.clone().and_then(|holds| are_free.map(|()| holds));
        let verdict = holds.as_ref().map(|_| ()).map_err(|status| *status);
        let wave = wave.unwrap_or(0);
        let [output, ivs @ ..] = written;
        if let Some(slot) = output {
            self.claims.fill(slot, SlotClaim { wave, holds: holds.unwrap_or(SlotContent::Nothing) });
        }
        for slot in ivs.into_iter().flatten() {
            let holds = match verdict {
                Ok(()) => OPEN,
                Err(_) => SlotContent::Nothing,
            };
            self.claims.fill(slot, SlotClaim { wave, holds });
        }
        (wave, verdict)
    }

    /// One more than the wave of the last record whose slot this one reads.
    fn wave(&self, row: &BatchRow) -> Result<u32, Status> {
        let key = |source, is_read: bool| match source {
            KeySource::Slot(slot) if is_read => Some(slot),
            _ => None,
        };
        let iv = |from| if let IvSource::Slot(slot) = from { Some(slot) } else { None };
        let input = if let InputSource::Slot(slot) = row.input { Some(slot) } else { None };
        let reads = [
            key(row.key, row.task.has_key()),
            key(row.second_key, row.task.has_second_key()),
            iv(row.iv_from),
            iv(row.second_iv_from),
            input,
        ];
        let mut wave = 0;
        for slot in reads.into_iter().flatten() {
            wave = wave.max(self.claims.read(slot)?.wave + 1);
        }
        Ok(wave)
    }

    /// No slot that a record writes has been written, nor does it write one twice.
    fn are_free(&self, slots: [Option<u32>; 3]) -> Result<(), Status> {
        let [first, second, third] = slots;
        let is_twice = |left: Option<u32>, right| left.is_some() && left == right;
        let is_free = slots.iter().flatten().all(|slot| self.claims.is_free(*slot));
        if is_free && !is_twice(first, second) && !is_twice(first, third) && !is_twice(second, third) {
            Ok(())
        } else {
            Err(Status::Malformed)
        }
    }

    /// Returns the content of the slot that the record fills, if it fills one.
    fn check(&mut self, row: &BatchRow) -> Result<SlotContent<'a>, Status> {
        self.check_places(row)?;
        if !is_large_enough(row.task, &self.batch.records, row.iv, row.input) {
            return Err(Status::BadLength);
        }
        if !row.task.has_key() {
            self.check_keyless_iv(row)?;
            self.check_input(row)?;
            return Ok(OPEN);
        }
        let found = self.find(row.key)?;
        self.is_counted |= !found.rights.is_uncounted(row.task.is_gcm_seal());
        if let BatchTask::UnwrapKey { wrap, key } = row.task {
            return self.check_unwrapping(row, &found, wrap, key);
        }
        self.check_iv(row, found.rights)?;
        if row.task.has_second_key() {
            return self.check_translation(row, &found);
        }
        if row.second_iv_from != IvSource::Given {
            return Err(Status::Malformed);
        }
        self.check_rights(row, &found)
    }

    /// Checks a translation.
    ///
    /// A caller who knows one of the keys knows the plaintext. The other key must then allow a plain encryption or
    /// decryption.
    fn check_translation(&mut self, row: &BatchRow, first: &KeyGrant<'a>) -> Result<SlotContent<'a>, Status> {
        let second = self.find(row.second_key)?;
        self.is_counted |= !second.rights.is_uncounted(false);
        let unless = |needed: RightSet, is_known, operation| {
            if is_known { needed.doing_instead(operation) } else { needed }
        };
        let from = unless(RightSet::needed(row.task), second.is_known, KeyOperation::Decrypt);
        let to = unless(RightSet::needed_second(row.task), first.is_known, KeyOperation::Encrypt);
        allow(first.rights, from)?;
        allow(second.rights, to.and(RightSet::needed_to_encrypt(row.second_iv_from, IvUse::Chain)))?;
        self.check_input(row)?;
        self.check_generated(row.second_iv_from, row.task.second_iv_len())?;
        self.check_iv_slot(row.second_iv_from)?;
        Ok(OPEN)
    }

    fn find(&self, source: KeySource) -> Result<KeyGrant<'a>, Status> {
        match source {
            KeySource::Slot(slot) => {
                let SlotKey { rights, policy, root, is_known, .. } = *self.claims.key(slot)?;
                Ok(KeyGrant { rights, policy, root, is_known })
            }
            KeySource::Table(index) if index >= Batch::FIRST_OUTSIDE => {
                let position = (index - Batch::FIRST_OUTSIDE) as usize;
                let is_there = position < self.batch.records.keys.len();
                let callers =
                    KeyGrant { rights: RightSet::CALLERS, policy: None, root: None, is_known: true };
                is_there.then_some(callers).ok_or(Status::UnknownKey)
            }
            KeySource::Table(index) => {
                let entry = self.snapshot.entry(index).ok_or(Status::UnknownKey)?;
                let rights = self.snapshot.rights[index as usize];
                Ok(KeyGrant { rights, policy: Some(&entry.policy), root: Some(index), is_known: false })
            }
        }
    }

    /// Checks the rights that the record needs for its input and its output.
    fn check_rights(&self, row: &BatchRow, found: &KeyGrant<'a>) -> Result<SlotContent<'a>, Status> {
        let (rights, needed) = (found.rights, RightSet::needed(row.task));
        if let InputSource::Slot(slot) = row.input {
            match &self.claims.read(slot)?.holds {
                // A key leaves under its own right to be exported, under any wrapping key.
                SlotContent::Key(key) if row.task.is_wrapping() => return check_export(key, found, needed),
                SlotContent::Data { is_open, may_translate } if row.task.encrypts() => {
                    let translates = needed.doing_instead(KeyOperation::TranslateTo);
                    // A caller who knows this key could decrypt what the other key hid. So a known key gets
                    // open data only.
                    let may_as_translation = *may_translate && !found.is_known && rights.has(translates);
                    let may = may_as_translation || (*is_open && rights.has(needed));
                    return if may { Ok(OPEN) } else { Err(first_refusal(rights, needed)) };
                }
                _ => self.check_input(row)?,
            }
        }
        if row.task.decrypts() && matches!(row.output, OutputSink::Slot(_)) {
            let is_open = rights.has(needed);
            let translates = needed.doing_instead(KeyOperation::TranslateFrom);
            let may_translate = !found.is_known && rights.has(translates);
            let may = is_open || may_translate;
            let holds = SlotContent::Data { is_open, may_translate };
            return if may { Ok(holds) } else { Err(first_refusal(rights, needed)) };
        }
        allow(rights, needed).map(|()| OPEN)
    }

    /// Keys in slots are no data, nor is plaintext that may only be translated.
    fn check_input(&self, row: &BatchRow) -> Result<(), Status> {
        let InputSource::Slot(slot) = row.input else { return Ok(()) };
        match &self.claims.read(slot)?.holds {
            SlotContent::Nothing => Err(Status::DependencyFailed),
            SlotContent::Data { is_open: true, .. } => Ok(()),
            SlotContent::Data { is_open: false, .. } => Err(Status::Forbidden),
            SlotContent::Key(_) => Err(Status::Forbidden),
        }
    }

    fn check_iv(&self, row: &BatchRow, rights: RightSet) -> Result<(), Status> {
        let Some(len) = row.task.iv_len() else {
            return if row.iv_from == IvSource::Given { Ok(()) } else { Err(Status::Malformed) };
        };
        let needed = if row.task.encrypts() {
            RightSet::needed_to_encrypt(row.iv_from, IvUse::for_task(row.task))
        } else if matches!(row.iv_from, IvSource::Generated(_)) {
            // The IV of a decryption exists already. A new one would decrypt to noise.
            return Err(Status::Malformed);
        } else {
            RightSet::needed_to_decrypt(row.iv_from, IvUse::for_task(row.task))
        };
        allow(rights, needed)?;
        self.check_generated(row.iv_from, Some(len))?;
        self.check_iv_slot(row.iv_from)
    }

    fn check_keyless_iv(&self, row: &BatchRow) -> Result<(), Status> {
        match (row.iv_from, row.second_iv_from) {
            (IvSource::Given, IvSource::Given) => Ok(()),
            (IvSource::Slot(_), IvSource::Given) if row.task.iv_len().is_some() => {
                self.check_iv_slot(row.iv_from)
            }
            _ => Err(Status::Malformed),
        }
    }

    fn check_iv_slot(&self, from: IvSource) -> Result<(), Status> {
        let IvSource::Slot(slot) = from else { return Ok(()) };
        match self.claims.read(slot)?.holds {
            SlotContent::Nothing => Err(Status::DependencyFailed),
            SlotContent::Data { is_open: true, .. } => Ok(()),
            _ => Err(Status::Forbidden),
        }
    }

    /// The place of an IV that the accelerator makes.
    fn check_generated(&self, from: IvSource, len: Option<usize>) -> Result<(), Status> {
        let len = len.ok_or(Status::Malformed)?;
        match from {
            IvSource::Generated(OutputSink::Output(span)) if span.len as usize != len => {
                Err(Status::BadLength)
            }
            IvSource::Generated(OutputSink::Output(span)) => self.in_output(span),
            IvSource::Generated(OutputSink::Slot(slot)) => match self.batch.slots.get(slot as usize) {
                Some(capacity) if *capacity as usize >= len => Ok(()),
                Some(_) => Err(Status::BadLength),
                None => Err(Status::Malformed),
            },
            _ => Ok(()),
        }
    }

    fn check_unwrapping(
        &self,
        row: &BatchRow,
        found: &KeyGrant<'a>,
        wrap: KeyWrap,
        key_type: KeyType,
    ) -> Result<SlotContent<'a>, Status> {
        allow(found.rights, RightSet::needed(row.task))?;
        if !matches!(row.output, OutputSink::Slot(_))
            || (row.iv_from, row.second_iv_from) != (IvSource::Given, IvSource::Given)
        {
            return Err(Status::Malformed);
        }
        self.check_input(row)?;
        row.tag.slice(&self.batch.records.data).ok_or(Status::Malformed)?;
        self.check_wrap(row, wrap, key_type)?;
        // The master's policy must name the type. Otherwise anyone who can wrap would choose the rights of
        // what comes out.
        let policy = match found.policy {
            Some(policy) => Some(policy.of_unwrapped(key_type).ok_or(Status::Forbidden)?),
            None => None,
        };
        Ok(SlotContent::Key(SlotKey {
            rights: policy
                .map_or(RightSet::callers_of(key_type), |policy| RightSet::compile(key_type, policy)),
            policy,
            root: found.root,
            // A caller who wraps bytes under the same key unwraps a key that he knows.
            is_known: found.is_known || found.rights.has(RightSet::to(KeyOperation::WrapInClear)),
            uses_left: policy.and_then(|policy| policy.max_uses).unwrap_or(u64::MAX),
        }))
    }

    /// Legacy wraps carry whole keys of the DES family, with a check value.
    fn check_wrap(&self, row: &BatchRow, wrap: KeyWrap, key_type: KeyType) -> Result<(), Status> {
        let check_value_len = row.tag.len as usize;
        match wrap {
            KeyWrap::Aes(_) if check_value_len == 0 => Ok(()),
            // The check value of an HMAC key is not defined: there is no block cipher to encrypt zeros with.
            KeyWrap::Aes(_) if key_type.cipher().is_none() => Err(Status::Malformed),
            KeyWrap::LegacyEcb(alg) | KeyWrap::LegacyCbc(alg)
                if alg.block_len() != 8 || !key_type.is_des_family() =>
            {
                Err(Status::Malformed)
            }
            _ if check_value_len != CHECK_VALUE_LEN => Err(Status::BadLength),
            KeyWrap::Aes(_) => Ok(()),
            _ => match row.input {
                InputSource::Data(span) if !key_type.takes_len(span.len as usize) => Err(Status::BadLength),
                _ => Ok(()),
            },
        }
    }

    /// Checks that given spans lie in the caller's data, without the IVs behind it. Outputs must lie within the output
    /// and must not be longer than any result.
    fn check_places(&self, row: &BatchRow) -> Result<(), Status> {
        let aad = if row.aad.is_absent() { Span::default() } else { row.aad };
        let given = [row.iv, row.second_iv, aad, if row.task.is_open() { row.tag } else { Span::default() }];
        if given.iter().any(|span| span.slice(&self.batch.records.data).is_none()) {
            return Err(Status::Malformed);
        }
        let input_len = match row.input {
            InputSource::Data(span) => span.slice(&self.batch.records.data).ok_or(Status::Malformed)?.len(),
            InputSource::Slot(slot) => {
                *self.batch.slots.get(slot as usize).ok_or(Status::Malformed)? as usize
            }
        };
        match row.output {
            OutputSink::Slot(slot) if (slot as usize) < self.batch.slots.len() => {}
            OutputSink::Slot(_) => return Err(Status::Malformed),
            OutputSink::Output(span) => {
                self.in_output(span)?;
                // Many records may name one long span, and a group has memory for each of them. The bound
                // keeps that memory in proportion to the input.
                if span.len as usize > input_len.saturating_add(MAX_GROWTH as usize) {
                    return Err(Status::BadLength);
                }
            }
        }
        if row.task.is_seal() {
            self.in_output(row.tag)?;
            if row.tag.len > MAX_TAG {
                return Err(Status::BadLength);
            }
        }
        Ok(())
    }

    fn in_output(&self, span: Span) -> Result<(), Status> {
        if is_in_output(&self.batch.records, span) { Ok(()) } else { Err(Status::Malformed) }
    }
}

/// True if a span lies within the output.
#[inline]
pub(super) fn is_in_output(records: &Records<'_>, span: Span) -> bool {
    span.range().end <= records.output_len
}

fn output_slot(sink: OutputSink) -> Option<u32> {
    if let OutputSink::Slot(slot) = sink { Some(slot) } else { None }
}

fn generated_slot(from: IvSource) -> Option<u32> {
    if let IvSource::Generated(OutputSink::Slot(slot)) = from { Some(slot) } else { None }
}

/// Checks the export of a key: the key must allow it, and the wrapping key must wrap keys and be unknown to the
/// caller.
fn check_export<'a>(
    key: &SlotKey<'_>,
    under: &KeyGrant<'_>,
    needed: RightSet,
) -> Result<SlotContent<'a>, Status> {
    allow(under.rights, needed.doing_instead(KeyOperation::Wrap))?;
    // A caller who knows the wrapping key unwraps the exported key at home.
    let may_leave = key.rights.has(RightSet::to(KeyOperation::Export));
    let would_be_shown = under.is_known && key.policy.is_some();
    if may_leave && !would_be_shown { Ok(OPEN) } else { Err(Status::Forbidden) }
}

fn allow(rights: RightSet, needed: RightSet) -> Result<(), Status> {
    if rights.has(needed) { Ok(()) } else { Err(rights.refusal(needed)) }
}

/// Returns the reason of a refusal if both of two rights are missing: the lack of the first, else that the policy
/// forbids it.
fn first_refusal(rights: RightSet, needed: RightSet) -> Status {
    match rights.refusal(needed) {
        Status::Done => Status::Forbidden,
        status => status,
    }
}

//! Records under secret keys: read from a batch and checked, and written back as its outcomes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::rand;
use oarlock::engine_api::HeldOutcomes;
use oarlock::{
    AeadAlg, BlockCipher, CipherMode, Direction, InputSource, JobError, KeyHome, KeySource, MacAlg, Outcomes,
    OutputSink, Shape, Span, Status,
};
use oarlock_keytable::{Batch, BatchTask, IvSource, KeyType, MAX_HELD_BYTES, MAX_HELD_RECORDS, MIN_MAC_LEN};
use zeroize::Zeroizing;

use crate::HsmError;
use crate::secret_call::{CBC_IV_LEN, GCM_IV_LEN, SecretCall, SecretOperation, mac};

/// Bytes of the tags that AES-GCM makes. A shorter place takes the leading ones. NIST SP 800-38D 7.1.
const TAG_LEN: usize = 16;

/// A record of a batch, with the bytes that it names.
#[derive(Clone, Copy)]
pub(crate) struct HeldRecord<'b> {
    pub(crate) task: BatchTask,
    /// The name of the key.
    pub(crate) key: &'b Arc<str>,
    /// The type of key that the task needs.
    key_type: KeyType,
    kind: SecretTask,
    pub(crate) iv: RecordIv<'b>,
    pub(crate) aad: &'b [u8],
    pub(crate) input: &'b [u8],
    /// The tag to compare.
    pub(crate) tag: &'b [u8],
    spans: HeldSpans,
}

#[derive(Clone, Copy)]
enum SecretTask {
    Cbc(Direction),
    Gcm(Direction),
    Mac(MacAlg),
}

/// The IV of a record.
#[derive(Clone, Copy)]
pub(crate) enum RecordIv<'b> {
    Given(&'b [u8]),
    Zero,
    /// Drawn when the record is computed.
    Random,
    /// The task has none.
    None,
}

/// The places of a record's results in the output.
#[derive(Clone, Copy)]
struct HeldSpans {
    output: Span,
    /// The place of a tag that the record makes.
    tag: Span,
    /// The place of an IV that is drawn.
    iv: Span,
}

/// The results of a record.
#[derive(Debug)]
pub(crate) struct HeldResult {
    /// The IV that was drawn; empty for none.
    pub(crate) iv: Vec<u8>,
    /// The ciphertext with the whole tag behind it, the plaintext, or the whole authentication code.
    pub(crate) output: Zeroizing<Vec<u8>>,
}

/// The status of a record that failed, and the reason if the status does not tell it.
#[derive(Clone, Debug)]
pub(crate) struct RecordFault {
    pub(crate) status: Status,
    pub(crate) error: Option<Arc<JobError>>,
}

impl From<Status> for RecordFault {
    fn from(status: Status) -> Self {
        Self { status, error: None }
    }
}

impl RecordFault {
    /// Returns the fault of an error at the holder `holder`.
    pub(crate) fn of_error(error: HsmError, holder: &str) -> Self {
        let status = match &error {
            HsmError::Job(JobError::Rejected) => return Status::Rejected.into(),
            HsmError::Job(JobError::Unsupported { .. }) | HsmError::Mechanism { .. } => Status::Unsupported,
            HsmError::NotAllowed { .. } => Status::Forbidden,
            HsmError::KeyType { .. } => Status::WrongKeyType,
            // The token alone knows why, such as a key that is too short for the mechanism.
            HsmError::Refused { .. } => Status::BadKey,
            HsmError::Job(JobError::HolderRefused { .. }) => Status::UnknownKey,
            error if error.is_refusal() => Status::UnknownKey,
            _ => Status::EngineFailed,
        };
        Self { status, error: Some(Arc::new(error.into_job_error(holder))) }
    }

    /// Returns the fault of a task that no device does.
    fn unsupported(task: BatchTask, with: &str) -> Self {
        let wanted = format!("{task} with {with} in a device");
        Self { status: Status::Unsupported, error: Some(Arc::new(JobError::Unsupported { wanted })) }
    }
}

/// Reads the records of a batch. A bad record fails alone.
///
/// # Errors
/// A column does not cover the records, or the batch is larger than a holder takes.
pub(crate) fn read_batch<'b>(
    batch: &'b Batch<'_>,
) -> Result<Vec<Result<HeldRecord<'b>, RecordFault>>, JobError> {
    let records = &batch.records;
    // Records may read the same bytes, and each has a copy of them and a result.
    let bytes = records.data.len().max(records.output_len).max(records.input_bytes());
    if records.len > MAX_HELD_RECORDS || bytes > MAX_HELD_BYTES {
        return Err(JobError::Malformed {
            what: "a batch at a holder has more than 16,384 records, or 15 MiB of data, of inputs or of output",
        });
    }
    if !batch.is_complete() {
        return Err(JobError::Malformed { what: "a column does not cover the records" });
    }
    Ok(rows(batch).map(|row| HeldRecord::read(batch, &row)).collect())
}

/// The maximum bytes of records that are copied at once.
const MAX_COPIED_BYTES: usize = MAX_HELD_BYTES / 2;

/// Returns the number of leading records whose data is copied at once: at least one.
pub(crate) fn copied_at_once(records: &[&HeldRecord<'_>]) -> usize {
    let mut bytes = 0_usize;
    let does_fit = |record: &&&HeldRecord<'_>| {
        bytes = bytes.saturating_add(record.input.len() + record.aad.len());
        bytes <= MAX_COPIED_BYTES
    };
    records.iter().take_while(does_fit).count().max(1)
}

/// The columns of a record.
struct HeldRow {
    task: BatchTask,
    key: KeySource,
    iv_from: IvSource,
    iv: Span,
    aad: Span,
    input: InputSource,
    output: OutputSink,
    tag: Span,
}

fn rows<'b>(batch: &'b Batch<'_>) -> impl Iterator<Item = HeldRow> + 'b {
    let records = &batch.records;
    let (mut task, mut key) = (batch.task.cursor(), records.key.cursor());
    let (mut iv_from, mut iv) = (batch.iv_from.cursor(), records.iv.cursor());
    let (mut aad, mut tag) = (records.aad.cursor(), records.tag.cursor());
    let (mut input, mut output) = (records.input.cursor(), records.output.cursor());
    std::iter::from_fn(move || {
        Some(HeldRow {
            task: task.next()?,
            key: key.next()?,
            iv_from: iv_from.next()?,
            iv: iv.next()?,
            aad: aad.next()?,
            input: input.next()?,
            output: output.next()?,
            tag: tag.next()?,
        })
    })
    .take(records.len)
}

impl<'b> HeldRecord<'b> {
    fn read(batch: &'b Batch<'_>, row: &HeldRow) -> Result<Self, RecordFault> {
        let task = row.task;
        let slots = || RecordFault::unsupported(task, "slots and a key");
        let (kind, key_type) = kind_of(task).ok_or_else(|| RecordFault::unsupported(task, "a key"))?;
        let KeySource::Table(key) = row.key else { return Err(slots()) };
        let key = match batch.records.keys.get(key as usize).map(oarlock::Key::home) {
            Some(KeyHome::Held { reference, .. }) => reference,
            _ => return Err(Status::UnknownKey.into()),
        };
        let (InputSource::Data(input), OutputSink::Output(output)) = (row.input, row.output) else {
            return Err(slots());
        };
        let (iv, iv_span) = match kind {
            SecretTask::Cbc(_) => Self::read_iv(batch, row, CBC_IV_LEN)?,
            SecretTask::Gcm(_) => Self::read_iv(batch, row, GCM_IV_LEN)?,
            SecretTask::Mac(_) => (RecordIv::None, Span::default()),
        };
        let bytes = |span: Span| span.slice(&batch.records.data).ok_or(Status::Malformed);
        let is_gcm = matches!(kind, SecretTask::Gcm(_));
        let record = Self {
            task,
            key,
            key_type,
            kind,
            iv,
            aad: if is_gcm && !row.aad.is_absent() { bytes(row.aad)? } else { &[] },
            input: bytes(input)?,
            tag: if task.is_open() { bytes(row.tag)? } else { &[] },
            spans: HeldSpans {
                output,
                tag: if task.is_seal() { row.tag } else { Span::default() },
                iv: iv_span,
            },
        };
        record.check_lengths(batch.records.output_len)?;
        Ok(record)
    }

    fn check_lengths(&self, output_len: usize) -> Result<(), Status> {
        let HeldSpans { output, tag, iv } = self.spans;
        if [output, tag, iv].iter().any(|span| span.range().end > output_len) {
            return Err(Status::Malformed);
        }
        let len = output.len as usize;
        let tags = AeadAlg::Aes128Gcm.tag_lens();
        let does_fit = match self.kind {
            SecretTask::Cbc(_) => self.input.len().is_multiple_of(CBC_IV_LEN) && len == self.input.len(),
            SecretTask::Gcm(Direction::Encrypt) => {
                tags.contains(&(tag.len as usize)) && len == self.input.len()
            }
            SecretTask::Gcm(Direction::Decrypt) => tags.contains(&self.tag.len()) && len == self.input.len(),
            SecretTask::Mac(alg) => (MIN_MAC_LEN..=alg.tag_len()).contains(&len),
        };
        if does_fit { Ok(()) } else { Err(Status::BadLength) }
    }

    /// Returns the IV and the place of one that is drawn.
    fn read_iv(batch: &'b Batch<'_>, row: &HeldRow, len: usize) -> Result<(RecordIv<'b>, Span), RecordFault> {
        match row.iv_from {
            IvSource::Given => {
                let iv = row.iv.slice(&batch.records.data).ok_or(Status::Malformed)?;
                if iv.len() == len {
                    Ok((RecordIv::Given(iv), Span::default()))
                } else {
                    Err(Status::BadLength.into())
                }
            }
            // An IV of GCM that repeats reveals the key of its tags. NIST SP 800-38D appendix A.
            IvSource::Zero if row.task.is_gcm_seal() => Err(Status::IvForbidden.into()),
            IvSource::Zero => Ok((RecordIv::Zero, Span::default())),
            // Nobody here knows the key.
            IvSource::KeyItself => Err(Status::IvForbidden.into()),
            // The IV of a decryption exists already.
            IvSource::Generated(_) if !row.task.encrypts() => Err(Status::Malformed.into()),
            IvSource::Generated(OutputSink::Output(span)) if span.len as usize == len => {
                Ok((RecordIv::Random, span))
            }
            IvSource::Generated(OutputSink::Output(_)) => Err(Status::BadLength.into()),
            IvSource::Generated(OutputSink::Slot(_)) | IvSource::Slot(_) => {
                Err(RecordFault::unsupported(row.task, "slots and a key"))
            }
        }
    }

    /// Returns the call of the record, with the IV that was drawn for it.
    pub(crate) fn call(&self, drawn: &DrawnIvs) -> Result<(SecretCall, Vec<u8>), RecordFault> {
        let (operation, iv) = match self.kind {
            SecretTask::Cbc(direction) => {
                let (iv, made) = self.make_iv(drawn)?;
                (SecretOperation::Cbc { direction, iv }, made)
            }
            SecretTask::Gcm(direction) => {
                let (iv, made) = self.make_iv(drawn)?;
                let tag_len = if direction == Direction::Encrypt { TAG_LEN } else { self.tag.len() };
                (SecretOperation::Gcm { direction, iv, aad: self.aad.to_vec(), tag_len }, made)
            }
            SecretTask::Mac(alg) => (SecretOperation::Mac(alg), Vec::new()),
        };
        // At full size from the start: memory that grows would leave copies of plaintexts behind.
        let mut input = Zeroizing::new(Vec::with_capacity(self.input.len() + self.tag.len()));
        input.extend_from_slice(self.input);
        input.extend_from_slice(self.tag);
        let is_iv_chosen = matches!(self.iv, RecordIv::Given(_) | RecordIv::Zero);
        let key = Arc::clone(self.key);
        Ok((SecretCall { key, key_type: self.key_type, operation, is_iv_chosen, input }, iv))
    }

    fn make_iv<const LEN: usize>(&self, drawn: &DrawnIvs) -> Result<([u8; LEN], Vec<u8>), RecordFault> {
        let mut iv = [0; LEN];
        match self.iv {
            RecordIv::Given(given) => iv = given.try_into().map_err(|_| Status::BadLength)?,
            RecordIv::Zero | RecordIv::None => {}
            RecordIv::Random => {
                if self.task.is_gcm_seal() && !drawn.take(self.key) {
                    return Err(Status::KeyUsedUp.into());
                }
                rand::fill(&mut iv).map_err(|_| Status::NoIv)?;
                return Ok((iv, iv.to_vec()));
            }
        }
        Ok((iv, Vec::new()))
    }
}

/// Returns what a task does, and the type of key that it needs. `None` if no device does it.
fn kind_of(task: BatchTask) -> Option<(SecretTask, KeyType)> {
    let BatchTask::Do(shape) = task else { return None };
    match shape {
        Shape::Cipher { alg: alg @ (BlockCipher::Aes128 | BlockCipher::Aes256), mode, direction } => {
            let is_cbc = mode == CipherMode::Cbc;
            KeyType::for_cipher(alg).filter(|_| is_cbc).map(|key_type| (SecretTask::Cbc(direction), key_type))
        }
        Shape::Aead { alg: alg @ (AeadAlg::Aes128Gcm | AeadAlg::Aes256Gcm), direction } => {
            KeyType::for_aead(alg).map(|key_type| (SecretTask::Gcm(direction), key_type))
        }
        Shape::Mac { alg } => mac(alg).map(|_| (SecretTask::Mac(alg), KeyType::for_mac(alg))),
        _ => None,
    }
}

/// Writes the results of the records of a batch, in their order.
pub(crate) fn write_batch(
    batch: &Batch<'_>,
    records: &[Result<HeldRecord<'_>, RecordFault>],
    results: impl IntoIterator<Item = Result<HeldResult, RecordFault>>,
) -> HeldOutcomes {
    let mut held = HeldOutcomes { outcomes: Outcomes::default(), refusals: Vec::new() };
    held.outcomes.reset_mixed(batch.records.len, batch.records.output_len);
    let part = held.outcomes.part_mut(0);
    for (index, (record, result)) in records.iter().zip(results).enumerate() {
        let written = match (record, result) {
            (Err(fault), _) => Err(fault.clone()),
            (_, Err(fault)) => Err(fault),
            (Ok(record), Ok(result)) => record.spans.write(part.output, &result).map_err(Into::into),
        };
        part.statuses[index] = match written {
            Ok(()) => Status::Done,
            Err(RecordFault { status, error }) => {
                held.refusals.extend(error.map(|error| (index as u32, error)));
                status
            }
        };
    }
    held
}

impl HeldSpans {
    fn write(&self, output: &mut [u8], result: &HeldResult) -> Result<(), Status> {
        let mut put = |span: Span, bytes: &[u8]| {
            let bytes = bytes.get(..span.len as usize).ok_or(Status::EngineFailed)?;
            span.slice_mut(output).ok_or(Status::Malformed)?.copy_from_slice(bytes);
            Ok(())
        };
        put(self.output, &result.output)?;
        put(self.iv, &result.iv)?;
        match self.tag.len {
            0 => Ok(()),
            _ => put(self.tag, result.output.get(self.output.len as usize..).unwrap_or_default()),
        }
    }

    /// Returns the results at these places of an output.
    fn read(&self, output: &[u8]) -> Option<HeldResult> {
        let (body, tag) = (self.output.slice(output)?, self.tag.slice(output)?);
        let mut whole = Zeroizing::new(Vec::with_capacity(body.len() + tag.len()));
        whole.extend_from_slice(body);
        whole.extend_from_slice(tag);
        Some(HeldResult { iv: self.iv.slice(output)?.to_vec(), output: whole })
    }
}

/// Reads the results of a batch that another holder has computed.
pub(crate) fn read_outcomes(
    batch: &Batch<'_>,
    held: &HeldOutcomes,
) -> Result<Vec<Result<HeldResult, RecordFault>>, JobError> {
    let records = read_batch(batch)?;
    let mut refusals = held.refusals.iter().peekable();
    let mut reason_of = |index: usize| {
        refusals.next_if(|(refused, _)| *refused as usize == index).map(|(_, error)| Arc::clone(error))
    };
    let results = records.iter().zip(held.outcomes.statuses()).enumerate();
    let results = results.map(|(index, (record, status))| match (record, *status) {
        (Ok(record), Status::Done) => {
            record.spans.read(held.outcomes.bytes()).ok_or_else(|| Status::EngineFailed.into())
        }
        (_, status) => Err(RecordFault { status, error: reason_of(index) }),
    });
    Ok(results.collect())
}

/// The number of random IVs for AES-GCM that this process has drawn for each key. A token does not count them.
#[derive(Debug, Default)]
pub(crate) struct DrawnIvs(Mutex<HashMap<Arc<str>, u64>>);

/// The maximum number of random IVs of a key. NIST SP 800-38D 8.3.
const MAX_RANDOM_GCM: u64 = 1 << 32;

impl DrawnIvs {
    /// Counts one more. Returns false if the key has had as many as it may.
    fn take(&self, key: &Arc<str>) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(Arc::clone(key)).or_default();
        *count += 1;
        *count <= MAX_RANDOM_GCM
    }
}

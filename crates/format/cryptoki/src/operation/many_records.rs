//! Many operations in one call: jobs in full batches, and records as columns.

use std::borrow::Cow;

use oarlock::{Accelerator, Column, InputSource, Key, Outcomes, OutputSink, Records, Shape, Span, Status};
use zeroize::Zeroizing;

use super::cipher::{CipherDirection, CipherOperation};
use super::cipher_method::CipherMethod;
use super::compute::{ComputedBytes, PlannedJob, SecretRecords, compare_mac, compare_message};
use super::failure::{FailureRule, to_return_code};
use super::mac::MacRule;
use super::many::{AnswerBytes, AnswerSpans, EqualSpans, ManyAnswers, ManyInputs, ManyIvs, ManySpans};
use super::padding::{BLOCK, unpadded_len};
use super::pieces::WholeMessage;
use super::record::{CipherBatch, check_status, plan_blocks};
use super::rsa::{self, BareRsa};
use super::signature::SignatureOperation;
use crate::constants::ReturnCode;
use crate::deep_stack::on_deep_stack;

/// Signs many messages, or computes many MACs.
pub(crate) fn sign_many(
    accelerator: &Accelerator,
    operation: &SignatureOperation,
    inputs: ManyInputs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    if let Some(mac) = operation.mac() {
        return compute_macs(accelerator, operation.key(), mac, inputs);
    }
    if operation.is_job() {
        return run_signature_jobs(accelerator, operation, inputs, None);
    }
    let messages = (0..inputs.len()).map(|index| {
        let message = inputs.get(index).ok_or(ReturnCode::ArgumentsBad)?;
        operation.check_bare_len(message)?;
        Ok(message)
    });
    let signed =
        rsa::operate_many(accelerator, BareRsa::Private, operation.key(), messages, FailureRule::SIGN)?;
    Ok(collect_bare(&signed))
}

fn compute_macs(
    accelerator: &Accelerator,
    key: &Key,
    mac: MacRule,
    inputs: ManyInputs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    let len = mac.alg.tag_len();
    let shape = Shape::Mac { alg: mac.alg };
    let column = RecordColumn::new(inputs, 0, |_| len)?;
    let mut answers = column.run(accelerator, shape, key, Cow::Borrowed(inputs.data), FailureRule::SIGN)?;
    // An engine computes whole codes, and a shorter code is the start of the whole one.
    answers.cut(mac.len);
    Ok(answers)
}

/// Verifies many signatures or MACs.
pub(crate) fn verify_many(
    accelerator: &Accelerator,
    operation: &SignatureOperation,
    inputs: ManyInputs<'_>,
    signatures: ManyInputs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    if inputs.len() != signatures.len() {
        return Err(ReturnCode::ArgumentsBad);
    }
    if operation.is_job() {
        return run_signature_jobs(accelerator, operation, inputs, Some(signatures));
    }
    let signature = |index| {
        let signature = signatures.get(index).ok_or(ReturnCode::ArgumentsBad)?;
        operation.check_signature_len(signature)?;
        Ok::<_, ReturnCode>(signature)
    };
    let verified: Vec<Result<(), ReturnCode>> = if let Some(mac) = operation.mac() {
        let macs = compute_macs(accelerator, operation.key(), mac, inputs)?;
        let verify = |(index, mac): (usize, Result<&[u8], ReturnCode>)| compare_mac(mac?, signature(index)?);
        macs.iter().enumerate().map(verify).collect()
    } else {
        let all = (0..inputs.len()).map(signature);
        let rule = FailureRule::VERIFY;
        let recovered = rsa::operate_many(accelerator, BareRsa::Public, operation.key(), all, rule)?;
        let verify = |(index, found)| {
            let message = inputs.get(index).ok_or(ReturnCode::ArgumentsBad)?;
            operation.check_bare_len(message)?;
            compare_message(found, message)
        };
        recovered.into_iter().enumerate().map(verify).collect()
    };
    let answers = verified.into_iter().map(|answer| answer.map(|()| (0, 0))).collect();
    Ok(ManyAnswers::of_bytes(Zeroizing::default(), answers))
}

/// Encrypts or decrypts many inputs.
pub(crate) fn cipher_many(
    accelerator: &Accelerator,
    operation: &CipherOperation,
    inputs: ManyInputs<'_>,
    ivs: ManyIvs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    let ivs = RecordIvs::new(operation, ivs, inputs.len())?;
    let Some(shape) = operation.shape() else { return rsa_many(accelerator, operation, inputs) };
    let has_equal_blocks = matches!(inputs.spans, ManySpans::Stride { len: BLOCK, .. });
    match operation.method() {
        CipherMethod::Cbc { is_padded: false, .. } => {
            run_columns(accelerator, shape, operation, inputs, ivs.all, ivs.column(BLOCK)?)
        }
        CipherMethod::Ecb(_) if has_equal_blocks => {
            let first = Span::new(0, BLOCK).ok_or(ReturnCode::ArgumentsBad)?;
            run_columns(accelerator, shape, operation, inputs, &[0; BLOCK], Column::One(first))
        }
        CipherMethod::Ecb(_) => ecb_many(accelerator, shape, operation, inputs),
        _ => record_many(accelerator, shape, operation, inputs, ivs),
    }
}

/// Computes records whose inputs and IVs lie as the caller gave them, without an own copy of each.
fn run_columns(
    accelerator: &Accelerator,
    shape: Shape,
    operation: &CipherOperation,
    inputs: ManyInputs<'_>,
    ivs: &[u8],
    iv_column: Column<'static, Span>,
) -> Result<ManyAnswers, ReturnCode> {
    let mut column = RecordColumn::new(inputs, ivs.len(), |len| len)?;
    column.iv = iv_column;
    // One buffer has the IVs and the inputs: a record names both by offsets into it.
    let data = Cow::Owned([ivs, inputs.data].concat());
    column.run(accelerator, shape, operation.key(), data, operation.rule())
}

/// Computes inputs that need a padding, associated data or a tag: one record each, all in one batch.
fn record_many(
    accelerator: &Accelerator,
    shape: Shape,
    operation: &CipherOperation,
    inputs: ManyInputs<'_>,
    ivs: RecordIvs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    let records = (0..inputs.len()).map(|index| {
        let data = inputs.get(index).ok_or(ReturnCode::ArgumentsBad)?;
        operation.record(ivs.get(index).ok_or(ReturnCode::ArgumentsBad)?, data)
    });
    let bytes = records.clone().flatten().map(|record| record.input_bytes()).sum();
    let mut batch = CipherBatch::new(shape, operation.rule(), inputs.len(), bytes);
    records.for_each(|record| batch.push(record));
    let answers = batch.run(accelerator, operation.key())?;
    Ok(if operation.removes_padding() { answers.map_lens(unpadded_len) } else { answers })
}

/// Computes the blocks of all inputs together.
fn ecb_many(
    accelerator: &Accelerator,
    shape: Shape,
    operation: &CipherOperation,
    inputs: ManyInputs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    let rule = operation.rule();
    let pieces = (0..inputs.len()).map(|index| {
        let data = inputs.get(index).ok_or(ReturnCode::ArgumentsBad)?;
        if data.len().is_multiple_of(BLOCK) { Ok(data) } else { Err(rule.length) }
    });
    let all = Zeroizing::new(pieces.clone().flatten().collect::<Vec<_>>().concat());
    let bytes = plan_blocks(shape, operation.key(), &all, rule)?.run(accelerator)?;
    // Inputs with errors have added no blocks, so they do not move the start.
    let mut start = 0;
    let answers = pieces.map(|piece| {
        let len = piece?.len();
        start += len;
        Ok((start - len, len))
    });
    Ok(ManyAnswers::of_bytes(bytes, answers.collect()))
}

fn rsa_many(
    accelerator: &Accelerator,
    operation: &CipherOperation,
    inputs: ManyInputs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    let Some(bare) = operation.bare_rsa() else {
        let jobs =
            (0..inputs.len()).map(|index| operation.job(inputs.get(index).ok_or(ReturnCode::ArgumentsBad)?));
        return run_jobs(accelerator, &jobs.collect::<Vec<_>>(), operation.rule());
    };
    let integers = (0..inputs.len()).map(|index| {
        let data = inputs.get(index).ok_or(ReturnCode::ArgumentsBad)?;
        operation.rsa_input(data)
    });
    let results = rsa::operate_many(accelerator, bare, operation.key(), integers, operation.rule())?;
    Ok(collect_bare(&results))
}

/// The IVs of many operations, side by side.
#[derive(Clone, Copy)]
struct RecordIvs<'a> {
    all: &'a [u8],
    len: usize,
    /// True if all operations have the same.
    is_shared: bool,
}

impl<'a> RecordIvs<'a> {
    /// Checks the IVs of `count` operations.
    ///
    /// # Errors
    /// [`ReturnCode::MechanismParamInvalid`] if they do not fit, or if one would be used for several encryptions.
    fn new(operation: &'a CipherOperation, given: ManyIvs<'a>, count: usize) -> Result<Self, ReturnCode> {
        let is_encryption = operation.direction() == CipherDirection::Encrypt;
        let shared = operation.iv();
        let len = shared.len();
        match given {
            ManyIvs::Each(all) if len > 0 && Some(all.len()) == len.checked_mul(count) => {
                Ok(Self { all, len, is_shared: false })
            }
            ManyIvs::Each(_) => Err(ReturnCode::MechanismParamInvalid),
            // The same IV twice under one key reveals the messages, and in GCM the key of the tags.
            ManyIvs::Mechanism if is_encryption && operation.needs_fresh_iv() && count > 1 => {
                Err(ReturnCode::MechanismParamInvalid)
            }
            ManyIvs::Mechanism => Ok(Self { all: shared, len, is_shared: true }),
        }
    }

    fn get(&self, index: usize) -> Option<&'a [u8]> {
        let start = if self.is_shared { 0 } else { index.checked_mul(self.len)? };
        self.all.get(start..start.checked_add(self.len)?)
    }

    /// Returns the column of IVs at the start of a buffer.
    fn column(&self, len: usize) -> Result<Column<'static, Span>, ReturnCode> {
        let first = Span::new(0, len).ok_or(ReturnCode::ArgumentsBad)?;
        Ok(if self.is_shared { Column::One(first) } else { Column::Stride { first, stride: first.len } })
    }
}

/// Inputs and outputs of records.
struct RecordColumn {
    len: usize,
    iv: Column<'static, Span>,
    input: Column<'static, InputSource>,
    output: Column<'static, OutputSink>,
    output_len: usize,
    outputs: RecordOutputs,
}

/// The spans of the outputs of records.
enum RecordOutputs {
    Equal(EqualSpans),
    Each {
        outputs: Vec<Span>,
        /// The indices of inputs that are not in the buffer.
        outside: Vec<usize>,
    },
}

impl RecordColumn {
    /// Makes the records of inputs that stand behind `shift` other bytes.
    ///
    /// # Errors
    /// [`ReturnCode::ArgumentsBad`] for more than 4 GiB.
    fn new(
        inputs: ManyInputs<'_>,
        shift: usize,
        output_len: impl Fn(usize) -> usize,
    ) -> Result<Self, ReturnCode> {
        match inputs.spans {
            ManySpans::Stride { count, len, stride } => {
                let last = count.checked_sub(1).and_then(|last| inputs.span(last));
                match (last, u32::try_from(stride)) {
                    // All others are before the last one.
                    (Some((start, _)), Ok(stride)) => {
                        Self::equal((count, len, stride), shift, shift + start, output_len(len))
                    }
                    _ => Self::each(inputs, shift, output_len),
                }
            }
            ManySpans::Offsets(_) => Self::each(inputs, shift, output_len),
        }
    }

    /// Makes records without a list of their spans.
    fn equal(
        (count, len, stride): (usize, usize, u32),
        first: usize,
        last: usize,
        output_len: usize,
    ) -> Result<Self, ReturnCode> {
        let too_many = ReturnCode::ArgumentsBad;
        // Spans have 32 bits. If the last input fits into them, all inputs do.
        Span::new(last, len).ok_or(too_many)?;
        let all = count.checked_mul(output_len).ok_or(too_many)?;
        let (input, output) = (Span::new(first, len), Span::new(0, output_len));
        let (input, output) = (input.ok_or(too_many)?, output.ok_or(too_many)?);
        Span::new(0, all).ok_or(too_many)?;
        Ok(Self {
            len: count,
            iv: Column::One(Span::default()),
            input: Column::Stride { first: InputSource::Data(input), stride },
            output: Column::Stride { first: OutputSink::Output(output), stride: output.len },
            output_len: all,
            outputs: RecordOutputs::Equal(EqualSpans { count, len: output_len, stride: output_len }),
        })
    }

    fn each(
        inputs: ManyInputs<'_>,
        shift: usize,
        output_len: impl Fn(usize) -> usize,
    ) -> Result<Self, ReturnCode> {
        let too_many = ReturnCode::ArgumentsBad;
        let (mut sources, mut outputs) = (Vec::with_capacity(inputs.len()), Vec::with_capacity(inputs.len()));
        let (mut outside, mut end) = (Vec::new(), 0);
        for index in 0..inputs.len() {
            let found = inputs.span(index);
            if found.is_none() {
                outside.push(index);
            }
            // An input outside of the buffer becomes an empty record, so that indices stay. `answers` replaces its
            // result.
            let (start, len) = found.unwrap_or_default();
            let out = output_len(len);
            sources.push(InputSource::Data(Span::new(shift + start, len).ok_or(too_many)?));
            outputs.push(Span::new(end, out).ok_or(too_many)?);
            end += out;
        }
        let sinks: Vec<_> = outputs.iter().map(|span| OutputSink::Output(*span)).collect();
        Ok(Self {
            len: sources.len(),
            iv: Column::One(Span::default()),
            // `from` finds out if all are as long and lie side by side, which engines compute faster.
            input: Column::from(sources),
            output: Column::from(sinks),
            output_len: end,
            outputs: RecordOutputs::Each { outputs, outside },
        })
    }

    fn run(
        self,
        accelerator: &Accelerator,
        shape: Shape,
        key: &Key,
        data: Cow<'_, [u8]>,
        rule: FailureRule,
    ) -> Result<ManyAnswers, ReturnCode> {
        let records = SecretRecords(Records {
            len: self.len,
            keys: Cow::Borrowed(std::slice::from_ref(key)),
            data,
            output_len: self.output_len,
            iv: self.iv,
            input: self.input,
            output: self.output,
            ..Records::default()
        });
        let outcomes =
            accelerator.records().run(shape, &records.0).map_err(|error| to_return_code(&error, rule))?;
        let spans = self.outputs.answers(&outcomes, shape, rule);
        Ok(ManyAnswers::new(AnswerBytes::Outcomes(outcomes), spans))
    }
}

impl RecordOutputs {
    fn answers(&self, outcomes: &Outcomes, shape: Shape, rule: FailureRule) -> AnswerSpans {
        let statuses = outcomes.statuses();
        match self {
            Self::Equal(spans) if statuses.iter().all(|status| *status == Status::Done) => {
                AnswerSpans::Equal(*spans)
            }
            Self::Equal(spans) => {
                let answer = |(index, status): (usize, &Status)| {
                    check_status(*status, shape, rule).map(|()| (index * spans.stride, spans.len))
                };
                AnswerSpans::Each(statuses.iter().enumerate().map(answer).collect())
            }
            Self::Each { outputs, outside } => {
                let answer = |(status, span): (&Status, &Span)| {
                    check_status(*status, shape, rule).map(|()| (span.start as usize, span.len as usize))
                };
                let mut answers: Vec<_> = statuses.iter().zip(outputs).map(answer).collect();
                for index in outside {
                    if let Some(answer) = answers.get_mut(*index) {
                        *answer = Err(ReturnCode::ArgumentsBad);
                    }
                }
                AnswerSpans::Each(answers)
            }
        }
    }
}

fn run_signature_jobs(
    accelerator: &Accelerator,
    operation: &SignatureOperation,
    inputs: ManyInputs<'_>,
    signatures: Option<ManyInputs<'_>>,
) -> Result<ManyAnswers, ReturnCode> {
    let jobs = (0..inputs.len()).map(|index| {
        let message = WholeMessage::Lent(inputs.get(index).ok_or(ReturnCode::ArgumentsBad)?);
        let mut job = operation.job(message, &[], signatures.is_none())?;
        if let Some(signatures) = &signatures {
            job.second = signatures.get(index).ok_or(ReturnCode::ArgumentsBad)?;
            operation.check_signature_len(job.second)?;
        }
        Ok(job)
    });
    let rule = if signatures.is_none() { FailureRule::SIGN } else { FailureRule::VERIFY };
    run_jobs(accelerator, &jobs.collect::<Vec<_>>(), rule)
}

/// Runs jobs together. One that is an error stays one.
fn run_jobs(
    accelerator: &Accelerator,
    planned: &[Result<PlannedJob<'_>, ReturnCode>],
    rule: FailureRule,
) -> Result<ManyAnswers, ReturnCode> {
    let jobs: Vec<_> = planned.iter().flatten().map(PlannedJob::as_job).collect();
    let run = || accelerator.run_all(&jobs);
    // All jobs of one call have one mechanism.
    let is_deep = planned.iter().flatten().any(PlannedJob::is_deep);
    let answers = if is_deep { on_deep_stack(run)? } else { run() };
    let mut results = answers.iter().map(|answer| answer.map_err(|error| to_return_code(&error, rule)));
    let results = planned.iter().map(|planned| {
        planned.as_ref().map_err(|code| *code)?;
        results.next().unwrap_or(Err(ReturnCode::GeneralError))
    });
    Ok(collect_answers(results.collect()))
}

/// Puts results side by side.
fn collect_answers(results: Vec<Result<&[u8], ReturnCode>>) -> ManyAnswers {
    let total = results.iter().flatten().map(|bytes| bytes.len()).sum();
    // Never grows, so that no copy stays behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(total));
    let spans = results.into_iter().map(|result| {
        let (start, result) = (bytes.len(), result?);
        bytes.extend_from_slice(result);
        Ok((start, result.len()))
    });
    let spans = spans.collect();
    ManyAnswers::of_bytes(bytes, spans)
}

/// Returns the results of bare operations of RSA.
fn collect_bare(results: &[ComputedBytes]) -> ManyAnswers {
    let all = results.iter().map(|result| result.as_deref().map(Vec::as_slice).map_err(|code| *code));
    collect_answers(all.collect())
}

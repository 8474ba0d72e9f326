//! Many operations in one call: jobs in full batches, and records as columns over the caller's buffer.

use std::borrow::Cow;

use oarlock::{
    Accelerator, Answers, CipherMode, Column, Direction, InputSource, Job, Key, Outcomes, OutputSink,
    Records, Shape, Span,
};
use zeroize::Zeroizing;

use super::cipher::{CipherDirection, CipherMethod, CipherOperation};
use super::failure::{FailureRule, to_return_code};
use super::many::{ManyAnswers, ManyInputs, ManyIvs, ManySpans};
use super::padding::BLOCK;
use super::record::check_status;
use super::signature::{JobInput, SignatureOperation, SigningStep};
use crate::constants::ReturnCode;

/// Signs many messages, or computes many MACs.
pub(crate) fn sign_many(
    accelerator: &Accelerator,
    operation: &mut SignatureOperation,
    inputs: ManyInputs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    if let Some(mac) = operation.mac() {
        let len = mac.alg.tag_len();
        let shape = Shape::Mac { alg: mac.alg };
        let column = RecordColumn::new(inputs, |_| len)?;
        let mut answers = column.run(accelerator, shape, operation.key(), inputs.data, FailureRule::SIGN)?;
        for answer in answers.answers.iter_mut().flatten() {
            answer.1 = mac.len;
        }
        return Ok(answers);
    }
    if !operation.is_job() {
        return Ok(one_by_one(inputs, |message| operation.sign(accelerator, SigningStep::Whole(message))));
    }
    run_jobs(accelerator, operation, inputs, None)
}

/// Verifies many signatures or MACs.
pub(crate) fn verify_many(
    accelerator: &Accelerator,
    operation: &mut SignatureOperation,
    inputs: ManyInputs<'_>,
    signatures: ManyInputs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    if inputs.len() != signatures.len() {
        return Err(ReturnCode::ArgumentsBad);
    }
    if operation.is_job() {
        return run_jobs(accelerator, operation, inputs, Some(signatures));
    }
    let mut index = 0;
    Ok(one_by_one(inputs, |message| {
        let signature = signatures.get(index).ok_or(ReturnCode::ArgumentsBad);
        index += 1;
        operation.verify(accelerator, SigningStep::Whole(message), signature?)?;
        Ok(Zeroizing::default())
    }))
}

/// Encrypts or decrypts many inputs.
pub(crate) fn cipher_many(
    accelerator: &Accelerator,
    operation: &CipherOperation,
    direction: CipherDirection,
    inputs: ManyInputs<'_>,
    ivs: ManyIvs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    let own_iv: Option<Cow<'_, [u8]>> = match operation.method() {
        CipherMethod::Cbc { iv, is_padded: false, .. } => Some(Cow::Borrowed(iv)),
        CipherMethod::Ecb(_) => Some(Cow::Borrowed(&[0; BLOCK])),
        _ => None,
    };
    let has_equal_blocks = match (operation.method(), inputs.spans) {
        (CipherMethod::Ecb(_), ManySpans::Stride { len, .. }) => len == BLOCK,
        (CipherMethod::Ecb(_), ManySpans::Offsets(_)) => false,
        _ => true,
    };
    match (operation.method(), own_iv) {
        (CipherMethod::Cbc { alg, .. } | CipherMethod::Ecb(alg), Some(own_iv)) if has_equal_blocks => {
            let shape_direction = match direction {
                CipherDirection::Encrypt => Direction::Encrypt,
                CipherDirection::Decrypt => Direction::Decrypt,
            };
            let shape = Shape::Cipher { alg: *alg, mode: CipherMode::Cbc, direction: shape_direction };
            let (iv_data, iv_column) = iv_column(&own_iv, ivs, inputs.len())?;
            let mut column = RecordColumn::new(inputs, |len| len)?;
            column.iv = iv_column;
            column.shift(iv_data.len())?;
            // One buffer has the IVs and the inputs: a record names both by offsets into it.
            let data = Zeroizing::new([iv_data, inputs.data].concat());
            column.run(accelerator, shape, operation.key(), &data, operation.failure_rule())
        }
        _ => each_with_iv(accelerator, operation, direction, inputs, ivs),
    }
}

/// Computes the inputs one by one, each with an IV of its own.
fn each_with_iv(
    accelerator: &Accelerator,
    operation: &CipherOperation,
    direction: CipherDirection,
    inputs: ManyInputs<'_>,
    ivs: ManyIvs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    let iv_len = operation.iv_len();
    let all = match ivs {
        ManyIvs::Each(all) if iv_len > 0 && all.len() == iv_len * inputs.len() => all,
        ManyIvs::Each(_) => return Err(ReturnCode::MechanismParamInvalid),
        // The same IV twice under one key reveals the messages, and in GCM the key of the tags.
        ManyIvs::Mechanism
            if direction == CipherDirection::Encrypt && operation.needs_fresh_iv() && inputs.len() > 1 =>
        {
            return Err(ReturnCode::MechanismParamInvalid);
        }
        ManyIvs::Mechanism => return Ok(one_by_one(inputs, |data| operation.whole(accelerator, data))),
    };
    let mut places = all.chunks_exact(iv_len);
    Ok(one_by_one(inputs, |data| {
        let iv = places.next().ok_or(ReturnCode::ArgumentsBad)?;
        operation.with_iv(iv)?.whole(accelerator, data)
    }))
}

/// Returns the bytes of the IVs and their column.
fn iv_column<'a>(
    own: &'a [u8],
    ivs: ManyIvs<'a>,
    count: usize,
) -> Result<(&'a [u8], Column<'static, Span>), ReturnCode> {
    let first = Span::new(0, own.len()).ok_or(ReturnCode::ArgumentsBad)?;
    match ivs {
        ManyIvs::Mechanism => Ok((own, Column::One(first))),
        ManyIvs::Each(all) if all.len() == count * own.len() => {
            Ok((all, Column::Stride { first, stride: first.len }))
        }
        ManyIvs::Each(_) => Err(ReturnCode::MechanismParamInvalid),
    }
}

/// The places of inputs and outputs of records.
struct RecordColumn {
    iv: Column<'static, Span>,
    inputs: Vec<Span>,
    outputs: Vec<Span>,
    output_len: usize,
    /// The indices of inputs that are not in the buffer.
    outside: Vec<usize>,
}

impl RecordColumn {
    fn new(inputs: ManyInputs<'_>, output_len: impl Fn(usize) -> usize) -> Result<Self, ReturnCode> {
        let too_many = ReturnCode::ArgumentsBad;
        let mut column = Self {
            iv: Column::One(Span::default()),
            inputs: Vec::with_capacity(inputs.len()),
            outputs: Vec::with_capacity(inputs.len()),
            output_len: 0,
            outside: Vec::new(),
        };
        for index in 0..inputs.len() {
            let found = inputs.span(index);
            if found.is_none() {
                column.outside.push(index);
            }
            let (start, len) = found.unwrap_or_default();
            let out = output_len(len);
            column.inputs.push(Span::new(start, len).ok_or(too_many)?);
            column.outputs.push(Span::new(column.output_len, out).ok_or(too_many)?);
            column.output_len += out;
        }
        Ok(column)
    }

    /// Moves all inputs behind `by` other bytes.
    fn shift(&mut self, by: usize) -> Result<(), ReturnCode> {
        for span in &mut self.inputs {
            *span = Span::new(span.start as usize + by, span.len as usize).ok_or(ReturnCode::ArgumentsBad)?;
        }
        Ok(())
    }

    fn run(
        self,
        accelerator: &Accelerator,
        shape: Shape,
        key: &Key,
        data: &[u8],
        rule: FailureRule,
    ) -> Result<ManyAnswers, ReturnCode> {
        let inputs: Vec<_> = self.inputs.iter().map(|span| InputSource::Data(*span)).collect();
        let outputs: Vec<_> = self.outputs.iter().map(|span| OutputSink::Output(*span)).collect();
        let records = Records {
            len: inputs.len(),
            keys: Cow::Borrowed(std::slice::from_ref(key)),
            data: Cow::Borrowed(data),
            output_len: self.output_len,
            iv: self.iv,
            // `from` finds out that all are as long and lie side by side, which engines compute faster.
            input: Column::from(inputs),
            output: Column::from(outputs),
            ..Records::default()
        };
        let outcomes =
            accelerator.run_records(shape, &records).map_err(|error| to_return_code(&error, rule))?;
        Ok(collect(&outcomes, &self.outputs, &self.outside, shape, rule))
    }
}

fn collect(
    outcomes: &Outcomes,
    outputs: &[Span],
    outside: &[usize],
    shape: Shape,
    rule: FailureRule,
) -> ManyAnswers {
    let answer = |(status, span): (&oarlock::Status, &Span)| {
        check_status(*status, shape, rule).map(|()| (span.start as usize, span.len as usize))
    };
    let mut answers: Vec<_> = outcomes.statuses().iter().zip(outputs).map(answer).collect();
    for index in outside {
        if let Some(answer) = answers.get_mut(*index) {
            *answer = Err(ReturnCode::ArgumentsBad);
        }
    }
    ManyAnswers { bytes: Zeroizing::new(outcomes.bytes().to_vec()), answers }
}

fn one_by_one(
    inputs: ManyInputs<'_>,
    mut compute: impl FnMut(&[u8]) -> Result<Zeroizing<Vec<u8>>, ReturnCode>,
) -> ManyAnswers {
    let results: Vec<_> =
        (0..inputs.len()).map(|index| compute(inputs.get(index).ok_or(ReturnCode::ArgumentsBad)?)).collect();
    let total = results.iter().flatten().map(|bytes| bytes.len()).sum();
    // Never grows, so that no copy stays behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(total));
    let answers = results.into_iter().map(|result| {
        let start = bytes.len();
        result.map(|result| {
            bytes.extend_from_slice(&result);
            (start, result.len())
        })
    });
    let answers = answers.collect();
    ManyAnswers { bytes, answers }
}

fn run_jobs(
    accelerator: &Accelerator,
    operation: &SignatureOperation,
    inputs: ManyInputs<'_>,
    signatures: Option<ManyInputs<'_>>,
) -> Result<ManyAnswers, ReturnCode> {
    let is_signing = signatures.is_none();
    let rule = if is_signing { FailureRule::SIGN } else { FailureRule::VERIFY };
    let shaped: Vec<Result<JobInput<'_>, ReturnCode>> = (0..inputs.len())
        .map(|index| operation.job_input(inputs.get(index).ok_or(ReturnCode::ArgumentsBad)?))
        .collect();
    let mut answers: Vec<Result<(usize, usize), ReturnCode>> = Vec::with_capacity(shaped.len());
    let mut jobs: Vec<Job<'_>> = Vec::with_capacity(shaped.len());
    for (index, input) in shaped.iter().enumerate() {
        let job = input.as_ref().map_err(|code| *code).and_then(|input| {
            let signature = match &signatures {
                None => &[][..],
                Some(signatures) => signatures.get(index).ok_or(ReturnCode::ArgumentsBad)?,
            };
            if !is_signing && signature.len() != operation.len() {
                return Err(ReturnCode::SignatureLenRange);
            }
            operation.job(input, signature, is_signing)
        });
        answers.push(job.map(|job| {
            jobs.push(job);
            (0, 0)
        }));
    }
    let results = accelerator.run_all(&jobs);
    Ok(place(answers, &results, rule))
}

/// Puts the results of the jobs into the places of the inputs that had one.
fn place(
    mut answers: Vec<Result<(usize, usize), ReturnCode>>,
    results: &Answers,
    rule: FailureRule,
) -> ManyAnswers {
    let total = results.iter().flatten().map(<[u8]>::len).sum();
    let mut bytes = Zeroizing::new(Vec::with_capacity(total));
    let mut results = results.iter();
    for answer in answers.iter_mut().filter(|answer| answer.is_ok()) {
        *answer = match results.next() {
            Some(Ok(result)) => {
                let start = bytes.len();
                bytes.extend_from_slice(result);
                Ok((start, result.len()))
            }
            Some(Err(error)) => Err(to_return_code(&error, rule)),
            None => Err(ReturnCode::GeneralError),
        };
    }
    ManyAnswers { bytes, answers }
}

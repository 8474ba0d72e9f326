//! Many operations in one call: jobs in full batches, and records as columns.

use std::borrow::Cow;

use oarlock::engine_api::erase;
use oarlock::{
    Accelerator, Column, InputSource, Job, Key, Outcomes, OutputSink, Records, Shape, Span, Status,
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::cipher::{CipherDirection, CipherOperation};
use super::cipher_method::CipherMethod;
use super::compute::ComputeRoute;
use super::failure::{FailureRule, to_return_code};
use super::mac::MacRule;
use super::many::{AnswerBytes, AnswerPlaces, EqualPlaces, ManyAnswers, ManyInputs, ManyIvs, ManySpans};
use super::padding::BLOCK;
use super::record::{CipherBatch, check_status, run_blocks};
use super::rsa::{self, BareRsa};
use super::signature::{JobInput, SignatureOperation, check_recovered};
use crate::constants::ReturnCode;

/// Signs many messages, or computes many MACs.
pub(crate) async fn sign_many(
    route: ComputeRoute<'_>,
    operation: &SignatureOperation,
    inputs: ManyInputs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    if let Some(mac) = operation.mac() {
        return compute_macs(route, operation.key(), mac, inputs).await;
    }
    if operation.is_job() {
        return run_jobs(route.accelerator(), operation, inputs, None);
    }
    let messages = (0..inputs.len()).map(|index| {
        let message = inputs.get(index).ok_or(ReturnCode::ArgumentsBad)?;
        operation.check_bare_len(message)?;
        Ok(message)
    });
    let signed =
        rsa::operate_many(route, BareRsa::Private, operation.key(), messages, FailureRule::SIGN).await?;
    Ok(collect_bare(&signed))
}

async fn compute_macs(
    route: ComputeRoute<'_>,
    key: &Key,
    mac: MacRule,
    inputs: ManyInputs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    let len = mac.alg.tag_len();
    let shape = Shape::Mac { alg: mac.alg };
    let column = RecordColumn::new(inputs, 0, |_| len)?;
    let mut answers = column.run(route, shape, key, inputs.data, FailureRule::SIGN).await?;
    answers.cut(mac.len);
    Ok(answers)
}

/// Verifies many signatures or MACs.
pub(crate) async fn verify_many(
    route: ComputeRoute<'_>,
    operation: &SignatureOperation,
    inputs: ManyInputs<'_>,
    signatures: ManyInputs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    if inputs.len() != signatures.len() {
        return Err(ReturnCode::ArgumentsBad);
    }
    if operation.is_job() {
        return run_jobs(route.accelerator(), operation, inputs, Some(signatures));
    }
    let signature = |index| {
        let signature = signatures.get(index).ok_or(ReturnCode::ArgumentsBad)?;
        operation.check_signature_len(signature)?;
        Ok::<_, ReturnCode>(signature)
    };
    let verified: Vec<Result<(), ReturnCode>> = if let Some(mac) = operation.mac() {
        let macs = compute_macs(route, operation.key(), mac, inputs).await?;
        let verify = |(index, mac): (usize, Result<&[u8], ReturnCode>)| {
            let is_equal = mac?.ct_eq(signature(index)?);
            if bool::from(is_equal) { Ok(()) } else { Err(ReturnCode::SignatureInvalid) }
        };
        macs.iter().enumerate().map(verify).collect()
    } else {
        let all = (0..inputs.len()).map(signature);
        let rule = FailureRule::VERIFY;
        let recovered = rsa::operate_many(route, BareRsa::Public, operation.key(), all, rule).await?;
        let verify = |(index, found)| {
            let message = inputs.get(index).ok_or(ReturnCode::ArgumentsBad)?;
            operation.check_bare_len(message)?;
            check_recovered(found, message)
        };
        recovered.into_iter().enumerate().map(verify).collect()
    };
    let answers = verified.into_iter().map(|answer| answer.map(|()| (0, 0))).collect();
    Ok(ManyAnswers::of_bytes(Zeroizing::default(), answers))
}

/// Encrypts or decrypts many inputs.
pub(crate) async fn cipher_many(
    route: ComputeRoute<'_>,
    operation: &CipherOperation,
    inputs: ManyInputs<'_>,
    ivs: ManyIvs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    let own_iv = operation.iv();
    let ivs = RecordIvs::new(operation, &own_iv, ivs, inputs.len())?;
    let Some(shape) = operation.shape() else { return rsa_many(route, operation, inputs).await };
    let has_equal_blocks = matches!(inputs.spans, ManySpans::Stride { len: BLOCK, .. });
    match operation.method() {
        CipherMethod::Cbc { is_padded: false, .. } => {
            run_columns(route, shape, operation, inputs, ivs.all, ivs.column(BLOCK)?).await
        }
        CipherMethod::Ecb(_) if has_equal_blocks => {
            let first = Span::new(0, BLOCK).ok_or(ReturnCode::ArgumentsBad)?;
            run_columns(route, shape, operation, inputs, &[0; BLOCK], Column::One(first)).await
        }
        CipherMethod::Ecb(_) => ecb_many(route, shape, operation, inputs).await,
        _ => record_many(route, shape, operation, inputs, ivs).await,
    }
}

/// Computes records whose inputs and IVs lie as the caller gave them, without an own copy of each.
async fn run_columns(
    route: ComputeRoute<'_>,
    shape: Shape,
    operation: &CipherOperation,
    inputs: ManyInputs<'_>,
    ivs: &[u8],
    iv_column: Column<'static, Span>,
) -> Result<ManyAnswers, ReturnCode> {
    let mut column = RecordColumn::new(inputs, ivs.len(), |len| len)?;
    column.iv = iv_column;
    // One buffer has the IVs and the inputs: a record names both by offsets into it.
    let data = ErasedBytes([ivs, inputs.data].concat());
    column.run(route, shape, operation.key(), &data.0, operation.rule()).await
}

/// Computes inputs that need a padding, associated data or a tag: one record each, all in one batch.
async fn record_many(
    route: ComputeRoute<'_>,
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
    let answers = batch.run(route, operation.key()).await?;
    Ok(answers.map_lens(|output| operation.unpadded_len(output)))
}

/// Computes the blocks of all inputs together.
async fn ecb_many(
    route: ComputeRoute<'_>,
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
    let bytes = run_blocks(route, shape, operation.key(), &all, rule).await?;
    let mut start = 0;
    let answers = pieces.map(|piece| {
        let len = piece?.len();
        start += len;
        Ok((start - len, len))
    });
    Ok(ManyAnswers::of_bytes(bytes, answers.collect()))
}

async fn rsa_many(
    route: ComputeRoute<'_>,
    operation: &CipherOperation,
    inputs: ManyInputs<'_>,
) -> Result<ManyAnswers, ReturnCode> {
    let Some(bare) = operation.bare_rsa() else {
        return Ok(run_decryption_jobs(route.accelerator(), operation, inputs));
    };
    let integers = (0..inputs.len()).map(|index| {
        let data = inputs.get(index).ok_or(ReturnCode::ArgumentsBad)?;
        operation.rsa_input(data)
    });
    let results = rsa::operate_many(route, bare, operation.key(), integers, operation.rule()).await?;
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
    fn new(
        operation: &CipherOperation,
        own: &'a [u8],
        given: ManyIvs<'a>,
        count: usize,
    ) -> Result<Self, ReturnCode> {
        let is_encryption = operation.direction() == CipherDirection::Encrypt;
        let len = own.len();
        match given {
            ManyIvs::Each(all) if len > 0 && Some(all.len()) == len.checked_mul(count) => {
                Ok(Self { all, len, is_shared: false })
            }
            ManyIvs::Each(_) => Err(ReturnCode::MechanismParamInvalid),
            // The same IV twice under one key reveals the messages, and in GCM the key of the tags.
            ManyIvs::Mechanism if is_encryption && operation.needs_fresh_iv() && count > 1 => {
                Err(ReturnCode::MechanismParamInvalid)
            }
            ManyIvs::Mechanism => Ok(Self { all: own, len, is_shared: true }),
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
    places: RecordOutputs,
}

/// The places of the outputs of records.
enum RecordOutputs {
    Equal(EqualPlaces),
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

    /// Makes records without a list of their places.
    fn equal(
        (count, len, stride): (usize, usize, u32),
        first: usize,
        last: usize,
        output_len: usize,
    ) -> Result<Self, ReturnCode> {
        let too_many = ReturnCode::ArgumentsBad;
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
            places: RecordOutputs::Equal(EqualPlaces { count, len: output_len, stride: output_len }),
        })
    }

    fn each(
        inputs: ManyInputs<'_>,
        shift: usize,
        output_len: impl Fn(usize) -> usize,
    ) -> Result<Self, ReturnCode> {
        let too_many = ReturnCode::ArgumentsBad;
        let (mut places, mut outputs) = (Vec::with_capacity(inputs.len()), Vec::with_capacity(inputs.len()));
        let (mut outside, mut end) = (Vec::new(), 0);
        for index in 0..inputs.len() {
            let found = inputs.span(index);
            if found.is_none() {
                outside.push(index);
            }
            let (start, len) = found.unwrap_or_default();
            let out = output_len(len);
            places.push(InputSource::Data(Span::new(shift + start, len).ok_or(too_many)?));
            outputs.push(Span::new(end, out).ok_or(too_many)?);
            end += out;
        }
        let sinks: Vec<_> = outputs.iter().map(|span| OutputSink::Output(*span)).collect();
        Ok(Self {
            len: places.len(),
            iv: Column::One(Span::default()),
            // `from` finds out if all are as long and lie side by side, which engines compute faster.
            input: Column::from(places),
            output: Column::from(sinks),
            output_len: end,
            places: RecordOutputs::Each { outputs, outside },
        })
    }

    async fn run(
        self,
        route: ComputeRoute<'_>,
        shape: Shape,
        key: &Key,
        data: &[u8],
        rule: FailureRule,
    ) -> Result<ManyAnswers, ReturnCode> {
        let records = Records {
            len: self.len,
            keys: Cow::Borrowed(std::slice::from_ref(key)),
            data: Cow::Borrowed(data),
            output_len: self.output_len,
            iv: self.iv,
            input: self.input,
            output: self.output,
            ..Records::default()
        };
        let outcomes = route.records(shape, &records).await.map_err(|error| to_return_code(&error, rule))?;
        let places = self.places.answers(&outcomes, shape, rule);
        Ok(ManyAnswers::new(AnswerBytes::Outcomes(outcomes), places))
    }
}

impl RecordOutputs {
    fn answers(&self, outcomes: &Outcomes, shape: Shape, rule: FailureRule) -> AnswerPlaces {
        let statuses = outcomes.statuses();
        match self {
            Self::Equal(places) if statuses.iter().all(|status| *status == Status::Done) => {
                AnswerPlaces::Equal(*places)
            }
            Self::Equal(places) => {
                let answer = |(index, status): (usize, &Status)| {
                    check_status(*status, shape, rule).map(|()| (index * places.stride, places.len))
                };
                AnswerPlaces::Each(statuses.iter().enumerate().map(answer).collect())
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
                AnswerPlaces::Each(answers)
            }
        }
    }
}

/// Bytes that are overwritten on drop. `Zeroizing` writes byte by byte, which costs as much as the encryption.
struct ErasedBytes(Vec<u8>);

impl Drop for ErasedBytes {
    fn drop(&mut self) {
        erase(&mut self.0);
    }
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
    Ok(place(
        answers,
        results.iter().map(|result| result.map_err(|error| to_return_code(&error, rule))).collect(),
    ))
}

/// Decrypts with an RSA padding.
fn run_decryption_jobs(
    accelerator: &Accelerator,
    operation: &CipherOperation,
    inputs: ManyInputs<'_>,
) -> ManyAnswers {
    let mut jobs: Vec<Job<'_>> = Vec::with_capacity(inputs.len());
    let mut answers: Vec<Result<(usize, usize), ReturnCode>> = Vec::with_capacity(inputs.len());
    for index in 0..inputs.len() {
        let job = inputs.get(index).ok_or(ReturnCode::ArgumentsBad).and_then(|data| operation.job(data));
        answers.push(job.map(|job| {
            jobs.push(job);
            (0, 0)
        }));
    }
    let rule = operation.rule();
    let results = accelerator.run_all(&jobs);
    place(
        answers,
        results.iter().map(|result| result.map_err(|error| to_return_code(&error, rule))).collect(),
    )
}

/// Returns the results of bare operations of RSA.
fn collect_bare(results: &[Result<Zeroizing<Vec<u8>>, ReturnCode>]) -> ManyAnswers {
    let all = results.iter().map(|result| result.as_deref().map(Vec::as_slice).map_err(|code| *code));
    place(vec![Ok((0, 0)); results.len()], all.collect())
}

/// Puts results into the places of the inputs that have one.
fn place(
    mut answers: Vec<Result<(usize, usize), ReturnCode>>,
    results: Vec<Result<&[u8], ReturnCode>>,
) -> ManyAnswers {
    let total = results.iter().flatten().map(|bytes| bytes.len()).sum();
    // Never grows, so that no copy stays behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(total));
    let mut results = results.into_iter();
    for answer in answers.iter_mut().filter(|answer| answer.is_ok()) {
        *answer = results.next().unwrap_or(Err(ReturnCode::GeneralError)).map(|result| {
            let start = bytes.len();
            bytes.extend_from_slice(result);
            (start, result.len())
        });
    }
    ManyAnswers::of_bytes(bytes, answers)
}

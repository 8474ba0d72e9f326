//! Records of symmetric shapes: one, the blocks of ECB, or many.

use std::borrow::Cow;

use oarlock::{Accelerator, Column, InputSource, Key, Outcomes, OutputSink, Records, Shape, Span, Status};
use zeroize::Zeroizing;

use super::compute::Computation;
use super::failure::{FailureRule, to_return_code};
use super::many::{AnswerBytes, AnswerSpans, ManyAnswers};
use super::padding::BLOCK;
use crate::constants::ReturnCode;

/// The inputs of one record.
#[derive(Clone, Copy, Default)]
pub(crate) struct RecordInputs<'a> {
    pub(crate) iv: &'a [u8],
    pub(crate) aad: &'a [u8],
    pub(crate) input: &'a [u8],
    /// The bytes behind the input, such as its padding.
    pub(crate) suffix: &'a [u8],
    /// The tag to compare.
    pub(crate) expected_tag: &'a [u8],
    /// The bytes of the output, without the tag.
    pub(crate) output_len: usize,
    /// The bytes of the tag to make, behind the output.
    pub(crate) tag_len: usize,
}

impl RecordInputs<'_> {
    /// Returns the number of bytes of all inputs.
    pub(crate) fn input_bytes(&self) -> usize {
        self.pieces().iter().map(|piece| piece.len()).sum()
    }

    /// Returns all inputs, in the order in which they lie in the data of a record.
    fn pieces(&self) -> [&[u8]; 5] {
        // `RecordSpans::new` counts in the same order.
        [self.iv, self.aad, self.input, self.suffix, self.expected_tag]
    }
}

/// Plans one record, whose output has its tag behind it.
///
/// # Errors
/// A return code of `rule` for bad inputs.
pub(crate) fn plan_record<'a>(
    shape: Shape,
    key: &'a Key,
    inputs: &RecordInputs<'a>,
    rule: FailureRule,
) -> Result<Computation<'a>, ReturnCode> {
    // There is nothing but the input, so the caller's memory is lent and not copied.
    if inputs.input_bytes() == inputs.input.len() {
        let keys = std::slice::from_ref(key);
        return plan_bare_record(shape, keys, Cow::Borrowed(inputs.input), inputs.output_len, rule);
    }
    plan_gathered_record(shape, key, inputs, rule)
}

/// Plans a record as [`plan_record`] does, with a copy of its inputs.
pub(crate) fn plan_gathered_record<'a>(
    shape: Shape,
    key: &'a Key,
    inputs: &RecordInputs<'_>,
    rule: FailureRule,
) -> Result<Computation<'a>, ReturnCode> {
    let spans = RecordSpans::new(inputs, 0, 0).ok_or(rule.length)?;
    let records = Records {
        len: 1,
        keys: Cow::Borrowed(std::slice::from_ref(key)),
        data: Cow::Owned(inputs.pieces().concat()),
        output_len: inputs.output_len + inputs.tag_len,
        iv: Column::One(spans.iv),
        aad: Column::One(spans.aad),
        input: Column::One(InputSource::Data(spans.input)),
        output: Column::One(OutputSink::Output(spans.output)),
        tag: Column::One(spans.tag(shape)),
        ..Records::default()
    };
    Ok(Computation::records(shape, records, rule))
}

/// Plans a record that has nothing but its input: a digest, which has no key, or a MAC.
///
/// # Errors
/// The length of `rule` for 4 GiB and more.
pub(crate) fn plan_bare_record<'a>(
    shape: Shape,
    keys: &'a [Key],
    data: Cow<'a, [u8]>,
    output_len: usize,
    rule: FailureRule,
) -> Result<Computation<'a>, ReturnCode> {
    let span = |len| Span::new(0, len).ok_or(rule.length);
    let records = Records {
        len: 1,
        keys: Cow::Borrowed(keys),
        output_len,
        input: Column::One(InputSource::Data(span(data.len())?)),
        output: Column::One(OutputSink::Output(span(output_len)?)),
        data,
        ..Records::default()
    };
    Ok(Computation::records(shape, records, rule))
}

/// Plans whole blocks of one cipher, each under a zero IV, which is ECB.
///
/// # Errors
/// As [`plan_record`].
pub(crate) fn plan_blocks<'a>(
    shape: Shape,
    key: &'a Key,
    blocks: &[u8],
    rule: FailureRule,
) -> Result<Computation<'a>, ReturnCode> {
    if !blocks.len().is_multiple_of(BLOCK) {
        return Err(rule.length);
    }
    let first = |start| Span::new(start, BLOCK).ok_or(rule.length);
    let records = Records {
        len: blocks.len() / BLOCK,
        keys: Cow::Borrowed(std::slice::from_ref(key)),
        data: Cow::Owned([&[0; BLOCK], blocks].concat()),
        output_len: blocks.len(),
        iv: Column::One(first(0)?),
        input: Column::Stride { first: InputSource::Data(first(BLOCK)?), stride: BLOCK as u32 },
        output: Column::Stride { first: OutputSink::Output(first(0)?), stride: BLOCK as u32 },
        ..Records::default()
    };
    Ok(Computation::records(shape, records, rule))
}

/// Many records of one shape under one key. They are one batch.
pub(crate) struct CipherBatch {
    shape: Shape,
    rule: FailureRule,
    /// Never grows beyond its capacity, so that no copy of an input stays in freed memory.
    data: Zeroizing<Vec<u8>>,
    output_len: usize,
    records: Vec<RecordSpans>,
    /// The record of each input, or the error of an input that has none.
    indices: Vec<Result<usize, ReturnCode>>,
}

impl CipherBatch {
    /// Makes an empty batch for `count` records that have `bytes` bytes of inputs together, of every kind.
    pub(crate) fn new(shape: Shape, rule: FailureRule, count: usize, bytes: usize) -> Self {
        Self {
            shape,
            rule,
            data: Zeroizing::new(Vec::with_capacity(bytes)),
            output_len: 0,
            records: Vec::with_capacity(count),
            indices: Vec::with_capacity(count),
        }
    }

    /// Adds a record, or the error of an input that cannot be one.
    pub(crate) fn push(&mut self, inputs: Result<RecordInputs<'_>, ReturnCode>) {
        let index = inputs.and_then(|inputs| {
            // Made before the bytes are added: an input with an error leaves nothing in the batch.
            let spans = RecordSpans::new(&inputs, self.data.len(), self.output_len);
            self.records.push(spans.ok_or(self.rule.length)?);
            inputs.pieces().iter().for_each(|piece| self.data.extend_from_slice(piece));
            self.output_len += inputs.output_len + inputs.tag_len;
            Ok(self.records.len() - 1)
        });
        self.indices.push(index);
    }

    /// Computes the batch. Each answer is an output with its tag behind it.
    pub(crate) fn run(self, accelerator: &Accelerator, key: &Key) -> Result<ManyAnswers, ReturnCode> {
        let (shape, rule) = (self.shape, self.rule);
        let column = |span: fn(&RecordSpans) -> Span| self.records.iter().map(span).collect::<Vec<_>>();
        let tags: Vec<_> = self.records.iter().map(|spans| spans.tag(shape)).collect();
        let inputs: Vec<_> = self.records.iter().map(|spans| InputSource::Data(spans.input)).collect();
        let outputs: Vec<_> = self.records.iter().map(|spans| OutputSink::Output(spans.output)).collect();
        let records = Records {
            len: self.records.len(),
            keys: Cow::Borrowed(std::slice::from_ref(key)),
            data: Cow::Borrowed(&self.data),
            output_len: self.output_len,
            iv: Column::from(column(|spans| spans.iv)),
            aad: Column::from(column(|spans| spans.aad)),
            input: Column::from(inputs),
            output: Column::from(outputs),
            tag: Column::from(tags),
            ..Records::default()
        };
        let outcomes =
            accelerator.records().run(shape, &records).map_err(|error| to_return_code(&error, rule))?;
        let answers = self.indices.iter().map(|index| self.answer((*index)?, &outcomes)).collect();
        Ok(ManyAnswers::new(AnswerBytes::Outcomes(outcomes), AnswerSpans::Each(answers)))
    }

    /// Returns the offset and the length of the output of a record.
    fn answer(&self, index: usize, outcomes: &Outcomes) -> Result<(usize, usize), ReturnCode> {
        let status = outcomes.statuses().get(index).copied().unwrap_or_default();
        check_status(status, self.shape, self.rule)?;
        let spans = self.records.get(index).ok_or(ReturnCode::GeneralError)?;
        let len =
            outcomes.short_len(0, index).unwrap_or(spans.output.len as usize + spans.made_tag.len as usize);
        Ok((spans.output.start as usize, len))
    }
}

/// The spans of one record.
#[derive(Clone, Copy)]
struct RecordSpans {
    iv: Span,
    aad: Span,
    input: Span,
    expected_tag: Span,
    output: Span,
    made_tag: Span,
}

impl RecordSpans {
    /// Returns the spans of a record whose inputs begin at `start` of the data and whose output begins at
    /// `output_start`.
    fn new(inputs: &RecordInputs<'_>, start: usize, output_start: usize) -> Option<Self> {
        let mut end = start;
        let mut next = |len: usize| {
            let span = Span::new(end, len);
            end += len;
            span
        };
        Some(Self {
            iv: next(inputs.iv.len())?,
            aad: next(inputs.aad.len())?,
            // To an engine, the input and its suffix are one piece.
            input: next(inputs.input.len() + inputs.suffix.len())?,
            expected_tag: next(inputs.expected_tag.len())?,
            output: Span::new(output_start, inputs.output_len)?,
            made_tag: Span::new(output_start + inputs.output_len, inputs.tag_len)?,
        })
    }

    fn tag(&self, shape: Shape) -> Span {
        if shape.is_opening() { self.expected_tag } else { self.made_tag }
    }
}

/// Returns the return code of a status that is not done.
pub(crate) fn check_status(status: Status, shape: Shape, rule: FailureRule) -> Result<(), ReturnCode> {
    match status {
        Status::Done => Ok(()),
        Status::Rejected => Err(rule.rejection),
        Status::BadLength | Status::Malformed => Err(rule.length),
        Status::BadKey => Err(ReturnCode::KeySizeRange),
        other => {
            let code = other.error(shape).map(|error| to_return_code(&error, rule));
            Err(code.unwrap_or(ReturnCode::DeviceError))
        }
    }
}

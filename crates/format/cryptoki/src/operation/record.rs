//! Records of symmetric shapes: one, the blocks of ECB, or many.

use std::borrow::Cow;

use oarlock::{Column, DigestAlg, InputSource, Key, Outcomes, OutputSink, Records, Shape, Span, Status};
use zeroize::Zeroizing;

use super::compute::ComputeRoute;
use super::failure::{FailureRule, to_return_code};
use super::many::{AnswerBytes, AnswerPlaces, ManyAnswers};
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
        [self.iv, self.aad, self.input, self.suffix, self.expected_tag]
    }
}

/// Computes one record and returns its output and its tag.
///
/// # Errors
/// A return code of `rule` for bad inputs, [`ReturnCode::DeviceError`] if no engine could compute it.
pub(crate) async fn run_record(
    route: ComputeRoute<'_>,
    shape: Shape,
    key: &Key,
    inputs: &RecordInputs<'_>,
    rule: FailureRule,
) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let spans = RecordSpans::new(inputs, 0, 0).ok_or(rule.length)?;
    let gathered;
    let data = if inputs.input_bytes() == inputs.input.len() {
        inputs.input
    } else {
        gathered = Zeroizing::new(inputs.pieces().concat());
        &gathered[..]
    };
    let records = Records {
        len: 1,
        keys: Cow::Borrowed(std::slice::from_ref(key)),
        data: Cow::Borrowed(data),
        output_len: inputs.output_len + inputs.tag_len,
        iv: Column::One(spans.iv),
        aad: Column::One(spans.aad),
        input: Column::One(InputSource::Data(spans.input)),
        output: Column::One(OutputSink::Output(spans.output)),
        tag: Column::One(spans.tag(shape)),
        ..Records::default()
    };
    let outcomes = route.records(shape, &records).await.map_err(|error| to_return_code(&error, rule))?;
    let status = outcomes.statuses().first().copied().unwrap_or_default();
    check_status(status, shape, rule)?;
    let len = outcomes.short_len(0, 0).unwrap_or(outcomes.bytes().len());
    Ok(Zeroizing::new(outcomes.bytes().get(..len).unwrap_or_default().to_vec()))
}

/// Computes the digest of a whole message.
///
/// # Errors
/// [`ReturnCode::DeviceError`] if no engine could compute it.
pub(crate) async fn run_digest(
    route: ComputeRoute<'_>,
    alg: DigestAlg,
    message: &[u8],
) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let (shape, rule, len) = (Shape::Digest { alg }, FailureRule::SIGN, alg.output_len());
    let span = |len| Span::new(0, len).ok_or(rule.length);
    let records = Records {
        len: 1,
        data: Cow::Borrowed(message),
        output_len: len,
        input: Column::One(InputSource::Data(span(message.len())?)),
        output: Column::One(OutputSink::Output(span(len)?)),
        ..Records::default()
    };
    let outcomes = route.records(shape, &records).await.map_err(|error| to_return_code(&error, rule))?;
    check_status(outcomes.statuses().first().copied().unwrap_or_default(), shape, rule)?;
    Ok(Zeroizing::new(outcomes.bytes().to_vec()))
}

/// Computes whole blocks of one cipher, each under a zero IV, which is ECB.
///
/// # Errors
/// As [`run_record`].
pub(crate) async fn run_blocks(
    route: ComputeRoute<'_>,
    shape: Shape,
    key: &Key,
    blocks: &[u8],
    rule: FailureRule,
) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    if !blocks.len().is_multiple_of(BLOCK) {
        return Err(rule.length);
    }
    let data = Zeroizing::new([&[0; BLOCK], blocks].concat());
    let first = |start| Span::new(start, BLOCK).ok_or(rule.length);
    let records = Records {
        len: blocks.len() / BLOCK,
        keys: Cow::Borrowed(std::slice::from_ref(key)),
        data: Cow::Borrowed(&data),
        output_len: blocks.len(),
        iv: Column::One(first(0)?),
        input: Column::Stride { first: InputSource::Data(first(BLOCK)?), stride: BLOCK as u32 },
        output: Column::Stride { first: OutputSink::Output(first(0)?), stride: BLOCK as u32 },
        ..Records::default()
    };
    let outcomes = route.records(shape, &records).await.map_err(|error| to_return_code(&error, rule))?;
    outcomes.statuses().iter().try_for_each(|status| check_status(*status, shape, rule))?;
    Ok(Zeroizing::new(outcomes.bytes().to_vec()))
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
    places: Vec<Result<usize, ReturnCode>>,
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
            places: Vec::with_capacity(count),
        }
    }

    /// Adds a record, or the error of an input that cannot be one.
    pub(crate) fn push(&mut self, inputs: Result<RecordInputs<'_>, ReturnCode>) {
        let place = inputs.and_then(|inputs| {
            let spans = RecordSpans::new(&inputs, self.data.len(), self.output_len);
            self.records.push(spans.ok_or(self.rule.length)?);
            inputs.pieces().iter().for_each(|piece| self.data.extend_from_slice(piece));
            self.output_len += inputs.output_len + inputs.tag_len;
            Ok(self.records.len() - 1)
        });
        self.places.push(place);
    }

    /// Computes the batch. Each answer is an output with its tag behind it.
    pub(crate) async fn run(self, route: ComputeRoute<'_>, key: &Key) -> Result<ManyAnswers, ReturnCode> {
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
        let outcomes = route.records(shape, &records).await.map_err(|error| to_return_code(&error, rule))?;
        let answers = self.places.iter().map(|place| self.answer((*place)?, &outcomes)).collect();
        Ok(ManyAnswers::new(AnswerBytes::Outcomes(outcomes), AnswerPlaces::Each(answers)))
    }

    /// Returns the place and the length of the output of a record.
    fn answer(&self, index: usize, outcomes: &Outcomes) -> Result<(usize, usize), ReturnCode> {
        let status = outcomes.statuses().get(index).copied().unwrap_or_default();
        check_status(status, self.shape, self.rule)?;
        let spans = self.records.get(index).ok_or(ReturnCode::GeneralError)?;
        let len =
            outcomes.short_len(0, index).unwrap_or(spans.output.len as usize + spans.made_tag.len as usize);
        Ok((spans.output.start as usize, len))
    }
}

/// The places of one record.
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
    /// Returns the places of a record whose inputs begin at `start` of the data and whose output begins at
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

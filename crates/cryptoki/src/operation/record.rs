//! One record of a symmetric shape.

use std::borrow::Cow;

use oarlock::{Accelerator, Column, InputSource, Key, Outcomes, OutputSink, Records, Shape, Span, Status};
use zeroize::Zeroizing;

use super::failure::{FailureRule, to_return_code};
use crate::constants::ReturnCode;

/// The inputs of one record.
#[derive(Clone, Copy, Default)]
pub(crate) struct RecordInputs<'a> {
    pub(crate) iv: &'a [u8],
    pub(crate) aad: &'a [u8],
    pub(crate) input: &'a [u8],
    /// The tag to compare.
    pub(crate) expected_tag: &'a [u8],
    /// The bytes of the output, without the tag.
    pub(crate) output_len: usize,
    /// The bytes of the tag to make, behind the output.
    pub(crate) tag_len: usize,
}

/// Computes one record and returns its output and its tag.
///
/// # Errors
/// A return code of `rule` for bad inputs, [`ReturnCode::DeviceError`] if no engine could compute it.
pub(crate) fn run_record(
    accelerator: &Accelerator,
    shape: Shape,
    key: &Key,
    inputs: &RecordInputs<'_>,
    rule: FailureRule,
) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    let mut data = Zeroizing::new(Vec::with_capacity(
        inputs.iv.len() + inputs.aad.len() + inputs.input.len() + inputs.expected_tag.len(),
    ));
    let mut append = |bytes: &[u8]| {
        let span = Span::new(data.len(), bytes.len()).ok_or(rule.length);
        data.extend_from_slice(bytes);
        span
    };
    let (iv, aad) = (append(inputs.iv)?, append(inputs.aad)?);
    let (input, expected_tag) = (append(inputs.input)?, append(inputs.expected_tag)?);
    let output = Span::new(0, inputs.output_len).ok_or(rule.length)?;
    let made_tag = Span::new(inputs.output_len, inputs.tag_len).ok_or(rule.length)?;
    let records = Records {
        len: 1,
        keys: Cow::Borrowed(std::slice::from_ref(key)),
        data: Cow::Borrowed(&data),
        output_len: inputs.output_len + inputs.tag_len,
        iv: Column::One(iv),
        aad: Column::One(aad),
        input: Column::One(InputSource::Data(input)),
        output: Column::One(OutputSink::Output(output)),
        tag: Column::One(if shape.is_opening() { expected_tag } else { made_tag }),
        ..Records::default()
    };
    let outcomes = accelerator.run_records(shape, &records).map_err(|error| to_return_code(&error, rule))?;
    let status = outcomes.statuses().first().copied().unwrap_or_default();
    check_status(status, shape, rule)?;
    let len = outcomes.short_len(0, 0).unwrap_or(outcomes.bytes().len());
    Ok(Zeroizing::new(outcomes.bytes().get(..len).unwrap_or_default().to_vec()))
}

/// Computes whole blocks of one cipher, each under a zero IV, which is ECB.
///
/// # Errors
/// As [`run_record`].
pub(crate) fn run_blocks(
    accelerator: &Accelerator,
    shape: Shape,
    key: &Key,
    blocks: &[u8],
    rule: FailureRule,
) -> Result<Zeroizing<Vec<u8>>, ReturnCode> {
    const BLOCK: usize = 16;
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
    let outcomes = accelerator.run_records(shape, &records).map_err(|error| to_return_code(&error, rule))?;
    check_all(&outcomes, shape, rule)?;
    Ok(Zeroizing::new(outcomes.bytes().to_vec()))
}

fn check_all(outcomes: &Outcomes, shape: Shape, rule: FailureRule) -> Result<(), ReturnCode> {
    outcomes.statuses().iter().try_for_each(|status| check_status(*status, shape, rule))
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

//! Symmetric cases as columns of records.

use oarlock_core::{Column, InputSource, Key, KeySource, Outcomes, OutputSink, Records, Shape, Span, Status};
use oarlock_keys::raw;

use crate::{FileReport, JobRunner};

/// A case as a record. Its lengths may be wrong for the shape: that is part of the case.
#[derive(Clone, Debug, Default)]
pub struct RecordCase {
    /// The name of the case in its file.
    pub name: String,
    /// The key of the record.
    pub key: Vec<u8>,
    /// The second key of a translation.
    pub second_key: Vec<u8>,
    /// The IV, or the chaining state.
    pub iv: Vec<u8>,
    /// The IV of the encrypting half of a translation.
    pub second_iv: Vec<u8>,
    /// The associated data.
    pub aad: Vec<u8>,
    /// True if there is no associated data, not even an empty string.
    pub lacks_aad: bool,
    /// The input of the record.
    pub input: Vec<u8>,
    /// The size of the output buffer in bytes.
    pub output_len: usize,
    /// The tag to compare with when opening.
    pub expected_tag: Vec<u8>,
    /// The length of the tag to compute when sealing, in bytes.
    pub new_tag_len: usize,
}

/// The result of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordResult {
    /// The status of the record.
    pub status: Status,
    /// Empty unless done.
    pub output: Vec<u8>,
    /// Empty unless done.
    pub tag: Vec<u8>,
}

/// Runs cases of one shape in one call. `verdict` returns the fault in the result of the case at an index.
pub(crate) fn check_cases(
    runner: &dyn JobRunner,
    shape: Shape,
    cases: &[RecordCase],
    report: &mut FileReport,
    verdict: impl Fn(usize, &RecordResult) -> Result<(), String>,
) {
    if !runner.offers(shape) {
        return report.skip(format!("{shape} not offered"), cases.len());
    }
    let results = to_records(cases).and_then(|records| {
        let outcomes = runner.records(shape, &records).map_err(|error| error.to_string())?;
        Ok(read_results(shape, &records, outcomes))
    });
    match results {
        Err(what) => report.failures.push(format!("{shape}: {what}")),
        Ok(results) => {
            for (index, (case, result)) in cases.iter().zip(&results).enumerate() {
                report
                    .count(verdict(index, result).map_err(|what| format!("{shape}, {}: {what}", case.name)));
            }
        }
    }
}

/// Converts cases to one set of records, with a value per record in every column.
///
/// # Errors
/// The fields are too long for spans.
pub fn to_records(cases: &[RecordCase]) -> Result<Records<'static>, String> {
    let mut columns = RecordColumns::default();
    for case in cases {
        columns.push(case)?;
    }
    Ok(Records {
        len: cases.len(),
        keys: columns.keys.into(),
        data: columns.data.into(),
        output_len: columns.output_len,
        key: Column::Each(columns.key.into()),
        second_key: Column::Each(columns.second_key.into()),
        iv: Column::Each(columns.iv.into()),
        second_iv: Column::Each(columns.second_iv.into()),
        aad: Column::Each(columns.aad.into()),
        input: Column::Each(columns.input.into()),
        output: Column::Each(columns.output.into()),
        tag: Column::Each(columns.tag.into()),
        ..Records::default()
    })
}

/// Returns the result of every record.
pub fn read_results(shape: Shape, records: &Records<'_>, mut outcomes: Outcomes) -> Vec<RecordResult> {
    let short: Vec<_> = (0..records.len).map(|record| outcomes.short_len(0, record)).collect();
    let part = outcomes.part_mut(0);
    let bytes_of = |span: Span| span.slice(part.output).unwrap_or_default();
    (0..records.len)
        .map(|record| {
            let status = part.statuses[record];
            let mut result = RecordResult { status, output: Vec::new(), tag: Vec::new() };
            if status == Status::Done {
                if let Some(OutputSink::Output(span)) = records.output.get(record) {
                    result.output = bytes_of(span)[..short[record].unwrap_or(span.len as usize)].to_vec();
                }
                // When opening, the tag's span is one of the data.
                if shape.is_sealing() {
                    result.tag =
                        records.tag.get(record).map_or_else(Vec::new, |span| bytes_of(span).to_vec());
                }
            }
            result
        })
        .collect()
}

#[derive(Default)]
struct RecordColumns {
    keys: Vec<Key>,
    data: Vec<u8>,
    output_len: usize,
    key: Vec<KeySource>,
    second_key: Vec<KeySource>,
    iv: Vec<Span>,
    second_iv: Vec<Span>,
    aad: Vec<Span>,
    input: Vec<InputSource>,
    output: Vec<OutputSink>,
    tag: Vec<Span>,
}

impl RecordColumns {
    fn push(&mut self, case: &RecordCase) -> Result<(), String> {
        let (key, second_key) = (self.import(&case.key)?, self.import(&case.second_key)?);
        self.key.push(key);
        self.second_key.push(second_key);
        let [iv, second_iv, aad, input] =
            [&case.iv, &case.second_iv, &case.aad, &case.input].map(|bytes| self.store(bytes));
        self.iv.push(iv?);
        self.second_iv.push(second_iv?);
        self.aad.push(if case.lacks_aad { Span::ABSENT } else { aad? });
        self.input.push(InputSource::Data(input?));
        let output = self.reserve(case.output_len)?;
        self.output.push(OutputSink::Output(output));
        let tag = match case.new_tag_len {
            0 => self.store(&case.expected_tag)?,
            len => self.reserve(len)?,
        };
        self.tag.push(if case.new_tag_len == 0 && case.expected_tag.is_empty() {
            Span::default()
        } else {
            tag
        });
        Ok(())
    }

    fn import(&mut self, bytes: &[u8]) -> Result<KeySource, String> {
        if bytes.is_empty() {
            return Ok(KeySource::Table(0));
        }
        self.keys.push(raw::secret(bytes.to_vec()).map_err(|error| error.to_string())?);
        Ok(KeySource::Table(self.keys.len() as u32 - 1))
    }

    fn store(&mut self, bytes: &[u8]) -> Result<Span, String> {
        let span = Span::new(self.data.len(), bytes.len()).ok_or("more than 4 GiB")?;
        self.data.extend_from_slice(bytes);
        Ok(span)
    }

    fn reserve(&mut self, len: usize) -> Result<Span, String> {
        let span = Span::new(self.output_len, len).ok_or("more than 4 GiB")?;
        self.output_len += len;
        Ok(span)
    }
}

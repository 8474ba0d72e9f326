//! Symmetric cases as columns of records.

use oarlock_core::{
    Column, Direction, InputSource, Key, KeySource, Outcomes, OutputSink, Records, Shape, Span, Status,
};
use oarlock_keys::raw;

use crate::{FileReport, Unit};

/// One case as a record. Lengths are free: whether they fit is part of the case.
#[derive(Clone, Default)]
pub(crate) struct RecordCase {
    /// How the file names it.
    pub(crate) name: String,
    pub(crate) key: Vec<u8>,
    pub(crate) second_key: Vec<u8>,
    pub(crate) iv: Vec<u8>,
    pub(crate) second_iv: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    pub(crate) input: Vec<u8>,
    /// Bytes of the output's place.
    pub(crate) place_len: usize,
    /// The tag to compare when opening.
    pub(crate) given_tag: Vec<u8>,
    /// Bytes of tag to make when sealing.
    pub(crate) made_tag_len: usize,
}

/// What a record gave.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) status: Status,
    /// Empty unless done.
    pub(crate) output: Vec<u8>,
    /// Empty unless done.
    pub(crate) tag: Vec<u8>,
}

/// Runs cases of one shape in one call; `judge` says what is wrong with the answer of the case at an index.
pub(crate) fn judge(
    unit: &dyn Unit,
    shape: Shape,
    cases: &[RecordCase],
    report: &mut FileReport,
    judge: impl Fn(usize, &Given) -> Result<(), String>,
) {
    if !unit.offers(shape) {
        return report.skip(format!("{shape} not offered"), cases.len());
    }
    let given = columns(cases).and_then(|records| {
        let outcomes = unit.records(shape, &records).map_err(|error| error.to_string())?;
        Ok(read(shape, &records, outcomes))
    });
    match given {
        Err(what) => report.failures.push(format!("{shape}: {what}")),
        Ok(given) => {
            for (index, (case, given)) in cases.iter().zip(&given).enumerate() {
                report.count(judge(index, given).map_err(|what| format!("{shape}, {}: {what}", case.name)));
            }
        }
    }
}

/// The cases as one set of records, a value per record in every column.
pub(crate) fn columns(cases: &[RecordCase]) -> Result<Records<'static>, String> {
    let mut made = Columns::default();
    for case in cases {
        made.push(case)?;
    }
    Ok(Records {
        len: cases.len(),
        keys: made.keys.into(),
        data: made.data.into(),
        output_len: made.output_len,
        key: Column::Each(made.key.into()),
        second_key: Column::Each(made.second_key.into()),
        iv: Column::Each(made.iv.into()),
        second_iv: Column::Each(made.second_iv.into()),
        aad: Column::Each(made.aad.into()),
        input: Column::Each(made.input.into()),
        output: Column::Each(made.output.into()),
        tag: Column::Each(made.tag.into()),
        ..Records::default()
    })
}

/// What every record gave.
pub(crate) fn read(shape: Shape, records: &Records<'_>, mut outcomes: Outcomes) -> Vec<Given> {
    let short: Vec<_> = (0..records.len).map(|record| outcomes.short_len(0, record)).collect();
    let part = outcomes.part_mut(0);
    let place = |span: Span| span.of(part.output).unwrap_or_default();
    (0..records.len)
        .map(|record| {
            let status = part.statuses[record];
            let mut given = Given { status, output: Vec::new(), tag: Vec::new() };
            if status == Status::Done {
                if let Some(OutputSink::Output(span)) = records.output.get(record) {
                    given.output = place(span)[..short[record].unwrap_or(span.len as usize)].to_vec();
                }
                // When opening, the tag's span is one of the data.
                if matches!(shape, Shape::Aead { direction: Direction::Encrypt, .. }) {
                    given.tag = records.tag.get(record).map_or_else(Vec::new, |span| place(span).to_vec());
                }
            }
            given
        })
        .collect()
}

#[derive(Default)]
struct Columns {
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

impl Columns {
    fn push(&mut self, case: &RecordCase) -> Result<(), String> {
        let (key, second_key) = (self.import(&case.key)?, self.import(&case.second_key)?);
        self.key.push(key);
        self.second_key.push(second_key);
        let [iv, second_iv, aad, input] =
            [&case.iv, &case.second_iv, &case.aad, &case.input].map(|bytes| self.store(bytes));
        self.iv.push(iv?);
        self.second_iv.push(second_iv?);
        self.aad.push(aad?);
        self.input.push(InputSource::Data(input?));
        let output = self.reserve(case.place_len)?;
        self.output.push(OutputSink::Output(output));
        let tag = match case.made_tag_len {
            0 => self.store(&case.given_tag)?,
            len => self.reserve(len)?,
        };
        self.tag.push(if case.made_tag_len == 0 && case.given_tag.is_empty() {
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

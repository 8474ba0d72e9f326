//! The records of a call with values, and the result of each value.

use bytes::Bytes;
use oarlock::{OutputSink, Span};
use oarlock_keytable::{Batch, BatchBuilder, BatchEntry, IvSource};
use oarlock_wire::proto::{Blame, Code, Fault, RecordResults};
use oarlock_wire::records;

use crate::session::refusal;

/// The records of a call, and the record that gives the result of each value.
#[derive(Default)]
pub(super) struct ValueBatch {
    builder: BatchBuilder,
    values: Vec<Result<usize, Fault>>,
}

/// The results of a call, in the order of its values.
pub(super) struct ValueResults {
    values: Vec<Result<ValueSpans, Fault>>,
    output: Bytes,
}

/// The spans of a value's results in the output. Empty if the record has none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ValueSpans {
    iv: Span,
    result: Span,
    tag: Span,
}

impl ValueBatch {
    /// Adds the record that gives the result of the next value.
    pub(super) fn add(&mut self, entry: BatchEntry<'_>) {
        let added = self.builder.add(entry).map_err(|error| oarlock_wire::fault::fault_of(0, &error));
        self.values.push(added);
    }

    /// Adds a record before the one that gives the result of the next value.
    pub(super) fn add_step(&mut self, entry: BatchEntry<'_>) {
        // If it does not fit, the next record has no input and fails.
        let _ = self.builder.add(entry);
    }

    /// Refuses the next value.
    pub(super) fn refuse(&mut self, fault: Fault) {
        self.values.push(Err(fault));
    }

    /// Creates a slot for a result of `len` bytes.
    pub(super) fn slot(&mut self, len: usize) -> u32 {
        self.builder.slot(u32::try_from(len).unwrap_or(u32::MAX))
    }

    /// True if there is no record.
    pub(super) fn is_empty(&self) -> bool {
        self.builder.is_empty()
    }

    /// Returns the records, to compute them.
    pub(super) fn records(&mut self) -> &mut BatchBuilder {
        &mut self.builder
    }

    /// Returns the results of the values.
    pub(super) fn finish(&mut self, results: RecordResults) -> ValueResults {
        let values = self.read_results(&results);
        self.builder.clear();
        ValueResults { values, output: results.output }
    }

    fn read_results(&mut self, results: &RecordResults) -> Vec<Result<ValueSpans, Fault>> {
        let batch = self.builder.batch();
        let codes: Vec<Code> = records::codes(results, batch.records.len).into_iter().flatten().collect();
        let faults = records::faults(results, batch.records.len).ok();
        let fault_of = |record, code: Code| {
            let fault = faults.as_ref().and_then(|faults| faults(record)).cloned();
            fault.unwrap_or_else(|| refusal(code, code.as_str_name(), Blame::Peer))
        };
        let values = self.values.drain(..).map(|value| {
            let record = value?;
            match codes.get(record) {
                Some(Code::Done) => Ok(ValueSpans::from_record(&batch, record)),
                Some(code) => Err(fault_of(record, *code)),
                None => Err(refusal(Code::Failed, "the record has no result", Blame::Machine)),
            }
        });
        values.collect()
    }
}

impl ValueSpans {
    fn from_record(batch: &Batch<'_>, record: usize) -> Self {
        let result = match batch.records.output.get(record) {
            Some(OutputSink::Output(span)) => span,
            _ => Span::default(),
        };
        let iv = match batch.iv_from.get(record) {
            Some(IvSource::Generated(OutputSink::Output(span))) => span,
            _ => Span::default(),
        };
        Self { iv, result, tag: batch.records.tag.get(record).unwrap_or_default() }
    }
}

impl ValueResults {
    /// Returns the IV, the ciphertext and the tag.
    pub(super) fn sealed(&self, spans: &ValueSpans) -> Bytes {
        // Records lay them out side by side, so that nothing is copied.
        let whole = Span { start: spans.iv.start, len: spans.iv.len + spans.result.len + spans.tag.len };
        let follows =
            |one: Span, next: Span| one.len == 0 || next.len == 0 || one.start + one.len == next.start;
        if spans.iv.len > 0 && follows(spans.iv, spans.result) && follows(spans.result, spans.tag) {
            return self.part(whole);
        }
        [self.part(spans.iv), self.part(spans.result), self.part(spans.tag)].concat().into()
    }

    /// Returns the result.
    pub(super) fn result(&self, spans: &ValueSpans) -> Bytes {
        self.part(spans.result)
    }

    /// Returns the result of each value as `read` reads it. The result of a value that failed is empty.
    pub(super) fn values(&self, read: impl Fn(&Self, &ValueSpans) -> Bytes) -> Vec<Bytes> {
        let read = |value: &Result<ValueSpans, Fault>| match value {
            Ok(spans) => read(self, spans),
            Err(_) => Bytes::new(),
        };
        self.values.iter().map(read).collect()
    }

    /// Returns the faults with the indices of their values.
    ///
    /// # Errors
    /// The fault of the only value.
    pub(super) fn into_faults(self) -> Result<Vec<Fault>, Fault> {
        let is_only = self.values.len() == 1;
        let faults =
            (0..).zip(self.values).filter_map(|(index, value)| Some(Fault { index, ..value.err()? }));
        let mut faults: Vec<Fault> = faults.collect();
        match faults.pop() {
            Some(fault) if is_only => Err(fault),
            last => {
                faults.extend(last);
                Ok(faults)
            }
        }
    }

    fn part(&self, span: Span) -> Bytes {
        let range = span.start as usize..span.start as usize + span.len as usize;
        match self.output.get(range.clone()) {
            Some(_) => self.output.slice(range),
            None => Bytes::new(),
        }
    }
}

//! Operations as the library's own columns, over a buffer that holds their IVs and inputs.

use oarlock::Records;
use oarlock::{Column, InputSource, KeySource, OutputSink, Span};
use oarlock_keytable::{Batch, BatchTask};

use super::LadderError;

/// Columns of a batch, whose memory is reused. Results are side by side, in order.
#[derive(Debug, Default)]
pub(super) struct BatchColumns {
    task: Vec<BatchTask>,
    has_several_tasks: bool,
    key: Vec<KeySource>,
    /// The key column in runs, which replaces `key` if it is set.
    key_runs: Vec<(u32, KeySource)>,
    iv: Vec<Span>,
    input: Vec<InputSource>,
    output: Vec<OutputSink>,
    output_len: usize,
}

impl BatchColumns {
    pub(super) fn clear(&mut self) {
        self.task.clear();
        self.has_several_tasks = false;
        self.key.clear();
        self.key_runs.clear();
        self.iv.clear();
        self.input.clear();
        self.output.clear();
        self.output_len = 0;
    }

    /// Returns the number of operations.
    pub(super) fn len(&self) -> usize {
        self.input.len()
    }

    /// Adds an operation.
    ///
    /// # Errors
    /// The results would exceed 4 GiB.
    pub(super) fn push(
        &mut self,
        task: BatchTask,
        key: KeySource,
        iv: Span,
        input: Span,
    ) -> Result<(), LadderError> {
        let output = Span::new(self.output_len, input.len as usize).ok_or(LadderError::TooLarge)?;
        self.output_len += input.len as usize;
        self.has_several_tasks |= self.task.first().is_some_and(|first| *first != task);
        self.task.push(task);
        self.key.push(key);
        self.iv.push(iv);
        self.input.push(InputSource::Data(input));
        self.output.push(OutputSink::Output(output));
        Ok(())
    }

    /// Shortens the key column to runs: the paper's "the next N operations all use this key" (section 4.1.2).
    pub(super) fn shorten_keys(&mut self) {
        for key in &self.key {
            match self.key_runs.last_mut() {
                Some((count, last)) if last == key => *count += 1,
                _ => self.key_runs.push((1, *key)),
            }
        }
    }

    /// Returns the batch over `data`, without copies.
    pub(super) fn batch<'a>(&'a self, data: &'a [u8]) -> Batch<'a> {
        let records = Records {
            len: self.input.len(),
            data: data.into(),
            output_len: self.output_len,
            key: match &self.key_runs[..] {
                [] => Column::Each(self.key[..].into()),
                runs => Column::Runs(runs.into()),
            },
            iv: Column::Each(self.iv[..].into()),
            input: Column::Each(self.input[..].into()),
            output: Column::Each(self.output[..].into()),
            ..Records::default()
        };
        let task = match self.task.first() {
            Some(first) if !self.has_several_tasks => Column::One(*first),
            _ => Column::Each(self.task[..].into()),
        };
        Batch::new(task, records)
    }
}

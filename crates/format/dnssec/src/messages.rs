//! The messages of many signatures, hashed in batches.

use std::ops::Range;

use oarlock::{Accelerator, DigestAlg, Input, JobError, Records, Shape};
use oarlock::{Column, InputSource, OutputSink, Span};

/// Messages to sign or verify, and their digests if their schemes take digests.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    data: Vec<u8>,
    messages: Vec<SignedMessage>,
    groups: Vec<DigestGroup>,
}

#[derive(Debug)]
enum SignedMessage {
    Whole(Range<usize>),
    /// The index of the group, and the index of the digest in it.
    Hashed(usize, usize),
}

/// The messages with the same digest algorithm.
#[derive(Debug)]
struct DigestGroup {
    alg: DigestAlg,
    inputs: Vec<InputSource>,
    digests: Vec<u8>,
}

impl Messages {
    /// Adds a message, which `write` appends, and returns its index.
    pub(crate) fn push(
        &mut self,
        digest: Option<DigestAlg>,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<usize, JobError> {
        let start = self.data.len();
        write(&mut self.data);
        let index = self.messages.len();
        let Some(alg) = digest else {
            self.messages.push(SignedMessage::Whole(start..self.data.len()));
            return Ok(index);
        };
        // Records of the facade have offsets of 32 bits.
        let too_much = JobError::Malformed { what: "more than 4 GiB of messages at a time" };
        let span = Span::new(start, self.data.len() - start).ok_or(too_much)?;
        let group = self.group(alg);
        let inputs = &mut self.groups[group].inputs;
        inputs.push(InputSource::Data(span));
        self.messages.push(SignedMessage::Hashed(group, inputs.len() - 1));
        Ok(index)
    }

    /// Returns the total length of all messages in bytes.
    pub(crate) fn len_bytes(&self) -> usize {
        self.data.len()
    }

    fn group(&mut self, alg: DigestAlg) -> usize {
        let known = self.groups.iter().position(|group| group.alg == alg);
        known.unwrap_or_else(|| {
            self.groups.push(DigestGroup { alg, inputs: Vec::new(), digests: Vec::new() });
            self.groups.len() - 1
        })
    }

    /// Hashes all messages on this thread.
    pub(crate) fn hash(&mut self, accelerator: &Accelerator) -> Result<(), JobError> {
        for DigestGroup { alg, inputs, digests } in &mut self.groups {
            let (shape, len) = (Shape::Digest { alg: *alg }, alg.output_len() as u32);
            let records = Records {
                len: inputs.len(),
                data: self.data.as_slice().into(),
                output_len: inputs.len() * alg.output_len(),
                input: Column::Each(inputs.as_slice().into()),
                output: Column::Stride { first: OutputSink::Output(Span { start: 0, len }), stride: len },
                ..Records::default()
            };
            let outcomes = accelerator.records().run(shape, &records)?;
            if let Some(error) = outcomes.statuses().iter().find_map(|status| status.error(shape)) {
                return Err(error);
            }
            digests.extend_from_slice(outcomes.bytes());
        }
        Ok(())
    }

    /// Returns the job input of the message at `index`. [`hash`](Self::hash) must have run before.
    pub(crate) fn input(&self, index: usize) -> Input<'_> {
        match &self.messages[index] {
            SignedMessage::Whole(range) => Input::Message(&self.data[range.clone()]),
            SignedMessage::Hashed(group, index) => {
                let DigestGroup { alg, digests, .. } = &self.groups[*group];
                let len = alg.output_len();
                Input::Digest(&digests[index * len..(index + 1) * len])
            }
        }
    }
}
